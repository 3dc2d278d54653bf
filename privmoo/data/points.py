"""Quasi-identifiers as points, so that records have distances and classes have centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo.data.facts import no_distance
from privmoo.data.table import Table
from privmoo.errors import ProblemError

__all__ = ["Scale", "Space"]

Scale = Literal["raw", "standard", "minmax"]


@dataclass(frozen=True)
class Space:
    """The distinct tuples of a table as points of numbers and categories.

    The distance of two points is the squared difference of their numbers plus one for every category
    that differs (Wei et al. 2025, Eq. 12). A quasi-identifier is numeric if all its values are numbers.

    Attributes:
        points: Tuples × quasi-identifiers: a number in its unit, or the code of a category.
        numeric: Which quasi-identifiers are numbers.
        units: The unit of every column: 1 (`"raw"`), the standard deviation of the records
            (`"standard"`) or their range (`"minmax"`); 1 for a category or a constant.
        low: The smallest coordinate of every column.
        high: The largest one.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 40], "sex": ["f", "m"]}), quasi_identifiers=["age", "sex"])
    >>> Space.of(table, "minmax").points.tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """

    points: NDArray[np.float64]
    numeric: NDArray[np.bool_]
    units: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, scale: Scale = "raw") -> Space:
        """Return the points of a table's distinct tuples.

        Args:
            table: The table.
            scale: The unit of numbers; see `units`.
        """
        choice("scale", scale, get_args(Scale))
        points = np.empty((table.n_tuples, table.n_qis))
        units = np.ones(table.n_qis)
        for j, qi in enumerate(table.qis):
            codes = table.tuples[:, j]
            if qi.numbers is None:
                points[:, j] = codes
                continue
            values = qi.numbers[codes]
            if (reason := no_distance(qi.name, values)) is not None:
                raise ProblemError(f"quasi_identifiers: {reason}")
            units[j] = _unit(values, table.weights, scale)
            points[:, j] = values / units[j]
        numeric = np.array([qi.numbers is not None for qi in table.qis])
        return cls(points, numeric, units, points.min(axis=0), points.max(axis=0))


def _unit(values: NDArray[np.float64], weights: NDArray[np.int64], scale: Scale) -> float:
    span = float(values.max() - values.min())
    if scale == "raw" or span == 0:  # a rounded mean of equal numbers has a deviation
        return 1.0
    if scale == "minmax":
        return span
    mean = (values * weights).sum() / weights.sum()
    spread = float(np.sqrt(((values - mean) ** 2 * weights).sum() / weights.sum()))
    return spread if spread > 0 else 1.0
