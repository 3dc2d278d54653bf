"""Improvement of regions with tight ranges: pools of neighbouring regions are divided anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_layout import Layout, Limits, Outliers, adapt_price, may_split
from privmoo.kernels.region_partition import (
    Partition,
    best_merge,
    close_region,
    insert_tuple,
    is_left_out,
    keeps_limits,
    leave_out,
    nearest_regions,
    new_partition,
    price_of_joining,
    price_region,
    total_loss,
)
from privmoo.kernels.region_pools import (
    gather_pool,
    left_out_of,
    polish_pool,
    price_of_regions,
    put_back,
    regions_of_pool,
)
from privmoo.kernels.region_splits import new_members, split_tight

__all__ = ["dissolve", "improve"]

_FEWEST = 1e-9


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
    partition = new_partition(layout, labels, n + 1)
    outliers.spare[0] = outliers.most - leave_out(partition, outliers)
    least, first_labels = total_loss(partition, 1.0), labels.copy()
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
        number = nearest_regions(layout, partition, cells, t, seed, near)
        regions, total = regions_of_pool(partition, seed, near[:number], largest)
        if len(regions) < 2 and not may_split(limits, partition.sizes[seed], k):
            continue
        before, out_before = price_of_regions(partition, outliers, regions)
        if before <= _FEWEST:
            continue
        effort -= total + total * total / 500
        pool = gather_pool(layout, limits, partition, regions)
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
        after = polish_pool(layout, limits, pool, k)
        outliers.spare[0] = spare + out_before - left_out_of(limits, pool, k)
        if after < before - _FEWEST and outliers.spare[0] >= 0:
            put_back(layout, partition, pool, regions, outliers)
        else:
            outliers.spare[0] = spare
    loss = total_loss(partition, 1.0)
    if loss > least:
        labels[:] = first_labels
    return min(loss, least)


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
    partition = new_partition(layout, labels, n + 1)
    spare = outliers.most
    order = np.argsort(partition.sizes)
    near = np.empty(1, np.int64)
    for r in order:
        if partition.positions[r] < 0 or keeps_limits(limits, partition, r, k):
            continue
        members = np.empty(partition.counts[r], np.int64)
        t = partition.heads[r]
        for i in range(len(members)):
            members[i] = t
            t = partition.following[t]
        other, price = best_merge(layout, partition, cells, r)
        if other < 0:  # the only region of its cell
            continue
        singly = 0.0
        for t in members:
            nearest_regions(layout, partition, cells, t, r, near)
            singly += price_of_joining(layout, partition, t, near[0])
            if singly >= price:
                break
        records = partition.records[r]
        if (
            records <= spare
            and is_left_out(outliers, partition.sizes[r])
            and records < min(singly, price)
        ):
            partition.is_out[r] = True
            spare -= records
            continue
        close_region(partition, r)
        for t in members:
            if singly < price:
                nearest_regions(layout, partition, cells, t, r, near)
                other = near[0]
            insert_tuple(layout, partition, t, other)
            price_region(layout, partition, other)
    outliers.spare[0] = spare
