"""Laplace noise for a copy: every record draws its own, whoever copies it and in how many threads."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.engines.duckdb.sql import text_of

__all__ = ["Noised", "draws", "noise_sql"]

FloatArray = NDArray[np.float64]
_BITS = 53


@dataclass(frozen=True)
class Noised:
    """The noise of one column.

    Attributes:
        scales: Of the Laplace distribution, for every row of `Mapped`.
        salts: A number of the original values of every row of `Mapped`. Other people at the same places
            must not get the same noise: its difference would tell theirs.
        step: What noise is rounded to.
        low: The smallest number of the domain.
        high: The largest one.
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
        """Digits after the point that numbers of this step have."""
        return max(0, -math.floor(math.log10(self.step)))

    def add(
        self, values: FloatArray, rows: NDArray[np.int64], drawn: FloatArray
    ) -> NDArray[np.generic]:
        """The numbers of some rows of `Mapped`, with noise.

        >>> own = Noised(np.array([2.0, 1.0]), np.zeros(2, np.uint64), 1.0, 0.0, 9.0, True)
        >>> own.add(np.array([5.0, 8.0]), np.array([0, 1, 0]), np.array([0.6, 3.0, -1.2])).tolist()
        [6, 9, 3]
        """
        shifted = values[rows] + np.rint(drawn * (self.scales[rows] / self.step)) * self.step
        # Sums of fractions have digits that nobody wrote.
        found = np.clip(np.round(shifted, self.digits), self.low, self.high) + 0.0
        return found.astype(np.int64) if self.whole else found


def draws(secret: str, column: int, partition: int, salts: NDArray[np.uint64]) -> FloatArray:
    """Standard Laplace draws for the records of a partition, from a key of its own and their salts.

    >>> salts = np.arange(4, dtype=np.uint64)
    >>> draws("s", 0, 3, salts)[:2].tolist() == draws("s", 0, 3, salts[:2]).tolist()
    True
    """
    key = hashlib.shake_256(f"{secret}|{column}|{partition}".encode()).digest(8 * len(salts))
    mixed = _mixed(np.frombuffer(key, "<u8") ^ salts)
    uniform = ((mixed >> np.uint64(64 - _BITS)) + 0.5) / 2.0**_BITS
    return np.asarray(np.where(uniform < 0.5, np.log(2 * uniform), -np.log(2 * (1 - uniform))))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a number changes all others (the finaliser of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def noise_sql(noised: Noised, value: str, row: str, secret: str, column: int, place: str) -> str:
    """The same in SQL, by another hash; `row` has the scale `n…` and the salt `h…` of the column.

    `place` is an expression that tells records apart by where they stand.
    """
    scale, salt = f"{row}.n{column}", f"{row}.h{column}"
    key = f"md5_number_upper(concat({text_of(f'{secret}|{column}')}, '|', {salt}, '|', {place}))"
    uniform = f"((CAST({key} >> {64 - _BITS} AS DOUBLE) + 0.5::DOUBLE) / {2.0**_BITS!r}::DOUBLE)"
    drawn = f"(CASE WHEN {uniform} < 0.5 THEN ln(2 * {uniform}) ELSE -ln(2 * (1 - {uniform})) END)"
    step, low, high = (f"{number!r}::DOUBLE" for number in (noised.step, noised.low, noised.high))
    shifted = f"{value} + round({drawn} * ({scale} / {step})) * {step}"
    found = f"greatest({low}, least({high}, round({shifted}, {noised.digits}))) + 0.0::DOUBLE"
    return f"CAST({found} AS BIGINT)" if noised.whole else found
