"""What regions of distinct tuples have: the least size, the worst sensitive values, the ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.region_layout import ALPHA, Layout, Limits, count_entries, value_of

__all__ = ["tight_bounds", "worst_values"]


@compiled()
def worst_values(
    layout: Layout, limits: Limits, labels: NDArray[np.int32], n_regions: int
) -> tuple[int, NDArray[np.float64]]:
    """Return the least size of a region, and for every limit its worst value in a region.

    Regions that are left out do not count, as long as there are others.
    """
    sizes, records = np.zeros(n_regions, np.int64), np.zeros(n_regions, np.int64)
    histograms = np.zeros((n_regions, limits.offsets[-1]), np.int64)
    for t in range(len(labels)):
        sizes[labels[t]] += layout.sizes[t]
        records[labels[t]] += layout.weights[t]
        count_entries(limits, t, 1, histograms[labels[t]])
    below = limits.outliers.below if limits.outliers.most > 0 else 0
    if sizes.max() < below:
        below = 0
    least = -1
    worst = np.zeros(len(limits.kinds))
    for r in range(n_regions):
        if sizes[r] < below:
            continue
        for c in range(len(limits.kinds)):
            value = value_of(limits, c, histograms[r], records[r])
            is_worse = value < worst[c] if limits.kinds[c] < ALPHA else value > worst[c]
            if least < 0 or is_worse:
                worst[c] = value
        least = sizes[r] if least < 0 else min(least, sizes[r])
    return int(least), worst


@compiled()
def tight_bounds(
    layout: Layout, labels: NDArray[np.int32], low: NDArray[np.int64], high: NDArray[np.int64]
) -> None:
    """Write the least and the largest code of every region."""
    low[:] = np.iinfo(np.int64).max
    high[:] = -1
    for t in range(len(labels)):
        r = labels[t]
        for a in range(layout.codes.shape[1]):
            code = layout.codes[t, a]
            low[r, a] = min(low[r, a], code)
            high[r, a] = max(high[r, a], code)
