"""Flat regions: stretches of a trade-off where much is gained for little (Dewri et al. 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.front.pairs import Pair, pair_of

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["flat_regions", "largest_regions"]

_STEEPNESS = 2.0
_MIN_GAIN = 0.03


def flat_regions(
    front: Front,
    *,
    gain: str | None = None,
    cost: str | None = None,
    steepness: float = _STEEPNESS,
    min_gain: float = _MIN_GAIN,
) -> pd.DataFrame:
    """Return the flat regions of a trade-off, for `Front.flat_regions`.

    Args:
        front: The front.
        gain: What is gained; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        steepness: The least gain per cost, as a multiple of the front's average.
        min_gain: The least gain of a region, as a share of the front's whole range.
    """
    pair = pair_of(front, gain, cost)
    costs, gains = pair.scaled()
    columns = [f"{q.key}_{end}" for end in ("from", "to") for q in (pair.paid, pair.gained)]
    rows = [
        [
            *(column[end] for end in (i, j) for column in (pair.costs, pair.gains)),
            front.numbers[pair.rows[i]],
            front.numbers[pair.rows[j]],
            (gains[j] - gains[i]) / (costs[j] - costs[i]),
        ]
        for i, j in _regions(costs, gains, steepness, min_gain)
    ]
    names = [*columns, "solution_from", "solution_to", "steepness"]
    frame = pd.DataFrame(rows, columns=pd.Index(names))
    integer_types = {"solution_from": np.int64, "solution_to": np.int64}
    return frame.astype({name: integer_types.get(name, np.float64) for name in names})


def largest_regions(pair: Pair, number: int) -> tuple[list[tuple[int, int]], int]:
    """Return the flat regions that gain most beyond the average, and how many regions there are.

    Args:
        pair: The trade-off.
        number: The largest number of regions to return.

    Returns:
        First and last place along the pair of each region, in the order of the cost; and the number
        of all flat regions.
    """
    costs, gains = pair.scaled()
    regions = _regions(costs, gains, _STEEPNESS, _MIN_GAIN)
    bargain = [gains[j] - gains[i] - (costs[j] - costs[i]) for i, j in regions]
    return sorted(regions[i] for i in np.argsort(bargain)[::-1][:number]), len(regions)


def _regions(
    paid: NDArray[np.float64], gained: NDArray[np.float64], steepness: float, min_gain: float
) -> list[tuple[int, int]]:
    """Return all maximal stretches in which the gain most exceeds `steepness` times the cost.

    That is the stretch where gain - steepness · cost rises most, then the same on both sides of it.
    """
    profit = gained - steepness * paid
    regions = []
    open_parts = [(0, len(profit))]
    while open_parts:
        low, high = open_parts.pop()
        if high - low < 2:
            continue
        lowest = np.minimum.accumulate(profit[low:high])
        end = int(np.argmax(profit[low:high] - lowest))
        begin = int(np.flatnonzero(profit[low : low + end + 1] == lowest[end])[-1])
        if begin == end:
            continue
        i, j = low + begin, low + end
        if gained[j] - gained[i] >= min_gain:
            regions.append((i, j))
        open_parts += [(low, i + 1), (j, high)]
    return sorted(regions)
