"""Median and interquartile range of values that may be infinite."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["interquartile_range", "median"]


def median(values: NDArray[np.float64]) -> float:
    """Return the median, even if values are infinite; NaN if there are no values."""
    if not len(values):
        return math.nan
    in_order = np.sort(values)
    low, high = in_order[(len(values) - 1) // 2], in_order[len(values) // 2]
    return float(low if low == high else (low + high) / 2)


def interquartile_range(values: NDArray[np.float64]) -> float:
    """Return the interquartile range, as in a box plot; infinite if a quarter of the values is.

    >>> interquartile_range(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    2.0
    """
    if not len(values):
        return math.nan
    if np.isfinite(values).all():
        low, high = np.quantile(values, [0.25, 0.75])
    else:
        low, high = np.quantile(values, [0.25, 0.75], method="inverted_cdf")
    return float(high - low) if low < high else 0.0
