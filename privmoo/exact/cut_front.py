"""The front of all cuts: one search by switches for every step of the staircase of known cuts."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.exact.costs import SweepGoal
from privmoo.exact.cut_search import CutSearch, DecidedCut, cut_table, undecided_cut
from privmoo.exact.stopwatch import Stopwatch
from privmoo.kernels.partial_cuts import CutAim, CutTable
from privmoo.spaces.cuts import CutSpace

__all__ = ["CutFront", "search_cuts"]

_FIRST_SLICE = 64  # partial cuts; doubled in every round
_RACE = 256  # partial cuts, after which the better of two ways to choose switches goes on


class CutFront(NamedTuple):
    """What a search for the front of all cuts knows at its end.

    Attributes:
        cuts: The cuts that were found and that nothing known dominates.
        levels: Levels of privacy that were searched, in ascending order.
        costs: What every cut that reaches such a level costs at least; infinite if there is none.
        finished: Whether no cut can be missing.
        visited: How many partial cuts were examined.
    """

    cuts: list[DecidedCut]
    levels: NDArray[np.int64]
    costs: NDArray[np.float64]
    finished: bool
    visited: int

    def bound(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what cuts that reach some levels cost at least.

        Args:
            levels: The levels.
        """
        costs = np.maximum.accumulate(np.concatenate([[0.0], self.costs]))
        return costs[np.searchsorted(self.levels, levels, side="right")]


class _Staircase:
    """The least costs known, by the level that they reach."""

    def __init__(self, points: Iterable[tuple[int, float]]) -> None:
        self.levels: list[int] = []
        self.costs: dict[int, float] = {}
        for level, cost in points:
            self.add(level, cost)

    def cost_of(self, level: int) -> float:
        """Return the least cost known of what reaches a level; infinite if nothing does."""
        place = bisect_left(self.levels, level)
        return self.costs[self.levels[place]] if place < len(self.levels) else math.inf

    def add(self, level: int, cost: float) -> None:
        """Take note of a cost, and forget what is dominated by it.

        Args:
            level: The level that is reached.
            cost: What it costs.
        """
        if cost >= self.cost_of(level):
            return
        for lower in reversed(self.levels[: bisect_left(self.levels, level + 1)]):
            if self.costs[lower] < cost:
                break
            self.levels.remove(lower)
            del self.costs[lower]
        insort(self.levels, level)
        self.costs[level] = cost

    def steps(self, first: int) -> list[int]:
        """Return the lowest level of every step, and the first level that nothing reaches."""
        return [first, *(level + 1 for level in self.levels if level >= first)]


def _spread(levels: Sequence[int]) -> list[int]:
    """Return levels in an order of which every beginning is spread evenly: bounds for all come early."""
    n_bits = len(levels).bit_length()
    order = sorted(range(len(levels)), key=lambda i: f"{i:0{n_bits}b}"[::-1])
    return [levels[i] for i in order]


class _Race:
    """The search for one level: two ways to choose switches, of which the better goes on after a while."""

    def __init__(self, cuts: CutTable, aim: CutAim, start: NDArray[np.uint8]) -> None:
        ways = (True,) if aim.squares else (True, False)
        self.runners = [CutSearch(cuts, aim, start, by_bound=way) for way in ways]
        self.visited = 0

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left that may be cheaper than what was known last."""
        return any(runner.is_finished for runner in self.runners)

    @property
    def bound(self) -> float:
        """What every cut that reaches the level costs at least; infinite if there is none."""
        return max(runner.bound for runner in self.runners)

    def step(self, floor: float) -> DecidedCut | None:
        """Go on in turns; return a cut that costs less than `floor`, if one is met.

        Args:
            floor: The cost of a cut that is known.
        """
        if len(self.runners) > 1 and self.visited >= _RACE:
            self.runners = [max(self.runners, key=lambda runner: runner.bound)]
        self.visited += 1
        return self.runners[self.visited % len(self.runners)].step(floor)


def search_cuts(
    space: CutSpace,
    goal: SweepGoal,
    watch: Stopwatch,
    *,
    until: float = 1.0,
    known: Iterable[tuple[int, float]] = (),
    bar: Any = None,
) -> CutFront:
    """Search the cheapest cut for every level of privacy: every k, or every sum of squares.

    A cut that is the cheapest of those that reach a level is the cheapest for all levels up to the one
    that it has itself. So the lowest level of every step of the known staircase is searched, and if a
    search finds a cut, the steps change. All searches go on in turns, for twice as long in every round,
    so that an early end has bounds for all of them.

    Args:
        space: The cuts.
        goal: What is searched.
        watch: The time.
        until: The share of the time that may have gone by at the end.
        known: Levels and costs that other searches reached; only what is better is searched.
        bar: The progress bar, which counts partial cuts.
    """
    cuts = cut_table(space.table, space, goal.kind)
    whole = undecided_cut(space)
    stairs = _Staircase(known)
    by_level: dict[int, DecidedCut] = {}
    searches: dict[int, _Race] = {}
    first_level = goal.least_level
    highest = goal.highest_level(space.table.n_records)
    n_slice = _FIRST_SLICE

    def is_open(level: int) -> bool:
        return level <= highest and not (level in searches and searches[level].is_finished)

    def steps() -> list[int]:
        return stairs.steps(first_level) if goal.counts_k else [first_level]

    try:
        while not watch.is_over(until):
            levels = [level for level in steps() if is_open(level)]
            if not levels:
                break
            for level in _spread(levels):
                aim = CutAim(level, goal.squares, goal.most_suppressed)
                search = searches.setdefault(level, _Race(cuts, aim, whole))
                stop = search.visited + n_slice
                while not (search.is_finished or search.visited >= stop or watch.is_over(until)):
                    cut = search.step(stairs.cost_of(level))
                    watch.spend(1)
                    if bar is not None:
                        bar.update(1)
                    if cut is not None:
                        by_level[cut.level] = cut
                        stairs.add(cut.level, cut.cost)
            n_slice *= 2
    except KeyboardInterrupt:
        finished = False  # a search that is interrupted keeps a bound that holds
    else:
        finished = not any(is_open(level) for level in steps())
    ordered = sorted(searches)
    return CutFront(
        [cut for level, cut in by_level.items() if stairs.costs.get(level) == cut.cost],
        np.array(ordered, dtype=np.int64),
        np.array([searches[level].bound for level in ordered], dtype=np.float64),
        finished,
        sum(search.visited for search in searches.values()),
    )
