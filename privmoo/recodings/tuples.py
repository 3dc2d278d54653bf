"""Recodings tuple by tuple with noise, which is drawn when the records are written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import no_records
from privmoo.data.table import Table
from privmoo.recodings.base import Caution, Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.columns import Labels, Noised, PublishedColumn
from privmoo.recodings.nodes import node_cells, numeric_columns, whole_columns
from privmoo.recodings.noise import Laplace

__all__ = ["TupleRecoding"]


class TupleRecoding(Recoding):
    """A recoding that publishes nodes tuple by tuple and numbers with noise record by record.

    The noise is drawn when the records are written, batch by batch, so there are no released numbers yet.

    Args:
        table: The scanned table.
        levels: Categorical quasi-identifiers × tuples: the level that each is published at.
        noise: The noise of every numeric quasi-identifier, by place.
        parts: The part of every tuple, if parts have noise of different scales.
        facts: What was done, as plain data, for the certificate.
        cautions: What does not follow from it, for the certificate.
    """

    name: ClassVar[str] = "tuples"

    def __init__(
        self,
        table: Table,
        levels: NDArray[np.int64],
        noise: Mapping[int, Laplace],
        *,
        parts: NDArray[np.int8],
        facts: Mapping[str, Any],
        cautions: Sequence[Caution] = (),
    ) -> None:
        self.qis, self.parts, self.noise = table.qis, parts, dict(noise)
        self._facts, self._cautions = dict(facts), tuple(cautions)
        categorical = [j for j in range(table.n_qis) if j not in noise]
        nodes = node_cells(table)
        labels = {
            j: Labels.of_nodes(table, j, nodes[j].ids[levels[i], table.tuples[:, j]], "tuple")
            for i, j in enumerate(categorical)
        }
        numbers = {
            j: Noised(
                qi=table.qis[j],
                codes=np.empty(0, np.int32),
                noise=noise[j],
                numbers=None,
                whole=whole_columns(table)[j],
            )
            for j in noise
        }
        self._columns: tuple[PublishedColumn, ...] = tuple(
            numbers[j] if j in numbers else labels[j] for j in range(table.n_qis)
        )

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """Labels of nodes, and numbers of which only the noise is known."""
        return self._columns

    @cached_property
    def _labels(self) -> list[Labels]:
        return [column for column in self._columns if isinstance(column, Labels)]

    def candidate(self, table: Table) -> Candidates:
        """Return one row of labels: tuples with the same nodes are one group, whatever their numbers."""
        keys = np.column_stack([column.codes for column in self._labels])
        _, labels = np.unique(keys, axis=0, return_inverse=True)
        return Candidates(labels=labels.ravel().astype(np.int32)[None])

    def codes(self, table: Table, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Return the nodes of some rows; a column with noise has no cells yet.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        tuples = table.originals.tuples[rows]
        return [
            column.codes[tuples] if isinstance(column, Labels) else column.codes
            for column in self.columns
        ]

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Return the labels of some rows, and their numbers before noise.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        columns = {}
        for j, codes in enumerate(self.codes(table, rows)):
            column = self.columns[j]
            if j in self.noise:
                columns[column.name] = pd.Series(np.asarray(numeric_columns(table)[j])[rows])
            else:
                columns[column.name] = column.series(codes)
        return pd.DataFrame(columns)

    def facts(self) -> dict[str, Any]:
        """Return what was done, for the certificate."""
        return self._facts

    def cautions(self) -> tuple[Caution, ...]:
        """Return what a reader must not conclude from the release, for the certificate."""
        return self._cautions

    def to_json(self) -> NoReturn:
        """Raise a TableError: a recoding of a scanned table with noise cannot be stored."""
        raise no_records("recoding with noise")

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> NoReturn:
        """Raise a TableError: such a recoding is never stored.

        Args:
            table: The table.
            data: What a file contains.
        """
        raise no_records("recoding with noise")

    def key(self) -> bytes:
        """Return a digest of nodes and noise."""
        digest = hashlib.blake2b(digest_size=16)
        for column in self._labels:
            digest.update(np.ascontiguousarray(column.codes).tobytes())
        # The text that version 0.1 hashed: a seed gives the same release as before.
        description = ", ".join(
            f"({j}, ColumnNoise(scales={noise.scales!r}, step={noise.step!r}, low={noise.low!r}, "
            f"high={noise.high!r}))"
            for j, noise in sorted(self.noise.items())
        )
        digest.update(self.parts.tobytes() + f"[{description}]".encode())
        return digest.digest()
