"""Suppression policies: which records a release leaves out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.suppression import group_diversity, keep_above, keep_within_budget

__all__ = [
    "BelowAverage",
    "BelowThreshold",
    "Budget",
    "ExplicitRecords",
    "KLBudget",
    "NoSuppression",
    "Suppression",
    "diversity_of_groups",
]

Property = Literal["k", "l"]


class Suppression:
    """What a policy must say: which groups stay, and what it needs to know of them.

    Attributes:
        needs: Parts of the groups that must be computed for it, as for measures.
    """

    needs: ClassVar[frozenset[str]] = frozenset()

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_] | None:
        """Whether each group stays, aligned with `groups.sizes`; None if all do."""
        raise TypeError(f"{type(self).__name__} must define keep(groups)")

    def describe(self) -> dict[str, Any]:
        """Name and parameters, for reports and files."""
        return {"policy": type(self).__name__, **vars(self)}

    @property
    def required(self) -> frozenset[str]:
        """The needs of this very policy, which may depend on its parameters."""
        return self.needs


@dataclass(frozen=True)
class NoSuppression(Suppression):
    """Every record is released.

    >>> NoSuppression().describe()
    {'policy': 'NoSuppression'}
    """

    def keep(self, groups: GroupBatch) -> None:
        """All groups stay."""
        return


@dataclass(frozen=True)
class Budget(Suppression):
    """At most a fraction of the records, from the least protected groups on (Dewri et al., Eq. 7).

    Whole classes only: either all groups of a size are left out or none, so that the result does not
    depend on an arbitrary choice. `by="l"` orders by ⌊ℓ⌋ instead of the size.

    >>> Budget(0.1).limit(30162)
    3016
    """

    fraction: float
    by: Property = "k"

    def __post_init__(self) -> None:
        _check_fraction(self.fraction)
        _check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if ordered by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    def limit(self, n_records: int) -> int:
        """The largest number of records that may go; exact, no rounding of a product of floats."""
        return math.floor(Fraction(repr(float(self.fraction))) * n_records)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups beyond the last class that fits the budget."""
        return _within(groups, self.limit(groups.table.n_records), self.by, None)


@dataclass(frozen=True)
class KLBudget(Suppression):
    """A budget spent in the order of (k, ℓ) classes (Dewri et al., Eqs. 8 and 9).

    The *less* desired property is the primary key: with `prefer="l"` classes go by size first, then by
    ⌊ℓ⌋ within the last size. Only the primary property is guaranteed by the order; the paper's claim
    that the rest is (d₁, d₂)-safe is not true in general, so k and ℓ are measured on what remains.

    >>> KLBudget(0.1, prefer="l").describe()
    {'policy': 'KLBudget', 'fraction': 0.1, 'prefer': 'l'}
    """

    fraction: float
    prefer: Property = "k"
    needs: ClassVar[frozenset[str]] = frozenset({"counts"})

    def __post_init__(self) -> None:
        _check_fraction(self.fraction)
        _check_property("prefer", self.prefer)

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups beyond the last class that fits the budget."""
        limit = Budget(self.fraction).limit(groups.table.n_records)
        return (
            _within(groups, limit, "k", "l")
            if self.prefer == "l"
            else _within(groups, limit, "l", "k")
        )


@dataclass(frozen=True)
class BelowThreshold(Suppression):
    """Every group of fewer than k persons (or of a diversity below `k`, `by="l"`) is left out.

    >>> BelowThreshold(5).k
    5
    """

    k: float
    by: Property = "k"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k) and self.k >= 1):
            raise ProblemError(f"k: must be a number of at least 1, got {self.k!r}")
        _check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups at or above the threshold."""
        thresholds = np.full(len(groups), float(self.k))
        return _above(groups, _rank(groups, self.by), thresholds)


@dataclass(frozen=True)
class BelowAverage(Suppression):
    """Every group below weighted-k, or weighted-ℓ, of all groups is left out (Dewri et al., Problem 3).

    >>> BelowAverage().by
    'k'
    """

    by: Property = "k"

    def __post_init__(self) -> None:
        _check_property("by", self.by)

    @property
    def required(self) -> frozenset[str]:
        """Counts of sensitive values, if by ℓ."""
        return frozenset({"counts"}) if self.by == "l" else frozenset()

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups at or above the mean over records of their group's size or diversity."""
        ranks = _rank(groups, self.by)
        thresholds = np.empty(len(groups))
        for c, (a, b) in enumerate(zip(groups.starts, groups.stops, strict=True)):
            weights = groups.records[a:b]
            # Rounding must not lift the mean of equal ranks above them: then nothing would remain.
            thresholds[c] = (weights * ranks[a:b]).sum() / weights.sum() * (1 - 1e-12)
        return _above(groups, ranks, thresholds)


@dataclass(frozen=True)
class ExplicitRecords(Suppression):
    """The candidate itself says which records are published (Jahan et al., vector B).

    >>> ExplicitRecords().describe()
    {'policy': 'ExplicitRecords'}
    """

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Groups that have a record left."""
        return _above(groups, groups.sizes, np.ones(len(groups)))


def above_thresholds(groups: GroupBatch, thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which groups have at least the size that their candidate asks for."""
    return _above(groups, groups.sizes, thresholds)


def diversity_of_groups(groups: GroupBatch) -> NDArray[np.float64]:
    """ℓ of every group: records over its most frequent value's count, the least over attributes."""
    diversity = np.full(len(groups.sizes), np.inf)
    for name in groups.table.sensitive:
        segments = groups.segments[name]
        group_diversity(groups.starts, groups.stops, groups.records, segments, diversity)
    return diversity


def _rank(groups: GroupBatch, by: Property) -> NDArray[Any]:
    return groups.sizes if by == "k" else diversity_of_groups(groups)


def _within(
    groups: GroupBatch, limit: int, first: Property, second: Property | None
) -> NDArray[np.bool_]:
    keys: list[NDArray[np.int64]] = []
    for by in (first, second):
        if by is None:
            keys.append(np.zeros(0, np.int64))
        elif by == "k":
            keys.append(groups.sizes)
        else:
            finite = np.where(np.isfinite(rank := diversity_of_groups(groups)), rank, 0)
            keys.append(finite.astype(np.int64))
    kept = np.empty(len(groups.sizes), np.bool_)
    keep_within_budget(groups.starts, groups.stops, keys[0], keys[1], groups.records, limit, kept)
    return kept


def _above(
    groups: GroupBatch, ranks: NDArray[Any], thresholds: NDArray[np.float64]
) -> NDArray[np.bool_]:
    kept = np.empty(len(groups.sizes), np.bool_)
    keep_above(groups.starts, groups.stops, ranks, thresholds, kept)
    return kept


def _check_fraction(fraction: float) -> None:
    if (
        isinstance(fraction, bool)
        or not isinstance(fraction, int | float)
        or not 0 <= fraction <= 1
    ):
        raise ProblemError(
            f"suppression: the budget is a fraction of the records from 0 to 1, got {fraction!r}"
        )


def _check_property(name: str, value: str) -> None:
    if value not in ("k", "l"):
        raise ProblemError(f"{name}: must be 'k' or 'l', got {value!r}")
