"""Search among trees of splits: parts of a tree grow anew, and two trees swap their better parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.random_numbers import uniform
from privmoo.kernels.region_layout import (
    Layout,
    Limits,
    adapt_price,
    allowed,
    count_entries,
    may_split,
)
from privmoo.kernels.region_splits import (
    Members,
    Scratch,
    distort,
    new_scratch,
    partition,
    range_of_split,
    take_best,
    take_spare,
    with_room,
)
from privmoo.kernels.region_trees import (
    Forest,
    box_candidates,
    cost_of_box,
    divide_box,
    fits,
    round_split,
)

__all__ = ["better_tree", "improve_tree"]


class Tree(NamedTuple):
    """A tree of splits while it changes: nodes with links, and a list of free ones.

    Attributes:
        split: The split of every node; -1 for a leaf.
        lower: The node of its first side.
        upper: The node of its other side.
        parent: The node above; -1 - segment for a root.
        start: The first place of its members.
        stop: One past the last one.
        loss: The loss of all leaves below.
        left_out: The records of those leaves that are left out.
        free: Free nodes.
        numbers: How many are free.
    """

    split: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    parent: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    loss: NDArray[np.float64]
    left_out: NDArray[np.int64]
    free: NDArray[np.int64]
    numbers: NDArray[np.int64]


@compiled()
def _new_node(tree: Tree, parent: int, start: int, stop: int) -> int:
    """Take a free node as a leaf."""
    tree.numbers[0] -= 1
    v = tree.free[tree.numbers[0]]
    tree.split[v], tree.parent[v] = -1, parent
    tree.start[v], tree.stop[v] = start, stop
    tree.loss[v] = 0.0
    tree.left_out[v] = 0
    return int(v)


@compiled()
def _close(forest: Forest, tree: Tree, v: int, box: NDArray[np.int64]) -> None:
    """Make a node a leaf with these bounds; one that is too small is left out."""
    records = forest.members.weights[tree.start[v] : tree.stop[v]].sum()
    tree.split[v] = -1
    tree.loss[v] = records * cost_of_box(forest.layout, box)
    tree.left_out[v] = 0
    if _is_left_out(forest, tree, v):
        tree.loss[v] = records
        tree.left_out[v] = records


@compiled()
def _is_left_out(forest: Forest, tree: Tree, v: int) -> bool:
    """Return whether a leaf is so small that it is left out."""
    outliers = forest.limits.outliers
    return outliers.most > 0 and _size_of(forest.members, tree, v) < outliers.below


@compiled()
def _branch(tree: Tree, v: int, split: int, middle: int) -> None:
    """Make two leaves below a leaf; the other side of the split begins at `middle`."""
    tree.split[v] = split
    tree.lower[v] = _new_node(tree, v, tree.start[v], middle)
    tree.upper[v] = _new_node(tree, v, middle, tree.stop[v])


@compiled()
def _release(tree: Tree, v: int) -> None:
    """Free a node and all nodes below it."""
    stack = [v]
    while len(stack):
        u = stack.pop()
        if tree.split[u] >= 0:
            stack.append(tree.lower[u])
            stack.append(tree.upper[u])
        tree.start[u] = tree.stop[u] = 0  # no longer part of the tree
        tree.free[tree.numbers[0]] = u
        tree.numbers[0] += 1


@compiled()
def _box_of(layout: Layout, tree: Tree, boxes: NDArray[np.int64], v: int) -> NDArray[np.int64]:
    """Return the bounds of a node, from its root down."""
    path = [v]
    while tree.parent[path[-1]] >= 0:
        path.append(tree.parent[path[-1]])
    box: NDArray[np.int64] = boxes[-1 - tree.parent[path[-1]]].copy()
    below, above = np.empty_like(box), np.empty_like(box)
    for i in range(len(path) - 1, 0, -1):
        divide_box(layout, tree.split[path[i]], box, below, above)
        write_into(box, below if tree.lower[path[i]] == path[i - 1] else above)
    return box


class Growth(NamedTuple):
    """How trees grow.

    Attributes:
        k: The least records of a region.
        state: The source of randomness.
        scratch: Memory for splits.
    """

    k: int
    state: NDArray[np.uint64]
    scratch: Scratch


class Noise(NamedTuple):
    """How much gains are distorted, by attribute and once more by split; 0 for not at all.

    Attributes:
        first: At the first split.
        below: At all splits below it.
    """

    first: float
    below: float


@compiled()
def _grow(
    forest: Forest, tree: Tree, root: int, box: NDArray[np.int64], growth: Growth, noise: Noise
) -> float:
    """Grow a leaf with these bounds into a tree; return its loss."""
    layout, limits, members = forest.layout, forest.limits, forest.members
    k, state, scratch = growth
    nodes = [root]
    pending = np.empty((64, len(layout.n_codes), 3), np.int64)  # bounds of these nodes
    write_into(pending[0], box)
    divided = [root]
    divided.pop()
    while len(nodes):
        v = nodes.pop()
        top = len(nodes)
        here = pending[top].copy()
        start, stop = tree.start[v], tree.stop[v]
        size = members.sizes[start:stop].sum()
        best = -1
        if stop - start > 1 and may_split(limits, size, k):
            level = noise.first if v == root else noise.below
            count = box_candidates(layout, members, start, stop, here, level, state, scratch)
            if level > 0:
                distort(scratch, count, level, state)
            best = take_best(layout, limits, members, start, stop, k, count, scratch, True)
        if best < 0:
            _close(forest, tree, v, here)
            continue
        split = scratch.splits[best]
        take_spare(limits, scratch, best, k)
        j, low, high = range_of_split(layout, split, True)
        _branch(tree, v, split, partition(members, start, stop, j, low, high))
        divided.append(v)
        if top + 2 > len(pending):
            pending = with_room(pending, top + 2)
        divide_box(layout, split, here, pending[top + 1], pending[top])
        nodes.append(tree.upper[v])
        nodes.append(tree.lower[v])
    for i in range(len(divided) - 1, -1, -1):  # children were divided after their parents
        v = divided[i]
        tree.loss[v] = tree.loss[tree.lower[v]] + tree.loss[tree.upper[v]]
        tree.left_out[v] = tree.left_out[tree.lower[v]] + tree.left_out[tree.upper[v]]
    return float(tree.loss[root])


@compiled()
def _regrow(forest: Forest, tree: Tree, v: int, growth: Growth, noise: Noise, force: bool) -> bool:
    """Grow a node anew; keep the result if it loses less, or if it must be kept.

    Records that are left out count with their price.
    """
    members, outliers = forest.members, forest.limits.outliers
    start, stop = tree.start[v], tree.stop[v]
    tuples = members.tuples[start:stop].copy()
    rows = members.rows[start:stop].copy()
    weights = members.weights[start:stop].copy()
    sizes = members.sizes[start:stop].copy()
    split, lower, upper, before = tree.split[v], tree.lower[v], tree.upper[v], tree.loss[v]
    out_before, spare = tree.left_out[v], outliers.spare[0]
    box = _box_of(forest.layout, tree, forest.boxes, v)
    outliers.spare[0] = spare + out_before
    after = _grow(forest, tree, v, box, growth, noise)
    more = tree.left_out[v] - out_before
    outliers.spare[0] = spare - more
    penalty = more * (outliers.price[0] - 1.0)
    if force or (after + penalty < before - 1e-9 and more <= spare):
        if split >= 0:
            _release(tree, lower)
            _release(tree, upper)
        _add_above(tree, v, after - before, more)
        return True
    outliers.spare[0] = spare
    if tree.split[v] >= 0:
        _release(tree, tree.lower[v])
        _release(tree, tree.upper[v])
    tree.split[v], tree.lower[v], tree.upper[v], tree.loss[v] = split, lower, upper, before
    tree.left_out[v] = out_before
    write_into(members.tuples[start:stop], tuples)
    write_into(members.rows[start:stop], rows)
    write_into(members.weights[start:stop], weights)
    write_into(members.sizes[start:stop], sizes)
    return False


@compiled()
def _add_above(tree: Tree, v: int, loss: float, left_out: int) -> None:
    """Add to the loss, and to the records that are left out, of all nodes above a node."""
    u = tree.parent[v]
    while u >= 0:
        tree.loss[u] += loss
        tree.left_out[u] += left_out
        u = tree.parent[u]


@compiled()
def _new_tree(room: int) -> Tree:
    """Return a tree of free nodes."""
    return Tree(
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.float64),
        np.zeros(room, np.int64),
        np.arange(room - 1, -1, -1),
        np.array([room]),
    )


@compiled()
def _plant(forest: Forest, codes: NDArray[np.int32]) -> Tree:
    """Return the nodes of a tree in preorder, roots first; see `read_tree`."""
    layout, members, segments = forest.layout, forest.members, forest.segments
    tree = _new_tree(4 * len(members.tuples) + 2 * len(segments) + 8)
    for s in range(len(segments) - 1):
        _new_node(tree, -1 - s, segments[s], segments[s + 1])
    pending = np.empty((64, len(layout.n_codes), 3), np.int64)
    place = 0
    for s in range(len(segments) - 1):
        nodes = [s]
        write_into(pending[0], forest.boxes[s])
        while len(nodes):
            v = nodes.pop()
            top = len(nodes)
            here = pending[top].copy()
            start, stop = tree.start[v], tree.stop[v]
            split = codes[place] - 1 if place < len(codes) else -1
            place += 1
            if fits(layout, split, here):
                j, low, high = range_of_split(layout, split, True)
                middle = partition(members, start, stop, j, low, high)
                if start < middle < stop:
                    split = round_split(layout, members, start, middle, stop, split)
                    _branch(tree, v, split, middle)
                    if top + 2 > len(pending):
                        pending = with_room(pending, top + 2)
                    divide_box(layout, split, here, pending[top + 1], pending[top])
                    nodes.append(tree.upper[v])
                    nodes.append(tree.lower[v])
                    continue
            _close(forest, tree, v, here)
            _add_above(tree, v, tree.loss[v], tree.left_out[v])
    return tree


@compiled()
def _size_of(members: Members, tree: Tree, v: int) -> int:
    """Return the size of a node."""
    return int(members.sizes[tree.start[v] : tree.stop[v]].sum())


@compiled()
def _write(tree: Tree, root: int, codes: NDArray[np.int32], place: int) -> int:
    """Write the nodes below a node in preorder; return the next place."""
    stack = [root]
    while len(stack):
        v = stack.pop()
        codes[place] = tree.split[v] + 1
        place += 1
        if tree.split[v] >= 0:
            stack.append(tree.upper[v])
            stack.append(tree.lower[v])
    return place


@compiled()
def _leaves_below(tree: Tree, root: int) -> NDArray[np.int64]:
    """Return the leaves below a node, from left to right."""
    leaves = [root]
    leaves.pop()
    stack = [root]
    while len(stack):
        v = stack.pop()
        if tree.split[v] < 0:
            leaves.append(v)
        else:
            stack.append(tree.upper[v])
            stack.append(tree.lower[v])
    return np.array(leaves)


@compiled()
def _leaves(tree: Tree, roots: int) -> NDArray[np.int64]:
    """Return all leaves, from left to right."""
    leaves = _leaves_below(tree, 0)
    for s in range(1, roots):
        leaves = np.concatenate((leaves, _leaves_below(tree, s)))
    return np.asarray(leaves)


@compiled()
def _keeps(limits: Limits, members: Members, tree: Tree, v: int, k: int) -> bool:
    """Return whether the members of a node keep all limits."""
    if _size_of(members, tree, v) < k:
        return False
    if len(limits.kinds) == 0:
        return True
    histogram = np.zeros(limits.offsets[-1], np.int64)
    for i in range(tree.start[v], tree.stop[v]):
        count_entries(limits, members.tuples[i], 1, histogram)
    records = members.weights[tree.start[v] : tree.stop[v]].sum()
    return allowed(limits, histogram, records)


@compiled()
def improve_tree(
    forest: Forest,
    codes: NDArray[np.int32],
    k: int,
    effort: float,
    largest: int,
    state: NDArray[np.uint64],
    before: int,
) -> float:
    """Make the leaves of a tree keep the limits, split them further, and grow parts of the tree anew.

    Leaves that are too small are left out as far as that is allowed, and the fewer the more it costs.

    Args:
        forest: The regions to start from.
        codes: The tree, as `grow_trees` writes it; changed in place.
        k: The least size of a region.
        effort: How much is tried, counted in tuples.
        largest: The most tuples of such a part.
        state: The source of randomness.
        before: Leaves smaller than this are left out already.

    Returns:
        The total loss in the end.
    """
    roots = len(forest.segments) - 1
    outliers = forest.limits.outliers
    tree = _plant(forest, codes)
    outliers.spare[0] = outliers.most - tree.left_out[:roots].sum()
    growth = Growth(k, state, new_scratch(forest.layout))
    _repair(forest, tree, growth, before)
    least = tree.loss[:roots].sum()
    _write_all(tree, roots, codes)
    while effort > 0:
        v = _drawn_node(forest, tree, largest, state)
        effort -= 200 + tree.stop[v] - tree.start[v]
        if tree.stop[v] - tree.start[v] < 2:
            continue
        kind = uniform(state)
        level = 2.0 * uniform(state)
        below = 0.0 if kind < 0.4 else level if kind < 0.8 else 0.3
        _regrow(forest, tree, v, growth, Noise(level, below), False)
        adapt_price(outliers)
    total = tree.loss[:roots].sum()
    if total < least:
        _write_all(tree, roots, codes)
    return float(min(total, least))


@compiled()
def _write_all(tree: Tree, roots: int, codes: NDArray[np.int32]) -> None:
    """Write a tree as `grow_trees` does."""
    codes[:] = 0
    place = 0
    for s in range(roots):
        place = _write(tree, s, codes, place)


@compiled()
def _repair(forest: Forest, tree: Tree, growth: Growth, before: int) -> None:
    """Grow anew what breaks a limit, then split leaves as far as the limits allow."""
    limits, members = forest.limits, forest.members
    roots = len(forest.segments) - 1
    no_noise = Noise(0.0, 0.0)
    for attempt in range(2):
        for v in _leaves(tree, roots):
            if tree.stop[v] == tree.start[v] or tree.split[v] >= 0:
                continue  # replaced already
            if _keeps(limits, members, tree, v, growth.k):
                continue
            if tree.left_out[v] > 0:
                # What was left out stays so, unless it is too much when all others are in order.
                was_left_out = _size_of(members, tree, v) < before
                if was_left_out if attempt == 0 else limits.outliers.spare[0] >= 0:
                    continue
            u = v
            while tree.parent[u] >= 0 and not _keeps(limits, members, tree, u, growth.k):
                u = tree.parent[u]
            if u != v:
                _regrow(forest, tree, u, growth, no_noise, True)
        if limits.outliers.most == 0:
            break
    for v in _leaves(tree, roots):
        if tree.stop[v] - tree.start[v] > 1 and may_split(
            limits, _size_of(members, tree, v), growth.k
        ):
            _regrow(forest, tree, v, growth, no_noise, False)


@compiled()
def _drawn_node(forest: Forest, tree: Tree, largest: int, state: NDArray[np.uint64]) -> int:
    """Draw a tuple, and return its leaf or a node above it that is not too large."""
    place = int(uniform(state) * len(forest.members.tuples))
    v = int(np.searchsorted(forest.segments, place, side="right")) - 1
    while tree.split[v] >= 0:
        v = tree.lower[v] if place < tree.stop[tree.lower[v]] else tree.upper[v]
    while tree.parent[v] >= 0:
        u = tree.parent[v]
        if tree.stop[u] - tree.start[u] > largest:
            break
        v = u
        if uniform(state) < 0.3:
            break
    return int(v)


@compiled()
def better_tree(
    forest: Forest, first: NDArray[np.int32], second: NDArray[np.int32], k: int
) -> NDArray[np.int32]:
    """Return the first tree with those parts of the second that lose less and keep all limits.

    Both are followed from their roots as long as they have the same splits.

    Args:
        forest: The regions to start from.
        first: A tree, as `grow_trees` writes it.
        second: Another one.
        k: The least size of a region of the second tree.
    """
    layout, limits, members, segments, boxes = forest
    copied = Members(
        members.tuples.copy(), members.rows.copy(), members.weights.copy(), members.sizes.copy()
    )
    mother = _plant(forest, first)
    father = _plant(Forest(layout, limits, copied, segments, boxes), second)
    roots = len(segments) - 1
    codes = np.zeros(2 * len(members.tuples), np.int32)
    spare = limits.outliers.most - mother.left_out[:roots].sum()
    place = 0
    for s in range(roots):
        pairs = [(s, s)]
        while len(pairs):
            u, v = pairs.pop()
            if mother.split[u] != father.split[v]:
                more = father.left_out[v] - mother.left_out[u]
                takes = father.loss[v] < mother.loss[u] - 1e-9 and more <= max(spare, 0)
                if takes:
                    for leaf in _leaves_below(father, v):
                        if father.left_out[leaf] > 0:
                            continue
                        if not _keeps(limits, copied, father, leaf, k):
                            takes = False
                            break
                if takes:
                    spare -= more
                source, root = (father, v) if takes else (mother, u)
                place = _write(source, root, codes, place)
                continue
            codes[place] = mother.split[u] + 1
            place += 1
            if mother.split[u] >= 0:
                pairs.append((mother.upper[u], father.upper[v]))
                pairs.append((mother.lower[u], father.lower[v]))
    return codes[:place]
