"""The diversity of QI-groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.groups import GroupBatch
from privmoo.kernels.suppression import group_diversity

__all__ = ["diversity_of_groups"]


def diversity_of_groups(groups: GroupBatch) -> NDArray[np.float64]:
    """Return ℓ of every group: records over the count of its most frequent value.

    Of several attributes the smallest ℓ counts.
    """
    diversity = np.full(len(groups.sizes), np.inf)
    for name in groups.table.sensitive:
        segments = groups.segments[name]
        group_diversity(groups.starts, groups.stops, groups.records, segments, diversity)
    return diversity
