"""Budget: a fraction of the records may be left out, the least protected ones first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression
from privmoo.suppression.below_threshold import BelowThreshold
from privmoo.suppression.ranks import Property, check_property, within
from privmoo.suppression.staircase import Staircase

__all__ = ["Budget", "check_fraction", "largest_number"]


@dataclass(frozen=True)
class Budget(Staircase):
    """Leave out at most a fraction of the records, beginning with the least protected groups.

    By itself the policy spends as much of the budget as it can. A search also considers every smaller
    threshold, by size or by ℓ as a real number.

    Dewri et al. 2011, Eq. 7. Either all groups of a size are left out or none, so that the result does not
    depend on an arbitrary choice.

    Args:
        fraction: The largest share of records that may be left out, from 0 to 1.
        by: Whether to order groups by size (`"k"`) or by ⌊ℓ⌋ (`"l"`).

    >>> Budget(0.1).limit(30162)
    3016
    """

    fraction: float
    by: Property = "k"

    def __post_init__(self) -> None:
        check_fraction(self.fraction)
        check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if groups are ordered by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    @property
    def properties(self) -> tuple[str, ...]:
        """The property that orders groups."""
        return (self.by,)

    def at(self, thresholds: NDArray[np.float64]) -> Suppression:
        """Return the threshold as a policy."""
        return BelowThreshold(_whole(float(thresholds[0])), by=self.by)

    def limit(self, n_records: int) -> int:
        """Return the largest number of records that may be left out."""
        return largest_number(self.fraction, n_records)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups beyond the last class that fits the budget."""
        return within(groups, self.limit(groups.table.n_records), self.by)


def _whole(number: float) -> float:
    """Return a float without a fraction as an integer, as people write it."""
    return int(number) if number == int(number) else number


def largest_number(fraction: float, n_records: int) -> int:
    """Return the largest number of records within a fraction, without floating-point errors.

    Args:
        fraction: The fraction.
        n_records: The number of all records.

    >>> largest_number(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return math.floor(Fraction(repr(float(fraction))) * n_records)


def check_fraction(fraction: float) -> None:
    """Raise a ProblemError unless a budget is a number from 0 to 1."""
    if (
        isinstance(fraction, bool)
        or not isinstance(fraction, int | float)
        or not 0 <= fraction <= 1
    ):
        raise ProblemError(
            f"suppression: the budget is a fraction of the records from 0 to 1, got {fraction!r}"
        )
