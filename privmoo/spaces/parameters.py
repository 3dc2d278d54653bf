"""ParameterSpace: the parameters of a scheme as decision variables, whole and real numbers mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.operators import (
    HashDuplicates,
    ParameterCrossover,
    ParameterMutation,
    ParameterSampling,
)
from privmoo.spaces.base import SearchSpace

__all__ = ["Parameter", "ParameterSpace"]

_DIGITS = 3


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: What it is called.
        low: Its smallest value.
        high: Its largest one.
        whole: Whether it is a whole number.
        logarithmic: Whether it is searched by its logarithm: 0.1 to 1 counts as much as 1 to 10.
    """

    name: str
    low: float
    high: float
    whole: bool = False
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high]).all() and self.low <= self.high):
            raise ProblemError(
                f"{self.name}: needs a smallest and a largest value, got {self.low!r}, {self.high!r}"
            )
        if self.logarithmic and self.low <= 0:
            raise ProblemError(f"{self.name}: must be above 0, got {self.low!r}")


class ParameterSpace(SearchSpace):
    """The parameters of a scheme as rows of numbers.

    A scheme's own space defines `candidates` and `recoding`.

    Whole parameters are whole numbers in a row of floats. Real ones have three digits: privacy does not
    depend on the fourth, and equal parameters compare equal.

    Args:
        table: The records.
        parameters: The parameters, in the order of the variables.

    Attributes:
        low: The smallest value of every parameter.
        high: The largest one.
        whole: Which parameters are whole numbers.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 30]}), quasi_identifiers=["age"])
    >>> space = ParameterSpace(
    ...     table, [Parameter("k", 2, 50, whole=True), Parameter("epsilon", 0.1, 10)]
    ... )
    >>> space.clean(np.array([[3.4, 1.23456], [99.0, 0.0]])).tolist()
    [[3.0, 1.23], [50.0, 0.1]]
    """

    kinds: ClassVar[tuple[str, ...]] = ("parameters",)

    def __init__(self, table: Table, parameters: Sequence[Parameter]) -> None:
        super().__init__(table)
        self.variables = tuple(parameters)
        self.low = np.array([p.low for p in self.variables], np.float64)
        self.high = np.array([p.high for p in self.variables], np.float64)
        self.whole = np.array([p.whole for p in self.variables], np.bool_)
        self._log = np.array([p.logarithmic for p in self.variables], np.bool_)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of every parameter."""
        return self.low, self.high

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [p.name for p in self.variables]

    def clean(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows within bounds, with whole parameters rounded and three digits for the others."""
        rows = np.clip(np.atleast_2d(np.asarray(X, np.float64)), self.low, self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            power = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(rows))))
            rounded = np.where(rows == 0, 0.0, np.rint(rows * power) / power)
        cleaned = np.where(self.whole, np.rint(rows), rounded)
        return np.clip(cleaned, self.low, self.high)

    def to_unit(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows with every parameter from 0 to 1, by its logarithm where that is asked for."""
        low, high = self._ends()
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.where(self._log, np.log(X), X)
        return np.asarray((rows - low) / np.where(high > low, high - low, 1.0))

    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both ends on each parameter's scale; a whole number reaches half a step further."""
        half = np.where(self.whole, 0.5, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (
                np.where(self._log, np.log(end), end) for end in (self.low - half, self.high + half)
            )
        return low, high

    def from_unit(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows that numbers from 0 to 1 stand for; whole numbers get equal shares."""
        units = np.clip(units, 0.0, 1.0)
        low, high = self._ends()
        rows = low + units * (high - low)
        with np.errstate(over="ignore"):
            rows = np.where(self._log, np.exp(rows), rows)
        return self.clean(rows)

    def operators(self) -> dict[str, Any]:
        """Return evenly spread sampling, and crossover and mutation on the scales of the parameters."""
        return {
            "sampling": ParameterSampling(),
            "crossover": ParameterCrossover(),
            "mutation": ParameterMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }
