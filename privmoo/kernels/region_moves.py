"""Improvement of regions with tight ranges: pools are divided anew, boxes claim tuples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_claims import (
    Claims,
    Field,
    claim,
    draw_box,
    labels_before,
    new_claims,
    set_box,
)
from privmoo.kernels.region_growth import grow_regions
from privmoo.kernels.region_layout import ALPHA, Layout, Limits, Outliers, adapt_price, may_split
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
    all_keep_limits,
    gather_pool,
    left_out_of,
    polish_pool,
    price_of_regions,
    put_back,
    regions_of_pool,
)
from privmoo.kernels.region_splits import new_members, split_tight

__all__ = ["adopt", "dissolve", "improve"]

_FEWEST = 1e-9
_HOTTEST = 0.3  # times the mean loss of k records: by how much a claim may raise the loss at first
_RAREST = 0.1  # the share of moves that gain least
_GROWN = 0.5  # the share of pools that grow anew, where regions must resemble the table


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
    """Divide pools of neighbouring regions anew, and let boxes claim tuples; keep what loses less.

    What gained more for its effort is tried more often. Boxes may also claim what loses a little more, the
    less of it the longer the search takes; the best regions are those that count in the end.

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
    field, claims = Field(layout, limits, cells, partition, k), new_claims(layout)
    split_labels = np.empty((1, n), np.int32)
    loss = total_loss(partition, 1.0)
    least, best_labels = loss, labels.copy()
    is_best, is_saved = True, True
    heat = _HOTTEST * uniform(state) ** 2 * k * loss / max(layout.sizes.sum(), 1)
    efforts, gains, whole = np.full(2, 1.0), np.full(2, _FEWEST), effort
    while effort > 0 and partition.numbers[0] > 1:
        adapt_price(outliers)
        left, price = outliers.spare[0], outliers.price[0]
        t = _drawn_tuple(partition, outliers, state)
        is_claim = uniform(state) < _share(gains, efforts)
        if is_claim:
            most = -heat * (effort / whole) ** 2 * np.log(1.0 - uniform(state))
            change, spent = _claim_around(field, claims, t, most, state)
        else:
            if price > 1.0 and is_best and not is_saved:
                best_labels[:], is_saved = labels, True
            change, spent = _divide(field, t, largest, split_labels, state)
        effort -= spent
        efforts[int(is_claim)] += spent
        gains[int(is_claim)] = max(gains[int(is_claim)] - change, _FEWEST)
        if change == 0.0:
            continue
        change -= (price - 1.0) * (left - outliers.spare[0])
        loss += change
        if loss <= least:
            least, is_best, is_saved = loss, True, False
        elif is_best:
            if not is_saved:
                labels_before(partition, claims, best_labels)
            is_best = False
    if not is_best:
        write_into(labels, best_labels)
    return least


@compiled()
def _share(gains: NDArray[np.float64], efforts: NDArray[np.float64]) -> float:
    """Return how likely a box claims tuples next: by what pools and claims gained for their efforts."""
    pools, claimed = gains[0] / efforts[0], gains[1] / efforts[1]
    return float(min(max(claimed / (pools + claimed), _RAREST), 1.0 - _RAREST))


@compiled()
def _claim_around(
    field: Field, claims: Claims, t: int, most: float, state: NDArray[np.uint64]
) -> tuple[float, float]:
    """Let a box around a tuple claim others; return the change of the loss, and the effort."""
    partition = field.partition
    if not draw_box(field.layout, partition, claims, t, state):
        return 0.0, 2.0
    r = partition.labels[t]
    ceiling = field.limits.outliers.price[0] if partition.is_out[r] else partition.costs[r]
    return claim(field, claims, field.cells[t], ceiling, most, state)


@compiled()
def _divide(
    field: Field,
    t: int,
    largest: int,
    split_labels: NDArray[np.int32],
    state: NDArray[np.uint64],
) -> tuple[float, float]:
    """Divide a tuple's region and some near it anew, if that loses less.

    Args:
        field: The regions, changed in place.
        t: The tuple.
        largest: The most tuples of a pool.
        split_labels: Room for the splits: one row, all tuples.
        state: The source of randomness.

    Returns:
        The change of the loss, 0 if nothing was changed, and the effort.
    """
    layout, limits, cells, partition, k = field
    outliers = limits.outliers
    effort = 75.0 + partition.numbers[0] / 16  # all of them are looked at for the nearest ones
    seed = partition.labels[t]
    near = np.empty(1 + int(uniform(state) ** 2 * 4), np.int64)
    number = nearest_regions(layout, partition, cells, t, seed, near)
    regions, total = regions_of_pool(partition, seed, near[:number], largest)
    if len(regions) < 2 and not may_split(limits, partition.sizes[seed], k):
        return 0.0, effort
    before, out_before = price_of_regions(partition, outliers, regions)
    if before <= _FEWEST:
        return 0.0, effort
    effort += total + total * total / 500
    pool = gather_pool(layout, limits, partition, regions)
    spare = outliers.spare[0]
    kind = uniform(state)
    grows = len(limits.kinds) > 0 and limits.kinds.max() >= ALPHA and uniform(state) < _GROWN
    if grows:
        effort += total * total / 16  # every tuple looks at all others
        order = _shuffled(pool.tuples, state)
        grow_regions(layout, limits, cells, k, order, split_labels[0])
    elif kind > 0.25:
        noise = 0.0 if kind > 0.9 else 2.0 * uniform(state)
        members = new_members(layout, pool.tuples)
        ends = np.array([0, len(pool.tuples)])
        outliers.spare[0] = spare + out_before
        split_tight(layout, limits, members, ends, np.array([k]), noise, state, split_labels)
    if grows or kind > 0.25:
        for i in range(len(pool.tuples)):
            pool.labels[i] = split_labels[0, pool.tuples[i]]
    after = polish_pool(layout, limits, pool, k)
    if grows and not all_keep_limits(limits, pool, k):
        return 0.0, effort
    outliers.spare[0] = spare + out_before - left_out_of(limits, pool, k)
    if after < before - _FEWEST and outliers.spare[0] >= 0:
        put_back(layout, partition, pool, regions, outliers)
        return after - before, effort
    outliers.spare[0] = spare
    return 0.0, effort


@compiled()
def _shuffled(tuples: NDArray[np.int64], state: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return tuples in a random order."""
    order = tuples.copy()
    for i in range(len(order) - 1, 0, -1):
        j = int(uniform(state) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


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
def adopt(
    layout: Layout,
    limits: Limits,
    labels: NDArray[np.int32],
    cells: NDArray[np.int64],
    k: int,
    others: NDArray[np.int32],
) -> None:
    """Let the boxes of another partition claim tuples, each where that loses less.

    Args:
        layout: The table.
        limits: Limits beside k.
        labels: The region of every tuple, changed in place.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
        others: The region of every tuple in the other partition.
    """
    n, outliers = len(labels), limits.outliers
    partition = new_partition(layout, labels, n + 1)
    outliers.spare[0] = outliers.most - leave_out(partition, outliers)
    field, claims = Field(layout, limits, cells, partition, k), new_claims(layout)
    source = new_partition(layout, others, n + 1)
    state = np.zeros(1, np.uint64)
    for i in range(source.numbers[0]):
        r = source.places[i]
        if _is_the_same(source, r, partition, partition.labels[source.heads[r]]):
            continue
        set_box(layout, claims, source.low[r], source.high[r])
        claim(field, claims, cells[source.heads[r]], 0.0, 0.0, state)


@compiled()
def _is_the_same(one: Partition, r: int, other: Partition, q: int) -> bool:
    """Return whether regions of two partitions have equally many tuples, and the same ranges."""
    if one.counts[r] != other.counts[q]:
        return False
    return bool((one.low[r] == other.low[q]).all() and (one.high[r] == other.high[q]).all())


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
