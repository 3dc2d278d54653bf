"""Improvement of regions with tight ranges: pools of neighbouring regions are divided anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_layout import (
    ALPHA,
    Layout,
    Limits,
    allowed,
    count_entries,
    span_cost,
    value_of,
)
from privmoo.kernels.region_splits import new_members, split_tight

__all__ = ["better_parts", "dissolve", "improve", "tight_bounds", "worst_values"]

_FEWEST = 1e-9
_SWAPPED = 48  # pools up to this many tuples try swaps


class Partition(NamedTuple):
    """Regions with the ranges of their members, and the tuples of each as a linked list.

    Attributes:
        labels: The region of every tuple.
        sizes: Records of every region; 0 for one that is free.
        low: Regions × attributes, the least code.
        high: The largest code.
        costs: Cost of one record.
        counts: Tuples of every region.
        heads: The first tuple of every region.
        following: The next tuple of the same region; -1 at the end.
        places: Used regions, in any order.
        positions: Where a region is in `places`.
        numbers: How many regions are used; the largest number ever used.
    """

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    costs: NDArray[np.float64]
    counts: NDArray[np.int64]
    heads: NDArray[np.int64]
    following: NDArray[np.int64]
    places: NDArray[np.int64]
    positions: NDArray[np.int64]
    numbers: NDArray[np.int64]


@compiled()
def _new_partition(layout: Layout, labels: NDArray[np.int32], room: int) -> Partition:
    n, d = layout.codes.shape
    partition = Partition(
        labels,
        np.zeros(room, np.int64),
        np.empty((room, d), np.int32),
        np.empty((room, d), np.int32),
        np.zeros(room, np.float64),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.full(n, -1, np.int64),
        np.empty(room, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(2, np.int64),
    )
    for t in range(n):
        r = labels[t]
        if partition.positions[r] < 0:
            _open(partition, r)
        _insert(layout, partition, t, r)
    for i in range(partition.numbers[0]):
        _price(layout, partition, partition.places[i])
    return partition


@compiled()
def _open(partition: Partition, r: int) -> None:
    """Make a region usable."""
    used = partition.numbers[0]
    partition.places[used] = r
    partition.positions[r] = used
    partition.numbers[0] = used + 1
    partition.sizes[r] = 0
    partition.counts[r] = 0
    partition.heads[r] = -1


@compiled()
def _close(partition: Partition, r: int) -> None:
    """Give a region up; its tuples must go elsewhere."""
    last = partition.places[partition.numbers[0] - 1]
    place = partition.positions[r]
    partition.places[place] = last
    partition.positions[last] = place
    partition.positions[r] = -1
    partition.numbers[0] -= 1
    partition.sizes[r] = 0
    partition.counts[r] = 0
    partition.heads[r] = -1


@compiled()
def _insert(layout: Layout, partition: Partition, t: int, r: int) -> None:
    """Put a tuple into a region and widen its ranges; its cost is computed by `_price`."""
    partition.labels[t] = r
    partition.following[t] = partition.heads[r]
    partition.heads[r] = t
    empty = partition.counts[r] == 0
    for a in range(layout.codes.shape[1]):
        code = layout.codes[t, a]
        if empty or code < partition.low[r, a]:
            partition.low[r, a] = code
        if empty or code > partition.high[r, a]:
            partition.high[r, a] = code
    partition.sizes[r] += layout.weights[t]
    partition.counts[r] += 1


@compiled()
def _price(layout: Layout, partition: Partition, r: int) -> None:
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        cost += span_cost(layout, a, partition.low[r, a], partition.high[r, a])
    partition.costs[r] = cost


@compiled()
def _nearest(
    layout: Layout,
    partition: Partition,
    cells: NDArray[np.int64],
    t: int,
    without: int,
    wanted: NDArray[np.int64],
) -> int:
    """Write the regions that a tuple would join at the least extra loss; return how many there are."""
    d = layout.codes.shape[1]
    weight = layout.weights[t]
    prices = np.full(len(wanted), np.inf)
    number = 0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        if r == without or cells[partition.heads[r]] != cells[t]:
            continue
        size = partition.sizes[r] + weight
        price = weight * partition.costs[r]
        limit = prices[-1]
        for a in range(d):
            code = layout.codes[t, a]
            low, high = partition.low[r, a], partition.high[r, a]
            if code < low:
                price += size * (span_cost(layout, a, code, high) - span_cost(layout, a, low, high))
            elif code > high:
                price += size * (span_cost(layout, a, low, code) - span_cost(layout, a, low, high))
            if price >= limit:
                break
        if price < limit:
            place = len(wanted) - 1
            while place > 0 and prices[place - 1] > price:
                prices[place] = prices[place - 1]
                wanted[place] = wanted[place - 1]
                place -= 1
            prices[place] = price
            wanted[place] = r
            number = min(number + 1, len(wanted))
    return number


class Pool(NamedTuple):
    """Some tuples that are divided anew.

    Attributes:
        tuples: The tuples.
        rows: Their codes.
        weights: Their records.
        labels: Their regions, numbered from 0.
        sizes: Records of the regions.
        low: The least codes of the regions.
        high: The largest codes.
        lowest: How many tuples of a region have its least code.
        highest: How many have its largest code.
        costs: Cost of one record of the regions.
        histograms: Regions × sensitive values.
    """

    tuples: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.int64]
    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    lowest: NDArray[np.int32]
    highest: NDArray[np.int32]
    costs: NDArray[np.float64]
    histograms: NDArray[np.int64]


@compiled()
def _measure(layout: Layout, limits: Limits, pool: Pool, r: int) -> None:
    """Compute ranges, size, cost and sensitive values of one region of a pool."""
    d = pool.rows.shape[1]
    size = 0
    pool.histograms[r] = 0
    for i in range(len(pool.tuples)):
        if pool.labels[i] != r:
            continue
        for a in range(d):
            code = pool.rows[i, a]
            if size == 0 or code < pool.low[r, a]:
                pool.low[r, a] = code
                pool.lowest[r, a] = 1
            elif code == pool.low[r, a]:
                pool.lowest[r, a] += 1
            if size == 0 or code > pool.high[r, a]:
                pool.high[r, a] = code
                pool.highest[r, a] = 1
            elif code == pool.high[r, a]:
                pool.highest[r, a] += 1
        size += pool.weights[i]
        if len(limits.kinds):
            count_entries(limits, pool.tuples[i], 1, pool.histograms[r])
    pool.sizes[r] = size
    cost = 0.0
    if size:
        for a in range(d):
            cost += span_cost(layout, a, pool.low[r, a], pool.high[r, a])
    pool.costs[r] = cost


@compiled()
def _cost_with(layout: Layout, pool: Pool, r: int, i: int) -> float:
    """Return the cost of a region with one more tuple."""
    cost = 0.0
    for a in range(pool.rows.shape[1]):
        code = pool.rows[i, a]
        cost += span_cost(layout, a, min(pool.low[r, a], code), max(pool.high[r, a], code))
    return cost


@compiled()
def _is_end(pool: Pool, r: int, i: int) -> bool:
    """Return whether a tuple alone has the least or the largest code of its region in an attribute."""
    for a in range(pool.rows.shape[1]):
        code = pool.rows[i, a]
        if code == pool.low[r, a] and pool.lowest[r, a] == 1:
            return True
        if code == pool.high[r, a] and pool.highest[r, a] == 1:
            return True
    return False


@compiled()
def _cost_without(layout: Layout, pool: Pool, r: int, out: int, extra: int) -> float:
    """Return the cost of a region without one of its tuples, and with another one if `extra` >= 0."""
    d = pool.rows.shape[1]
    if not _is_end(pool, r, out):
        return float(pool.costs[r]) if extra < 0 else _cost_with(layout, pool, r, extra)
    low, high = np.empty(d, np.int32), np.empty(d, np.int32)
    none = True
    if extra >= 0:
        none = False
        for a in range(d):
            low[a] = high[a] = pool.rows[extra, a]
    for i in range(len(pool.tuples)):
        if pool.labels[i] != r or i == out:
            continue
        if none:
            none = False
            for a in range(d):
                low[a] = high[a] = pool.rows[i, a]
            continue
        for a in range(d):
            code = pool.rows[i, a]
            if code < low[a]:
                low[a] = code
            elif code > high[a]:
                high[a] = code
    if none:
        return 0.0
    cost = 0.0
    for a in range(d):
        cost += span_cost(layout, a, low[a], high[a])
    return cost


@compiled()
def _may_change(limits: Limits, pool: Pool, r: int, out: int, extra: int) -> bool:
    """Return whether a region keeps the limits without a tuple and with another (-1 for none)."""
    if len(limits.kinds) == 0:
        return True
    histogram = pool.histograms[r].copy()
    size = pool.sizes[r]
    if out >= 0:
        count_entries(limits, pool.tuples[out], -1, histogram)
        size -= pool.weights[out]
    if extra >= 0:
        count_entries(limits, pool.tuples[extra], 1, histogram)
        size += pool.weights[extra]
    return size == 0 or allowed(limits, histogram, size)


@compiled()
def _move_singles(layout: Layout, limits: Limits, pool: Pool, regions: int, k: int) -> bool:
    """Move single tuples to regions where the total loss falls; return whether any moved."""
    moved = False
    for i in range(len(pool.tuples)):
        a, weight = pool.labels[i], pool.weights[i]
        remaining = pool.sizes[a] - weight
        if remaining < k and remaining > 0:
            continue
        if not _may_change(limits, pool, a, i, -1):
            continue
        saved = pool.sizes[a] * pool.costs[a] - remaining * _cost_without(layout, pool, a, i, -1)
        best, least = -1, saved - _FEWEST
        for b in range(regions):
            if b == a or pool.sizes[b] == 0 or weight * pool.costs[b] >= least:
                continue
            price = (pool.sizes[b] + weight) * _cost_with(layout, pool, b, i) - pool.sizes[
                b
            ] * pool.costs[b]
            if price < least and _may_change(limits, pool, b, -1, i):
                best, least = b, price
        if best >= 0:
            pool.labels[i] = best
            _measure(layout, limits, pool, a)
            _measure(layout, limits, pool, best)
            moved = True
    return moved


@compiled()
def _swap_pairs(layout: Layout, limits: Limits, pool: Pool, k: int) -> bool:
    """Swap two tuples of different regions where the total loss falls; return whether any did."""
    swapped = False
    n = len(pool.tuples)
    for i in range(n):
        for j in range(i + 1, n):
            a, b = pool.labels[i], pool.labels[j]
            if a == b:
                continue
            size_a = pool.sizes[a] - pool.weights[i] + pool.weights[j]
            size_b = pool.sizes[b] - pool.weights[j] + pool.weights[i]
            if size_a < k or size_b < k:
                continue
            before = pool.sizes[a] * pool.costs[a] + pool.sizes[b] * pool.costs[b]
            after = size_a * _cost_without(layout, pool, a, i, j)
            if after >= before - _FEWEST:
                continue
            after += size_b * _cost_without(layout, pool, b, j, i)
            if after >= before - _FEWEST:
                continue
            if _may_change(limits, pool, a, i, j) and _may_change(limits, pool, b, j, i):
                pool.labels[i], pool.labels[j] = b, a
                _measure(layout, limits, pool, a)
                _measure(layout, limits, pool, b)
                swapped = True
    return swapped


@compiled()
def _polish(layout: Layout, limits: Limits, pool: Pool, regions: int, k: int) -> float:
    """Move and swap tuples of a pool while loss falls; return the loss."""
    for r in range(regions):
        _measure(layout, limits, pool, r)
    for _ in range(6):
        changed = _move_singles(layout, limits, pool, regions, k)
        if not changed and len(pool.tuples) <= _SWAPPED:
            changed = _swap_pairs(layout, limits, pool, k)
        if not changed:
            break
    total = 0.0
    for r in range(regions):
        total += pool.sizes[r] * pool.costs[r]
    return total


@compiled()
def _gather(
    layout: Layout, limits: Limits, partition: Partition, regions: NDArray[np.int64]
) -> Pool:
    """Return the tuples of some regions as a pool."""
    n, d = 0, layout.codes.shape[1]
    for r in regions:
        n += partition.counts[r]
    tuples = np.empty(n, np.int64)
    labels = np.empty(n, np.int32)
    rows = np.empty((n, d), np.int32)
    weights = np.empty(n, np.int64)
    i = 0
    for place in range(len(regions)):
        t = partition.heads[regions[place]]
        while t >= 0:
            tuples[i] = t
            labels[i] = place
            weights[i] = layout.weights[t]
            for a in range(d):
                rows[i, a] = layout.codes[t, a]
            i += 1
            t = partition.following[t]
    room = max(n, len(regions))
    values = limits.offsets[-1] if len(limits.kinds) else 0
    return Pool(
        tuples,
        rows,
        weights,
        labels,
        np.zeros(room, np.int64),
        np.empty((room, d), np.int32),
        np.empty((room, d), np.int32),
        np.empty((room, d), np.int32),
        np.empty((room, d), np.int32),
        np.zeros(room, np.float64),
        np.zeros((room, values), np.int64),
    )


@compiled()
def _put_back(
    layout: Layout, partition: Partition, pool: Pool, old: NDArray[np.int64], regions: int
) -> None:
    """Replace some regions by those of a pool."""
    free = 0
    for r in old:
        _close(partition, r)
    numbers = np.empty(regions, np.int64)
    for q in range(regions):
        numbers[q] = -1
        if pool.sizes[q] == 0:
            continue
        if free < len(old):
            numbers[q] = old[free]
            free += 1
        else:
            numbers[q] = _free_number(partition)
        _open(partition, numbers[q])
    for i in range(len(pool.tuples)):
        _insert(layout, partition, pool.tuples[i], numbers[pool.labels[i]])
    for q in range(regions):
        if numbers[q] >= 0:
            _price(layout, partition, numbers[q])


@compiled()
def _free_number(partition: Partition) -> int:
    """Return a region that is not used; the search goes round."""
    r = partition.numbers[1]
    while partition.positions[r] >= 0:
        r += 1
        if r == len(partition.positions):
            r = 0
    partition.numbers[1] = r
    return int(r)


@compiled()
def improve(
    layout: Layout,
    limits: Limits,
    labels: NDArray[np.int32],
    cells: NDArray[np.int64],
    k: int,
    effort: float,
    largest: int,
    state: NDArray[np.uint64],
) -> float:
    """Divide pools of neighbouring regions anew, and keep what loses less.

    Args:
        layout: The table.
        limits: Limits beside k.
        labels: The region of every tuple, changed in place.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
        effort: How much is tried, counted in tuples: about 100 for a small pool.
        largest: The most tuples of a pool.
        state: The source of randomness.

    Returns:
        The total loss in the end.
    """
    n = len(labels)
    partition = _new_partition(layout, labels, n + 1)
    ks = np.array([k])
    split_labels = np.empty((1, n), np.int32)
    while effort > 0:
        effort -= 75
        if partition.numbers[0] < 2:
            break
        t = int(uniform(state) * n)
        seed = partition.labels[t]
        near = np.empty(1 + int(uniform(state) ** 2 * 4), np.int64)
        number = _nearest(layout, partition, cells, t, seed, near)
        regions = np.empty(number + 1, np.int64)
        regions[0] = seed
        used, total = 1, partition.counts[seed]
        for i in range(number):
            r = near[i]
            if total + partition.counts[r] > largest:
                continue
            regions[used] = r
            used += 1
            total += partition.counts[r]
        if used < 2 and partition.sizes[seed] < 2 * k:
            continue
        regions = regions[:used]
        before = 0.0
        for r in regions:
            before += partition.sizes[r] * partition.costs[r]
        if before <= _FEWEST:
            continue
        effort -= total + total * total / 500
        pool = _gather(layout, limits, partition, regions)
        count = used
        kind = uniform(state)
        if kind > 0.25:
            noise = 0.0 if kind > 0.9 else 2.0 * uniform(state)
            members = new_members(layout, pool.tuples)
            ends = np.array([0, len(pool.tuples)])
            count = split_tight(layout, limits, members, ends, ks, noise, state, split_labels)[0]
            for i in range(len(pool.tuples)):
                pool.labels[i] = split_labels[0, pool.tuples[i]]
        after = _polish(layout, limits, pool, count, k)
        if after < before - _FEWEST:
            _put_back(layout, partition, pool, regions, count)
    total_loss = 0.0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        total_loss += partition.sizes[r] * partition.costs[r]
    return total_loss


@compiled()
def dissolve(
    layout: Layout,
    limits: Limits,
    labels: NDArray[np.int32],
    cells: NDArray[np.int64],
    k: int,
) -> None:
    """Move the tuples of regions that break a limit to the regions that they cost least, one by one.

    Args:
        layout: The table.
        limits: Limits beside k.
        labels: The region of every tuple, changed in place.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
    """
    n = len(labels)
    partition = _new_partition(layout, labels, n + 1)
    order = np.argsort(partition.sizes)
    near = np.empty(1, np.int64)
    for r in order:
        if partition.positions[r] < 0 or _keeps(limits, partition, r, k):
            continue
        members = np.empty(partition.counts[r], np.int64)
        t = partition.heads[r]
        for i in range(len(members)):
            members[i] = t
            t = partition.following[t]
        other, price = _best_merge(layout, partition, cells, r)
        if other < 0:  # the only region of its cell
            continue
        singly = 0.0
        for t in members:
            _nearest(layout, partition, cells, t, r, near)
            singly += _price_of_joining(layout, partition, t, near[0])
            if singly >= price:
                break
        _close(partition, r)
        for t in members:
            if singly < price:
                _nearest(layout, partition, cells, t, r, near)
                other = near[0]
            _insert(layout, partition, t, other)
            _price(layout, partition, other)


@compiled()
def _price_of_joining(layout: Layout, partition: Partition, t: int, r: int) -> float:
    """Return the extra loss if a tuple joins a region."""
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        code = layout.codes[t, a]
        cost += span_cost(
            layout, a, min(partition.low[r, a], code), max(partition.high[r, a], code)
        )
    size = partition.sizes[r]
    return float((size + layout.weights[t]) * cost - size * partition.costs[r])


@compiled()
def _best_merge(
    layout: Layout, partition: Partition, cells: NDArray[np.int64], r: int
) -> tuple[int, float]:
    """Return the region that a region joins at the least extra loss, and that loss; -1 if there is none."""
    best, least = -1, np.inf
    for i in range(partition.numbers[0]):
        q = partition.places[i]
        if q == r or cells[partition.heads[q]] != cells[partition.heads[r]]:
            continue
        cost = 0.0
        for a in range(layout.codes.shape[1]):
            low = min(partition.low[r, a], partition.low[q, a])
            high = max(partition.high[r, a], partition.high[q, a])
            cost += span_cost(layout, a, low, high)
        price = (partition.sizes[r] + partition.sizes[q]) * cost
        price -= partition.sizes[q] * partition.costs[q]
        if price < least:
            best, least = q, price
    return int(best), float(least)


@compiled()
def _keeps(limits: Limits, partition: Partition, r: int, k: int) -> bool:
    """Return whether a region keeps all limits."""
    if partition.sizes[r] < k:
        return False
    if len(limits.kinds) == 0:
        return True
    histogram = np.zeros(limits.offsets[-1], np.int64)
    t = partition.heads[r]
    while t >= 0:
        count_entries(limits, t, 1, histogram)
        t = partition.following[t]
    return allowed(limits, histogram, partition.sizes[r])


@compiled()
def worst_values(
    layout: Layout, limits: Limits, labels: NDArray[np.int32], n_regions: int
) -> tuple[int, NDArray[np.float64]]:
    """Return the least size of a region, and for every limit its worst value in a region."""
    sizes = np.zeros(n_regions, np.int64)
    histograms = np.zeros((n_regions, limits.offsets[-1]), np.int64)
    for t in range(len(labels)):
        sizes[labels[t]] += layout.weights[t]
        count_entries(limits, t, 1, histograms[labels[t]])
    worst = np.zeros(len(limits.kinds))
    for c in range(len(limits.kinds)):
        for r in range(n_regions):
            value = value_of(limits, c, histograms[r], sizes[r])
            is_worse = value < worst[c] if limits.kinds[c] < ALPHA else value > worst[c]
            if r == 0 or is_worse:
                worst[c] = value
    return int(sizes.min()), worst


@compiled()
def tight_bounds(
    layout: Layout, labels: NDArray[np.int32], low: NDArray[np.int64], high: NDArray[np.int64]
) -> None:
    """Write the least and the largest code of every region."""
    low[:] = np.iinfo(np.int64).max
    high[:] = -1
    for t in range(len(labels)):
        r = labels[t]
        for a in range(layout.codes.shape[1]):
            code = layout.codes[t, a]
            low[r, a] = min(low[r, a], code)
            high[r, a] = max(high[r, a], code)


@compiled()
def better_parts(
    layout: Layout,
    limits: Limits,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    k: int,
    child: NDArray[np.int32],
) -> None:
    """Take from two partitions the better division of every set of tuples that both divide.

    Regions of both that share tuples belong together; such a set is divided as the first partition does,
    unless the second one loses less and keeps all limits there.

    Args:
        layout: The table.
        limits: Limits beside k.
        first: The region of every tuple.
        second: Another region of every tuple.
        k: The least size of a region.
        child: Filled: the region of every tuple.
    """
    n = len(first)
    mother = _new_partition(layout, first.copy(), n + 1)
    father = _new_partition(layout, second.copy(), n + 1)
    above = np.arange(n + 1)
    leader = np.full(n + 1, -1, np.int64)
    for t in range(n):
        a = _root(above, first[t])
        if leader[second[t]] < 0:
            leader[second[t]] = a
        else:
            b = _root(above, leader[second[t]])
            if a != b:
                above[a] = b
    gains = np.zeros(n + 1)
    is_kept = np.ones(n + 1, np.bool_)
    for i in range(mother.numbers[0]):
        r = mother.places[i]
        gains[_root(above, r)] += mother.sizes[r] * mother.costs[r]
    for i in range(father.numbers[0]):
        r = father.places[i]
        root = _root(above, leader[r])
        gains[root] -= father.sizes[r] * father.costs[r]
        if not _keeps(limits, father, r, k):
            is_kept[root] = False
    for t in range(n):
        root = _root(above, first[t])
        takes = gains[root] > _FEWEST and is_kept[root]
        child[t] = n + second[t] if takes else first[t]


@compiled()
def _root(above: NDArray[np.int64], r: int) -> int:
    while above[r] != r:
        above[r] = above[above[r]]
        r = above[r]
    return int(r)
