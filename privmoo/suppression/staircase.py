"""The staircase of a recoding: one release for every threshold within a budget."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.thresholds import RankedGroups, steps_by_both, steps_by_rank, steps_by_size
from privmoo.suppression.base import BySize, Suppression
from privmoo.suppression.ranks import above, group_ranks

__all__ = ["Staircase", "Stairs", "Steps", "most_suppressed", "stairs_of"]

_LONGEST_HISTOGRAM = 1 << 16


class Steps(NamedTuple):
    """The steps of a chunk of candidates, with what is known about each before it is measured.

    Attributes:
        owners: The candidate of every step.
        thresholds: Steps × thresholds.
        k: The size of the smallest group that stays.
        diversity: A lower bound of ℓ of the groups that stay, and ℓ itself for one step of each set of
            groups; NaN if it was not asked for.
        suppressed: The records that are left out.
        losses: The general loss of the records that stay, summed.
    """

    owners: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    k: NDArray[np.float64]
    diversity: NDArray[np.float64]
    suppressed: NDArray[np.float64]
    losses: NDArray[np.float64]

    def at(self, rows: NDArray[np.intp]) -> Steps:
        """Return some of the steps."""
        columns: list[Any] = [column[rows] for column in self]
        return Steps(*columns)

    @classmethod
    def join(cls, parts: list[Steps]) -> Steps:
        """Return the steps of several chunks, whose candidates are numbered consecutively."""
        return cls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


class Staircase(Suppression):
    """A policy with a budget: it allows all thresholds that leave out no more records than that.

    One grouping of a recoding is enough to know all its steps, and every step is a release of its own. By
    itself, the policy releases one of the steps, which `keep` selects.

    A subclass defines the `properties` by which groups are left out, how many records at most
    (`limit`), and the fixed policy of a step (`at`).
    """

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that thresholds apply to: `"k"`, `"l"` or another measure of single groups."""
        raise TypeError(f"{type(self).__name__} must define properties")

    def limit(self, n_records: int) -> int:
        """Return the largest number of records that may be left out."""
        raise TypeError(f"{type(self).__name__} must define limit(n_records)")

    def by_size(self, n_records: int) -> BySize | None:
        """Return that any size within the limit may be a threshold, if thresholds apply to sizes."""
        return BySize(self.limit(n_records), None) if "k" in self.properties else None

    def at(self, thresholds: NDArray[np.float64]) -> Suppression:
        """Return the policy of one step."""
        raise TypeError(f"{type(self).__name__} must define at(thresholds)")

    def steps(self, groups: GroupBatch, *, diversity: bool = False) -> Steps:
        """Return all steps of a chunk of candidates, from their groups before suppression.

        Args:
            groups: The groups.
            diversity: Whether to compute the diversity of the remaining groups even if no threshold needs
                it.
        """
        by = self.properties
        others = [name for name in by if name != "k"]
        if others:
            ranks = group_ranks(groups, others[0])
        elif diversity:
            ranks = diversity_of_groups(groups)
        else:
            ranks = np.empty(0)
        limit = self.limit(groups.table.n_records)
        by_size, by_rank = "k" in by, bool(others)
        sizes = groups.sizes
        if by_size and not by_rank and limit >= _LONGEST_HISTOGRAM:
            ranks, by_size, by_rank = sizes.astype(np.float64), False, True
        find = steps_by_both if by_size and by_rank else steps_by_size if by_size else steps_by_rank
        ranking = RankedGroups(
            groups.starts, groups.stops, sizes, ranks, groups.records, groups.losses
        )
        rows = find(ranking, limit)
        thresholds = rows[:, [2 if name != "k" or not by_size else 1 for name in by]]
        about_l = "l" in others or (diversity and not others and by_size)
        return Steps(
            rows[:, 0].astype(np.int64),
            thresholds,
            rows[:, 3],
            rows[:, 4] if about_l else np.full(len(rows), np.nan),
            rows[:, 5],
            rows[:, 6],
        )

    def keep_of(self, groups: GroupBatch, steps: Steps) -> NDArray[np.bool_]:
        """Return what `keep` returns, where the steps are known already.

        Args:
            groups: The groups of a chunk of candidates.
            steps: All their steps.
        """
        return np.asarray(self.keep(groups))

    def keep_at(self, groups: GroupBatch, thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which groups reach the thresholds of their candidate.

        Args:
            groups: The groups of a chunk of candidates.
            thresholds: Candidates × thresholds.
        """
        keep = np.ones(len(groups.sizes), np.bool_)
        for j, name in enumerate(self.properties):
            keep &= above(groups, group_ranks(groups, name), thresholds[:, j])
        return keep


class Stairs(NamedTuple):
    """The thresholds of one candidate: each distinct size of its groups is a step.

    Attributes:
        sizes: The distinct sizes of the groups, in ascending order.
        suppressed: For every size, the number of records in smaller groups.
        tuple_sizes: The size of the group of every distinct tuple; empty if the groups have no labels.
    """

    sizes: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    tuple_sizes: NDArray[np.int64]

    def within(self, limit: int) -> NDArray[np.int64]:
        """Return the sizes that, as thresholds, suppress at most `limit` records."""
        return self.sizes[self.suppressed <= limit]


def stairs_of(groups: GroupBatch) -> list[Stairs]:
    """Return the staircase of every candidate, from its groups before suppression."""
    staircases = []
    for c in range(len(groups)):
        places = slice(int(groups.starts[c]), int(groups.stops[c]))
        sizes, step = np.unique(groups.sizes[places], return_inverse=True)
        records = np.bincount(step, weights=groups.records[places]).astype(np.int64)
        tuple_sizes = np.zeros(0, np.int64)
        if groups.labels is not None:
            tuple_sizes = groups.sizes[groups.starts[c] + groups.labels[c]]
        staircases.append(Stairs(sizes, np.cumsum(records) - records, tuple_sizes))
    return staircases


def most_suppressed(share: float, n_records: int) -> int:
    """Return the largest number of records whose share is within a limit.

    The share is compared as a constraint compares it, so that both agree on every number of records.

    Args:
        share: The largest share of suppressed records.
        n_records: The number of records of the table.

    >>> most_suppressed(1 / 3, 3)
    1
    """
    return int((np.arange(n_records + 1) / n_records <= share).sum()) - 1
