"""Thresholds: groups below a size or below a diversity are left out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import BySize, Suppression
from privmoo.suppression.ranks import above, ranks

__all__ = ["Thresholds"]


@dataclass(frozen=True)
class Thresholds(Suppression):
    """Leave out every group of fewer than k persons *or* with a diversity below ℓ.

    What remains is (k, ℓ)-safe: each of its groups has both.

    Args:
        k: The smallest size that stays, at least 1.
        l: The smallest diversity that stays, at least 1.

    >>> Thresholds(k=5, l=2).describe()
    {'policy': 'Thresholds', 'k': 5, 'l': 2}
    """

    k: float = 1
    l: float = 1  # noqa: E741  # the name that everybody uses

    def __post_init__(self) -> None:
        for name, value in (("k", self.k), ("l", self.l)):
            if isinstance(value, bool) or not (math.isfinite(value) and value >= 1):
                raise ProblemError(f"{name}: must be a number of at least 1, got {value!r}")

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if there is a threshold on ℓ."""
        return frozenset({"counts"}) if self.l > 1 else frozenset()

    def by_size(self, n_records: int) -> BySize | None:
        """Return the threshold on sizes."""
        return BySize(n_records, self.k)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups at or above both thresholds."""
        keep = above(groups, groups.sizes, np.full(len(groups), float(self.k)))
        if self.l > 1:
            keep &= above(groups, ranks(groups, "l"), np.full(len(groups), float(self.l)))
        return keep
