"""BelowThreshold: groups below a fixed size or diversity are left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import BySize, Suppression
from privmoo.suppression.ranks import Property, above, check_property, ranks

__all__ = ["BelowThreshold"]


@dataclass(frozen=True)
class BelowThreshold(Suppression):
    """Leave out every group of fewer than k persons, or with a diversity below `k`.

    Args:
        k: The smallest size (or diversity) that stays, at least 1.
        by: Whether to compare the size (`"k"`) or the diversity (`"l"`).

    >>> BelowThreshold(5).k
    5
    """

    k: float
    by: Property = "k"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k) and self.k >= 1):
            raise ProblemError(f"k: must be a number of at least 1, got {self.k!r}")
        check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    def by_size(self, n_records: int) -> BySize | None:
        """Return the threshold, if it applies to sizes."""
        return BySize(n_records, self.k) if self.by == "k" else None

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups at or above the threshold."""
        thresholds = np.full(len(groups), float(self.k))
        return above(groups, ranks(groups, self.by), thresholds)
