"""Classes that merge, the cheapest merge first, found in a k-d tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_merging import MergingClasses, increase, merge
from privmoo.kernels.compiled import compiled

__all__ = ["ward_merges"]

_LEAF = 16


@compiled()
def _is_finished(classes: MergingClasses, a: int, k: int, diversity: int) -> bool:
    if classes.sizes[a] < k:
        return False
    for j in range(classes.n_priced, classes.starts.shape[1]):
        if classes.n_values[a, j] < diversity:
            return False
    return True


class _Tree(NamedTuple):
    """A k-d tree of class means, with the cheapest merges known below every node.

    Leaves hold lists of classes (`first` of a node, `after` each class); nodes are boxes from `low`
    to `high`. Of the open classes below a node, `cheapest` is the lowest price of a cheapest merge,
    `of_class` the class that has it, and `dearest` the highest.
    """

    column: NDArray[np.int64]
    value: NDArray[np.float64]
    below: NDArray[np.int64]
    parent: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: NDArray[np.int64]
    cheapest: NDArray[np.float64]
    of_class: NDArray[np.int64]
    dearest: NDArray[np.float64]
    after: NDArray[np.int64]


class _Offers(NamedTuple):
    """The cheapest merge of every open class: its price, and with which version of which class.

    Once the partner has changed, the price is a lower bound.
    """

    price: NDArray[np.float64]
    partner: NDArray[np.int64]
    seen: NDArray[np.int64]
    version: NDArray[np.int64]
    is_open: NDArray[np.bool_]


@compiled()
def _split(means: NDArray[np.float64], classes: NDArray[np.int64]) -> tuple[int, float]:
    """The column that varies most and the value that halves it; column -1 if all are equal."""
    column = -1
    widest = 0.0
    for i in range(means.shape[1]):
        values = means[:, i][classes]
        if values.max() - values.min() > widest:
            widest = values.max() - values.min()
            column = i
    if column < 0:
        return -1, 0.0
    ordered = np.sort(means[:, column][classes])
    middle = len(ordered) // 2
    while ordered[middle] == ordered[0]:
        middle += 1
    return column, ordered[middle]


@compiled()
def _grow_tree(means: NDArray[np.float64]) -> _Tree:
    n, n_columns = means.shape
    room = 2 * n + 1
    tree = _Tree(
        np.full(room, -1),
        np.zeros(room, np.float64),
        np.full((room, 2), -1),
        np.full(room, -1),
        np.full((room, n_columns), -np.inf),
        np.full((room, n_columns), np.inf),
        np.full(room, -1),
        np.full(room, np.inf),
        np.full(room, -1),
        np.full(room, -1.0),
        np.full(n, -1),
    )
    order = np.arange(n)
    stack = [(0, 0, n)]
    n_nodes = 1
    while len(stack) > 0:
        node, start, stop = stack.pop()
        classes = order[start:stop].copy()
        column, value = _split(means, classes) if len(classes) > _LEAF else (-1, 0.0)
        if column < 0:
            for a in classes[::-1]:
                tree.after[a] = tree.first[node]
                tree.first[node] = a
            continue
        tree.column[node] = column
        tree.value[node] = value
        goes_right = means[:, column][classes] >= value
        middle = stop - goes_right.sum()
        order[start:middle] = classes[~goes_right]
        order[middle:stop] = classes[goes_right]
        for side in range(2):
            tree.below[node, side] = n_nodes
            tree.parent[n_nodes] = node
            tree.low[n_nodes] = tree.low[node]
            tree.high[n_nodes] = tree.high[node]
            n_nodes += 1
        tree.high[n_nodes - 2, column] = value
        tree.low[n_nodes - 1, column] = value
        stack.append((n_nodes - 2, start, middle))
        stack.append((n_nodes - 1, middle, stop))
    return tree


@compiled()
def _leaf(tree: _Tree, mean: NDArray[np.float64]) -> int:
    node = 0
    while tree.column[node] >= 0:
        node = tree.below[node, 1 if mean[tree.column[node]] >= tree.value[node] else 0]
    return node


@compiled()
def _squares_to(tree: _Tree, node: int, mean: NDArray[np.float64]) -> float:
    """Squared distance from a mean to the box of a node."""
    squares = 0.0
    for i in range(len(mean)):
        gap = max(tree.low[node, i] - mean[i], mean[i] - tree.high[node, i])
        if gap > 0.0:
            squares += gap * gap
    return squares


@compiled()
def _sum_up(tree: _Tree, offers: _Offers, leaf: int) -> None:
    """Tell a leaf and all nodes above it of changed offers."""
    tree.cheapest[leaf] = np.inf
    tree.of_class[leaf] = -1
    tree.dearest[leaf] = -1.0
    a = tree.first[leaf]
    while a >= 0:
        if offers.is_open[a]:
            price = offers.price[a]
            tree.dearest[leaf] = max(tree.dearest[leaf], price)
            if price < tree.cheapest[leaf] or (
                price == tree.cheapest[leaf] and a < tree.of_class[leaf]
            ):
                tree.cheapest[leaf] = price
                tree.of_class[leaf] = a
        a = tree.after[a]
    node = tree.parent[leaf]
    while node >= 0:
        left, right = tree.below[node, 0], tree.below[node, 1]
        tree.dearest[node] = max(tree.dearest[left], tree.dearest[right])
        best = left
        if tree.cheapest[right] < tree.cheapest[left] or (
            tree.cheapest[right] == tree.cheapest[left]
            and 0 <= tree.of_class[right] < tree.of_class[left]
        ):
            best = right
        tree.cheapest[node] = tree.cheapest[best]
        tree.of_class[node] = tree.of_class[best]
        node = tree.parent[node]


@compiled()
def _move(tree: _Tree, a: int, leaf: int, to: int) -> None:
    """Take class a out of its leaf, and put it into another unless that is -1."""
    if tree.first[leaf] == a:
        tree.first[leaf] = tree.after[a]
    else:
        b = tree.first[leaf]
        while tree.after[b] != a:
            b = tree.after[b]
        tree.after[b] = tree.after[a]
    if to >= 0:
        tree.after[a] = tree.first[to]
        tree.first[to] = a


@compiled()
def _look_around(
    classes: MergingClasses, tree: _Tree, offers: _Offers, a: int, stack: NDArray[np.int64]
) -> None:
    """Find the cheapest merge of class a, the nearer half of every node first."""
    offers.price[a] = np.inf
    offers.partner[a] = -1
    mean = classes.means[a]
    size = float(classes.sizes[a])
    factor = size / (size + 1.0)  # of the lightest partner
    stack[0] = 0
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        if _squares_to(tree, node, mean) * factor > offers.price[a]:
            continue
        if tree.column[node] >= 0:
            near = 1 if mean[tree.column[node]] >= tree.value[node] else 0
            stack[height] = tree.below[node, 1 - near]
            stack[height + 1] = tree.below[node, near]
            height += 2
            continue
        b = tree.first[node]
        while b >= 0:
            if b != a:
                cost = increase(classes, a, b, offers.price[a])
                if cost < offers.price[a] or (cost == offers.price[a] and b < offers.partner[a]):
                    offers.price[a] = cost
                    offers.partner[a] = b
            b = tree.after[b]
    if offers.partner[a] >= 0:
        offers.seen[a] = offers.version[offers.partner[a]]


@compiled()
def _show(
    classes: MergingClasses, tree: _Tree, offers: _Offers, b: int, stack: NDArray[np.int64]
) -> None:
    """Let all open classes see that class b is new, where it may be their cheapest partner."""
    mean = classes.means[b]
    size = float(classes.sizes[b])
    factor = size / (size + 1.0)
    stack[0] = 0
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        if _squares_to(tree, node, mean) * factor > tree.dearest[node]:
            continue
        if tree.column[node] >= 0:
            stack[height] = tree.below[node, 0]
            stack[height + 1] = tree.below[node, 1]
            height += 2
            continue
        changed = False
        c = tree.first[node]
        while c >= 0:
            if offers.is_open[c] and c != b:
                cost = increase(classes, c, b, offers.price[c])
                is_known = offers.seen[c] == offers.version[offers.partner[c]]
                if cost < offers.price[c] or (
                    cost == offers.price[c] and is_known and b < offers.partner[c]
                ):
                    offers.price[c] = cost
                    offers.partner[c] = b
                    offers.seen[c] = offers.version[b]
                    changed = True
            c = tree.after[c]
        if changed:
            _sum_up(tree, offers, node)


@compiled()
def ward_merges(classes: MergingClasses, k: int, diversity: int) -> NDArray[np.int64]:
    """Merge until every class is large and diverse enough; the class each first class ends in.

    A class needs k records and `diversity` values of every sensitive attribute.
    """
    n = len(classes.sizes)
    tree = _grow_tree(classes.means)
    offers = _Offers(
        np.full(n, np.inf),
        np.full(n, -1),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.ones(n, np.bool_),
    )
    stack = np.empty(2 * n + 1, np.int64)
    for a in range(n):
        offers.is_open[a] = not _is_finished(classes, a, k, diversity)
    for a in range(n):
        if offers.is_open[a]:
            _look_around(classes, tree, offers, a, stack)
    for node in range(2 * n + 1):
        if tree.first[node] >= 0:
            _sum_up(tree, offers, node)
    into = np.arange(n)
    while tree.of_class[0] >= 0:
        a = tree.of_class[0]
        b = offers.partner[a]
        leaf_a = _leaf(tree, classes.means[a])
        if offers.seen[a] != offers.version[b]:
            _look_around(classes, tree, offers, a, stack)
            _sum_up(tree, offers, leaf_a)
            continue
        leaf_b = _leaf(tree, classes.means[b])
        merge(classes, a, b)
        into[a] = b
        offers.version[a] += 1
        offers.version[b] += 1
        offers.is_open[b] = not _is_finished(classes, b, k, diversity)
        leaf = _leaf(tree, classes.means[b])
        _move(tree, a, leaf_a, -1)
        _move(tree, b, leaf_b, leaf)
        if offers.is_open[b]:
            _look_around(classes, tree, offers, b, stack)
        _sum_up(tree, offers, leaf_a)
        _sum_up(tree, offers, leaf_b)
        _sum_up(tree, offers, leaf)
        _show(classes, tree, offers, b, stack)
    for a in range(n):
        root = a
        while into[root] != root:
            root = into[root]
        into[a] = root
    return into
