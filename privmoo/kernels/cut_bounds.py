"""Bounds of partly decided cuts, and the decisions that these bounds force."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.partial_cuts import (
    CLOSED,
    OPEN,
    UNDECIDED,
    Blocks,
    CutAim,
    CutTable,
    Openings,
    PartialGroups,
    is_available,
    number_groups,
    tally_openings,
    write_blocks,
)

__all__ = ["Examination", "examine"]

_ROUNDING = 1e-12
_STEPS = 24
"""At most so many multipliers are tried."""
_MEAN_REST = 0.3
"""What a suppressed record loses in addition, roughly, to compare switches before it is known."""


class Examination(NamedTuple):
    """What is known of a partial cut after its examination.

    Attributes:
        bound: What every completion that reaches the aim costs at least, or exactly if nothing is
            undecided; infinite if none is cheaper than what is known.
        switch: The switch to decide next; -1 if nothing is undecided.
        reached: The least records of a published group, or the sum of squares, of a decided cut.
    """

    bound: float
    switch: int
    reached: int


class _Margins(NamedTuple):
    """What the groups of the coarsest completion are, added up.

    Attributes:
        records: By leaf, the records that are published or may be.
        suppressed: The records that no completion publishes.
        squares: The sum of squares of the groups' records.
        reached: The least records of a group that is large enough.
    """

    records: NDArray[np.int64]
    suppressed: Any
    squares: Any
    reached: Any


class _Extra(NamedTuple):
    """By switch, by how much the least cost rises if it is opened, or closed."""

    if_open: NDArray[np.float64]
    if_closed: NDArray[np.float64]


@compiled()
def examine(
    cuts: CutTable, aim: CutAim, status: NDArray[np.uint8], floor: float, by_bound: bool
) -> Any:
    """Bound the cost of all completions of a partial cut, and decide what they have in common.

    `status` says which switches are open, closed or undecided; it gets every decision without which no
    completion reaches the aim for less than `floor`.

    Bound. Every completion refines the coarsest one, whose small groups it therefore suppresses, and is
    refined by the finest one, whose losses its records therefore have at least. To these sums the
    following adds what the completion itself must choose: a switch that it opens suppresses records
    (see `tally_openings`), and one that it closes makes the records of its blocks lose more. The first
    costs at least `shared_costs` and uses up `shared` of the records that may be suppressed; a multiplier
    λ ≥ 0 for these turns the choice into one that every column makes by itself: the least cost of a cut
    of one column with a charge for every open switch. The sum over the columns, minus λ times the records
    that may still be suppressed, is a bound for every λ (Lagrange); a short search finds a good one.

    Decisions. If the bound with a switch opened is not below `floor`, it is closed with all switches
    below it, and the other way round. So is one whose opening would suppress too many records.

    The next switch is the one that raises both costs the most. What opening one costs is told
    `by_bound`, with all other choices, or by the records that it suppresses by itself. The former is far
    better where the limit of suppressed records decides, and the latter where their loss does.
    """
    n_leaves, n_switches = len(cuts.after), len(cuts.parents)
    finest, coarsest = _new_blocks(n_leaves), _new_blocks(n_leaves)
    groups, openings = _new_groups(len(cuts.codes)), _new_openings(n_switches)
    extra = _Extra(np.zeros(n_switches), np.zeros(n_switches))
    at_least = floor * (1 - _ROUNDING)
    no_charges = np.zeros(n_switches)
    while True:
        _close_below(cuts, status)
        write_blocks(cuts, status, False, coarsest)
        n_groups = number_groups(cuts, coarsest, groups)
        margins = _add_up(cuts, aim, groups, n_groups)
        slack = aim.most_suppressed - margins.suppressed
        if slack < 0 or (aim.squares and margins.squares < aim.level):
            return Examination(np.inf, -1, 0)
        suppressed = margins.suppressed * cuts.price
        bound = suppressed + _least_costs(cuts, status, margins.records, no_charges, extra)
        if bound >= at_least:
            return Examination(np.inf, -1, 0)
        if not (status == UNDECIDED).any():
            reached = margins.squares if aim.squares else margins.reached
            return Examination(bound, -1, reached)
        if _open_needed(cuts, status, extra.if_closed, bound, at_least):
            continue  # with finer groups
        write_blocks(cuts, status, True, finest)
        tally_openings(cuts, aim, status, finest, coarsest, groups, openings)
        if aim.squares:
            slack = margins.squares - aim.level
        if _close_refused(status, openings, slack, bound, at_least):
            continue
        if_closed, if_open = extra.if_closed.copy(), openings.costs.copy()
        if aim.squares:
            if_open[:] = openings.lost / (slack + 1.0) * bound
            break
        earlier = bound
        bound = max(
            bound, suppressed + _bound_by_choices(cuts, status, margins, openings, slack, extra)
        )
        if bound >= at_least:
            return Examination(np.inf, -1, 0)
        is_changed = _open_needed(cuts, status, extra.if_closed, bound, at_least)
        openings.costs[:] = np.maximum(openings.costs, bound + extra.if_open - earlier)
        is_changed |= _close_refused(status, openings, slack, earlier, at_least)
        if not is_changed:
            if by_bound:
                if_open[:] = openings.costs
            if_open += _MEAN_REST * cuts.price * openings.lost
            break
    return Examination(bound, _most_telling(cuts, status, if_open, if_closed), 0)


@compiled()
def _new_blocks(n_leaves: int) -> Blocks:
    return Blocks(np.empty(n_leaves, np.int64), np.empty(n_leaves, np.int64), np.empty(n_leaves))


@compiled()
def _new_groups(n: int) -> PartialGroups:
    n_slots = 4
    while n_slots < 2 * n:
        n_slots *= 2
    return PartialGroups(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n, np.int64),
        np.empty(n_slots, np.int64),
    )


@compiled()
def _new_openings(n: int) -> Openings:
    return Openings(np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n))


@compiled()
def _add_up(cuts: CutTable, aim: CutAim, groups: PartialGroups, n_groups: int) -> _Margins:
    """Add up the groups of the coarsest completion."""
    records = np.zeros(len(cuts.after), np.int64)
    suppressed, squares, reached = np.int64(0), np.int64(0), cuts.weights.sum()
    for g in range(n_groups):
        size = groups.sizes[g]
        squares += size * size
        if not aim.squares and size < aim.level:
            suppressed += size
        else:
            reached = min(reached, size)
    for t in range(len(cuts.codes)):
        if aim.squares or groups.sizes[groups.of_tuples[t]] >= aim.level:
            for j in range(cuts.codes.shape[1]):
                records[cuts.codes[t, j]] += cuts.weights[t]
    return _Margins(records, suppressed, squares, reached)


@compiled()
def _close_below(cuts: CutTable, status: NDArray[np.uint8]) -> None:
    """Close every switch that is below a closed one."""
    for switch in range(len(status)):  # parents come before their children
        above = cuts.parents[switch]
        if above >= 0 and status[above] == CLOSED:
            status[switch] = CLOSED


@compiled()
def _open_needed(
    cuts: CutTable, status: NDArray[np.uint8], if_closed: Any, bound: float, floor: float
) -> bool:
    """Open switches without which the cost is not below the floor. Returns whether there are any."""
    is_changed = False
    for switch in range(len(status)):
        if status[switch] != UNDECIDED or bound + if_closed[switch] < floor:
            continue
        above = switch
        while above >= 0 and status[above] == UNDECIDED:
            status[above] = OPEN
            above = cuts.parents[above]
        is_changed = True
    return is_changed


@compiled()
def _close_refused(
    status: NDArray[np.uint8], openings: Openings, slack: Any, bound: float, floor: float
) -> bool:
    """Close switches with which too much is lost. Returns whether there are any."""
    is_changed = False
    for switch in range(len(status)):
        if status[switch] != UNDECIDED:
            continue
        if openings.lost[switch] > slack or bound + openings.costs[switch] >= floor:
            status[switch] = CLOSED
            is_changed = True
    return is_changed


@compiled()
def _most_telling(cuts: CutTable, status: NDArray[np.uint8], if_open: Any, if_closed: Any) -> int:
    """The switch both of whose decisions raise the bound: the one with the largest product."""
    best, highest = -1, -1.0
    tiny = 1e-8 * cuts.price * cuts.weights.sum()
    for switch in range(len(status)):
        if is_available(cuts, status, switch):
            score = (max(if_open[switch], 0.0) + tiny) * (max(if_closed[switch], 0.0) + tiny)
            if score > highest:
                best, highest = switch, score
    return best


@compiled()
def _bound_by_choices(
    cuts: CutTable,
    status: NDArray[np.uint8],
    margins: _Margins,
    openings: Openings,
    slack: Any,
    extra: _Extra,
) -> float:
    """The best bound found over multipliers; `extra` belongs to it."""
    best, best_multiplier, multiplier, step = -np.inf, 0.0, 0.0, 0.64 * cuts.price
    best_extra = _Extra(extra.if_open.copy(), extra.if_closed.copy())
    for _ in range(_STEPS):
        charges = openings.shared_costs + multiplier * openings.shared
        cost = _least_costs(cuts, status, margins.records, charges, extra) - multiplier * slack
        if cost > best:
            best, best_multiplier = cost, multiplier
            best_extra.if_open[:], best_extra.if_closed[:] = extra.if_open, extra.if_closed
        else:
            step *= -0.5
            if abs(step) < 0.02 * cuts.price:
                break
        multiplier = max(best_multiplier + step, 0.0)
    extra.if_open[:], extra.if_closed[:] = best_extra.if_open, best_extra.if_closed
    return best


@compiled()
def _least_costs(
    cuts: CutTable,
    status: NDArray[np.uint8],
    records: NDArray[np.int64],
    charges: NDArray[np.float64],
    extra: _Extra,
) -> float:
    """The least cost of a cut of every column by itself, with a charge for every undecided open switch.

    `extra` gets by how much it rises if a switch is opened or closed.
    """
    total = 0.0
    for j in range(len(cuts.columns) - 1):
        if cuts.columns[j + 1] - cuts.columns[j] == 1:
            total += cuts.costs[cuts.columns[j]] * records[cuts.columns[j]]
        elif cuts.in_tree[j]:
            total += _least_in_tree(cuts, status, j, records, charges, extra)
        else:
            total += _least_in_order(cuts, status, j, records, charges, extra)
    return total


@compiled()
def _records_before(records: NDArray[np.int64]) -> NDArray[np.float64]:
    """The records before every leaf of a column, and all of them."""
    before = np.zeros(len(records) + 1)
    for leaf in range(len(records)):
        before[leaf + 1] = before[leaf] + records[leaf]
    return before


@compiled()
def _least_in_order(
    cuts: CutTable,
    status: NDArray[np.uint8],
    j: int,
    records: NDArray[np.int64],
    charges: NDArray[np.float64],
    extra: _Extra,
) -> float:
    """The least cost of a cut of a column without a tree: a shortest path along its leaves."""
    begin, n = cuts.columns[j], cuts.columns[j + 1] - cuts.columns[j]
    before = _records_before(records[begin : begin + n])
    # The charge of a boundary before a leaf; infinite where there can be none.
    charge = np.zeros(n + 1)
    for leaf in range(1, n):
        switch = cuts.after[begin + leaf - 1]
        if status[switch] == CLOSED:
            charge[leaf] = np.inf
        elif status[switch] == UNDECIDED:
            charge[leaf] = charges[switch]
    ahead, behind = np.full(n + 1, np.inf), np.full(n + 1, np.inf)
    ahead[0] = behind[n] = 0.0
    for start in range(n):
        if ahead[start] == np.inf:
            continue
        for stop in range(start + 1, n + 1):
            cost = (before[stop] - before[start]) * cuts.costs[begin + stop - start - 1]
            ahead[stop] = min(ahead[stop], ahead[start] + cost + charge[stop])
            if stop < n and status[cuts.after[begin + stop - 1]] == OPEN:
                break
    for start in range(n - 1, -1, -1):
        for stop in range(start + 1, n + 1):
            cost = (before[stop] - before[start]) * cuts.costs[begin + stop - start - 1]
            behind[start] = min(behind[start], cost + charge[stop] + behind[stop])
            if stop < n and status[cuts.after[begin + stop - 1]] == OPEN:
                break
    total = float(ahead[n])
    closed = np.full(n + 1, np.inf)
    for start in range(n):
        if ahead[start] == np.inf:
            continue
        furthest = start + 1
        while furthest < n and status[cuts.after[begin + furthest - 1]] != OPEN:
            furthest += 1
        cheapest = np.inf
        for stop in range(furthest, start + 1, -1):
            cost = (before[stop] - before[start]) * cuts.costs[begin + stop - start - 1]
            cheapest = min(cheapest, ahead[start] + cost + charge[stop] + behind[stop])
            closed[stop - 1] = min(closed[stop - 1], cheapest)
    for leaf in range(1, n):
        switch = cuts.after[begin + leaf - 1]
        if status[switch] == UNDECIDED:
            extra.if_open[switch] = ahead[leaf] + behind[leaf] - total
            extra.if_closed[switch] = closed[leaf] - total
    return total


@compiled()
def _least_in_tree(
    cuts: CutTable,
    status: NDArray[np.uint8],
    j: int,
    records: NDArray[np.int64],
    charges: NDArray[np.float64],
    extra: _Extra,
) -> float:
    """The least cost of a cut of a column with a tree: every node is one block, or its children are cut."""
    begin, n = cuts.columns[j], cuts.columns[j + 1] - cuts.columns[j]
    low, high = cuts.switches[j], cuts.switches[j + 1]
    before = _records_before(records[begin : begin + n])
    if_open, if_closed, costs = np.zeros(high - low), np.zeros(high - low), np.zeros(high - low)
    total = 0.0
    for switch in range(high - 1, low - 1, -1):  # children come after their parent
        at = switch - low
        first, last = cuts.first[switch] - begin, cuts.last[switch] - begin
        if_closed[at] = (before[last + 1] - before[first]) * cuts.costs[begin + last - first]
        if status[switch] == OPEN:
            costs[at] = if_open[at]
        elif status[switch] == CLOSED:
            costs[at] = if_closed[at]
        else:
            if_open[at] += charges[switch]
            costs[at] = min(if_open[at], if_closed[at])
        above = cuts.parents[switch]
        if above >= 0:
            if_open[above - low] += costs[at]
        else:
            total += costs[at]
    # What it costs in addition that all switches on the way to one are open, or that one of them is not.
    way, shut = np.zeros(high - low), np.full(high - low, np.inf)
    for switch in range(low, high):
        at, above = switch - low, cuts.parents[switch]
        reaching = way[above - low] if above >= 0 else 0.0
        shut[at] = reaching + if_closed[at] - costs[at]
        if above >= 0 and status[above] == UNDECIDED:
            shut[at] = min(shut[at], shut[above - low])
        way[at] = reaching + if_open[at] - costs[at]
        if status[switch] == UNDECIDED:
            extra.if_open[switch], extra.if_closed[switch] = way[at], shut[at]
    return total
