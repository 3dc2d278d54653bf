"""Pareto dominance of points that are minimised."""

from __future__ import annotations

import moocore
import numpy as np
from numpy.typing import NDArray

__all__ = ["non_dominated"]


def non_dominated(F: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows no other row dominates; of equal rows the first.

    >>> non_dominated(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 2.0], [2.0, 1.0]])).tolist()
    [True, False, True, False]
    """
    if F.shape[1] == 1:
        keep = np.zeros(len(F), dtype=np.bool_)
        if len(F):  # moocore would keep the last of equal ones
            keep[int(np.argmin(F[:, 0]))] = True
        return keep
    return np.asarray(moocore.is_nondominated(F), dtype=np.bool_)
