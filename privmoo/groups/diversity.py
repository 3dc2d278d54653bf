"""The diversity of QI-groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.groups import GroupBatch
from privmoo.groups.missing import worst_case
from privmoo.kernels.suppression import group_diversity

__all__ = ["diversity_of_groups"]


def diversity_of_groups(groups: GroupBatch) -> NDArray[np.float64]:
    """Return ℓ of every group: records over the count of its most frequent value.

    A missing value counts as the most frequent one. Of several attributes the smallest ℓ counts. The
    result is kept with the groups, since a policy needs it for its steps and again to choose one.
    """
    key = ("diversity",)
    if key not in groups.derived:
        diversity = np.full(len(groups.sizes), np.inf)
        for attribute in groups.table.sensitive.values():
            segments = worst_case(groups, attribute)
            group_diversity(groups.starts, groups.stops, groups.records, segments, diversity)
        groups.derived[key] = diversity
    of_groups: NDArray[np.float64] = groups.derived[key]
    return of_groups
