"""Pools of neighbouring regions: their tuples are moved and swapped while the loss falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.region_layout import (
    Layout,
    Limits,
    Outliers,
    allowed,
    count_entries,
    span_cost,
)
from privmoo.kernels.region_partition import (
    Partition,
    close_region,
    free_number,
    insert_tuple,
    is_left_out,
    open_region,
    price_region,
)

__all__ = [
    "Pool",
    "all_keep_limits",
    "gather_pool",
    "left_out_of",
    "polish_pool",
    "price_of_regions",
    "put_back",
    "regions_of_pool",
]

_FEWEST = 1e-9
_SWAPPED = 48  # pools up to this many tuples try swaps


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
def gather_pool(
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
def regions_of_pool(
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
def price_of_regions(
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
def put_back(
    layout: Layout,
    partition: Partition,
    pool: Pool,
    old: NDArray[np.int64],
    outliers: Outliers,
) -> None:
    """Replace some regions by those of a pool."""
    free, regions = 0, len(pool.sizes)
    for r in old:
        close_region(partition, r)
    numbers = np.empty(regions, np.int64)
    for q in range(regions):
        numbers[q] = -1
        if pool.records[q] == 0:
            continue
        if free < len(old):
            numbers[q] = old[free]
            free += 1
        else:
            numbers[q] = free_number(partition)
        open_region(partition, numbers[q])
    for i in range(len(pool.tuples)):
        insert_tuple(layout, partition, pool.tuples[i], numbers[pool.labels[i]])
    for q in range(regions):
        if numbers[q] >= 0:
            price_region(layout, partition, numbers[q])
            partition.is_out[numbers[q]] = is_left_out(outliers, pool.sizes[q])


@compiled()
def polish_pool(layout: Layout, limits: Limits, pool: Pool, k: int) -> float:
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
def left_out_of(limits: Limits, pool: Pool, k: int) -> int:
    """Return how many records of a pool are left out; more than there are if a region breaks a limit."""
    outliers = limits.outliers
    if outliers.most == 0:
        return 0
    left_out = 0
    for r in range(len(pool.sizes)):
        if pool.records[r] == 0:
            continue
        if is_left_out(outliers, pool.sizes[r]):
            left_out += pool.records[r]
        elif pool.sizes[r] < k or not _may_change(limits, pool, r, -1, -1):
            return 1 << 60
    return left_out


@compiled()
def all_keep_limits(limits: Limits, pool: Pool, k: int) -> bool:
    """Return whether all regions of a pool keep the limits."""
    for r in range(len(pool.sizes)):
        if pool.records[r] > 0 and (pool.sizes[r] < k or not _may_change(limits, pool, r, -1, -1)):
            return False
    return True


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
    if is_left_out(limits.outliers, size):
        cost = limits.outliers.price[0]
    elif records:
        for a in range(d):
            cost += span_cost(layout, a, pool.low[r, a], pool.high[r, a])
    pool.costs[r] = cost


@compiled()
def _move_singles(layout: Layout, limits: Limits, pool: Pool, regions: int, k: int) -> bool:
    """Move single tuples to where the total loss falls, or leave them out; return whether any moved.

    A tuple that is left out is a region of its own.
    """
    outliers = limits.outliers
    moved = False
    for i in range(len(pool.tuples)):
        a, weight = pool.labels[i], pool.weights[i]
        was_out = is_left_out(outliers, pool.sizes[a])
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
            if is_left_out(outliers, pool.sizes[b]):
                continue
            price = (pool.records[b] + weight) * _cost_with(layout, pool, b, i) - pool.records[
                b
            ] * pool.costs[b]
            if price < least and _may_change(limits, pool, b, -1, i):
                best, least = b, price
        if (
            not was_out
            and weight <= outliers.spare[0]
            and is_left_out(outliers, pool.parts[i])
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
                if is_left_out(limits.outliers, pool.sizes[a]):
                    limits.outliers.spare[0] -= more
                if is_left_out(limits.outliers, pool.sizes[b]):
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
    if not is_left_out(outliers, pool.sizes[r]):
        return bool(size >= k)
    more = pool.weights[extra] - pool.weights[out]
    return is_left_out(outliers, size) and more <= outliers.spare[0]


@compiled()
def _loss_after_swap(
    layout: Layout, outliers: Outliers, pool: Pool, r: int, out: int, extra: int
) -> float:
    """Return the loss of a region with another tuple instead of one of its own."""
    records = pool.records[r] - pool.weights[out] + pool.weights[extra]
    if is_left_out(outliers, pool.sizes[r]):
        return float(records * pool.costs[r])
    return float(records * _cost_without(layout, pool, r, out, extra))


@compiled()
def _may_swap(limits: Limits, pool: Pool, r: int, out: int, extra: int) -> bool:
    """Return whether a region keeps the limits with another tuple, or is left out."""
    if is_left_out(limits.outliers, pool.sizes[r]):
        return True
    return _may_change(limits, pool, r, out, extra)


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
