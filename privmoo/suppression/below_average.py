"""BelowAverage: groups below the candidate's own average are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression
from privmoo.suppression.ranks import Property, above, check_property, ranks

__all__ = ["BelowAverage"]


@dataclass(frozen=True)
class BelowAverage(Suppression):
    """Leave out every group below the weighted-k, or weighted-ℓ, of all groups.

    Dewri et al. 2011, Problem 3.

    Args:
        by: Whether to compare the size (`"k"`) or the diversity (`"l"`).

    >>> BelowAverage().by
    'k'
    """

    by: Property = "k"

    def __post_init__(self) -> None:
        check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups at or above the mean over records of their group's size or diversity."""
        rank = ranks(groups, self.by)
        thresholds = np.empty(len(groups))
        for c, (start, stop) in enumerate(zip(groups.starts, groups.stops, strict=True)):
            weights = groups.records[start:stop]
            # Rounding must not lift the mean of equal ranks above them: then nothing would remain.
            thresholds[c] = (weights * rank[start:stop]).sum() / weights.sum() * (1 - 1e-12)
        return above(groups, rank, thresholds)
