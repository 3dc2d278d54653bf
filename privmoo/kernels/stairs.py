"""The staircase of one vector of levels: every threshold's k, cost and suppressed records, and the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "Best",
    "SizeTally",
    "Terms",
    "by_size",
    "is_hopeless",
    "judge_stairs",
    "write_needs",
]


class Best(NamedTuple):
    """For every k the best releases: no other suppresses fewer records and costs less.

    `heads[k]` begins a list that `nexts` links.
    """

    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    costs: NDArray[np.float64]
    suppressed: NDArray[np.int64]
    nodes: NDArray[np.int64]
    floor: NDArray[np.float64]
    """The least cost for k or more, with any suppression that is allowed."""


class SizeTally(NamedTuple):
    """Records and costs by the size of their group, both zero between uses; and the sizes that occur."""

    records: NDArray[np.int64]
    costs: NDArray[np.float64]
    sizes: NDArray[np.int64]


class Terms(NamedTuple):
    """What a release is judged by.

    Attributes:
        price: What a suppressed record costs.
        most_suppressed: The largest number of suppressed records.
        all_limits: Whether fewer suppressed records are an aim beside the cost.
        prices: What a suppressed record costs in the columns before every stage.
        rests: Stages × k: the least cost of the columns from this stage on, for k or more.
    """

    price: float
    most_suppressed: int
    all_limits: bool
    prices: NDArray[np.float64]
    rests: NDArray[np.float64]


@compiled()
def write_needs(floor: NDArray[np.float64], rest: NDArray[np.float64], needs: Any) -> None:
    """Write, for every k, how cheap the columns before a stage must be to matter for some k up to it.

    A release with k enters the front if its cost is below `floor[k]`, and the columns from the stage on
    cost at least `rest[k]`. So the columns before it must cost less than the difference for some k; the
    running maximum of the differences answers for all k up to a size at once.
    """
    most = -np.inf
    for k in range(len(floor)):
        if rest[k] < np.inf:  # otherwise no release has this k
            # Sums are rounded differently: allow for that.
            most = max(most, floor[k] * (1 + 1e-12) - rest[k] * (1 - 1e-12))
        needs[k] = most


@compiled()
def by_size(records: NDArray[np.int64], costs: NDArray[np.float64], tally: SizeTally) -> int:
    """Records and costs by group size; the sizes in order. Returns how many there are."""
    of_size, cost_of_size, sizes = tally.records, tally.costs, tally.sizes
    n_sizes = 0
    for i in range(len(records)):
        size = records[i]
        if of_size[size] == 0:
            sizes[n_sizes] = size
            n_sizes += 1
        of_size[size] += size
        cost_of_size[size] += size * costs[i]
    sizes[:n_sizes].sort()
    return n_sizes


@compiled()
def judge_stairs(
    n_sizes: int, tally: SizeTally, terms: Terms, node: int, best: Best, used: int
) -> int:
    """Compare every threshold of a node with the best; the tally is zero again after."""
    of_size, cost_of_size, sizes = tally.records, tally.costs, tally.sizes
    price, all_limits = terms.price, terms.all_limits
    cost = 0.0
    for i in range(n_sizes):
        cost += cost_of_size[sizes[i]]
    suppressed = np.int64(0)
    for i in range(n_sizes):
        size = sizes[i]
        total = cost + suppressed * price
        if suppressed <= terms.most_suppressed and (all_limits or total < best.floor[size]):
            used = _insert(size, total, suppressed, node, all_limits, best, used)
        cost -= cost_of_size[size]
        suppressed += of_size[size]
        of_size[size], cost_of_size[size] = 0, 0.0
    return used


@compiled()
def _insert(
    k: int, cost: float, suppressed: Any, node: int, all_limits: bool, best: Best, used: int
) -> int:
    before, at = -1, best.heads[k]
    while at >= 0:
        after = best.nexts[at]
        fewer = not all_limits or best.suppressed[at] <= suppressed
        if fewer and best.costs[at] <= cost:
            return used
        more = not all_limits or best.suppressed[at] >= suppressed
        if more and best.costs[at] >= cost:
            if before < 0:
                best.heads[k] = after
            else:
                best.nexts[before] = after
        else:
            before = at
        at = after
    best.nexts[used] = best.heads[k]
    best.costs[used], best.suppressed[used], best.nodes[used] = cost, suppressed, node
    best.heads[k] = used
    at = k
    while at >= 0 and best.floor[at] > cost:
        best.floor[at] = cost
        at -= 1
    return used + 1


@compiled()
def is_hopeless(
    records: NDArray[np.int64],
    costs: NDArray[np.float64],
    tally: SizeTally,
    terms: Terms,
    stage: int,
    floor: NDArray[np.float64],
    needs: NDArray[np.float64],
) -> bool:
    """Whether no completion of a prefix, known by its coarse groups, can enter the front.

    The prefix ends before `stage`, and `needs` belongs to that stage.
    """
    of_size, cost_of_size, sizes = tally.records, tally.costs, tally.sizes
    n_sizes = by_size(records, costs, tally)
    cost = 0.0
    for i in range(n_sizes):
        cost += cost_of_size[sizes[i]]
    suppressed = np.int64(0)
    hopeless = True
    for i in range(n_sizes):
        size = sizes[i]
        # The sums of a completion and of this bound are rounded differently: allow for that.
        bound = (cost + suppressed * terms.price) * (1 - 1e-12)
        before = (cost + suppressed * terms.prices[stage]) * (1 - 1e-12)
        if suppressed <= terms.most_suppressed and bound < floor[size] and before < needs[size]:
            hopeless = False
        cost -= cost_of_size[size]
        suppressed += of_size[size]
        of_size[size], cost_of_size[size] = 0, 0.0
    return hopeless
