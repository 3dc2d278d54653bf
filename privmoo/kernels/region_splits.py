"""Splits by loss: a table is divided while the ranges of its parts lose less, for many k at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_layout import (
    Layout,
    Limits,
    allowed,
    count_entries,
    may_split,
    span_cost,
)

__all__ = [
    "Members",
    "Scratch",
    "Side",
    "add_split",
    "bounds_of",
    "buckets_of",
    "distort",
    "distortion",
    "new_members",
    "new_scratch",
    "new_stack",
    "one_past_sharing",
    "partition",
    "push",
    "range_of_split",
    "split_candidates",
    "split_tight",
    "take_best",
    "take_spare",
    "with_room",
]


class Members(NamedTuple):
    """Tuples in an order where every region is a range of places; rows move with their tuples.

    Attributes:
        tuples: The tuple at every place.
        rows: Its codes.
        weights: Its records.
        sizes: What it adds to the size of a region.
    """

    tuples: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Scratch(NamedTuple):
    """Memory for the splits of a region.

    Attributes:
        gains: The loss that each split saves.
        sides: The size of its smaller side.
        splits: Its number; see `range_of_split`.
        records: The records of the smaller side.
        savings: The loss that it saves if the smaller side is left out, at no price.
        factors: How much its gains are distorted.
    """

    gains: NDArray[np.float64]
    sides: NDArray[np.int64]
    splits: NDArray[np.int64]
    records: NDArray[np.int64]
    savings: NDArray[np.float64]
    factors: NDArray[np.float64]


@compiled()
def new_scratch(layout: Layout) -> Scratch:
    """Return memory for all splits of a region."""
    room = 2 * layout.split_starts[-1]
    return Scratch(
        np.empty(room, np.float64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.float64),
        np.empty(room, np.float64),
    )


@compiled()
def new_members(layout: Layout, index: NDArray[np.int64]) -> Members:
    """Return tuples with their codes side by side."""
    n, d = len(index), layout.codes.shape[1]
    rows = np.empty((n, d), np.int32)
    weights, sizes = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        weights[i], sizes[i] = layout.weights[index[i]], layout.sizes[index[i]]
        for j in range(d):
            rows[i, j] = layout.codes[index[i], j]
    return Members(index.copy(), rows, weights, sizes)


@compiled()
def bounds_of(
    members: Members, start: int, stop: int, low: NDArray[np.int64], high: NDArray[np.int64]
) -> int:
    """Write the least and the largest code of some places; return their records."""
    rows = members.rows
    for j in range(rows.shape[1]):
        low[j], high[j] = rows[start, j], rows[start, j]
    size = members.weights[start]
    for i in range(start + 1, stop):
        size += members.weights[i]
        for j in range(rows.shape[1]):
            code = rows[i, j]
            if code < low[j]:
                low[j] = code
            elif code > high[j]:
                high[j] = code
    return int(size)


@compiled()
def distortion(noise: float, state: NDArray[np.uint64]) -> float:
    """Draw the factor that distorts the gains of an attribute; 1 without noise."""
    if noise <= 0:
        return 1.0
    return float(np.exp(noise * (2 * uniform(state) - 1)))


@compiled()
def distort(scratch: Scratch, count: int, noise: float, state: NDArray[np.uint64]) -> None:
    """Distort the gain of every split on its own, so that other positions of an attribute have a chance.

    Args:
        scratch: The splits.
        count: How many there are.
        noise: How much gains are distorted.
        state: The source of randomness.
    """
    for c in range(count):
        factor = distortion(noise, state)
        scratch.gains[c] *= factor
        scratch.factors[c] *= factor


@compiled()
def buckets_of(
    members: Members, start: int, stop: int, j: int, low: int, high: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the code of every bucket, and the bucket of every place; by sorting if codes are sparse."""
    n = stop - start
    buckets = np.empty(n, np.int64)
    if high - low < 4 * n + 16:
        for i in range(n):
            buckets[i] = members.rows[start + i, j] - low
        return np.arange(low, high + 1), buckets
    order = np.argsort(members.rows[start:stop, j])
    codes = np.empty(n, np.int64)
    used = -1
    for i in order:
        code = members.rows[start + i, j]
        if used < 0 or codes[used] != code:
            used += 1
            codes[used] = code
        buckets[i] = used
    return codes[: used + 1], buckets


class Buckets(NamedTuple):
    """The members of a region, by their code of one attribute.

    Attributes:
        codes: The code of every bucket.
        least: Buckets × attributes, the least codes of the members.
        most: The largest codes.
        records: Records of every bucket; the codes of a bucket without any mean nothing.
        sizes: What every bucket adds to the size of a region.
    """

    codes: NDArray[np.int64]
    least: NDArray[np.int32]
    most: NDArray[np.int32]
    records: NDArray[np.int64]
    sizes: NDArray[np.int64]


@compiled()
def split_candidates(
    layout: Layout,
    members: Members,
    start: int,
    stop: int,
    noise: float,
    state: NDArray[np.uint64],
    scratch: Scratch,
) -> tuple[int, float, int]:
    """Compute what every split of a region gains, if the ranges of both sides shrink.

    An order is split at a position: a split is numbered by `layout.split_starts` of its attribute and the
    last code of its lower side. A tree is also split into a node and the rest; see `range_of_split`.

    Args:
        layout: The table.
        members: The tuples.
        start: The first place of the region.
        stop: One past its last place.
        noise: How much gains are distorted, by attribute; 0 for not at all.
        state: The source of randomness.
        scratch: Filled with the splits.

    Returns:
        The number of splits, the loss of the region, and its records.
    """
    rows, d = members.rows, members.rows.shape[1]
    low, high = np.empty(d, np.int64), np.empty(d, np.int64)
    size = bounds_of(members, start, stop, low, high)
    cost = 0.0
    for a in range(d):
        cost += span_cost(layout, a, low[a], high[a])
    if cost <= 0.0:
        return 0, 0.0, size
    loss = size * cost
    count = 0
    side_low, side_high = np.empty(d, np.int64), np.empty(d, np.int64)
    for j in range(d):
        if low[j] == high[j]:
            continue
        factor = distortion(noise, state)
        codes, places = buckets_of(members, start, stop, j, low[j], high[j])
        m = len(codes)
        least = np.empty((m, d), np.int32)
        most = np.full((m, d), -1, np.int32)
        records, sizes = np.zeros(m, np.int64), np.zeros(m, np.int64)
        for i in range(stop - start):
            b = places[i]
            place = start + i
            if records[b] == 0:
                for a in range(d):
                    least[b, a] = rows[place, a]
                    most[b, a] = rows[place, a]
            else:
                for a in range(d):
                    code = rows[place, a]
                    least[b, a] = min(least[b, a], code)
                    most[b, a] = max(most[b, a], code)
            records[b] += members.weights[place]
            sizes[b] += members.sizes[place]
        whole = sizes.sum()
        losses_from = np.empty(m, np.float64)  # of all from a bucket on
        for a in range(d):
            side_low[a], side_high[a] = least[m - 1, a], most[m - 1, a]
        above = 0
        for b in range(m - 1, 0, -1):
            if records[b] == 0:
                continue
            above += records[b]
            cost = 0.0
            for a in range(d):
                side_low[a] = min(side_low[a], least[b, a])
                side_high[a] = max(side_high[a], most[b, a])
                cost += span_cost(layout, a, side_low[a], side_high[a])
            losses_from[b] = above * cost
        for a in range(d):
            side_low[a], side_high[a] = least[0, a], most[0, a]
        below, size_below, after = 0, 0, 0
        while after < m:
            b = after
            after += 1
            while after < m and records[after] == 0:
                after += 1
            if after == m:
                break
            below += records[b]
            size_below += sizes[b]
            cost = 0.0
            for a in range(d):
                side_low[a] = min(side_low[a], least[b, a])
                side_high[a] = max(side_high[a], most[b, a])
                cost += span_cost(layout, a, side_low[a], side_high[a])
            lower = Side(size_below, below, below * cost)
            upper = Side(whole - size_below, size - below, losses_from[after])
            split = layout.split_starts[j] + codes[b]
            count = add_split(scratch, count, split, loss, lower, upper, factor)
        if layout.is_tree[j] and m == high[j] - low[j] + 1:
            buckets = Buckets(codes, least, most, records, sizes)
            count = _node_candidates(layout, j, buckets, loss, count, scratch, factor)
    return count, loss, size


class Side(NamedTuple):
    """One side of a split.

    Attributes:
        size: Its size.
        records: Its records.
        loss: Their loss.
    """

    size: int
    records: int
    loss: float


@compiled()
def add_split(
    scratch: Scratch, count: int, split: int, loss: float, one: Side, other: Side, factor: float
) -> int:
    """Add a split of a region to those so far.

    Args:
        scratch: The splits.
        count: How many there are.
        split: The number of the split.
        loss: The loss of the region.
        one: One side.
        other: The other one.
        factor: How much its gains are distorted.

    Returns:
        How many there are then.
    """
    smaller, larger = (one, other) if one.size <= other.size else (other, one)
    scratch.gains[count] = (loss - one.loss - other.loss) * factor
    scratch.sides[count] = smaller.size
    scratch.splits[count] = split
    scratch.records[count] = smaller.records
    scratch.savings[count] = loss - larger.loss
    scratch.factors[count] = factor
    return count + 1


@compiled()
def _node_candidates(
    layout: Layout,
    j: int,
    buckets: Buckets,
    loss: float,
    count: int,
    scratch: Scratch,
    factor: float,
) -> int:
    """Add the splits of a tree into a node and the rest; nodes at an end of the codes are positions.

    Args:
        layout: The table.
        j: The attribute.
        buckets: The members of the region; a bucket for every code.
        loss: The loss of the region.
        count: Splits so far.
        scratch: Where splits are added.
        factor: How much gains are distorted.

    Returns:
        The number of splits.
    """
    m, d = buckets.least.shape
    before_low, before_high = _running_bounds(buckets, False)
    after_low, after_high = _running_bounds(buckets, True)
    number, sizes = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for b in range(m):
        number[b + 1] = number[b] + buckets.records[b]
        sizes[b + 1] = sizes[b] + buckets.sizes[b]
    size = number[m]
    for node in range(layout.node_starts[j], layout.node_starts[j + 1]):
        first = layout.node_first[node] - buckets.codes[0]
        stop = layout.node_stop[node] - buckets.codes[0]
        if first <= 0 or stop >= m:
            continue
        inside = number[stop] - number[first]
        if inside == 0 or number[first] == 0 or number[stop] == size:
            continue
        cost_of_rest = 0.0
        for a in range(d):
            low = min(before_low[first, a], after_low[stop, a])
            high = max(before_high[first, a], after_high[stop, a])
            cost_of_rest += span_cost(layout, a, low, high)
        cost = _cost_of_buckets(layout, buckets, first, stop)
        size_inside = sizes[stop] - sizes[first]
        here = Side(size_inside, inside, inside * cost)
        rest = Side(sizes[m] - size_inside, size - inside, (size - inside) * cost_of_rest)
        split = layout.split_starts[-1] + layout.split_starts[j] + node - layout.node_starts[j]
        count = add_split(scratch, count, split, loss, here, rest, factor)
    return count


@compiled()
def _running_bounds(
    buckets: Buckets, backwards: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the least and the largest codes of all buckets before a place, or from it on."""
    m, d = buckets.least.shape
    low = np.full((m + 1, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((m + 1, d), -1, np.int32)
    for i in range(m):
        b = m - 1 - i if backwards else i
        to, since = (b, b + 1) if backwards else (b + 1, b)
        for a in range(d):
            low[to, a], high[to, a] = low[since, a], high[since, a]
            if buckets.records[b] > 0:
                low[to, a] = min(low[to, a], buckets.least[b, a])
                high[to, a] = max(high[to, a], buckets.most[b, a])
    return low, high


@compiled()
def _cost_of_buckets(layout: Layout, buckets: Buckets, first: int, stop: int) -> float:
    """Return what the ranges of some buckets cost, of which one has records."""
    cost = 0.0
    for a in range(buckets.least.shape[1]):
        low, high = np.iinfo(np.int32).max, -1
        for b in range(first, stop):
            if buckets.records[b] > 0:
                low = min(low, buckets.least[b, a])
                high = max(high, buckets.most[b, a])
        cost += span_cost(layout, a, low, high)
    return cost


@compiled()
def take_best(
    layout: Layout,
    limits: Limits,
    members: Members,
    start: int,
    stop: int,
    k: int,
    count: int,
    scratch: Scratch,
    nodes: bool,
) -> int:
    """Return the place of the best split that keeps the limits on both sides; -1 if none does.

    A side that is too small may be left out instead, as far as outliers may. Splits that break a limit
    other than k get a gain of minus infinity.

    Args:
        layout: The table.
        limits: Limits beside k.
        members: The tuples.
        start: The first place of the region.
        stop: One past its last place.
        k: The least size of a side.
        count: The number of splits.
        scratch: The splits.
        nodes: How they are numbered; see `range_of_split`.
    """
    sides, outliers = scratch.sides, limits.outliers
    spare, price = outliers.spare[0], outliers.price[0]
    size = members.sizes[start:stop].sum() if spare > 0 else 0
    while True:
        best, most = -1, 1e-9
        for c in range(count):
            if sides[c] >= k:
                gain = scratch.gains[c]
            elif (
                sides[c] < outliers.below
                and 0 < scratch.records[c] <= spare
                and size - sides[c] >= k
            ):
                gain = scratch.factors[c] * (scratch.savings[c] - price * scratch.records[c])
            else:
                continue
            if gain > most:
                best, most = c, gain
        if best < 0 or len(limits.kinds) == 0:
            return best
        if _sides_allowed(layout, limits, members, start, stop, scratch.splits[best], nodes, k):
            return best
        if sides[best] >= k:
            scratch.gains[best] = -np.inf
        else:
            scratch.savings[best] = -np.inf


@compiled()
def take_spare(limits: Limits, scratch: Scratch, best: int, k: int) -> None:
    """Note that the smaller side of a split is left out, if it is too small."""
    if scratch.sides[best] < k:
        limits.outliers.spare[0] -= scratch.records[best]


@compiled()
def range_of_split(layout: Layout, split: int, nodes: bool) -> tuple[int, int, int]:
    """Return the attribute of a split, and the codes that go to its first side: first and last.

    Args:
        layout: The table.
        split: The number of the split.
        nodes: Whether the number of a split of a tree is that of a node. Otherwise it is a position, and
            nodes are numbered behind all positions.
    """
    total = layout.split_starts[-1]
    by_node = split >= total
    if by_node:
        split -= total
    j = int(np.searchsorted(layout.split_starts, split, side="right")) - 1
    place = split - layout.split_starts[j]
    if by_node or (nodes and layout.is_tree[j]):
        node = layout.node_starts[j] + place
        return j, int(layout.node_first[node]), int(layout.node_stop[node]) - 1
    return j, 0, int(place)


@compiled()
def _sides_allowed(
    layout: Layout,
    limits: Limits,
    members: Members,
    start: int,
    stop: int,
    split: int,
    nodes: bool,
    k: int,
) -> bool:
    """Return whether both sides of a split keep all limits beside k, or are left out."""
    j, first, last = range_of_split(layout, split, nodes)
    values = limits.offsets[-1]
    below, above = np.zeros(values, np.int64), np.zeros(values, np.int64)
    records_below, records_above, size_below, size_above = 0, 0, 0, 0
    for i in range(start, stop):
        if first <= members.rows[i, j] <= last:
            count_entries(limits, members.tuples[i], 1, below)
            records_below += members.weights[i]
            size_below += members.sizes[i]
        else:
            count_entries(limits, members.tuples[i], 1, above)
            records_above += members.weights[i]
            size_above += members.sizes[i]
    if size_below >= k and not allowed(limits, below, records_below):
        return False
    return size_above < k or allowed(limits, above, records_above)


@compiled()
def partition(members: Members, start: int, stop: int, j: int, low: int, high: int) -> int:
    """Move the tuples with some codes to the front of a region; return where the others begin."""
    tuples, rows, weights, sizes = members
    i, last = start, stop - 1
    while i <= last:
        if low <= rows[i, j] <= high:
            i += 1
            continue
        tuples[i], tuples[last] = tuples[last], tuples[i]
        weights[i], weights[last] = weights[last], weights[i]
        sizes[i], sizes[last] = sizes[last], sizes[i]
        for a in range(rows.shape[1]):
            rows[i, a], rows[last, a] = rows[last, a], rows[i, a]
        last -= 1
    return i


@compiled()
def with_room(rows: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return the same array, or a longer copy where it has fewer rows than needed."""
    while len(rows) < needed:
        rows = np.concatenate((rows, np.empty_like(rows)))
    return rows


@compiled()
def new_stack(segments: NDArray[np.int64], n_ks: int, room: int) -> NDArray[np.int64]:
    """Return a stack of the regions to split for all k, the first one on top.

    A row has the first place of a region, one past its last, the first k, one past the last, and the split
    that is to be made; -1 if that is not known yet.
    """
    n = len(segments) - 1
    stack = np.empty((max(room, n), 5), np.int64)
    for s in range(n):
        push(stack, n - 1 - s, segments[s], segments[s + 1], 0, n_ks, -1)
    return stack


@compiled()
def push(
    stack: NDArray[np.int64], top: int, start: int, stop: int, first: int, end: int, split: int
) -> None:
    """Write a row of a stack; see `new_stack`."""
    row = stack[top]
    row[0], row[1], row[2], row[3], row[4] = start, stop, first, end, split


@compiled()
def one_past_sharing(ks: NDArray[np.int64], first: int, end: int, size: int) -> int:
    """Return one past the last k after the first one that a side of this size meets."""
    after = first + 1
    while after < end and size >= ks[after]:
        after += 1
    return after


@compiled()
def split_tight(
    layout: Layout,
    limits: Limits,
    members: Members,
    segments: NDArray[np.int64],
    ks: NDArray[np.int64],
    noise: float,
    state: NDArray[np.uint64],
    labels: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Split regions as long as a split saves loss and keeps all limits, for many k at once.

    Ranges of a region are those of its members. As long as the best split is the same for several k, it is
    made once for all of them. Outliers are left out for one k only.

    Args:
        layout: The table.
        limits: Limits beside k.
        members: The tuples, reordered.
        segments: Where the regions to start from begin; one more at the end.
        ks: The least sizes of a region, ascending.
        noise: How much gains are distorted, by attribute and split; 0 for not at all.
        state: The source of randomness.
        labels: Filled: k × tuples, the region of every tuple.

    Returns:
        The number of regions, for every k.
    """
    scratch = new_scratch(layout)
    counts = np.zeros(len(ks), np.int64)
    stack = new_stack(segments, len(ks), 1024)
    top = len(segments) - 1
    while top:
        top -= 1
        start, stop, i, end, split = stack[top]
        if top + 2 > len(stack):
            stack = with_room(stack, top + 2)
        if split >= 0:
            j, low, high = range_of_split(layout, split, False)
            middle = partition(members, start, stop, j, low, high)
            push(stack, top, middle, stop, i, end, -1)
            push(stack, top + 1, start, middle, i, end, -1)
            top += 2
            continue
        count, size = 0, members.sizes[start:stop].sum()
        if stop - start > 1 and may_split(limits, size, ks[i]):
            count = split_candidates(layout, members, start, stop, noise, state, scratch)[0]
        while i < end:
            best = -1
            if count and may_split(limits, size, ks[i]):
                best = take_best(layout, limits, members, start, stop, ks[i], count, scratch, False)
            if best < 0:  # nor for any larger k
                for q in range(i, end):
                    for place in range(start, stop):
                        labels[q, members.tuples[place]] = counts[q]
                    counts[q] += 1
                break
            take_spare(limits, scratch, best, ks[i])
            after = one_past_sharing(ks, i, end, scratch.sides[best])
            if top + 1 > len(stack):
                stack = with_room(stack, top + 1)
            push(stack, top, start, stop, i, after, scratch.splits[best])
            top += 1
            i = after
    return counts
