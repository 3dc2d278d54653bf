"""A search of a lattice as a series of Russian dolls: the last columns first, each bounds the next."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.exact.costs import SweepGoal
from privmoo.exact.stages import Lattice
from privmoo.exact.stopwatch import Stopwatch
from privmoo.exact.sweep import STOP, compact_entries, interruptible, new_best, new_cells
from privmoo.kernels.stairs import Best, Terms

__all__ = ["Outcome", "search_lattice"]

_STEPS = 256  # of the progress bar
_FOR_DOLLS = 0.5  # share of the time that goes to the smaller dolls


class Outcome(NamedTuple):
    """What a search of a lattice knows at its end.

    Attributes:
        best: The best releases, by k.
        rest: Per k, the least cost that what was not searched may have; infinite if everything was.
        visited: How many nodes were looked at.
        left_out: How many nodes bounds excluded.
    """

    best: Best
    rest: NDArray[np.float64]
    visited: int = 0
    left_out: int = 0

    @property
    def finished(self) -> bool:
        """Whether everything was searched."""
        return bool(np.isinf(self.rest).all())

    @property
    def bound(self) -> NDArray[np.float64]:
        """Per k, a cost that no release with k or more can beat."""
        return np.asarray(np.minimum(self.best.floor, self.rest))


def search_lattice(
    lattice: Lattice,
    goal: SweepGoal,
    watch: Stopwatch,
    *,
    start: NDArray[np.float64] | None = None,
    bar: Any = None,
) -> Outcome:
    """Search a lattice, the smaller lattices of its last stages first.

    Args:
        lattice: The lattice.
        goal: What is searched.
        watch: The time; the smaller lattices use at most half of it.
        start: Per k, the cost of a release that is known; only cheaper ones are searched.
        bar: The progress bar.
    """
    dolls = [lattice]
    while len(dolls[0].groups) > 1 and not goal.all_limits:
        dolls.insert(0, dolls[0].without_first())
    n_records = lattice.choices.table.n_records
    rests = np.zeros((len(lattice.groups), n_records + 1))
    stopped = False
    for doll in dolls[:-1]:
        first = len(rests) - len(doll.groups)
        if stopped:
            rests[first] = _outside(doll, _terms(doll, goal, rests[first:]), 0)
            continue
        outcome, stopped = _sweep(doll, goal, rests[first:], watch, _FOR_DOLLS, None, None)
        rests[first] = outcome.bound
    return _sweep(lattice, goal, rests, watch, 1.0, start, bar)[0]


def _terms(lattice: Lattice, goal: SweepGoal, rests: NDArray[np.float64]) -> Terms:
    prices = np.concatenate([[0.0], np.cumsum(lattice.prices)])[:-1]
    return Terms(lattice.price, goal.most_suppressed, goal.all_limits, prices, rests)


def _sweep(
    lattice: Lattice,
    goal: SweepGoal,
    rests: NDArray[np.float64],
    watch: Stopwatch,
    share: float,
    start: NDArray[np.float64] | None,
    bar: Any,
) -> tuple[Outcome, bool]:
    """Sweep a lattice by combinations of its first stage; also return whether it was stopped by hand."""
    n_records = lattice.choices.table.n_records
    best = new_best(n_records, 1 << 16)
    if start is not None:
        np.minimum(best.floor, start, out=best.floor)
    terms = _terms(lattice, goal, rests)
    counters = np.zeros(5, np.int64)
    cells = new_cells(len(lattice.stages.weights))
    used, combo = 0, 0
    n_first = int(lattice.stages.n_combos[0])
    step = max(1, n_first // _STEPS)
    with watch.stops(counters, STOP, share):
        while combo < n_first and not counters[STOP] and not watch.is_over(share):
            before = counters[:3].copy()
            stop = min(combo + step, n_first)
            arguments = (lattice.stages, best, cells, used, combo, stop, terms, counters)
            n_used = interruptible(arguments, counters)
            if n_used < 0:
                # Stopped, or out of room: the entries stay; in the latter case the step is repeated.
                best, used = compact_entries(best, 2 * len(best.nexts))
                counters[:3] = before
                continue
            if bar is not None:
                bar.update(lattice.n_nodes // n_first * (stop - combo))
            used, combo = n_used, stop
    rest = _outside(lattice, terms, combo)
    by_hand = combo < n_first and not watch.is_over(share)
    return Outcome(best, rest, int(counters[0]), int(counters[1])), by_hand


def _outside(lattice: Lattice, terms: Terms, combo: int) -> NDArray[np.float64]:
    """Return, per k, the least cost below the combinations of the first stage from one on."""
    n_first = int(lattice.stages.n_combos[0])
    rest = np.full(lattice.choices.table.n_records + 1, np.inf)
    for i in range(combo, n_first):
        np.minimum(rest, _first_bound(lattice, terms, i), out=rest)
    return rest


def _first_bound(lattice: Lattice, terms: Terms, combo: int) -> NDArray[np.float64]:
    """Return, per k, the least cost below one combination of the first stage, as the kernel does."""
    stages = lattice.stages
    low = stages.map_offsets[combo]
    n_codes = int(stages.suffix_codes[: stages.n_suffixes[0]].max()) + 1
    blocks = stages.maps[low : low + n_codes][stages.suffix_codes[: stages.n_suffixes[0]]]
    n_blocks = int(stages.n_blocks[combo])
    records = np.bincount(blocks, weights=stages.weights, minlength=n_blocks).astype(np.int64)
    costs = stages.costs[stages.block_offsets[combo] :][:n_blocks]
    order = np.argsort(records, kind="stable")
    sizes, price = records[order], (records * costs)[order]
    suppressed_below = np.concatenate([[0], np.cumsum(sizes)])
    remaining = price.sum() - np.concatenate([[0.0], np.cumsum(price)])
    k = np.arange(int(stages.weights.sum()) + 1)
    place = np.searchsorted(sizes, k, side="left")
    suppressed = suppressed_below[place]
    bound = remaining[place] + suppressed * terms.price
    if len(lattice.groups) > 1:
        other = remaining[place] + suppressed * lattice.prices[0] + terms.rests[1]
        bound = np.maximum(bound, other)
    return np.where(suppressed <= terms.most_suppressed, bound, np.inf) * (1 - 1e-12)
