"""Effect size: how often values of one sample are above those of another (Vargha and Delaney 2000)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["a12", "effect_word"]

# The limits of Vargha and Delaney (2000), for the distance of A12 from a half.
_WORDS = ((0.06, "negligible"), (0.14, "small"), (0.21, "medium"), (math.inf, "large"))


def a12(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the chance that a value of the first sample is above one of the second; ties count half.

    Vargha and Delaney 2000, equation 14.

    Args:
        first: The first sample.
        second: The second sample.

    >>> a12(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    0.875
    """
    in_order = np.sort(second)
    below = np.searchsorted(in_order, first, side="left")
    not_above = np.searchsorted(in_order, first, side="right")
    return float((below + not_above).sum() / (2 * len(first) * len(second)))


def effect_word(value: float) -> str:
    """Return the word for the size of an effect, given its A12.

    >>> effect_word(0.5), effect_word(0.95), effect_word(0.4)
    ('negligible', 'large', 'small')
    """
    distance = round(abs(value - 0.5), 12)
    return next(word for limit, word in _WORDS if distance < limit)
