"""The staircase of one vector of levels: every threshold's k, cost and suppressed records, and the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.segments import Segments
from privmoo.kernels.value_rules import ValueRules, largest_bad_group

__all__ = [
    "Best",
    "Details",
    "SizeTally",
    "Terms",
    "by_size",
    "has_promising_step",
    "is_allowed",
    "is_hopeless",
    "judge_in_detail",
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
    sizes: NDArray[np.int64]
    """The size of the smallest published group."""
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
        least_k: The smallest k that is allowed.
        most_k: The largest k that counts: what is above counts as this.
        threshold: The only size below which groups are suppressed; 0 if every size may be one.
        weights: The weight of every column in a geometric loss; empty if costs of columns add up.
        rules: Demands on the sensitive values of published groups.
    """

    price: float
    most_suppressed: int
    all_limits: bool
    prices: NDArray[np.float64]
    rests: NDArray[np.float64]
    least_k: int
    most_k: int
    threshold: int
    weights: NDArray[np.float64]
    rules: ValueRules


class Details(NamedTuple):
    """What is known of the groups of a node beside their sizes and costs.

    Attributes:
        sizes: The records of every group.
        segments: The sensitive values of every group; nothing if there are no demands on them.
        columns: Sizes × columns: what the records in groups of a size lose in every column, in the
            order of sizes; nothing if only the sum counts.
    """

    sizes: NDArray[np.int64]
    segments: Segments
    columns: NDArray[np.float64]


@compiled()
def write_needs(
    floor: NDArray[np.float64], rest: NDArray[np.float64], least_k: int, needs: Any
) -> None:
    """Write, for every k, how cheap the columns before a stage must be to matter for some k up to it.

    A release with k enters the front if its cost is below `floor[k]`, and the columns from the stage on
    cost at least `rest[k]`. So the columns before it must cost less than the difference for some k; the
    running maximum of the differences answers for all k up to a size at once.
    """
    most = -np.inf
    for k in range(len(floor)):
        if rest[k] < np.inf and k >= least_k:  # otherwise no release has this k
            # Sums are rounded differently: allow for that.
            most = max(most, floor[k] * (1 + 1e-12) - rest[k] * (1 - 1e-12))
        needs[k] = most


@compiled()
def is_allowed(
    size: Any, suppressed: Any, place: int, sizes: NDArray[np.int64], terms: Terms
) -> bool:
    """Whether a release may publish groups of at least this size, the one at `place` of a node's sizes."""
    if suppressed > terms.most_suppressed or size < terms.least_k:
        return False
    below = sizes[place - 1] if place else 0
    return terms.threshold == 0 or below < terms.threshold <= size


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
        if is_allowed(size, suppressed, i, sizes, terms):
            k = min(size, terms.most_k)
            if all_limits or total < best.floor[k]:
                used = _insert(k, total, suppressed, size, node, all_limits, best, used)
        cost -= cost_of_size[size]
        suppressed += of_size[size]
        of_size[size], cost_of_size[size] = 0, 0.0
    return used


@compiled()
def has_promising_step(n_sizes: int, tally: SizeTally, terms: Terms, best: Best) -> bool:
    """Whether some threshold of a node may enter the front, judged by a cost that is too small at most.

    If none may, the tally is zero again after; otherwise it stays.
    """
    of_size, cost_of_size, sizes = tally.records, tally.costs, tally.sizes
    cost = 0.0
    for i in range(n_sizes):
        cost += cost_of_size[sizes[i]]
    suppressed = np.int64(0)
    for i in range(n_sizes):
        size = sizes[i]
        if suppressed > terms.most_suppressed:
            break
        bound = (cost + suppressed * terms.price) * (1 - 1e-12)
        if is_allowed(size, suppressed, i, sizes, terms) and (
            terms.all_limits or bound < best.floor[min(size, terms.most_k)]
        ):
            return True
        cost -= cost_of_size[size]
        suppressed += of_size[size]
    for i in range(n_sizes):
        of_size[sizes[i]], cost_of_size[sizes[i]] = 0, 0.0
    return False


@compiled()
def judge_in_detail(
    n_sizes: int,
    tally: SizeTally,
    details: Details,
    terms: Terms,
    node: int,
    best: Best,
    used: int,
) -> int:
    """Compare every threshold of a node with the best, by its true cost and the demands on its values.

    In the geometric case the cost of a release is `n Σ w log₂(1 + L)` over columns with weights w and
    losses L, which grows with the geometric loss `Π (1 + L)^w - 1`. As `log₂(1 + L) ≥ L` for L from 0 to
    1, it is at least the arithmetic cost, which all bounds use; it is a sum over columns as well.

    Where groups are compared with something that no threshold changes, a bad group is bad at every
    threshold, so all thresholds up to its size are refuted at once, and those above the largest bad
    group are fine. The tally is zero again after.
    """
    of_size, cost_of_size, sizes = tally.records, tally.costs, tally.sizes
    n_columns = len(terms.weights)
    n_records = float(len(best.floor) - 1)
    losses = np.zeros(n_columns)
    cost = 0.0
    for i in range(n_sizes):
        cost += cost_of_size[sizes[i]]
        for j in range(n_columns):
            losses[j] += details.columns[i, j]
    rules = terms.rules
    refuted, satisfied = np.int64(0), len(rules.kinds) == 0
    suppressed = np.int64(0)
    for i in range(n_sizes):
        size = sizes[i]
        k = min(size, terms.most_k)
        total: Any = cost + suppressed * terms.price
        allowed = size > refuted and is_allowed(size, suppressed, i, sizes, terms)
        if allowed and (terms.all_limits or total * (1 - 1e-12) < best.floor[k]):
            if n_columns:
                logarithms = 0.0
                for j in range(n_columns):
                    loss = max(losses[j] + suppressed, 0.0) / n_records
                    logarithms += terms.weights[j] * np.log1p(loss)
                total = logarithms * n_records / np.log(2.0)
            if terms.all_limits or total < best.floor[k]:
                bad = np.int64(0)
                if not satisfied:
                    bad = largest_bad_group(rules, details.sizes, details.segments, size)
                    if not rules.released.any():
                        refuted, satisfied = bad, bad == 0
                if bad == 0:
                    used = _insert(k, total, suppressed, size, node, terms.all_limits, best, used)
        cost -= cost_of_size[size]
        suppressed += of_size[size]
        for j in range(n_columns):
            losses[j] -= details.columns[i, j]
        of_size[size], cost_of_size[size] = 0, 0.0
    return used


@compiled()
def _insert(
    k: Any,
    cost: float,
    suppressed: Any,
    size: Any,
    node: int,
    all_limits: bool,
    best: Best,
    used: int,
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
    best.sizes[used] = size
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
        k = min(size, terms.most_k)
        if (
            suppressed <= terms.most_suppressed
            and size >= terms.least_k
            and bound < floor[k]
            and before < needs[k]
        ):
            hopeless = False
        cost -= cost_of_size[size]
        suppressed += of_size[size]
        of_size[size], cost_of_size[size] = 0, 0.0
    return hopeless
