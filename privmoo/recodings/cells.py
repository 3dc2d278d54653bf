"""Recodings cell by cell: every record is published with values of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.text_arrays import pack_numbers, unpack_numbers
from privmoo.data.table import Table
from privmoo.errors import RecodingError
from privmoo.recodings.base import Caution, Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.columns import Intervals, Labels, Noised, PublishedColumn
from privmoo.recodings.nodes import node_cells, whole_columns
from privmoo.recodings.noise import Laplace

__all__ = ["CellRecoding"]

_STORED: dict[type[PublishedColumn], str] = {
    Labels: "nodes",
    Noised: "numbers",
    Intervals: "intervals",
}
"""The kinds of columns by their names in files and keys."""


class CellRecoding(Recoding):
    """A recoding that publishes every record with its own cells: labels, numbers or intervals.

    Equal records may be published differently, as noise does. A number need not be the record's own.

    Args:
        table: The records.
        columns: What is published of every quasi-identifier.
        parts: The part of every record, if parts have noise of different scales.
        facts: What was done, as plain data, for the certificate.
        cautions: What does not follow from it, for the certificate.

    >>> df = pd.DataFrame({"age": [20, 30], "sex": ["f", "m"]})
    >>> table = Table(df, quasi_identifiers=["age", "sex"])
    >>> star = node_cells(table)[1].ids[1]
    >>> ages = Noised.of_numbers(table, 0, np.array([21.0, 30.0]))
    >>> recoding = CellRecoding(table, [ages, Labels.of_nodes(table, 1, star)])
    >>> recoding.apply(table, np.arange(2)).to_numpy().tolist()
    [[21, '*'], [30, '*']]
    """

    name: ClassVar[str] = "cells"

    def __init__(
        self,
        table: Table,
        columns: Sequence[PublishedColumn],
        *,
        parts: NDArray[np.int8] | None = None,
        facts: Mapping[str, Any] | None = None,
        cautions: Sequence[Caution] = (),
    ) -> None:
        self._columns = tuple(columns)
        self._facts, self._cautions = dict(facts or {}), tuple(cautions)
        self.parts = np.zeros(table.n_records, np.int8) if parts is None else parts

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """What is published of every quasi-identifier."""
        return self._columns

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The published tuple of every record, numbered from 0."""
        keys = np.zeros(len(self.columns[0].codes), np.int64)
        span = 1
        for column in self.columns:
            if span * column.n_cells >= 2**62:  # renumbered, so that the keys stay numbers
                keys, span = np.unique(keys, return_inverse=True)[1], len(keys)
            keys = keys * column.n_cells + column.codes
            span *= column.n_cells
        return np.asarray(pd.factorize(keys)[0], np.int32)

    def view(self, table: Table) -> Table:
        """Return the table with the tuples split whose records are published differently."""
        return table.split(self.labels)

    def candidate(self, table: Table) -> Candidates:
        """Return one row of labels, with the cells."""
        first = np.empty(table.n_tuples, np.int64)
        first[table.row_tuple[::-1]] = np.arange(table.n_records)[::-1]
        labels = self.labels[first]
        if (labels[table.row_tuple] != self.labels).any():
            raise RecodingError(
                "recoding: equal records are published differently; use view(table)"
            )
        return Candidates(labels=labels[None], cells=(self,))

    def codes(self, table: Table, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Return the cells of some rows.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        return [column.codes[rows] for column in self.columns]

    def facts(self) -> dict[str, Any]:
        """Return what was done, for the certificate."""
        return self._facts

    def cautions(self) -> tuple[Caution, ...]:
        """Return what a reader must not conclude from the release, for the certificate."""
        return self._cautions

    def to_json(self) -> dict[str, Any]:
        """Return the cells as packed numbers, with what was done."""
        columns = {}
        for column in self.columns:
            data: dict[str, Any] = {
                "kind": _STORED[type(column)],
                "codes": pack_numbers(column.codes, "<i4"),
            }
            if isinstance(column, Noised | Intervals):
                low, high = column.ends
                data |= {
                    "low": pack_numbers(low, "<f8"),
                    "high": pack_numbers(high, "<f8"),
                    "n": len(low),
                }
                noise = column.noise
                data["scales"] = [] if noise is None else list(noise.scales)
                data["noise"] = None if noise is None else noise.to_json()
            columns[column.name] = data
        return {
            "kind": self.name,
            "columns": columns,
            "parts": pack_numbers(self.parts, "|i1"),
            "facts": self._facts,
            "cautions": [caution.to_json() for caution in self._cautions],
        }

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> CellRecoding:
        """Read back what `to_json` wrote.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """
        parts = unpack_numbers(data["parts"], "|i1", table.n_records).astype(np.int8)
        columns = [
            _read_column(table, j, data["columns"][name], parts)
            for j, name in enumerate(table.qi_names)
        ]
        cautions = [Caution.from_json(caution) for caution in data.get("cautions") or ()]
        return cls(table, columns, parts=parts, facts=data.get("facts"), cautions=cautions)

    def key(self) -> bytes:
        """Return a digest of the cells of every record."""
        digest = hashlib.blake2b(self.parts.tobytes(), digest_size=16)
        for column in self.columns:
            scales = () if column.noise is None else column.noise.scales
            digest.update(_STORED[type(column)].encode() + column.codes.tobytes())
            digest.update(np.array(scales, np.float64).tobytes())
            if isinstance(column, Noised | Intervals):
                for end in column.ends:
                    digest.update(end.tobytes())
        return digest.digest()


def _read_column(
    table: Table, j: int, column_data: Mapping[str, Any], parts: NDArray[np.int8]
) -> PublishedColumn:
    """Return one column as `CellRecoding.to_json` stored it, or raise if the file cannot be right."""
    qi = table.qis[j]
    kind = column_data["kind"]
    if kind not in _STORED.values():
        raise RecodingError(f"recoding: {qi.name!r} has cells of an unknown kind")
    codes = unpack_numbers(column_data["codes"], "<i4", table.n_records).astype(np.int32)
    column: PublishedColumn
    if kind == "nodes":
        column = Labels.of_nodes(table, j, codes)
    else:
        low, high = _read_ends(table, j, column_data)
        noise = Laplace.from_json(
            qi.name,
            column_data["scales"],
            column_data.get("noise"),
            parts=parts,
            numbers=np.append(low, high),
        )
        if kind == "numbers":
            whole = whole_columns(table)[j]
            column = Noised(qi=qi, codes=codes, noise=noise, numbers=low, whole=whole)
        else:
            nodes = node_cells(table)[j]
            column = Intervals(qi=qi, codes=codes, noise=noise, low=low, high=high, nodes=nodes)
    if codes.min() < 0 or codes.max() >= column.n_cells:
        raise RecodingError(f"recoding: {qi.name!r} has cells that it does not list")
    return column


def _read_ends(
    table: Table, j: int, column_data: Mapping[str, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    qi, n_cells = table.qis[j], int(column_data["n"])
    if qi.numbers is None or not 0 < n_cells <= table.n_records:
        raise RecodingError(f"recoding: {qi.name!r} has impossible numbers")
    low, high = (unpack_numbers(column_data[end], "<f8", n_cells) for end in ("low", "high"))
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise RecodingError(f"recoding: {qi.name!r} has numbers that are not finite or not ordered")
    return low, high
