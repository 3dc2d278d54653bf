"""A partition of units into clusters that is changed step by step: what a step costs, and its doing.

A unit is some equal records that stay together. The spread of a cluster is the squared distance of its
records to their mean, plus one per record and category that differs from the cluster's mode. All costs are
exact changes of that spread, by the usual identities: n·w/(n+w)·d² for w records that join a cluster of n
at distance d of its mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.members import link, unlink

__all__ = [
    "Partition",
    "Units",
    "can_leave",
    "fill",
    "is_short",
    "join",
    "join_cost",
    "leave",
    "leave_gain",
    "merge",
    "merge_cost",
    "new_partition",
]


class Units(NamedTuple):
    """What is partitioned: equal records that stay together, with their sensitive values."""

    points: NDArray[np.float64]
    """Units × columns: a number, or the code of a category."""
    weights: NDArray[np.int64]
    owners: NDArray[np.int64]
    """The tuple of every unit: units of one tuple are equal."""
    numbers: NDArray[np.int64]
    """The columns that are numbers."""
    categories: NDArray[np.int64]
    """The columns that are categories."""
    category_starts: NDArray[np.int64]
    """Where the values of every category column begin in a cluster's row of counts, and the end."""
    n_values: NDArray[np.int64]
    """Values of every sensitive attribute."""
    entry_starts: NDArray[np.int64]
    """Where the sensitive values of every unit begin in the next three, and the end."""
    entry_attributes: NDArray[np.int64]
    """Sorted within a unit."""
    entry_values: NDArray[np.int64]
    """Values of all attributes are numbered in a row."""
    entry_counts: NDArray[np.int64]


class Partition(NamedTuple):
    """Clusters of units, as doubly linked lists, with what their costs need."""

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    """Clusters × values of the category columns: records."""
    modes: NDArray[np.int64]
    """Clusters × category columns: records of the most frequent value."""
    values: NDArray[np.int64]
    """Clusters × values of the sensitive attributes: records."""
    distinct: NDArray[np.int64]
    """Clusters × sensitive attributes: values that occur."""
    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    backs: NDArray[np.int64]


@compiled()
def new_partition(units: Units, n_clusters: int) -> Partition:
    """Clusters without units."""
    n_units = len(units.weights)
    return Partition(
        np.full(n_units, -1, np.int32),
        np.zeros(n_clusters, np.int64),
        np.zeros((n_clusters, len(units.numbers))),
        np.zeros((n_clusters, units.category_starts[-1]), np.int64),
        np.zeros((n_clusters, len(units.categories)), np.int64),
        np.zeros((n_clusters, units.n_values.sum()), np.int64),
        np.zeros((n_clusters, len(units.n_values)), np.int64),
        np.full(n_clusters, -1, np.int64),
        np.full(n_units, -1, np.int64),
        np.full(n_units, -1, np.int64),
    )


@compiled()
def join(units: Units, p: Partition, c: int, u: int) -> None:
    """Add the unassigned unit u to cluster c."""
    weight = units.weights[u]
    p.labels[u] = c
    p.sizes[c] += weight
    for j in range(len(units.numbers)):
        p.sums[c, j] += weight * units.points[u, units.numbers[j]]
    for j in range(len(units.categories)):
        at = units.category_starts[j] + int(units.points[u, units.categories[j]])
        p.counts[c, at] += weight
        p.modes[c, j] = max(p.modes[c, j], p.counts[c, at])
    for e in range(units.entry_starts[u], units.entry_starts[u + 1]):
        at = units.entry_values[e]
        p.distinct[c, units.entry_attributes[e]] += p.values[c, at] == 0
        p.values[c, at] += units.entry_counts[e]
    link(p.heads, p.nexts, p.backs, c, u)


@compiled()
def leave(units: Units, p: Partition, u: int) -> None:
    """Remove unit u from its cluster."""
    c, weight = p.labels[u], units.weights[u]
    p.labels[u] = -1
    p.sizes[c] -= weight
    for j in range(len(units.numbers)):
        p.sums[c, j] -= weight * units.points[u, units.numbers[j]]
    for j in range(len(units.categories)):
        at = units.category_starts[j] + int(units.points[u, units.categories[j]])
        was = p.counts[c, at]
        p.counts[c, at] -= weight
        if was == p.modes[c, j]:
            p.modes[c, j] = _largest(
                p.counts, c, units.category_starts[j], units.category_starts[j + 1]
            )
    for e in range(units.entry_starts[u], units.entry_starts[u + 1]):
        at = units.entry_values[e]
        p.values[c, at] -= units.entry_counts[e]
        p.distinct[c, units.entry_attributes[e]] -= p.values[c, at] == 0
    unlink(p.heads, p.nexts, p.backs, c, u)


@compiled()
def _largest(counts: NDArray[np.int64], c: int, low: int, high: int) -> Any:
    best = np.int64(0)
    for at in range(low, high):
        best = max(best, counts[c, at])
    return best


@compiled()
def join_cost(units: Units, p: Partition, c: int, u: int) -> Any:
    """What the spread of cluster c grows by if unit u joins."""
    size, weight = p.sizes[c], units.weights[u]
    if size == 0:
        return 0.0
    squares = 0.0
    for j in range(len(units.numbers)):
        gap = units.points[u, units.numbers[j]] - p.sums[c, j] / size
        squares += gap * gap
    cost = squares * size * weight / (size + weight)
    for j in range(len(units.categories)):
        at = units.category_starts[j] + int(units.points[u, units.categories[j]])
        cost += weight - max(p.counts[c, at] + weight - p.modes[c, j], 0)
    return cost


@compiled()
def leave_gain(units: Units, p: Partition, u: int) -> Any:
    """What the spread of unit u's cluster shrinks by if it leaves."""
    c, weight = p.labels[u], units.weights[u]
    size = p.sizes[c]
    if size == weight:
        return 0.0
    squares = 0.0
    for j in range(len(units.numbers)):
        gap = units.points[u, units.numbers[j]] - p.sums[c, j] / size
        squares += gap * gap
    gain = squares * size * weight / (size - weight)
    for j in range(len(units.categories)):
        low, high = units.category_starts[j], units.category_starts[j + 1]
        at = low + int(units.points[u, units.categories[j]])
        gain += weight
        if p.counts[c, at] == p.modes[c, j]:
            rest = p.counts[c, at] - weight
            for leaf in range(low, high):
                if leaf != at:
                    rest = max(rest, p.counts[c, leaf])
            gain -= p.modes[c, j] - rest
    return gain


@compiled()
def merge_cost(units: Units, p: Partition, a: int, b: int) -> Any:
    """What the spread grows by if two clusters become one."""
    n, m = p.sizes[a], p.sizes[b]
    squares = 0.0
    for j in range(len(units.numbers)):
        gap = p.sums[a, j] / n - p.sums[b, j] / m
        squares += gap * gap
    cost = squares * n * m / (n + m)
    for j in range(len(units.categories)):
        best = np.int64(0)
        for at in range(units.category_starts[j], units.category_starts[j + 1]):
            best = max(best, p.counts[a, at] + p.counts[b, at])
        cost += p.modes[a, j] + p.modes[b, j] - best
    return cost


@compiled()
def merge(units: Units, p: Partition, a: int, b: int) -> None:
    """All units of cluster a go to cluster b."""
    while p.heads[a] >= 0:
        u = p.heads[a]
        leave(units, p, u)
        join(units, p, b, u)


@compiled()
def is_short(p: Partition, c: int, k: int, diversity: int) -> bool:
    """Whether a cluster has units, but fewer than k records or too few values of an attribute."""
    if p.sizes[c] == 0:
        return False
    if p.sizes[c] < k:
        return True
    for s in range(p.distinct.shape[1]):  # noqa: SIM110  # a generator does not compile
        if p.distinct[c, s] < diversity:
            return True
    return False


@compiled()
def can_leave(units: Units, p: Partition, u: int, k: int, diversity: int) -> bool:
    """Whether a cluster that is not short stays so without unit u, or is emptied by it."""
    c = p.labels[u]
    rest = p.sizes[c] - units.weights[u]
    if rest == 0:
        return True
    if rest < k:
        return False
    if diversity <= 1:
        return True
    attribute, lost = -1, 0  # the entries of a unit are sorted by attribute
    for e in range(units.entry_starts[u], units.entry_starts[u + 1]):
        if units.entry_attributes[e] != attribute:
            attribute, lost = units.entry_attributes[e], 0
        lost += p.values[c, units.entry_values[e]] == units.entry_counts[e]
        if p.distinct[c, attribute] - lost < diversity:
            return False
    return True


@compiled()
def brings_value(units: Units, p: Partition, c: int, u: int, diversity: int) -> bool:
    """Whether unit u has a sensitive value that cluster c lacks, of an attribute that is short of them."""
    for e in range(units.entry_starts[u], units.entry_starts[u + 1]):
        is_short = p.distinct[c, units.entry_attributes[e]] < diversity
        if is_short and p.values[c, units.entry_values[e]] == 0:
            return True
    return False


@compiled()
def fill(units: Units, p: Partition, labels: NDArray[np.int32]) -> None:
    """Put every unit into the cluster that its tuple has."""
    for u in range(len(units.weights)):
        join(units, p, labels[units.owners[u]], u)
