"""The original values of a table's quasi-identifiers, record by record or combination by combination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.encoding import sums_by_owner
from privmoo.data.source import Counts

__all__ = ["Originals"]


@dataclass(frozen=True)
class Originals:
    """Rows of original values, with the tuple of each row.

    If single records are in memory, every row is one record. For a scanned table, every distinct
    combination of original values is one row.

    Attributes:
        frame: The values of all columns in memory, or of the quasi-identifiers of a scanned table.
        tuples: The tuple of every row.
        weights: The number of records of every row; None if every row is one record.
        rows: The number of every row in the source; see `CopyPlan.rows`.
    """

    frame: pd.DataFrame
    tuples: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    rows: NDArray[np.int64]

    @classmethod
    def of_records(cls, frame: pd.DataFrame, tuples: NDArray[np.int32]) -> Originals:
        """Return single records.

        Args:
            frame: The records.
            tuples: The tuple of every record.
        """
        return cls(frame, tuples, None, np.arange(len(frame)))

    @classmethod
    def of_counts(cls, counts: Counts, tuples: NDArray[np.int32]) -> Originals:
        """Return the distinct combinations in the first part of counts.

        Args:
            counts: What was counted; a combination may have several rows.
            tuples: The tuple of every row of the counts.
        """
        part = counts.first_part
        numbers = counts.combinations()[part]
        _, first, combination = np.unique(numbers, return_index=True, return_inverse=True)
        rows = part.start + first
        frame = pd.DataFrame(
            {name: v.iloc[rows].reset_index(drop=True) for name, v in counts.keys.items()}
        )
        weights = sums_by_owner(combination, counts.weights[part], len(rows))
        return cls(frame, tuples[rows], weights, rows)

    @property
    def are_records(self) -> bool:
        """Whether every row is one record."""
        return self.weights is None

    @property
    def row_weights(self) -> NDArray[np.int64]:
        """The number of records of every row, also if every row is one record."""
        return np.ones(len(self), np.int64) if self.weights is None else self.weights

    def __len__(self) -> int:
        return len(self.rows)
