"""Holm's correction of the p-values of several tests (Holm 1979)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["holm"]


def holm(p: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the adjusted p-values of several tests; NaN stays and does not count.

    >>> holm([0.01, 0.04, float("nan"), 0.03]).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    result = np.full(len(values), np.nan)
    places = np.flatnonzero(~np.isnan(values))
    order = places[np.argsort(values[places], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    result[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return result
