"""Classes that merge: their sizes, means and value counts, and the price of merging two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["MergingClasses", "absorb_leftovers", "increase", "merge"]


class MergingClasses(NamedTuple):
    """Sizes, means and value counts of classes; the counts are sparse, in one shared pool.

    Column j of class a has the values `codes[start:start + n_values[a, j]]`, ascending, with as
    many `counts`, where `start = starts[a, j]`. The first `n_priced` columns are categorical
    quasi-identifiers, the others sensitive attributes. A pool of twice the entries it begins with
    is never full after tidying up, since a merge makes no new entries.
    """

    sizes: NDArray[np.int64]
    means: NDArray[np.float64]
    starts: NDArray[np.int64]
    n_values: NDArray[np.int64]
    modes: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    used: NDArray[np.int64]
    n_priced: int


@compiled()
def _joint_mode(classes: MergingClasses, a: int, b: int, j: int) -> int:
    """Records that have the most frequent value of column j in both classes together."""
    codes, counts = classes.codes, classes.counts
    p, q = classes.starts[a, j], classes.starts[b, j]
    end_p, end_q = p + classes.n_values[a, j], q + classes.n_values[b, j]
    largest = max(classes.modes[a, j], classes.modes[b, j])
    while p < end_p and q < end_q:
        if codes[p] == codes[q]:
            largest = max(largest, counts[p] + counts[q])
            p += 1
            q += 1
        elif codes[p] < codes[q]:
            p += 1
        else:
            q += 1
    return int(largest)


@compiled()
def increase(classes: MergingClasses, a: int, b: int, limit: float) -> float:
    """By how much the spread grows if two classes merge, or a lower bound above `limit`.

    Spread is squared distance to the mean plus the records that differ from the mode.
    """
    means = classes.means
    squares = 0.0
    for i in range(means.shape[1]):
        gap = means[a, i] - means[b, i]
        squares += gap * gap
    size_a, size_b = float(classes.sizes[a]), float(classes.sizes[b])
    cost = squares * (size_a * size_b / (size_a + size_b))
    if cost > limit:
        return cost
    for j in range(classes.n_priced):
        cost += classes.modes[a, j] + classes.modes[b, j] - _joint_mode(classes, a, b, j)
    return cost


@compiled()
def _tidy(classes: MergingClasses) -> None:
    """Close the gaps that merged classes left in the pool."""
    old_codes, old_counts = classes.codes.copy(), classes.counts.copy()
    place = 0
    for a in range(len(classes.sizes)):
        for j in range(classes.starts.shape[1]):
            start = classes.starts[a, j]
            classes.starts[a, j] = place
            for p in range(start, start + classes.n_values[a, j]):
                classes.codes[place] = old_codes[p]
                classes.counts[place] = old_counts[p]
                place += 1
    classes.used[0] = place


@compiled()
def merge(classes: MergingClasses, a: int, b: int) -> None:
    """Class b takes the records of class a, which is empty from then on."""
    size_a, size_b = float(classes.sizes[a]), float(classes.sizes[b])
    for i in range(classes.means.shape[1]):
        total = classes.means[a, i] * size_a + classes.means[b, i] * size_b
        classes.means[b, i] = total / (size_a + size_b)
    classes.sizes[b] += classes.sizes[a]
    classes.sizes[a] = 0
    codes, counts = classes.codes, classes.counts
    for j in range(classes.starts.shape[1]):
        length = classes.n_values[a, j] + classes.n_values[b, j]
        if classes.used[0] + length > len(codes):
            _tidy(classes)
        p, q = classes.starts[a, j], classes.starts[b, j]
        end_p, end_q = p + classes.n_values[a, j], q + classes.n_values[b, j]
        first = classes.used[0]
        place = first
        largest = np.int64(0)
        while p < end_p or q < end_q:
            from_a = q == end_q or (p < end_p and codes[p] <= codes[q])
            from_b = p == end_p or (q < end_q and codes[q] <= codes[p])
            codes[place] = codes[p] if from_a else codes[q]
            counts[place] = (counts[p] if from_a else 0) + (counts[q] if from_b else 0)
            largest = max(largest, counts[place])
            p += from_a
            q += from_b
            place += 1
        classes.starts[b, j] = first
        classes.n_values[b, j] = place - first
        classes.n_values[a, j] = 0
        classes.modes[b, j] = largest
        classes.used[0] = place


@compiled()
def absorb_leftovers(classes: MergingClasses, n_classes: int) -> NDArray[np.int64]:
    """Merge every class from `n_classes` on, one after the other, where it costs least."""
    label = np.arange(len(classes.sizes))
    for a in range(n_classes, len(label)):
        cheapest = np.inf
        for b in range(n_classes):
            cost = increase(classes, a, b, cheapest)
            if cost < cheapest:
                cheapest = cost
                label[a] = b
        merge(classes, a, label[a])
    return label
