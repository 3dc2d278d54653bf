"""Recodings cell by cell: every record is published with values of its own."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.candidates import Candidates
from privmoo.canonical import canonical
from privmoo.columns import QIColumn
from privmoo.errors import ReleaseError
from privmoo.hierarchy import Hierarchy
from privmoo.per_table import per_table
from privmoo.recoding import Recoding
from privmoo.table import Table

__all__ = ["CellColumn", "CellRecoding", "NodeCells", "node_cells", "numeric_columns"]

Kind = Literal["nodes", "numbers", "intervals"]


@dataclass(frozen=True)
class NodeCells:
    """The nodes of one hierarchy as cells of a release: one for every label that can be published.

    Attributes:
        ids: Levels × leaves: the cell that a leaf is published as at a level.
        labels: What each cell says.
        start: The first leaf below each cell.
        stop: One after its last leaf.
        level: The lowest level that has the cell.
        height: The highest level.
    """

    ids: NDArray[np.int32]
    labels: tuple[str, ...]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    level: NDArray[np.int64]
    height: int

    @classmethod
    def of(cls, qi: QIColumn) -> NodeCells:
        """The cells of a quasi-identifier; without a hierarchy a value or `*`."""
        hierarchy = qi.hierarchy or Hierarchy.flat(qi.leaves)
        ids = np.empty((hierarchy.n_levels, qi.n_leaves), np.int32)
        known: dict[str, int] = {}
        spans: list[tuple[int, int]] = []
        levels: list[int] = []
        for level, blocks in enumerate(hierarchy.level_blocks):
            starts = np.flatnonzero(np.diff(blocks, prepend=-1))
            stops = np.append(starts[1:], qi.n_leaves)
            names = hierarchy.level_labels(level)
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                label = names[int(blocks[start])]
                # A label has one meaning: another node of the same name is marked.
                while label in known and spans[known[label]] != (start, stop):
                    label += "·"
                cell = known.setdefault(label, len(spans))
                if cell == len(spans):
                    spans.append((start, stop))
                    levels.append(level)
                ids[level, start:stop] = cell
        bounds = np.array(spans, np.int64)
        return cls(
            ids, tuple(known), bounds[:, 0], bounds[:, 1], np.array(levels), hierarchy.height
        )


@per_table
def node_cells(table: Table) -> tuple[NodeCells, ...]:
    """The nodes of every quasi-identifier as cells.

    >>> table = Table(pd.DataFrame({"sex": ["f", "m"]}), quasi_identifiers=["sex"])
    >>> node_cells(table)[0].labels
    ('f', 'm', '*')
    """
    return tuple(NodeCells.of(qi) for qi in table.qis)


@per_table
def numeric_columns(table: Table) -> tuple[NDArray[np.float64] | None, ...]:
    """The numbers of every quasi-identifier by record, None for categories.

    Text is a category also where it consists of digits: a ZIP code has no noise and no mean.

    >>> df = pd.DataFrame({"age": [20, 30], "zip": ["123", "124"]})
    >>> [c is None for c in numeric_columns(Table(df, quasi_identifiers=["age", "zip"]))]
    [False, True]
    """
    columns: list[NDArray[np.float64] | None] = []
    for qi in table.qis:
        own = table.frame[qi.name]
        is_number = pd.api.types.is_numeric_dtype(own.dtype) and own.dtype != np.bool_
        if qi.numbers is None or not is_number:
            columns.append(None)
            continue
        numbers = own.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
        numbers.setflags(write=False)
        columns.append(numbers)
    return tuple(columns)


@dataclass(frozen=True)
class CellColumn:
    """What every record publishes of one quasi-identifier.

    Attributes:
        kind: `"nodes"` of its hierarchy, `"numbers"`, or `"intervals"` of numbers.
        codes: The cell of every record: its place in `NodeCells`, or in `low` and `high`.
        low: The number, or the lower end.
        high: The same number, or the upper end.
    """

    kind: Kind
    codes: NDArray[np.int32]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None

    @classmethod
    def of_numbers(cls, values: NDArray[np.float64], step: float | None = None) -> CellColumn:
        """One number per record; `step`, if they are its multiples, spares the search for equal ones."""
        low, high = float(values.min()), float(values.max())
        if step == 1.0 and high - low < len(values):
            grid = np.arange(low, high + 1)
            return cls("numbers", (values - low).astype(np.int32), grid, grid)
        distinct, codes = np.unique(values, return_inverse=True)
        return cls("numbers", codes.astype(np.int32), distinct, distinct)

    @classmethod
    def of_intervals(
        cls, low: NDArray[np.float64], high: NDArray[np.float64], owner: NDArray[np.int64]
    ) -> CellColumn:
        """The interval that owns every record."""
        ends, place = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
        codes = place.ravel()[owner].astype(np.int32)
        return cls("intervals", codes, ends[:, 0].copy(), ends[:, 1].copy())

    @property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both ends of every cell of numbers."""
        if self.low is None or self.high is None:
            raise ReleaseError("recoding: nodes of a hierarchy have no numbers as ends")
        return self.low, self.high

    def __len__(self) -> int:
        return 0 if self.low is None else len(self.low)


class CellRecoding(Recoding):
    """Every record is published with cells of its own: a node of a tree, a number, or an interval.

    Equal records may be published differently, as noise does. A number need not be the record's own.

    Args:
        table: The records.
        columns: What becomes of every quasi-identifier.
        facts: What was done, as plain data, for the certificate.
        cautions: What does not follow from it, in sentences, for the certificate.

    >>> df = pd.DataFrame({"age": [20, 30], "sex": ["f", "m"]})
    >>> table = Table(df, quasi_identifiers=["age", "sex"])
    >>> star = node_cells(table)[1].ids[1]
    >>> recoding = CellRecoding(table, [CellColumn.of_numbers(np.array([21.0, 30.0])),
    ...                                 CellColumn("nodes", star)])
    >>> recoding.apply(table, np.arange(2)).to_numpy().tolist()
    [[21, '*'], [30, '*']]
    """

    def __init__(
        self,
        table: Table,
        columns: Sequence[CellColumn],
        *,
        facts: Mapping[str, Any] | None = None,
        cautions: Sequence[str] = (),
    ) -> None:
        self.qis = table.qis
        self.columns = tuple(columns)
        self.nodes = node_cells(table)
        self._facts, self._cautions = dict(facts or {}), tuple(cautions)
        frame = table.frame
        self._whole = tuple(pd.api.types.is_integer_dtype(frame[qi.name].dtype) for qi in table.qis)

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The published tuple of every record, numbered from 0."""
        keys = np.zeros(len(self.columns[0].codes), np.int64)
        span = 1
        for column, nodes in zip(self.columns, self.nodes, strict=True):
            n_cells = len(nodes.labels) if column.kind == "nodes" else len(column)
            if span * n_cells >= 2**62:  # renumbered, so that the keys stay numbers
                keys, span = np.unique(keys, return_inverse=True)[1], len(keys)
            keys = keys * n_cells + column.codes
            span *= n_cells
        return np.asarray(pd.factorize(keys)[0], np.int32)

    def view(self, table: Table) -> Table:
        """The table, with the tuples split whose records are published differently."""
        return table.split(self.labels)

    def candidate(self, table: Table) -> Candidates:
        """One row of labels, with the cells."""
        first = np.empty(table.n_tuples, np.int64)
        first[table.row_tuple[::-1]] = np.arange(table.n_records)[::-1]
        labels = self.labels[first]
        if (labels[table.row_tuple] != self.labels).any():
            raise ReleaseError("recoding: equal records are published differently; use view(table)")
        return Candidates(labels=labels[None], cells=(self,))

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The cells of some rows; numbers of whole-number columns are whole numbers."""
        columns = {}
        for j, (qi, column) in enumerate(zip(self.qis, self.columns, strict=True)):
            codes = column.codes[rows]
            if column.kind == "numbers":
                values = column.ends[0][codes]
                columns[qi.name] = pd.Series(values.astype(np.int64) if self._whole[j] else values)
            else:
                names = np.array(self._names(j), dtype=object)
                columns[qi.name] = pd.Series(names[codes], dtype="str")
        return pd.DataFrame(columns)

    def _names(self, j: int) -> Sequence[str]:
        """What the cells of quasi-identifier j say."""
        column = self.columns[j]
        if column.kind == "nodes":
            return self.nodes[j].labels
        low, high = column.ends
        return [
            canonical(a) if a == b else f"{canonical(a)}–{canonical(b)}"
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]

    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Leaves by label; a number stands for itself.

        An interval of noised numbers stands for the leaves in it, or for the nearest one.
        """
        result: dict[str, dict[str, list[str]]] = {}
        for j, (qi, column) in enumerate(zip(self.qis, self.columns, strict=True)):
            if column.kind == "nodes":
                nodes = self.nodes[j]
                result[qi.name] = {
                    nodes.labels[cell]: list(qi.leaves[nodes.start[cell] : nodes.stop[cell]])
                    for cell in np.unique(column.codes)
                }
            elif column.kind == "intervals":
                numbers = np.asarray(qi.numbers)
                own = {}
                for name, low, high in zip(self._names(j), *column.ends, strict=True):
                    inside = np.flatnonzero((numbers >= low) & (numbers <= high))
                    if not len(inside):
                        inside = np.array([np.nanargmin(np.abs(numbers - (low + high) / 2))])
                    own[name] = [qi.leaves[i] for i in inside]
                result[qi.name] = own
        return result

    def relative_levels(self) -> dict[str, dict[str, float]]:
        """Per quasi-identifier and label, the level of the label over the hierarchy's height."""
        return {
            qi.name: dict(zip(self._names(j), self.level_shares(j).tolist(), strict=True))
            for j, qi in enumerate(self.qis)
            if self.columns[j].kind != "numbers"
        }

    def level_shares(self, j: int) -> NDArray[np.float64]:
        """Level over height of every cell of quasi-identifier j; a number has level 0.

        An interval has the lowest level at which one node covers both of its ends.
        """
        column, nodes = self.columns[j], self.nodes[j]
        height = max(nodes.height, 1)
        if column.kind == "nodes":
            return np.asarray(nodes.level / height)
        low, high = column.ends
        shares = np.zeros(len(low))
        if column.kind == "intervals":
            numbers = np.asarray(self.qis[j].numbers)
            ends = [_nearest(numbers, side) for side in (low, high)]
            apart = nodes.start[nodes.ids[:, ends[0]]] != nodes.start[nodes.ids[:, ends[1]]]
            shares = np.where(low == high, 0, np.maximum(apart.sum(axis=0), 1)) / height
        return np.asarray(shares)

    def describe(self, released: Mapping[str, Collection[str]] | None = None) -> dict[str, str]:
        """How each quasi-identifier is published, and with how many different values."""
        kinds = {
            "nodes": "value or node of its hierarchy, record by record",
            "numbers": "number with noise",
            "intervals": "interval of numbers with noise",
        }
        words = {}
        for qi, column in zip(self.qis, self.columns, strict=True):
            used = len(np.unique(column.codes)) if released is None else len(released[qi.name])
            words[qi.name] = f"{kinds[column.kind]} ({used} different)"
        return words

    def facts(self) -> dict[str, Any]:
        """What was done, for the certificate."""
        return self._facts

    def cautions(self) -> tuple[str, ...]:
        """What does not follow, for the certificate."""
        return self._cautions

    def noised(self) -> list[str]:
        """The quasi-identifiers that are published with noise, as numbers or as their intervals."""
        pairs = zip(self.qis, self.columns, strict=True)
        return [qi.name for qi, column in pairs if column.kind != "nodes"]

    def to_json(self) -> dict[str, Any]:
        """Cells as packed numbers, with what was done."""
        columns = {}
        for qi, column in zip(self.qis, self.columns, strict=True):
            own: dict[str, Any] = {"kind": column.kind, "codes": _packed(column.codes, "<i4")}
            if column.kind != "nodes":
                low, high = column.ends
                own |= {"low": _packed(low, "<f8"), "high": _packed(high, "<f8"), "n": len(low)}
            columns[qi.name] = own
        return {
            "kind": "cells",
            "columns": columns,
            "facts": self._facts,
            "cautions": list(self._cautions),
        }

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> CellRecoding:
        """Read back what `to_json` wrote, for the same table."""
        columns = []
        for qi, nodes in zip(table.qis, node_cells(table), strict=True):
            own = data["columns"][qi.name]
            if own["kind"] not in get_args(Kind):
                raise ReleaseError(f"recoding: {qi.name!r} has cells of an unknown kind")
            codes = _unpacked(own["codes"], "<i4", table.n_records)
            n_cells, low, high = len(nodes.labels), None, None
            if own["kind"] != "nodes":
                n_cells = int(own["n"])
                if qi.numbers is None or not 0 < n_cells <= table.n_records:
                    raise ReleaseError(f"recoding: {qi.name!r} has impossible numbers")
                low, high = (_unpacked(own[end], "<f8", n_cells) for end in ("low", "high"))
                if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
                    raise ReleaseError(f"recoding: {qi.name!r} has numbers that are none")
            if codes.min() < 0 or codes.max() >= n_cells:
                raise ReleaseError(f"recoding: {qi.name!r} has cells that it does not list")
            columns.append(CellColumn(own["kind"], codes.astype(np.int32), low, high))
        facts, cautions = data.get("facts") or {}, data.get("cautions") or ()
        return cls(table, columns, facts=facts, cautions=[str(words) for words in cautions])

    def key(self) -> bytes:
        """Equal cells for every record."""
        digest = hashlib.blake2b(digest_size=16)
        for column in self.columns:
            digest.update(column.kind.encode() + column.codes.tobytes())
            for end in (column.low, column.high):
                digest.update(b"" if end is None else end.tobytes())
        return digest.digest()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


def _nearest(numbers: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The place of the nearest number for every value."""
    order = np.argsort(numbers, kind="stable")
    order = order[~np.isnan(numbers[order])]
    ranked = numbers[order]
    right = np.clip(np.searchsorted(ranked, values), 1, max(len(ranked) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(ranked) - 1)
    closer = np.abs(values - ranked[left]) <= np.abs(values - ranked[right])
    return np.asarray(order[np.where(closer, left, right)])


def _packed(values: NDArray[Any], kind: str) -> str:
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 6)).decode("ascii")


def _unpacked(text: Any, kind: str, n: int) -> NDArray[Any]:
    size = n * np.dtype(kind).itemsize
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error) as error:
        raise ReleaseError("recoding: its cells cannot be unpacked") from error
    if len(content) != size:
        raise ReleaseError("recoding: it has cells for another number of records")
    return np.frombuffer(content, kind)
