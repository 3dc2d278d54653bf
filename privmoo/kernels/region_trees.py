"""Splits with published bounds: a tree of splits, whose leaves publish their bounds or nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.region_layout import Layout, Limits, may_split, span_cost
from privmoo.kernels.region_splits import (
    Members,
    Scratch,
    Side,
    add_split,
    buckets_of,
    distortion,
    new_scratch,
    new_stack,
    one_past_sharing,
    partition,
    push,
    range_of_split,
    take_best,
    take_spare,
    with_room,
)
from privmoo.kernels.round_cuts import round_cut

__all__ = [
    "Forest",
    "box_candidates",
    "cost_of_box",
    "divide_box",
    "fits",
    "grow_trees",
    "read_tree",
    "round_split",
]

# What is kept of a region's bounds, per attribute. A range: its first and last code. A node of a tree: the
# node, how many of its children are still there, and the sum of their places among the siblings.


class Forest(NamedTuple):
    """Where trees of splits grow: one for each of the regions to start from.

    Attributes:
        layout: The table.
        limits: Limits on regions, beside k.
        members: The tuples, reordered as they are split.
        segments: Where the regions to start from begin; one more at the end.
        boxes: The bounds of these regions.
    """

    layout: Layout
    limits: Limits
    members: Members
    segments: NDArray[np.int64]
    boxes: NDArray[np.int64]


@compiled()
def _enter(layout: Layout, box: NDArray[np.int64], j: int, node: int) -> None:
    """Make a whole node the bounds of an attribute."""
    place = layout.node_starts[j] + node
    children = layout.child_starts[place + 1] - layout.child_starts[place]
    box[j, 0], box[j, 1], box[j, 2] = node, children, children * (children - 1) // 2


@compiled()
def _attribute_cost(layout: Layout, box: NDArray[np.int64], j: int) -> float:
    """Return the cost of the bounds of an attribute."""
    if layout.is_tree[j]:
        return float(layout.node_cost[layout.node_starts[j] + box[j, 0]])
    return span_cost(layout, j, box[j, 0], box[j, 1])


@compiled()
def cost_of_box(layout: Layout, box: NDArray[np.int64]) -> float:
    """Return the cost of bounds."""
    total = 0.0
    for j in range(len(layout.n_codes)):
        total += _attribute_cost(layout, box, j)
    return total


@compiled()
def divide_box(
    layout: Layout,
    split: int,
    box: NDArray[np.int64],
    below: NDArray[np.int64],
    above: NDArray[np.int64],
) -> None:
    """Write the bounds of both sides of a split."""
    write_into(below, box)
    write_into(above, box)
    j = range_of_split(layout, split, True)[0]
    place = split - layout.split_starts[j]
    if not layout.is_tree[j]:
        below[j, 1] = place
        above[j, 0] = place + 1
        return
    _enter(layout, below, j, place)
    if layout.node_parent[layout.node_starts[j] + place] != box[j, 0]:
        return
    above[j, 1] = box[j, 1] - 1
    above[j, 2] = box[j, 2] - layout.node_rank[layout.node_starts[j] + place]
    if above[j, 1] == 1:
        first = layout.child_starts[layout.node_starts[j] + box[j, 0]]
        _enter(layout, above, j, layout.children[first + above[j, 2]])


@compiled()
def fits(layout: Layout, split: int, box: NDArray[np.int64]) -> bool:
    """Return whether a split divides bounds: a position inside a range, or a node below the node."""
    if split < 0 or split >= layout.split_starts[-1]:
        return False
    j = range_of_split(layout, split, True)[0]
    place = split - layout.split_starts[j]
    if not layout.is_tree[j]:
        return bool(box[j, 0] <= place < box[j, 1])
    if place >= layout.node_starts[j + 1] - layout.node_starts[j]:
        return False
    node, parent = layout.node_starts[j] + place, layout.node_starts[j] + box[j, 0]
    return bool(
        node != parent
        and layout.node_first[node] >= layout.node_first[parent]
        and layout.node_stop[node] <= layout.node_stop[parent]
    )


@compiled()
def _count_sparse(
    members: Members, start: int, stop: int, j: int, low: int, high: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of a region's members from low to high, and records and size of each."""
    codes, buckets = buckets_of(members, start, stop, j, low, high)
    records, sizes = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
    for i in range(stop - start):
        records[buckets[i]] += members.weights[start + i]
        sizes[buckets[i]] += members.sizes[start + i]
    return codes, records, sizes


@compiled()
def box_candidates(
    layout: Layout,
    members: Members,
    start: int,
    stop: int,
    box: NDArray[np.int64],
    noise: float,
    state: NDArray[np.uint64],
    scratch: Scratch,
) -> int:
    """Compute what every split of a region gains, if only the bounds of the split attribute change.

    Args:
        layout: The table.
        members: The tuples.
        start: The first place of the region.
        stop: One past its last place.
        box: The bounds of the region.
        noise: How much gains are distorted, by attribute; 0 for not at all.
        state: The source of randomness.
        scratch: Filled with the splits.

    Returns:
        The number of splits.
    """
    rows, weights = members.rows, members.weights
    size, whole_size = weights[start:stop].sum(), members.sizes[start:stop].sum()
    cost = cost_of_box(layout, box)
    count = 0
    for j in range(rows.shape[1]):
        whole = _attribute_cost(layout, box, j)
        if whole <= 0:
            continue
        factor = distortion(noise, state)
        low, high = box[j, 0], box[j, 1]
        base = layout.node_starts[j]
        if layout.is_tree[j]:
            low, high = layout.node_first[base + low], layout.node_stop[base + low] - 1
        if high - low < 4 * (stop - start) + 16:
            codes = np.arange(low, high + 1)
            records = np.zeros(high - low + 1, np.int64)
            for i in range(start, stop):
                records[rows[i, j] - low] += weights[i]
            sizes = records
            if layout.counts_persons:
                sizes = np.zeros(high - low + 1, np.int64)
                for i in range(start, stop):
                    sizes[rows[i, j] - low] += members.sizes[i]
        else:
            codes, records, sizes = _count_sparse(members, start, stop, j, low, high)
        loss, first = size * whole, count
        if not layout.is_tree[j]:
            below, size_below, last = 0, 0, -1
            for b in range(len(codes)):
                if records[b] == 0:
                    continue
                if below > 0:
                    cut = round_cut(last, codes[b], layout.origins[j])
                    rest = size - below
                    lower = Side(size_below, below, below * span_cost(layout, j, low, cut - 1))
                    upper = Side(
                        whole_size - size_below, rest, rest * span_cost(layout, j, cut, high)
                    )
                    split = layout.split_starts[j] + cut - 1
                    count = add_split(scratch, count, split, loss, lower, upper, factor)
                below += records[b]
                size_below += sizes[b]
                last = codes[b]
        else:
            number = layout.node_starts[j + 1] - base
            parents = layout.node_parent[base : base + number]
            inside, reached = _count_nodes(codes, records, parents, box[j, 0], layout.n_levels[j])
            size_inside = inside
            if layout.counts_persons:
                size_inside = _sum_nodes(codes, sizes, parents, box[j, 0])
            for node in reached:
                if inside[node] == size:
                    continue
                cost_of_rest = whole
                if box[j, 1] == 2 and parents[node] == box[j, 0]:
                    child = layout.child_starts[base + box[j, 0]] + box[j, 2]
                    child -= layout.node_rank[base + node]
                    cost_of_rest = layout.node_cost[base + layout.children[child]]
                rest = size - inside[node]
                here = Side(
                    size_inside[node], inside[node], inside[node] * layout.node_cost[base + node]
                )
                there = Side(whole_size - size_inside[node], rest, rest * cost_of_rest)
                split = layout.split_starts[j] + node
                count = add_split(scratch, count, split, loss, here, there, factor)
        for c in range(first, count):  # what is left out loses nothing in other attributes either
            scratch.savings[c] += scratch.records[c] * (cost - whole)
    return count


@compiled()
def _count_nodes(
    codes: NDArray[np.int64],
    records: NDArray[np.int64],
    parents: NDArray[np.int64],
    top: int,
    n_levels: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the records under every node below one of them, and the nodes with any.

    The first nodes are the codes.
    """
    inside = np.zeros(len(parents), np.int64)
    reached = np.empty(len(codes) * n_levels, np.int64)
    used = 0
    for b in range(len(codes)):
        node = codes[b]
        while records[b] and node != top:
            if inside[node] == 0:
                reached[used] = node
                used += 1
            inside[node] += records[b]
            node = parents[node]
    return inside, reached[:used]


@compiled()
def _sum_nodes(
    codes: NDArray[np.int64], sizes: NDArray[np.int64], parents: NDArray[np.int64], top: int
) -> NDArray[np.int64]:
    """Return the size of what is under every node below one of them; the first nodes are the codes."""
    inside = np.zeros(len(parents), np.int64)
    for b in range(len(codes)):
        node = codes[b]
        while sizes[b] and node != top:
            inside[node] += sizes[b]
            node = parents[node]
    return inside


@compiled()
def round_split(
    layout: Layout, members: Members, start: int, middle: int, stop: int, split: int
) -> int:
    """Return the split with the same sides that lies at the roundest number.

    Args:
        layout: The table.
        members: The tuples, divided by the split.
        start: The first place of the region.
        middle: The first place of the upper side.
        stop: One past the last place.
        split: The split; a node of a tree stays as it is.
    """
    j = range_of_split(layout, split, True)[0]
    if layout.is_tree[j]:
        return split
    last, first = members.rows[start, j], members.rows[middle, j]
    for i in range(start + 1, middle):
        last = max(last, members.rows[i, j])
    for i in range(middle + 1, stop):
        first = min(first, members.rows[i, j])
    return int(layout.split_starts[j] + round_cut(last, first, layout.origins[j]) - 1)


@compiled()
def grow_trees(
    forest: Forest,
    ks: NDArray[np.int64],
    noise: float,
    state: NDArray[np.uint64],
    trees: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Grow a tree of splits for each of many k, as long as a split saves loss and keeps all limits.

    Outliers are left out for one k only.

    Args:
        forest: The regions to start from.
        ks: The least sizes of a region, ascending.
        noise: How much gains are distorted, by attribute and split; 0 for not at all.
        state: The source of randomness.
        trees: Filled: k × places, one more than each split in preorder, and 0 for a leaf.

    Returns:
        The number of splits and leaves, for every k.
    """
    layout, limits, members, segments, boxes = forest
    scratch = new_scratch(layout)
    used = np.zeros(len(ks), np.int64)
    stack = new_stack(segments, len(ks), 256)
    pending = np.empty(
        (len(stack), len(layout.n_codes), 3), np.int64
    )  # bounds of the stacked regions
    box = np.empty((len(layout.n_codes), 3), np.int64)
    top = len(segments) - 1
    for s in range(top):
        write_into(pending[top - 1 - s], boxes[s])
    while top:
        top -= 1
        start, stop, i, end, split = stack[top]
        write_into(box, pending[top])
        stack, pending = with_room(stack, top + len(ks) + 2), with_room(pending, top + len(ks) + 2)
        if split >= 0:
            for q in range(i, end):
                trees[q, used[q]] = split + 1
                used[q] += 1
            j, low, high = range_of_split(layout, split, True)
            middle = partition(members, start, stop, j, low, high)
            divide_box(layout, split, box, pending[top + 1], pending[top])
            push(stack, top, middle, stop, i, end, -1)
            push(stack, top + 1, start, middle, i, end, -1)
            top += 2
            continue
        count, size = 0, members.sizes[start:stop].sum()
        if stop - start > 1 and may_split(limits, size, ks[i]):
            count = box_candidates(layout, members, start, stop, box, noise, state, scratch)
        while i < end:
            best = -1
            if count and may_split(limits, size, ks[i]):
                best = take_best(layout, limits, members, start, stop, ks[i], count, scratch, True)
            if best < 0:  # nor for any larger k
                for q in range(i, end):
                    trees[q, used[q]] = 0
                    used[q] += 1
                break
            take_spare(limits, scratch, best, ks[i])
            after = one_past_sharing(ks, i, end, scratch.sides[best])
            push(stack, top, start, stop, i, after, scratch.splits[best])
            write_into(pending[top], box)
            top += 1
            i = after
    return used


@compiled()
def read_tree(
    forest: Forest,
    tree: NDArray[np.int32],
    labels: NDArray[np.int32],
    bounds: NDArray[np.int64],
) -> int:
    """Divide tuples by a tree of splits; a split that does not fit, or leaves a side empty, is a leaf.

    Args:
        forest: The regions to start from.
        tree: As `grow_trees` writes it; what is missing at the end are leaves.
        labels: Filled: the region of every tuple.
        bounds: Filled: the bounds of every region.

    Returns:
        The number of regions.
    """
    layout, members = forest.layout, forest.members
    stack = np.empty((256, 2), np.int64)
    pending = np.empty((256, len(layout.n_codes), 3), np.int64)
    box = np.empty((len(layout.n_codes), 3), np.int64)
    regions, place = 0, 0
    for s in range(len(forest.segments) - 1):
        stack[0, 0], stack[0, 1] = forest.segments[s], forest.segments[s + 1]
        write_into(pending[0], forest.boxes[s])
        top = 1
        while top:
            top -= 1
            start, stop = stack[top]
            write_into(box, pending[top])
            stack, pending = with_room(stack, top + 2), with_room(pending, top + 2)
            split = tree[place] - 1 if place < len(tree) else -1
            place += 1
            if fits(layout, split, box):
                j, low, high = range_of_split(layout, split, True)
                middle = partition(members, start, stop, j, low, high)
                if start < middle < stop:
                    split = round_split(layout, members, start, middle, stop, split)
                    divide_box(layout, split, box, pending[top + 1], pending[top])
                    stack[top, 0], stack[top, 1] = middle, stop
                    stack[top + 1, 0], stack[top + 1, 1] = start, middle
                    top += 2
                    continue
            for i in range(start, stop):
                labels[members.tuples[i]] = regions
            bounds[regions] = box
            regions += 1
    return regions
