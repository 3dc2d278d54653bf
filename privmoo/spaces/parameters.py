"""ParameterSpace: the parameters of a scheme as decision variables, whole and real numbers mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError

__all__ = ["Parameter", "ParameterSpace", "parameters_of"]

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


class ParameterSpace:
    """Some parameters as rows of numbers.

    Whole parameters are whole numbers in a row of floats, and real ones have three digits: no privacy
    hangs on the fourth, and equal parameters are found equal.

    >>> space = ParameterSpace([Parameter("k", 2, 50, whole=True), Parameter("epsilon", 0.1, 10)])
    >>> space.clean(np.array([[3.4, 1.23456], [99.0, 0.0]])).tolist()
    [[3.0, 1.23], [50.0, 0.1]]
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.parameters = tuple(parameters)
        self.low = np.array([p.low for p in self.parameters], np.float64)
        self.high = np.array([p.high for p in self.parameters], np.float64)
        self.whole = np.array([p.whole for p in self.parameters], np.bool_)
        self._log = np.array([p.logarithmic for p in self.parameters], np.bool_)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [p.name for p in self.parameters]

    def clean(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Rows within bounds, whole where they must be, real ones with three digits."""
        rows = np.clip(np.atleast_2d(np.asarray(X, np.float64)), self.low, self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            power = 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(rows))))
            rounded = np.where(rows == 0, 0.0, np.rint(rows * power) / power)
        cleaned = np.where(self.whole, np.rint(rows), rounded)
        return np.clip(cleaned, self.low, self.high)

    def to_unit(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Rows with every parameter from 0 to 1, by its logarithm where that is asked for."""
        low, high = self._ends()
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.where(self._log, np.log(X), X)
        return np.asarray((rows - low) / np.where(high > low, high - low, 1.0))

    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both ends on the scale of each parameter; a whole number reaches half a step to either side."""
        half = np.where(self.whole, 0.5, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (
                np.where(self._log, np.log(end), end) for end in (self.low - half, self.high + half)
            )
        return low, high

    def from_unit(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows of numbers from 0 to 1; whole numbers get equal shares, or of their logarithm."""
        units = np.clip(units, 0.0, 1.0)
        low, high = self._ends()
        rows = low + units * (high - low)
        with np.errstate(over="ignore"):
            rows = np.where(self._log, np.exp(rows), rows)
        return self.clean(rows)


def parameters_of(problem: Any) -> ParameterSpace:
    """The parameters that a problem searches, or one sentence that it has none."""
    space = getattr(problem, "parameter_space", None)
    if not isinstance(space, ParameterSpace):
        raise ProblemError(
            f"operator: works on parameters of a scheme, which {type(problem).__name__} does not have"
        )
    return space
