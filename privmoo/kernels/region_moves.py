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
    Outliers,
    adapt_price,
    allowed,
    count_entries,
    may_split,
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
        sizes: The size of every region.
        records: Its records; 0 for one that is free.
        low: Regions × attributes, the least code.
        high: The largest code.
        costs: Cost of one record.
        is_out: Whether a region is left out.
        counts: Tuples of every region.
        heads: The first tuple of every region.
        following: The next tuple of the same region; -1 at the end.
        places: Used regions, in any order.
        positions: Where a region is in `places`.
        numbers: How many regions are used; the largest number ever used.
    """

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    costs: NDArray[np.float64]
    is_out: NDArray[np.bool_]
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
        np.zeros(room, np.int64),
        np.empty((room, d), np.int32),
        np.empty((room, d), np.int32),
        np.zeros(room, np.float64),
        np.zeros(room, np.bool_),
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
    partition.records[r] = 0
    partition.is_out[r] = False
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
    partition.records[r] = 0
    partition.is_out[r] = False
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
    partition.sizes[r] += layout.sizes[t]
    partition.records[r] += layout.weights[t]
    partition.counts[r] += 1


@compiled()
def _price(layout: Layout, partition: Partition, r: int) -> None:
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        cost += span_cost(layout, a, partition.low[r, a], partition.high[r, a])
    partition.costs[r] = cost


@compiled()
def _leave_out(partition: Partition, outliers: Outliers) -> int:
    """Mark the regions that are too small as left out; return their records."""
    left_out = 0
    if outliers.most > 0:
        for i in range(partition.numbers[0]):
            r = partition.places[i]
            if partition.sizes[r] < outliers.below:
                partition.is_out[r] = True
                left_out += partition.records[r]
    return left_out


@compiled()
def _total_loss(partition: Partition, price: float) -> float:
    """Return the loss of all regions, where a record that is left out has a price."""
    total = 0.0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        total += partition.records[r] * (price if partition.is_out[r] else partition.costs[r])
    return total


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
        if r == without or partition.is_out[r] or cells[partition.heads[r]] != cells[t]:
            continue
        size = partition.records[r] + weight
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
        parts: What they add to the size of a region.
        labels: Their regions, numbered from 0.
        sizes: The sizes of the regions.
        records: Records of the regions.
        low: The least codes of the regions.
        high: The largest codes.
        lowest: How many tuples of a region have its least code.
        highest: How many have its largest code.
        costs: Cost of one record of the regions; the price, for one that is left out.
        histograms: Regions × sensitive values.
    """

    tuples: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.int64]
    parts: NDArray[np.int64]
    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
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
    size, records = 0, 0
    pool.histograms[r] = 0
    for i in range(len(pool.tuples)):
        if pool.labels[i] != r:
            continue
        for a in range(d):
            code = pool.rows[i, a]
            if records == 0 or code < pool.low[r, a]:
                pool.low[r, a] = code
                pool.lowest[r, a] = 1
            elif code == pool.low[r, a]:
                pool.lowest[r, a] += 1
            if records == 0 or code > pool.high[r, a]:
                pool.high[r, a] = code
                pool.highest[r, a] = 1
            elif code == pool.high[r, a]:
                pool.highest[r, a] += 1
        size += pool.parts[i]
        records += pool.weights[i]
        if len(limits.kinds):
            count_entries(limits, pool.tuples[i], 1, pool.histograms[r])
    pool.sizes[r], pool.records[r] = size, records
    cost = 0.0
    if _is_left_out(limits.outliers, size):
        cost = limits.outliers.price[0]
    elif records:
        for a in range(d):
            cost += span_cost(layout, a, pool.low[r, a], pool.high[r, a])
    pool.costs[r] = cost


@compiled()
def _is_left_out(outliers: Outliers, size: int) -> bool:
    """Return whether a region of a pool is so small that it is left out."""
    return outliers.most > 0 and size < outliers.below


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
    records = pool.records[r]
    if out >= 0:
        count_entries(limits, pool.tuples[out], -1, histogram)
        records -= pool.weights[out]
    if extra >= 0:
        count_entries(limits, pool.tuples[extra], 1, histogram)
        records += pool.weights[extra]
    return records == 0 or allowed(limits, histogram, records)


@compiled()
def _move_singles(layout: Layout, limits: Limits, pool: Pool, regions: int, k: int) -> bool:
    """Move single tuples to where the total loss falls, or leave them out; return whether any moved.

    A tuple that is left out is a region of its own.
    """
    outliers = limits.outliers
    moved = False
    for i in range(len(pool.tuples)):
        a, weight = pool.labels[i], pool.weights[i]
        was_out = _is_left_out(outliers, pool.sizes[a])
        remaining = pool.records[a] - weight
        must_keep = not was_out and remaining > 0
        if must_keep and pool.sizes[a] - pool.parts[i] < k:
            continue
        if must_keep and not _may_change(limits, pool, a, i, -1):
            continue
        rest = pool.costs[a] if was_out else _cost_without(layout, pool, a, i, -1)
        saved = pool.records[a] * pool.costs[a] - remaining * rest
        best, least = -1, saved - _FEWEST
        for b in range(regions):
            if b == a or pool.records[b] == 0 or weight * pool.costs[b] >= least:
                continue
            if _is_left_out(outliers, pool.sizes[b]):
                continue
            price = (pool.records[b] + weight) * _cost_with(layout, pool, b, i) - pool.records[
                b
            ] * pool.costs[b]
            if price < least and _may_change(limits, pool, b, -1, i):
                best, least = b, price
        if (
            not was_out
            and weight <= outliers.spare[0]
            and _is_left_out(outliers, pool.parts[i])
            and weight * outliers.price[0] < least
        ):
            best = _empty_region(pool)
            outliers.spare[0] -= weight
        elif best >= 0 and was_out:
            outliers.spare[0] += weight
        if best >= 0:
            pool.labels[i] = best
            _measure(layout, limits, pool, a)
            _measure(layout, limits, pool, best)
            moved = True
    return moved


@compiled()
def _empty_region(pool: Pool) -> int:
    """Return a region of a pool without members; there is one as long as a region has two of them."""
    r = 0
    while pool.records[r] > 0:
        r += 1
    return r


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
            fits = _fits(limits.outliers, pool, a, i, j, k)
            if not fits or not _fits(limits.outliers, pool, b, j, i, k):
                continue
            before = pool.records[a] * pool.costs[a] + pool.records[b] * pool.costs[b]
            after = _loss_after_swap(layout, limits.outliers, pool, a, i, j)
            if after >= before - _FEWEST:
                continue
            after += _loss_after_swap(layout, limits.outliers, pool, b, j, i)
            if after >= before - _FEWEST:
                continue
            if _may_swap(limits, pool, a, i, j) and _may_swap(limits, pool, b, j, i):
                more = pool.weights[j] - pool.weights[i]
                if _is_left_out(limits.outliers, pool.sizes[a]):
                    limits.outliers.spare[0] -= more
                if _is_left_out(limits.outliers, pool.sizes[b]):
                    limits.outliers.spare[0] += more
                pool.labels[i], pool.labels[j] = b, a
                _measure(layout, limits, pool, a)
                _measure(layout, limits, pool, b)
                swapped = True
    return swapped


@compiled()
def _fits(outliers: Outliers, pool: Pool, r: int, out: int, extra: int, k: int) -> bool:
    """Return whether a region keeps its size with another tuple: at least k, or left out as before."""
    size = pool.sizes[r] - pool.parts[out] + pool.parts[extra]
    if not _is_left_out(outliers, pool.sizes[r]):
        return bool(size >= k)
    more = pool.weights[extra] - pool.weights[out]
    return _is_left_out(outliers, size) and more <= outliers.spare[0]


@compiled()
def _loss_after_swap(
    layout: Layout, outliers: Outliers, pool: Pool, r: int, out: int, extra: int
) -> float:
    """Return the loss of a region with another tuple instead of one of its own."""
    records = pool.records[r] - pool.weights[out] + pool.weights[extra]
    if _is_left_out(outliers, pool.sizes[r]):
        return float(records * pool.costs[r])
    return float(records * _cost_without(layout, pool, r, out, extra))


@compiled()
def _may_swap(limits: Limits, pool: Pool, r: int, out: int, extra: int) -> bool:
    """Return whether a region keeps the limits with another tuple, or is left out."""
    if _is_left_out(limits.outliers, pool.sizes[r]):
        return True
    return _may_change(limits, pool, r, out, extra)


@compiled()
def _polish(layout: Layout, limits: Limits, pool: Pool, k: int) -> float:
    """Move and swap tuples of a pool while loss falls; return the loss."""
    regions = len(pool.sizes)
    for r in range(regions):
        pool.records[r] = 0
    for i in range(len(pool.tuples)):
        pool.records[pool.labels[i]] = 1
    used = 0
    for r in range(regions):
        if pool.records[r] > 0:
            _measure(layout, limits, pool, r)
            used = r + 1
    for _ in range(6):
        changed = _move_singles(layout, limits, pool, used, k)
        while used < regions and pool.records[used] > 0:
            used += 1
        if not changed and len(pool.tuples) <= _SWAPPED:
            changed = _swap_pairs(layout, limits, pool, k)
        if not changed:
            break
    total = 0.0
    for r in range(regions):
        total += pool.records[r] * pool.costs[r]
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
    weights, parts = np.empty(n, np.int64), np.empty(n, np.int64)
    i = 0
    for place in range(len(regions)):
        t = partition.heads[regions[place]]
        while t >= 0:
            tuples[i] = t
            labels[i] = place
            weights[i], parts[i] = layout.weights[t], layout.sizes[t]
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
        parts,
        labels,
        np.zeros(room, np.int64),
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
    layout: Layout,
    partition: Partition,
    pool: Pool,
    old: NDArray[np.int64],
    outliers: Outliers,
) -> None:
    """Replace some regions by those of a pool."""
    free, regions = 0, len(pool.sizes)
    for r in old:
        _close(partition, r)
    numbers = np.empty(regions, np.int64)
    for q in range(regions):
        numbers[q] = -1
        if pool.records[q] == 0:
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
            partition.is_out[numbers[q]] = _is_left_out(outliers, pool.sizes[q])


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
def _regions_of_pool(
    partition: Partition, seed: int, near: NDArray[np.int64], largest: int
) -> tuple[NDArray[np.int64], int]:
    """Return a region with the near ones that fit into a pool, and the number of their tuples."""
    regions = np.empty(len(near) + 1, np.int64)
    regions[0] = seed
    used, total = 1, partition.counts[seed]
    for r in near:
        if total + partition.counts[r] > largest:
            continue
        regions[used] = r
        used += 1
        total += partition.counts[r]
    return regions[:used], total


@compiled()
def _price_of(
    partition: Partition, outliers: Outliers, regions: NDArray[np.int64]
) -> tuple[float, int]:
    """Return the loss of some regions, with the price of records left out, and the number of these."""
    price, left_out = 0.0, 0
    for r in regions:
        if partition.is_out[r]:
            price += partition.records[r] * outliers.price[0]
            left_out += partition.records[r]
        else:
            price += partition.records[r] * partition.costs[r]
    return price, left_out


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

    Regions that are too small are left out, and every pool may leave out others instead. The price of that
    rises as long as no more may be left out, so that those go who cost the others most.

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
    n, outliers = len(labels), limits.outliers
    partition = _new_partition(layout, labels, n + 1)
    outliers.spare[0] = outliers.most - _leave_out(partition, outliers)
    least, first_labels = _total_loss(partition, 1.0), labels.copy()
    ks = np.array([k])
    split_labels = np.empty((1, n), np.int32)
    while effort > 0:
        effort -= 75
        if partition.numbers[0] < 2:
            break
        adapt_price(outliers)
        t = _drawn_tuple(partition, outliers, state)
        seed = partition.labels[t]
        near = np.empty(1 + int(uniform(state) ** 2 * 4), np.int64)
        number = _nearest(layout, partition, cells, t, seed, near)
        regions, total = _regions_of_pool(partition, seed, near[:number], largest)
        if len(regions) < 2 and not may_split(limits, partition.sizes[seed], k):
            continue
        before, out_before = _price_of(partition, outliers, regions)
        if before <= _FEWEST:
            continue
        effort -= total + total * total / 500
        pool = _gather(layout, limits, partition, regions)
        spare = outliers.spare[0]
        kind = uniform(state)
        if kind > 0.25:
            noise = 0.0 if kind > 0.9 else 2.0 * uniform(state)
            members = new_members(layout, pool.tuples)
            ends = np.array([0, len(pool.tuples)])
            outliers.spare[0] = spare + out_before
            split_tight(layout, limits, members, ends, ks, noise, state, split_labels)
            for i in range(len(pool.tuples)):
                pool.labels[i] = split_labels[0, pool.tuples[i]]
        after = _polish(layout, limits, pool, k)
        outliers.spare[0] = spare + out_before - _left_out_of(limits, pool, k)
        if after < before - _FEWEST and outliers.spare[0] >= 0:
            _put_back(layout, partition, pool, regions, outliers)
        else:
            outliers.spare[0] = spare
    total_loss = _total_loss(partition, 1.0)
    if total_loss > least:
        labels[:] = first_labels
    return min(total_loss, least)


@compiled()
def _drawn_tuple(partition: Partition, outliers: Outliers, state: NDArray[np.uint64]) -> int:
    """Draw a tuple; one that is left out more often where no more may be."""
    n = len(partition.labels)
    t = int(uniform(state) * n)
    if outliers.most > outliers.spare[0] and uniform(state) < 0.2:
        used = partition.numbers[0]
        first = int(uniform(state) * used)
        for i in range(used):
            r = partition.places[(first + i) % used]
            if partition.is_out[r]:
                return int(partition.heads[r])
    return t


@compiled()
def _left_out_of(limits: Limits, pool: Pool, k: int) -> int:
    """Return how many records of a pool are left out; more than there are if a region breaks a limit."""
    outliers = limits.outliers
    if outliers.most == 0:
        return 0
    left_out = 0
    for r in range(len(pool.sizes)):
        if pool.records[r] == 0:
            continue
        if _is_left_out(outliers, pool.sizes[r]):
            left_out += pool.records[r]
        elif pool.sizes[r] < k or not _may_change(limits, pool, r, -1, -1):
            return 1 << 60
    return left_out


@compiled()
def dissolve(
    layout: Layout,
    limits: Limits,
    labels: NDArray[np.int32],
    cells: NDArray[np.int64],
    k: int,
) -> None:
    """Move the tuples of regions that break a limit to the regions that they cost least, one by one.

    A region that is too small stays, and is left out, where that costs less and is allowed.

    Args:
        layout: The table.
        limits: Limits beside k.
        labels: The region of every tuple, changed in place.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
    """
    n, outliers = len(labels), limits.outliers
    partition = _new_partition(layout, labels, n + 1)
    spare = outliers.most
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
        records = partition.records[r]
        if (
            records <= spare
            and _is_left_out(outliers, partition.sizes[r])
            and records < min(singly, price)
        ):
            partition.is_out[r] = True
            spare -= records
            continue
        _close(partition, r)
        for t in members:
            if singly < price:
                _nearest(layout, partition, cells, t, r, near)
                other = near[0]
            _insert(layout, partition, t, other)
            _price(layout, partition, other)
    outliers.spare[0] = spare


@compiled()
def _price_of_joining(layout: Layout, partition: Partition, t: int, r: int) -> float:
    """Return the extra loss if a tuple joins a region."""
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        code = layout.codes[t, a]
        cost += span_cost(
            layout, a, min(partition.low[r, a], code), max(partition.high[r, a], code)
        )
    records = partition.records[r]
    return float((records + layout.weights[t]) * cost - records * partition.costs[r])


@compiled()
def _best_merge(
    layout: Layout, partition: Partition, cells: NDArray[np.int64], r: int
) -> tuple[int, float]:
    """Return the region that a region joins at the least extra loss, and that loss; -1 if there is none."""
    best, least = -1, np.inf
    for i in range(partition.numbers[0]):
        q = partition.places[i]
        if q == r or partition.is_out[q] or cells[partition.heads[q]] != cells[partition.heads[r]]:
            continue
        cost = 0.0
        for a in range(layout.codes.shape[1]):
            low = min(partition.low[r, a], partition.low[q, a])
            high = max(partition.high[r, a], partition.high[q, a])
            cost += span_cost(layout, a, low, high)
        price = (partition.records[r] + partition.records[q]) * cost
        price -= partition.records[q] * partition.costs[q]
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
    return allowed(limits, histogram, partition.records[r])


@compiled()
def worst_values(
    layout: Layout, limits: Limits, labels: NDArray[np.int32], n_regions: int
) -> tuple[int, NDArray[np.float64]]:
    """Return the least size of a region, and for every limit its worst value in a region.

    Regions that are left out do not count, as long as there are others.
    """
    sizes, records = np.zeros(n_regions, np.int64), np.zeros(n_regions, np.int64)
    histograms = np.zeros((n_regions, limits.offsets[-1]), np.int64)
    for t in range(len(labels)):
        sizes[labels[t]] += layout.sizes[t]
        records[labels[t]] += layout.weights[t]
        count_entries(limits, t, 1, histograms[labels[t]])
    below = limits.outliers.below if limits.outliers.most > 0 else 0
    if sizes.max() < below:
        below = 0
    least = -1
    worst = np.zeros(len(limits.kinds))
    for r in range(n_regions):
        if sizes[r] < below:
            continue
        for c in range(len(limits.kinds)):
            value = value_of(limits, c, histograms[r], records[r])
            is_worse = value < worst[c] if limits.kinds[c] < ALPHA else value > worst[c]
            if least < 0 or is_worse:
                worst[c] = value
        least = sizes[r] if least < 0 else min(least, sizes[r])
    return int(least), worst


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
    spare = limits.outliers.most - _leave_out(mother, limits.outliers)
    _leave_out(father, limits.outliers)
    gains = np.zeros(n + 1)
    more = np.zeros(
        n + 1, np.int64
    )  # records that the second partition leaves out, and the first does not
    is_kept = np.ones(n + 1, np.bool_)
    for i in range(mother.numbers[0]):
        r = mother.places[i]
        root = _root(above, r)
        gains[root] += mother.records[r] * (1.0 if mother.is_out[r] else mother.costs[r])
        more[root] -= mother.records[r] if mother.is_out[r] else 0
    for i in range(father.numbers[0]):
        r = father.places[i]
        root = _root(above, leader[r])
        gains[root] -= father.records[r] * (1.0 if father.is_out[r] else father.costs[r])
        more[root] += father.records[r] if father.is_out[r] else 0
        if not father.is_out[r] and not _keeps(limits, father, r, k):
            is_kept[root] = False
    takes = np.zeros(n + 1, np.bool_)
    for root in range(n + 1):
        if gains[root] > _FEWEST and is_kept[root] and more[root] <= max(spare, 0):
            takes[root] = True
            spare -= more[root]
    for t in range(n):
        child[t] = n + second[t] if takes[_root(above, first[t])] else first[t]


@compiled()
def _root(above: NDArray[np.int64], r: int) -> int:
    while above[r] != r:
        above[r] = above[above[r]]
        r = above[r]
    return int(r)
