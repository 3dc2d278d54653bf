"""Confidence intervals of shares (Wilson 1927)."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["difference", "lower_bounds", "wilson"]

Interval = tuple[float, float]


def wilson(hits: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Return Wilson's interval of a share.

    Args:
        hits: The number of successes.
        trials: The number of trials; without any, the share may be anything.
        confidence: How often the interval contains the true share.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    if not trials:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre, half = _centre_and_half(np.array(hits, np.float64), trials, z)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def difference(
    first: tuple[int, int], second: tuple[int, int], *, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the difference of two shares with its interval (Newcombe 1998, method 10).

    Args:
        first: Successes and trials of the first share.
        second: Those of the share that is subtracted.
        confidence: How often the interval contains the true difference.

    >>> [round(x, 4) for x in difference((56, 70), (48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    (low1, high1), (low2, high2) = (
        wilson(*shares, confidence=confidence) for shares in (first, second)
    )
    share1, share2 = (hits / trials if trials else 0.0 for hits, trials in (first, second))
    gap = share1 - share2
    below = np.hypot(share1 - low1, high2 - share2)
    above = np.hypot(high1 - share1, share2 - low2)
    return gap, max(-1.0, float(gap - below)), min(1.0, float(gap + above))


def lower_bounds(
    hits: NDArray[np.int64], trials: int, *, tests: int = 1, confidence: float = 0.95
) -> NDArray[np.float64]:
    """Return lower bounds of shares that hold together (Bonferroni).

    Args:
        hits: The successes of every share.
        trials: The trials of each.
        tests: For how many shares the bounds hold together.
        confidence: The probability that all of them hold.

    >>> lower_bounds(np.array([10]), 10, tests=100).round(2).tolist()
    [0.48]
    """
    z = NormalDist().inv_cdf(1 - (1 - confidence) / tests)
    centre, half = _centre_and_half(hits.astype(np.float64), trials, z)
    return np.maximum(centre - half, 0.0)


def _centre_and_half(
    hits: NDArray[np.float64], trials: int, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    share = hits / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z / scale * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return centre, half
