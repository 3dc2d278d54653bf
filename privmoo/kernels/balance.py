"""Clusters made large and diverse enough: short ones borrow or merge, then records move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.partition import (
    Partition,
    Units,
    brings_value,
    can_leave,
    is_short,
    join,
    join_cost,
    leave,
    leave_gain,
    merge,
    merge_cost,
)

__all__ = ["balance", "improve"]


class _Order(NamedTuple):
    """Clusters or units sorted by one number, to be looked at from a place outwards."""

    keys: NDArray[np.float64]
    members: NDArray[np.int64]
    lead: int
    """The place among the numbers of the one they are sorted by; -1 if there is none."""


class _Need(NamedTuple):
    """What every cluster must have: records, and values of each sensitive attribute."""

    k: int
    diversity: int


@compiled()
def _nearest(order: _Order, middle: float, left: Any, right: Any) -> tuple[float, int, Any, Any]:
    """The nearer of the next members on both sides of a place: its gap, its number, the next places."""
    from_left = middle - order.keys[left] if left >= 0 else np.inf
    from_right = order.keys[right] - middle if right < len(order.keys) else np.inf
    if from_left <= from_right:
        return from_left, order.members[left], left - 1, right
    return from_right, order.members[right], left, right + 1


@compiled()
def balance(
    units: Units,
    p: Partition,
    lead: int,
    by_lead: NDArray[np.int64],
    k: int,
    diversity: int,
    may_borrow: bool,
) -> None:
    """Make every cluster have k records and `diversity` values of each sensitive attribute.

    Short clusters, smallest first, take the units that cost least from clusters that can spare them (if
    they may), or join the cluster where that costs least, whichever is cheaper; until none is short, or
    one cluster is left. `lead` is the number (by its place among the numbers; -1 if there is none) by which
    the search is cut short: a unit whose lead alone costs more than the best so far ends it.
    """
    need = _Need(k, diversity)
    around = _units_by_lead(units, lead, by_lead)
    moved = np.empty(len(units.weights), np.int64)
    came_from = np.empty(len(units.weights), np.int32)
    while True:
        order = np.argsort(p.sizes, kind="mergesort")
        clusters = _sorted_clusters(p, lead)
        if len(clusters.members) < 2:
            return
        changed = False
        for c in order:
            if not is_short(p, c, k, diversity):
                continue
            target, merging = _cheapest_merge(units, p, clusters, c)
            n_moved, filling = 0, 0.0
            if may_borrow:
                n_moved, filling = _borrow(units, p, around, c, need, merging, moved, came_from)
            if (n_moved > 0 and filling > merging) or is_short(p, c, k, diversity):
                for i in range(n_moved - 1, -1, -1):
                    leave(units, p, moved[i])
                    join(units, p, came_from[i], moved[i])
                if target < 0:
                    continue
                merge(units, p, c, target)
            changed = True
        if not changed:
            return


@compiled()
def _units_by_lead(units: Units, lead: int, by_lead: NDArray[np.int64]) -> _Order:
    keys = np.zeros(len(units.weights))
    if lead >= 0:
        keys = units.points[by_lead, units.numbers[lead]]
    return _Order(keys, by_lead, lead)


@compiled()
def _sorted_clusters(p: Partition, lead: int) -> _Order:
    used = np.flatnonzero(p.sizes > 0)
    if lead < 0:
        return _Order(np.zeros(len(used)), used, lead)
    means = p.sums[used, lead] / p.sizes[used]
    order = np.argsort(means, kind="mergesort")
    return _Order(means[order], used[order], lead)


@compiled()
def _cheapest_merge(units: Units, p: Partition, clusters: _Order, c: int) -> tuple[int, float]:
    """The cluster that c can join at least cost, and the cost; -1 if there is none.

    The order may be older than the means: a cluster that has moved far since may be overlooked.
    """
    middle = _mean(p, c, clusters.lead)
    share = p.sizes[c] / (p.sizes[c] + 1)
    right = np.searchsorted(clusters.keys, middle)
    left = right - 1
    best, place = np.inf, -1
    while left >= 0 or right < len(clusters.keys):
        gap, target, left, right = _nearest(clusters, middle, left, right)
        if share * gap * gap > best:
            break
        if target == c or p.sizes[target] == 0:
            continue
        cost = merge_cost(units, p, c, target)
        if cost < best:
            best, place = cost, target
    return place, best


@compiled()
def _mean(p: Partition, c: int, lead: int) -> Any:
    """The mean of a cluster's lead; 0 if there is none."""
    return p.sums[c, lead] / p.sizes[c] if lead >= 0 else 0.0


@compiled()
def _borrow(
    units: Units,
    p: Partition,
    around: _Order,
    c: int,
    need: _Need,
    limit: float,
    moved: NDArray[np.int64],
    came_from: NDArray[np.int32],
) -> tuple[int, float]:
    """Units that cost least join a short cluster until it is not short, or it costs more than `limit`."""
    total, n_moved = 0.0, 0
    k, diversity = need
    while is_short(p, c, k, diversity) and total <= limit:
        short_of_values = p.sizes[c] >= k
        place = _cheapest_unit(units, p, around, c, need, short_of_values, limit - total)
        if place < 0:
            break
        tuple_, donor = units.owners[place], p.labels[place]
        u = place
        # Equal units of the same cluster cost less still, the mean having come nearer.
        while u < len(units.owners) and units.owners[u] == tuple_:
            if (
                p.labels[u] == donor
                and units.weights[u] == units.weights[place]
                and can_leave(units, p, u, k, diversity)
                and (p.sizes[c] < k or brings_value(units, p, c, u, diversity))
            ):
                total += join_cost(units, p, c, u) - leave_gain(units, p, u)
                moved[n_moved], came_from[n_moved] = u, donor
                n_moved += 1
                leave(units, p, u)
                join(units, p, c, u)
                if not is_short(p, c, k, diversity):
                    break
            u += 1
    return n_moved, total


@compiled()
def _cheapest_unit(
    units: Units,
    p: Partition,
    around: _Order,
    c: int,
    need: _Need,
    short_of_values: bool,
    limit: float,
) -> Any:
    """The unit that costs least to move to cluster c, of those that their clusters can spare."""
    k, diversity = need
    middle = _mean(p, c, around.lead)
    share = p.sizes[c] / (p.sizes[c] + 1)
    right = np.searchsorted(around.keys, middle)
    left = right - 1
    best, place = limit, -1
    seen_owner, seen_label, seen_weight = -1, -1, -1
    while left >= 0 or right < len(around.keys):
        gap, u, left, right = _nearest(around, middle, left, right)
        if share * gap * gap > best:
            break
        donor = p.labels[u]
        if donor == c:
            continue
        if not short_of_values and (
            units.owners[u] == seen_owner
            and donor == seen_label
            and units.weights[u] == seen_weight
        ):
            continue
        if p.sizes[donor] - units.weights[u] < k:  # short itself, or would be, or empty: a merge
            continue
        cost = join_cost(units, p, c, u) - leave_gain(units, p, u)
        # What is dear to look up is looked up last.
        if cost >= best:
            seen_owner, seen_label, seen_weight = units.owners[u], donor, units.weights[u]
            continue
        if short_of_values and not brings_value(units, p, c, u, diversity):
            continue
        if is_short(p, donor, k, diversity) or not can_leave(units, p, u, k, diversity):
            continue
        seen_owner, seen_label, seen_weight = units.owners[u], donor, units.weights[u]
        best, place = cost, u
    return place


@compiled()
def improve(
    units: Units,
    p: Partition,
    lead: int,
    by_lead: NDArray[np.int64],
    k: int,
    diversity: int,
    passes: int,
) -> None:
    """Move units to clusters where they cost less.

    A cluster that cannot spare a unit gets another one for it, from any cluster that can spare that one,
    if both moves together make the spread smaller.
    """
    failed = np.full(len(p.sizes), -1, np.int64)
    need = _Need(k, diversity)
    around = _units_by_lead(units, lead, by_lead)
    for _ in range(passes):
        clusters = _sorted_clusters(p, lead)
        moves = 0
        failed[:] = -1
        for u in range(len(units.weights)):
            c = p.labels[u]
            if failed[c] == units.owners[u] and units.weights[u] == 1:
                continue
            gain = leave_gain(units, p, u)
            if gain <= 1e-12:
                failed[c] = units.owners[u]
                continue
            rest = p.sizes[c] - units.weights[u]
            needs_another = 0 < rest < k
            if not needs_another and not can_leave(units, p, u, k, diversity):
                continue
            target = _best_cluster(units, p, clusters, u, k, gain * (1 - 1e-9))
            if target < 0:
                failed[c] = units.owners[u]
                continue
            limit = gain - join_cost(units, p, target, u)
            leave(units, p, u)
            join(units, p, target, u)
            if needs_another:
                v = -1
                if units.weights[u] == 1:
                    v = _cheapest_unit(units, p, around, c, need, False, limit)
                giver = p.labels[v]
                if v >= 0:
                    leave(units, p, v)
                    join(units, p, c, v)
                if v < 0 or is_short(p, c, k, diversity):
                    if v >= 0:
                        leave(units, p, v)
                        join(units, p, giver, v)
                    leave(units, p, u)
                    join(units, p, c, u)
                    failed[c] = units.owners[u]
                    continue
            moves += 1
        if moves == 0:
            break


@compiled()
def _best_cluster(
    units: Units, p: Partition, clusters: _Order, u: int, k: int, limit: float
) -> int:
    """The cluster that unit u joins at least cost, if that is below the limit; else -1."""
    lead = clusters.lead
    middle = units.points[u, units.numbers[lead]] if lead >= 0 else 0.0
    share = units.weights[u] * k / (k + units.weights[u])
    right = np.searchsorted(clusters.keys, middle)
    left = right - 1
    best, place = limit, -1
    while left >= 0 or right < len(clusters.keys):
        gap, target, left, right = _nearest(clusters, middle, left, right)
        if share * gap * gap > best:
            break
        if target == p.labels[u] or p.sizes[target] == 0:
            continue
        cost = join_cost(units, p, target, u)
        if cost < best:
            best, place = cost, target
    return place
