"""Laplace noise for a copy: every record gets its own draw, whatever engine and threads copy it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "RowNoise", "partition_draws"]

FloatArray = NDArray[np.float64]
BITS = 53
"""The random bits of a draw."""


@dataclass(frozen=True)
class RowNoise:
    """The noise of one column of a copy, by row of the `CopyPlan`.

    Attributes:
        scales: The scale of the Laplace distribution of every row.
        salts: A secret number of every row's original values. Two rows with different values must not get
            the same noise at the same place, because their difference would then be that of their values.
        step: The unit to which noise is rounded.
        low: The smallest number of the domain.
        high: The largest number of the domain.
        whole: Whether whole numbers are written.
    """

    scales: FloatArray
    salts: NDArray[np.uint64]
    step: float
    low: float
    high: float
    whole: bool

    @property
    def digits(self) -> int:
        """The number of digits after the point that multiples of the step have."""
        return max(0, -math.floor(math.log10(self.step)))

    def add(
        self, values: FloatArray, rows: NDArray[np.int64], draws: FloatArray
    ) -> NDArray[np.generic]:
        """Return the numbers of records with noise.

        Args:
            values: The number of every row of the plan.
            rows: The row of every record.
            draws: A standard Laplace draw for every record.

        >>> noise = RowNoise(np.array([2.0, 1.0]), np.zeros(2, np.uint64), 1.0, 0.0, 9.0, True)
        >>> noise.add(np.array([5.0, 8.0]), np.array([0, 1, 0]), np.array([0.6, 3.0, -1.2])).tolist()
        [6, 9, 3]
        """
        sums = values[rows] + np.rint(draws * (self.scales[rows] / self.step)) * self.step
        # A sum of fractions has extra digits from rounding.
        numbers = np.clip(np.round(sums, self.digits), self.low, self.high) + 0.0
        return numbers.astype(np.int64) if self.whole else numbers


def partition_draws(
    secret: str, column: int, partition: int, salts: NDArray[np.uint64]
) -> FloatArray:
    """Return standard Laplace draws for the records of a partition.

    Args:
        secret: The secret of the noise.
        column: The place of the column among the quasi-identifiers.
        partition: The number of the partition.
        salts: The salt of every record.

    >>> salts = np.arange(4, dtype=np.uint64)
    >>> partition_draws("s", 0, 3, salts)[:2].tolist() == partition_draws("s", 0, 3, salts[:2]).tolist()
    True
    """
    key = hashlib.shake_256(f"{secret}|{column}|{partition}".encode()).digest(8 * len(salts))
    bits = _mix(np.frombuffer(key, "<u8") ^ salts)
    uniform = ((bits >> np.uint64(64 - BITS)) + 0.5) / 2.0**BITS
    return np.asarray(np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform))))


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let every bit of a number change all others (the finaliser of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))
