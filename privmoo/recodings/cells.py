"""Recodings cell by cell: every record is published with values of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.text_arrays import packed, unpacked
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.hierarchy.canonical import canonical
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.cell_columns import CellColumn, Kind
from privmoo.recodings.nodes import node_cells
from privmoo.recodings.recoding import Recoding

__all__ = ["CellRecoding"]


class CellRecoding(Recoding):
    """Every record is published with cells of its own: a node of a tree, a number, or an interval.

    Equal records may be published differently, as noise does. A number need not be the record's own.

    Args:
        table: The records.
        columns: What becomes of every quasi-identifier.
        parts: The part of every record, where parts have noise of different scales.
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
        parts: NDArray[np.int8] | None = None,
        facts: Mapping[str, Any] | None = None,
        cautions: Sequence[str] = (),
    ) -> None:
        self.qis = table.qis
        self.columns = tuple(columns)
        self.nodes = node_cells(table)
        self._facts, self._cautions = dict(facts or {}), tuple(cautions)
        self.parts = np.zeros(table.n_records, np.int8) if parts is None else parts
        frame = table.frame
        self._whole = tuple(
            pd.api.types.infer_dtype(frame[qi.name], skipna=True) == "integer" for qi in table.qis
        )

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
                order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
                ranked = numbers[order]
                low, high = column.ends
                first, last = np.searchsorted(ranked, low), np.searchsorted(ranked, high, "right")
                place = np.empty(len(numbers), np.int64)
                place[order] = np.arange(len(order))
                nearest = place[_nearest(numbers, (low + high) / 2)]
                first, last = (
                    np.where(first < last, first, nearest),
                    np.where(first < last, last, nearest + 1),
                )
                result[qi.name] = {
                    name: _Leaves(qi.leaves, order, int(a), int(b))  # type: ignore[misc]
                    for name, a, b in zip(self._names(j), first, last, strict=True)
                }
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
            own: dict[str, Any] = {"kind": column.kind, "codes": packed(column.codes, "<i4")}
            if column.kind != "nodes":
                low, high = column.ends
                own |= {"low": packed(low, "<f8"), "high": packed(high, "<f8"), "n": len(low)}
                own["scales"] = list(column.scales)
            columns[qi.name] = own
        return {
            "kind": "cells",
            "columns": columns,
            "parts": packed(self.parts, "|i1"),
            "facts": self._facts,
            "cautions": list(self._cautions),
        }

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> CellRecoding:
        """Read back what `to_json` wrote, for the same table."""
        columns = []
        parts = unpacked(data["parts"], "|i1", table.n_records).astype(np.int8)
        for qi, nodes in zip(table.qis, node_cells(table), strict=True):
            own = data["columns"][qi.name]
            if own["kind"] not in get_args(Kind):
                raise ReleaseError(f"recoding: {qi.name!r} has cells of an unknown kind")
            codes = unpacked(own["codes"], "<i4", table.n_records)
            n_cells, low, high = len(nodes.labels), None, None
            scales: tuple[float, ...] = ()
            if own["kind"] != "nodes":
                n_cells = int(own["n"])
                if qi.numbers is None or not 0 < n_cells <= table.n_records:
                    raise ReleaseError(f"recoding: {qi.name!r} has impossible numbers")
                low, high = (unpacked(own[end], "<f8", n_cells) for end in ("low", "high"))
                if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
                    raise ReleaseError(f"recoding: {qi.name!r} has numbers that are none")
                scales = tuple(float(scale) for scale in own["scales"])
                if not all(0 < scale < np.inf for scale in scales) or len(scales) > 100:
                    raise ReleaseError(f"recoding: {qi.name!r} has noise of impossible scales")
                if scales and not 0 <= parts.min() <= parts.max() < len(scales):
                    raise ReleaseError(f"recoding: {qi.name!r} lacks the noise of some records")
            if codes.min() < 0 or codes.max() >= n_cells:
                raise ReleaseError(f"recoding: {qi.name!r} has cells that it does not list")
            columns.append(CellColumn(own["kind"], codes.astype(np.int32), low, high, scales))
        facts, cautions = data.get("facts") or {}, data.get("cautions") or ()
        said = [str(words) for words in cautions]
        return cls(table, columns, parts=parts, facts=facts, cautions=said)

    def key(self) -> bytes:
        """Equal cells for every record."""
        digest = hashlib.blake2b(self.parts.tobytes(), digest_size=16)
        for column in self.columns:
            digest.update(column.kind.encode() + column.codes.tobytes())
            digest.update(np.array(column.scales, np.float64).tobytes())
            for end in (column.low, column.high):
                digest.update(b"" if end is None else end.tobytes())
        return digest.digest()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


class _Leaves(Sequence[str]):
    """Some neighbouring leaves, without a copy for each of many intervals."""

    def __init__(self, leaves: Sequence[str], order: NDArray[np.intp], a: int, b: int) -> None:
        self._leaves, self._order, self._range = leaves, order, range(a, b)

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self._leaves[self._order[place]] for place in self._range[i]]
        return self._leaves[self._order[self._range[i]]]


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
