"""Partitions into regions with tight ranges: members, ranges and costs, and how they change."""

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

__all__ = [
    "Partition",
    "best_merge",
    "close_region",
    "free_number",
    "insert_tuple",
    "is_left_out",
    "keeps_limits",
    "leave_out",
    "nearest_regions",
    "new_partition",
    "open_region",
    "price_of_joining",
    "price_region",
    "total_loss",
]


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
def new_partition(layout: Layout, labels: NDArray[np.int32], room: int) -> Partition:
    """Return the regions of all tuples.

    Args:
        layout: The table.
        labels: The region of every tuple; the partition goes on using this array.
        room: The largest number of regions.
    """
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
            open_region(partition, r)
        insert_tuple(layout, partition, t, r)
    for i in range(partition.numbers[0]):
        price_region(layout, partition, partition.places[i])
    return partition


@compiled()
def open_region(partition: Partition, r: int) -> None:
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
def close_region(partition: Partition, r: int) -> None:
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
def insert_tuple(layout: Layout, partition: Partition, t: int, r: int) -> None:
    """Put a tuple into a region and widen its ranges; its cost is computed by `price_region`."""
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
def price_region(layout: Layout, partition: Partition, r: int) -> None:
    """Compute the cost of one record of a region from its ranges."""
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        cost += span_cost(layout, a, partition.low[r, a], partition.high[r, a])
    partition.costs[r] = cost


@compiled()
def free_number(partition: Partition) -> int:
    """Return a region that is not used; the search goes round."""
    r = partition.numbers[1]
    while partition.positions[r] >= 0:
        r += 1
        if r == len(partition.positions):
            r = 0
    partition.numbers[1] = r
    return int(r)


@compiled()
def leave_out(partition: Partition, outliers: Outliers) -> int:
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
def is_left_out(outliers: Outliers, size: int) -> bool:
    """Return whether a region of a pool is so small that it is left out."""
    return outliers.most > 0 and size < outliers.below


@compiled()
def total_loss(partition: Partition, price: float) -> float:
    """Return the loss of all regions, where a record that is left out has a price."""
    total = 0.0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        total += partition.records[r] * (price if partition.is_out[r] else partition.costs[r])
    return total


@compiled()
def keeps_limits(limits: Limits, partition: Partition, r: int, k: int) -> bool:
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
def nearest_regions(
    layout: Layout,
    partition: Partition,
    cells: NDArray[np.int64],
    t: int,
    without: int,
    nearest: NDArray[np.int64],
) -> int:
    """Write the regions that a tuple would join at the least extra loss; return how many there are."""
    prices = np.full(len(nearest), np.inf)
    number = 0
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        if r == without or partition.is_out[r] or cells[partition.heads[r]] != cells[t]:
            continue
        price = _price_up_to(layout, partition, t, r, prices[-1])
        if price < prices[-1]:
            place = len(nearest) - 1
            while place > 0 and prices[place - 1] > price:
                prices[place] = prices[place - 1]
                nearest[place] = nearest[place - 1]
                place -= 1
            prices[place] = price
            nearest[place] = r
            number = min(number + 1, len(nearest))
    return number


@compiled()
def cheapest_region(
    layout: Layout,
    partition: Partition,
    cells: NDArray[np.int64],
    t: int,
    without: int,
    limit: float,
) -> tuple[int, float]:
    """Return the region that a tuple would join at the least extra loss, and that loss.

    Args:
        layout: The table.
        partition: The regions.
        cells: The cell of every tuple, which no region may leave.
        t: The tuple.
        without: A region that does not count, as do those that are left out.
        limit: What the region must cost less than.

    Returns:
        -1 and infinity if there is no such region.
    """
    best, cheapest = -1, limit
    for i in range(partition.numbers[0]):
        r = partition.places[i]
        if r == without or partition.is_out[r] or cells[partition.heads[r]] != cells[t]:
            continue
        price = _price_up_to(layout, partition, t, r, cheapest)
        if price < cheapest:
            best, cheapest = r, price
    return int(best), float(cheapest if best >= 0 else np.inf)


@compiled(inline=True)
def _price_up_to(layout: Layout, partition: Partition, t: int, r: int, limit: float) -> float:
    """Return the extra loss if a tuple joins a region, or a part of it that reaches a limit."""
    size = partition.records[r] + layout.weights[t]
    price = layout.weights[t] * partition.costs[r]
    for a in range(layout.codes.shape[1]):
        if price >= limit:
            break
        code = layout.codes[t, a]
        low, high = partition.low[r, a], partition.high[r, a]
        if code < low:
            price += size * (span_cost(layout, a, code, high) - span_cost(layout, a, low, high))
        elif code > high:
            price += size * (span_cost(layout, a, low, code) - span_cost(layout, a, low, high))
    return float(price)


@compiled()
def price_of_joining(layout: Layout, partition: Partition, t: int, r: int) -> float:
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
def best_merge(
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
