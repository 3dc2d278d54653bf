"""What a recoding may choose for every quasi-identifier: a list of partitions of its leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.cuts import CutSpace
from privmoo.spaces.levels import LevelSpace

__all__ = [
    "CutChoices",
    "LevelChoices",
    "PartitionChoices",
    "choices_of",
    "count_cuts",
    "list_cuts",
]

_LONGEST_LIST = 1 << 16
_MOST_NODES = 1 << 62  # that have a number


class PartitionChoices:
    """All recodings of a space as a product of lists: one partition for every quasi-identifier.

    Attributes:
        table: The records.
        sizes: How many partitions every quasi-identifier has.
    """

    def __init__(self, table: Table, sizes: Sequence[int]) -> None:
        self.table = table
        self.sizes = [int(size) for size in sizes]

    @property
    def n_nodes(self) -> int:
        """The number of combinations."""
        return math.prod(self.sizes)

    def listed(self) -> list[int]:
        """Return the places of the quasi-identifiers whose partitions can be listed, all if possible."""
        order = sorted(range(len(self.sizes)), key=lambda j: self.sizes[j])
        columns: list[int] = []
        n_nodes = 1
        for j in order:
            n_nodes *= self.sizes[j]
            if self.sizes[j] <= _LONGEST_LIST and n_nodes < _MOST_NODES:
                columns.append(j)
        return sorted(columns)

    def coarsest(self) -> NDArray[Any]:
        """Return the decision vector that merges all it may, and leaves out as little as it may."""
        raise TypeError(f"{type(self).__name__} must define coarsest()")

    def blocks(self, j: int) -> NDArray[np.integer[Any]]:
        """Return the partitions of a quasi-identifier: partitions × leaves, the block of every leaf."""
        raise TypeError(f"{type(self).__name__} must define blocks(j)")

    def bits(self, j: int) -> NDArray[np.bool_]:
        """Return the partitions of a quasi-identifier as bits between neighbours; 1 keeps them apart."""
        return np.asarray(np.diff(self.blocks(j).astype(np.int64), axis=1) != 0)

    def row(self, places: NDArray[np.int64], threshold: int | None = None) -> NDArray[Any]:
        """Return the decision vector of a combination.

        Args:
            places: The place of a partition in the list of every quasi-identifier.
            threshold: The least size of a published group, where decision vectors choose it.
        """
        raise TypeError(f"{type(self).__name__} must define row(places, threshold)")


class LevelChoices(PartitionChoices):
    """The levels of a space of levels, the lowest first.

    Args:
        space: The space.
    """

    def __init__(self, space: LevelSpace) -> None:
        super().__init__(space.table, space.n_levels.tolist())
        self.space = space

    def blocks(self, j: int) -> NDArray[np.integer[Any]]:
        """Return the blocks of every level of a quasi-identifier."""
        levels = self.space.hierarchies[j].level_blocks
        return np.asarray(levels[self.space.lowest[j] : self.space.highest[j] + 1])

    def row(self, places: NDArray[np.int64], threshold: int | None = None) -> NDArray[Any]:
        """Return levels as a decision vector.

        Args:
            places: How far every level is above the lowest.
            threshold: The least size of a published group, where decision vectors choose it.
        """
        return self.space.from_levels(self.space.lowest + places, threshold)

    def coarsest(self) -> NDArray[Any]:
        """Return the highest levels, with every group published."""
        return self.space.from_levels(self.space.highest, 1)


class CutChoices(PartitionChoices):
    """All valid cuts of every quasi-identifier, the finest first.

    Args:
        space: The space.
    """

    def __init__(self, space: CutSpace) -> None:
        sizes = [count_cuts(space, j) for j in range(space.n_attributes)]
        super().__init__(space.table, sizes)
        self.space = space
        self._bits: dict[int, NDArray[np.bool_]] = {}

    def bits(self, j: int) -> NDArray[np.bool_]:
        """Return the cuts of a quasi-identifier as rows of its bits."""
        if j not in self._bits:
            self._bits[j] = list_cuts(self.space, j)
        return self._bits[j]

    def blocks(self, j: int) -> NDArray[np.integer[Any]]:
        """Return the blocks of every cut of a quasi-identifier."""
        bits = self.bits(j)
        first = np.zeros((len(bits), 1), np.uint32)
        return np.hstack([first, np.cumsum(bits, axis=1, dtype=np.uint32)])

    def row(self, places: NDArray[np.int64], threshold: int | None = None) -> NDArray[Any]:
        """Return the bits of all cuts side by side; the policy chooses the threshold.

        Args:
            places: The place of a cut in the list of every quasi-identifier.
            threshold: Not used.
        """
        return np.concatenate([self.bits(j)[at] for j, at in enumerate(places)])

    def coarsest(self) -> NDArray[Any]:
        """Return the cut that merges everything that may be merged."""
        return self.space.coarsest()


def choices_of(problem: AnonymizationProblem) -> PartitionChoices:
    """Return the choices of a problem of cuts or levels.

    Raises:
        ProblemError: The problem searches something else.
    """
    kinds = getattr(getattr(problem, "space", None), "kinds", ())
    if "cuts" in kinds:
        return CutChoices(space_of(problem, "cuts"))
    if "levels" in kinds:
        return LevelChoices(space_of(problem, "levels"))
    raise ProblemError(
        f"problem: {type(problem).__name__} does not search levels or cuts alone, so its front cannot be "
        "proven; use a problem such as Levels or Cuts"
    )


def count_cuts(space: CutSpace, j: int) -> int:
    """Return how many valid cuts a quasi-identifier has, without listing them.

    A switch is closed in one way, and open in as many ways as its children have together.

    Args:
        space: The cuts of a table.
        j: The place of the quasi-identifier.
    """
    low, high = int(space.switch_offsets[j]), int(space.switch_offsets[j + 1])
    ways_open = [1] * (high - low)
    total = 1
    for switch in range(high - 1, low - 1, -1):  # pre-order: children come after their parent
        bit = space.first[switch]
        ways = int(not space.fixed_one[bit])
        if not space.fixed_zero[bit]:
            ways += ways_open[switch - low]
        above = int(space.parent[switch])
        if above >= 0:
            ways_open[above - low] *= ways
        else:
            total *= ways
    return total


def list_cuts(space: CutSpace, j: int) -> NDArray[np.bool_]:
    """Return all valid cuts of a quasi-identifier as rows of its bits, those with the most ones first.

    Args:
        space: The cuts of a table.
        j: The place of the quasi-identifier.
    """
    begin, stop = int(space.offsets[j]), int(space.offsets[j + 1])
    rows = np.zeros((1, stop - begin), np.bool_)
    owner = space.owner[begin:stop]
    for switch in range(int(space.switch_offsets[j]), int(space.switch_offsets[j + 1])):
        bit, above = space.first[switch], int(space.parent[switch])
        can_open = np.ones(len(rows), np.bool_)
        if above >= 0:
            can_open = rows[:, space.first[above] - begin]
        opened = rows[can_open & ~space.fixed_zero[bit]] | (owner == switch)
        rows = opened if space.fixed_one[bit] else np.concatenate([rows, opened])
    order = np.argsort(-rows.sum(axis=1), kind="stable")
    return rows[order]
