"""Copying one array into another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["write_into"]


@compiled()
def write_into(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Write an array into another one of the same shape.

    `target[:] = source` does the same, but numba then compiles a message about shapes that do not
    fit, and everything that turns numbers into text: a second of work.

    Args:
        target: The array to write to.
        source: The array to read.
    """
    for i in np.ndindex(target.shape):
        target[i] = source[i]
