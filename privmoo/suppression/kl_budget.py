"""KLBudget: a budget that is spent in the order of (k, ℓ) classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression
from privmoo.suppression.budget import check_fraction, largest_number
from privmoo.suppression.ranks import Property, check_property, within

__all__ = ["KLBudget"]


@dataclass(frozen=True)
class KLBudget(Suppression):
    """Spend a budget in the order of (k, ℓ) classes (Dewri et al. 2011, Eqs. 8 and 9).

    The *less* desired property is the primary key: with `prefer="l"`, classes are ordered by size, and the
    last one by ⌊ℓ⌋. Only the primary property is guaranteed by the order; the paper's claim that the rest
    is (d₁, d₂)-safe is not true in general, so k and ℓ are measured on what remains.

    Args:
        fraction: The largest share of records that may be left out, from 0 to 1.
        prefer: The property to raise, `"k"` or `"l"`.

    >>> KLBudget(0.1, prefer="l").describe()
    {'policy': 'KLBudget', 'fraction': 0.1, 'prefer': 'l'}
    """

    fraction: float
    prefer: Property = "k"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})

    def __post_init__(self) -> None:
        check_fraction(self.fraction)
        check_property("prefer", self.prefer)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups beyond the last class that fits the budget."""
        limit = largest_number(self.fraction, groups.table.n_records)
        return (
            within(groups, limit, "k", "l")
            if self.prefer == "l"
            else within(groups, limit, "l", "k")
        )
