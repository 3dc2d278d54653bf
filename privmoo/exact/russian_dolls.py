"""A search of a lattice as a series of Russian dolls: the last columns first, each bounds the next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.exact.costs import SweepGoal
from privmoo.exact.stages import Lattice
from privmoo.exact.stopwatch import Stopwatch
from privmoo.exact.sweep import (
    MOST_NODES,
    STOP,
    compact_entries,
    interruptible,
    new_best,
    new_cells,
)
from privmoo.exact.value_demands import rules_of
from privmoo.kernels.stairs import Best, Terms

__all__ = ["Outcome", "search_lattice"]

_STEPS = 256  # into which the first stage is divided
_FEW = 20_000  # nodes that are searched sooner than smaller lattices would pay for themselves
_SHARES = 0.4, 0.8  # of the time, after which the smaller dolls and then the other part end


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
    until: float = 1.0,
    start: NDArray[np.float64] | None = None,
    bar: Any = None,
) -> Outcome:
    """Search a lattice, and before it the smaller lattices of its last stages unless it has few nodes.

    If one of these cannot be finished, the stages before are searched by themselves. Costs of both parts
    add up, and a release with k has k in either part: so the bounds of the parts add up to a bound.

    Args:
        lattice: The lattice.
        goal: What is searched.
        watch: The time.
        until: The share of the time that may have gone by at the end.
        start: Per k, the cost of a release that is known; only cheaper ones are searched.
        bar: The progress bar.
    """
    n_records = lattice.partitions.table.n_records
    n_stages = len(lattice.groups)
    rests = np.zeros((n_stages + 1, n_records + 1))
    apart = np.zeros(n_records + 1)
    now = watch.share
    dolls_until, parts_until = (now + part * (until - now) for part in _SHARES)
    bounds_help = not goal.all_limits and lattice.n_nodes > _FEW
    for first in range(n_stages - 1, 0, -1) if bounds_help else ():
        doll = lattice.part(range(first, n_stages))
        outcome = _sweep(doll, goal.for_columns(), rests[first:], watch, dolls_until)
        rests[first] = outcome.bound
        if not outcome.finished:
            before = lattice.part(range(first + 1))
            apart = rests[first + 1]
            if first + 1 < n_stages and not watch.is_over(parts_until):
                part = search_lattice(before, goal.for_columns(), watch, until=parts_until)
                apart = apart + part.bound
            for stage in range(first - 1, 0, -1):
                doll = lattice.part(range(stage, n_stages))
                terms = _terms(doll, goal, rests[stage:])
                rests[stage] = _bound_of(doll, terms, 0, int(doll.stages.n_combos[0]))
            break
    outcome = _sweep(lattice, goal, rests, watch, until, start=start, bar=bar)
    if outcome.finished:
        return outcome
    return outcome._replace(rest=np.maximum(outcome.rest, apart * (1 - 1e-12)))


def _terms(lattice: Lattice, goal: SweepGoal, rests: NDArray[np.float64]) -> Terms:
    prices = np.concatenate([[0.0], np.cumsum(lattice.prices)])
    weights = [lattice.costs.suppressed[j] for j in lattice.columns] if goal.geometric else []
    return Terms(
        price=lattice.price,
        most_suppressed=goal.most_suppressed,
        all_limits=goal.all_limits,
        prices=prices,
        rests=rests,
        least_k=goal.least_k,
        most_k=lattice.partitions.table.n_records if goal.counts_k else goal.least_k,
        threshold=goal.threshold,
        weights=np.array(weights, dtype=np.float64),
        rules=rules_of(lattice.partitions.table, goal.demands, suppresses=goal.most_suppressed > 0),
    )


def _sweep(
    lattice: Lattice,
    goal: SweepGoal,
    rests: NDArray[np.float64],
    watch: Stopwatch,
    share: float,
    *,
    start: NDArray[np.float64] | None = None,
    bar: Any = None,
) -> Outcome:
    """Sweep a lattice by parts of its first stage, those of the least bounds first; a small one at once."""
    n_records = lattice.partitions.table.n_records
    best = new_best(n_records, 1 << 16)
    if start is not None:
        np.minimum(best.floor, start, out=best.floor)
    terms = _terms(lattice, goal, rests)
    counters = np.zeros(6, np.int64)
    counters[MOST_NODES] = watch.nodes
    cells = new_cells(len(lattice.stages.weights))
    units, bounds = lattice.units(_STEPS if lattice.n_nodes > _FEW else 1), {}
    if len(units) > 1:
        bounds = {unit: _bound_of(lattice, terms, *unit) for unit in units}
        units.sort(key=lambda unit: float(bounds[unit][_geometric(n_records)].sum()), reverse=True)
    used = 0
    with watch.stops(counters, STOP, share), ThreadPoolExecutor(max_workers=1) as pool:
        while units and not counters[STOP] and not watch.is_over(share):
            before = counters[:3].copy()
            begin, stop = units[-1]
            arguments = (lattice.stages, best, cells, used, begin, stop, terms, counters)
            n_used = interruptible(pool, arguments, counters)
            if n_used < 0:
                # Stopped, or out of room: the entries stay; in the latter case the unit is repeated.
                best, used = compact_entries(best, 2 * len(best.nexts))
                if not counters[STOP]:
                    counters[:3] = before
                continue
            units.pop()
            used = n_used
            if bar is not None:
                bar.update(lattice.n_lists(begin, stop))
    watch.spend(int(counters[0]))
    rest = np.full(n_records + 1, np.inf)
    for unit in units:
        bound = bounds[unit] if unit in bounds else _bound_of(lattice, terms, *unit)
        np.minimum(rest, bound, out=rest)
    return Outcome(best, rest, int(counters[0]), int(counters[1]))


def _geometric(n_records: int) -> NDArray[np.int64]:
    """Return some k, each twice the one before."""
    return 2 ** np.arange(n_records.bit_length())


def _bound_of(lattice: Lattice, terms: Terms, begin: int, stop: int) -> NDArray[np.float64]:
    """Return, per k, the least cost below some entries of the first stage, as the kernel does."""
    bound = np.full(lattice.partitions.table.n_records + 1, np.inf)
    entry = begin
    while entry < stop:
        np.minimum(bound, _bound_of_entry(lattice, terms, entry), out=bound)
        entry += 1 + int(lattice.stages.skips[entry])
    return bound


def _bound_of_entry(lattice: Lattice, terms: Terms, entry: int) -> NDArray[np.float64]:
    stages = lattice.stages
    low = stages.map_offsets[entry]
    codes = stages.suffix_codes[: stages.n_suffixes[0]]
    blocks = stages.maps[low : low + int(codes.max()) + 1][codes]
    n_blocks = int(stages.n_blocks[entry])
    records = np.bincount(blocks, weights=stages.weights, minlength=n_blocks).astype(np.int64)
    by_code = stages.skips[entry] > 0
    costs = stages.costs[stages.block_offsets[entry] :][codes if by_code else blocks]
    lost = np.bincount(blocks, weights=stages.weights * costs, minlength=n_blocks)
    order = np.argsort(records, kind="stable")
    sizes, price = records[order], lost[order]
    # The bound is the same for every k from one size of a block, exclusive, to the next.
    places = np.flatnonzero(np.diff(sizes, prepend=-1))
    lengths = np.diff(np.concatenate([[-1], sizes[places], [int(stages.weights.sum())]]))
    places = np.append(places, n_blocks)
    suppressed = np.concatenate([[0], np.cumsum(sizes)])[places]
    remaining = np.concatenate([np.cumsum(price[::-1])[::-1], [0.0]])[places]
    suppressed, remaining = np.repeat(suppressed, lengths), np.repeat(remaining, lengths)
    bound = remaining + suppressed * terms.price
    other = remaining + suppressed * terms.prices[1] + terms.rests[1]
    bound = np.maximum(bound, other)
    return np.where(suppressed <= terms.most_suppressed, bound, np.inf) * (1 - 1e-12)
