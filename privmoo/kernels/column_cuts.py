"""The best cut of one column while all others stay: its cost is a sum over blocks, so it is exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["ColumnTuples", "best_cut", "block_costs"]

_HIGHEST_PRICE = 1e7
_HALVINGS = 8


class ColumnTuples(NamedTuple):
    """The tuples of a table as one column sorts them, and their classes by all other columns.

    Attributes:
        order: The tuples, by their leaf.
        leaf_starts: Where the tuples of every leaf begin in that order, and their number.
        classes: The class of every tuple: equal where no other column tells tuples apart.
        class_losses: The loss of a record of each class in the other columns.
        weights: The records of every tuple.
        entry_starts: Where the sensitive values of every tuple begin, and their number.
        entry_values: The sensitive values, those of all attributes numbered on.
        entry_counts: How many records have them.
    """

    order: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    classes: NDArray[np.int64]
    class_losses: NDArray[np.float64]
    weights: NDArray[np.int64]
    entry_starts: NDArray[np.int64]
    entry_values: NDArray[np.int64]
    entry_counts: NDArray[np.int64]


@compiled()
def block_costs(
    table: ColumnTuples,
    last: NDArray[np.int64],
    leaf_loss: float,
    least_size: int,
    least_diversity: float,
    n_values: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what every block of leaves loses, and the records that it leaves out.

    A block from leaf a to leaf b is a group for each class with tuples there. Groups that are too small,
    or have a sensitive value too often, are left out. The others lose what their class loses, and what the
    width of the block costs.

    Args:
        table: The tuples.
        last: The last leaf of the widest block from each leaf; -1 where none begins.
        leaf_loss: The loss of a record for every leaf that its block has beyond one.
        least_size: The least size of a group that stays.
        least_diversity: The least size of a group that stays, in times its most frequent value.
        n_values: The number of sensitive values of all attributes; 0 to ignore them.

    Returns:
        Leaves × leaves, the loss of the groups that stay, and the number of records that are left out.
    """
    n_leaves, n_classes = len(last), len(table.class_losses)
    losses = np.zeros((n_leaves, n_leaves))
    left_out = np.zeros((n_leaves, n_leaves), np.int64)
    sizes, peaks = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    counts = np.zeros((n_classes, n_values), np.int64)
    for a in range(n_leaves):
        published, out, class_loss = 0, 0, 0.0
        for b in range(a, last[a] + 1):
            for place in range(table.leaf_starts[b], table.leaf_starts[b + 1]):
                t = table.order[place]
                c = table.classes[t]
                if sizes[c] >= least_size and sizes[c] >= least_diversity * peaks[c]:
                    published -= sizes[c]
                    class_loss -= sizes[c] * table.class_losses[c]
                else:
                    out -= sizes[c]
                sizes[c] += table.weights[t]
                if n_values > 0:
                    for e in range(table.entry_starts[t], table.entry_starts[t + 1]):
                        v = table.entry_values[e]
                        counts[c, v] += table.entry_counts[e]
                        peaks[c] = max(peaks[c], counts[c, v])
                if sizes[c] >= least_size and sizes[c] >= least_diversity * peaks[c]:
                    published += sizes[c]
                    class_loss += sizes[c] * table.class_losses[c]
                else:
                    out += sizes[c]
            losses[a, b] = class_loss + published * leaf_loss * (b - a)
            left_out[a, b] = out
        for place in range(table.leaf_starts[a], table.leaf_starts[max(a, last[a] + 1)]):
            t = table.order[place]
            c = table.classes[t]
            sizes[c] = peaks[c] = 0
            if n_values > 0:
                for e in range(table.entry_starts[t], table.entry_starts[t + 1]):
                    counts[c, table.entry_values[e]] = 0
    return losses, left_out


@compiled()
def best_cut(
    losses: NDArray[np.float64],
    left_out: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    most_left_out: int,
) -> tuple[NDArray[np.bool_], float]:
    """Return the cut with the least loss that leaves out few enough, and that loss; infinite for none.

    A record that is left out counts 1. Where that leaves out too many, it costs more, and the price is
    searched by halves: the cut is then the best of those that some price makes the cheapest.

    Args:
        losses: The loss of every block.
        left_out: The records that it leaves out.
        allowed: Which blocks there may be, by their first and last leaf.
        most_left_out: The largest number of records that may be left out.
    """
    best, out, cost = _cheapest(losses, left_out, allowed, 1.0)
    if out <= most_left_out:
        return best, cost
    low, high = 1.0, 4.0
    while high < _HIGHEST_PRICE:
        best, out, cost = _cheapest(losses, left_out, allowed, high)
        if out <= most_left_out:
            break
        low, high = high, 4.0 * high
    if out > most_left_out:
        return best, np.inf
    for _ in range(_HALVINGS):
        price = 0.5 * (low + high)
        cut, out, other = _cheapest(losses, left_out, allowed, price)
        if out > most_left_out:
            low = price
        else:
            high = price
            if other < cost:
                best, cost = cut, other
    return best, cost


@compiled()
def _cheapest(
    losses: NDArray[np.float64],
    left_out: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    price: float,
) -> tuple[NDArray[np.bool_], int, float]:
    """Return the cheapest cut, the records that it leaves out (-1 if there is no cut), and its loss.

    A record that is left out counts 1 in the loss, whatever its price.
    """
    n_leaves = len(losses)
    costs = np.full(n_leaves + 1, np.inf)
    begins, out = np.zeros(n_leaves + 1, np.int64), np.zeros(n_leaves + 1, np.int64)
    costs[0] = 0.0
    for b in range(n_leaves):
        for a in range(b + 1):
            cost = costs[a] + losses[a, b] + price * left_out[a, b]
            if allowed[a, b] and cost < costs[b + 1]:
                costs[b + 1], begins[b + 1] = cost, a
                out[b + 1] = out[a] + left_out[a, b]
    cut = np.zeros(n_leaves - 1, np.bool_)
    if costs[n_leaves] == np.inf:
        return cut, -1, np.inf
    b = begins[n_leaves]
    while b > 0:
        cut[b - 1] = True
        b = begins[b]
    return cut, out[n_leaves], costs[n_leaves] - (price - 1.0) * out[n_leaves]
