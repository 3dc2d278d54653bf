"""The smallest ranges around the members of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["bounds_of_classes"]


@compiled()
def bounds_of_classes(
    codes: NDArray[Any], classes: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least code of every class and attribute, and one past the largest.

    Args:
        codes: Members × attributes.
        classes: The class of every member; every class has members.
        n_classes: The number of classes.
    """
    d = codes.shape[1]
    start = np.full((n_classes, d), np.iinfo(np.int64).max)
    stop = np.zeros((n_classes, d), np.int64)
    for i in range(len(classes)):
        c = classes[i]
        for j in range(d):
            code = np.int64(codes[i, j])
            start[c, j] = min(start[c, j], code)
            stop[c, j] = max(stop[c, j], code + 1)
    return start, stop
