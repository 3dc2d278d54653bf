"""Laplace noise for a copy: every record draws its own, whoever copies it and in how many threads."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.scanning.sql import text_of

__all__ = ["Noised", "draws", "noise_sql"]

FloatArray = NDArray[np.float64]
_BITS = 53


@dataclass(frozen=True)
class Noised:
    """The noise of one column.

    Attributes:
        scales: Of the Laplace distribution, for every row of `Mapped`.
        step: What noise is rounded to.
        low: The smallest number of the domain.
        high: The largest one.
        whole: Whether whole numbers are written.
    """

    scales: FloatArray
    step: float
    low: float
    high: float
    whole: bool

    @property
    def digits(self) -> int:
        """Digits after the point that numbers of this step have."""
        return max(0, -math.floor(math.log10(self.step)))

    def add(
        self, values: FloatArray, rows: NDArray[np.int64], drawn: FloatArray
    ) -> NDArray[np.generic]:
        """The numbers of some rows of `Mapped`, with noise.

        >>> own = Noised(np.array([2.0, 1.0]), 1.0, 0.0, 9.0, True)
        >>> own.add(np.array([5.0, 8.0]), np.array([0, 1, 0]), np.array([0.6, 3.0, -1.2])).tolist()
        [6, 9, 3]
        """
        shifted = values[rows] + np.rint(drawn * (self.scales[rows] / self.step)) * self.step
        # Sums of fractions have digits that nobody wrote.
        found = np.clip(np.round(shifted, self.digits), self.low, self.high) + 0.0
        return found.astype(np.int64) if self.whole else found


def draws(secret: str, column: int, partition: int, n: int) -> FloatArray:
    """Standard Laplace draws for the records of a partition, from a key of its own.

    >>> draws("s", 0, 3, 2).tolist() == draws("s", 0, 3, 4)[:2].tolist()
    True
    """
    key = hashlib.shake_256(f"{secret}|{column}|{partition}".encode()).digest(8 * n)
    uniform = ((np.frombuffer(key, "<u8") >> (64 - _BITS)) + 0.5) / 2.0**_BITS
    return np.asarray(np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform))))


def noise_sql(noised: Noised, value: str, scale: str, secret: str, column: int, place: str) -> str:
    """The same in SQL; `place` is an expression that tells records apart by where they stand."""
    key = f"md5_number_upper(concat({text_of(f'{secret}|{column}')}, '|', {place}))"
    uniform = f"((CAST({key} >> {64 - _BITS} AS DOUBLE) + 0.5::DOUBLE) / {2.0**_BITS!r}::DOUBLE)"
    drawn = f"(CASE WHEN {uniform} < 0.5 THEN ln(2 * {uniform}) ELSE -ln(2 * (1 - {uniform})) END)"
    step, low, high = (f"{number!r}::DOUBLE" for number in (noised.step, noised.low, noised.high))
    shifted = f"{value} + round({drawn} * ({scale} / {step})) * {step}"
    found = f"greatest({low}, least({high}, round({shifted}, {noised.digits}))) + 0.0::DOUBLE"
    return f"CAST({found} AS BIGINT)" if noised.whole else found
