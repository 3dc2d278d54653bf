"""A partition of units into classes, with exact costs of steps: for local search and the repair of classes.

The cost of a class is the squared distance of its records to their mean, plus one per record and category
that differs from the mode. `privmoo.kernels.partition` computes the same costs from sums instead of
stored means, which rounds differently: one formula for both would change seeded results.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.members import link, unlink

__all__ = [
    "Demands",
    "Field",
    "State",
    "class_cost",
    "distance",
    "fits",
    "give_back",
    "join",
    "join_cost",
    "leave",
    "leave_gain",
    "mode_without",
    "new_state",
    "total_cost",
]


class Field(NamedTuple):
    """What is partitioned. A unit is some equal records that stay together."""

    numbers: NDArray[np.float64]
    """Units × numeric columns."""
    codes: NDArray[np.int64]
    """Units × category columns: the place of the value in a class's row of counts."""
    code_starts: NDArray[np.int64]
    """Where every category column begins in that row, and the end."""
    weights: NDArray[np.int64]
    owners: NDArray[np.int64]
    """The tuple of every unit; units of one tuple are equal and stand in a row."""
    unit_starts: NDArray[np.int64]
    """Where the units of every tuple begin, and the end."""
    neighbours: NDArray[np.int32]
    """Tuples × places: the nearest tuples, nearest first, each tuple among its own."""
    value_starts: NDArray[np.int64]
    """Where the values of every sensitive attribute begin in a class's row of values, and the end."""
    entry_starts: NDArray[np.int64]
    """Where the sensitive values of every unit begin in the next two, and the end."""
    entry_values: NDArray[np.int64]
    entry_counts: NDArray[np.int64]
    entropy_terms: NDArray[np.float64]
    """x · log2 x of every number of records x: entropies are sums of these."""


class Demands(NamedTuple):
    """What every class must have."""

    k: int
    """Records."""
    diversity: int
    """Different values of every sensitive attribute."""
    entropy: NDArray[np.float64]
    """The least base-2 entropy of every sensitive attribute."""


class State(NamedTuple):
    """A partition, with what its costs need. A class without records is free."""

    labels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]
    counts: NDArray[np.int64]
    """Classes × values of the category columns: records."""
    modes: NDArray[np.int64]
    """Classes × category columns: records of the most frequent value."""
    values: NDArray[np.int64]
    """Classes × values of the sensitive attributes: records."""
    heads: NDArray[np.int64]
    nexts: NDArray[np.int64]
    backs: NDArray[np.int64]
    free: NDArray[np.int64]
    """A stack of free classes; the last entry is its height."""
    random: NDArray[np.uint64]
    """The state of the random numbers."""


@compiled()
def new_state(field: Field, labels: NDArray[np.int32], n_classes: int, seed: int) -> State:
    """Return the state of a partition with room for `n_classes` classes."""
    n_units = len(field.weights)
    state = State(
        np.full(n_units, -1, np.int32),
        np.zeros(n_classes, np.int64),
        np.zeros((n_classes, field.numbers.shape[1])),
        np.zeros((n_classes, field.numbers.shape[1])),
        np.zeros((n_classes, field.code_starts[-1]), np.int64),
        np.zeros((n_classes, field.codes.shape[1]), np.int64),
        np.zeros((n_classes, field.value_starts[-1]), np.int64),
        np.full(n_classes, -1, np.int64),
        np.full(n_units, -1, np.int64),
        np.full(n_units, -1, np.int64),
        np.zeros(n_classes + 1, np.int64),
        np.array([np.uint64(seed) * np.uint64(2) + np.uint64(1)], np.uint64),
    )
    for u in range(n_units):
        join(field, state, labels[u], u)
    for c in range(n_classes - 1, -1, -1):
        if state.sizes[c] == 0:
            give_back(state, c)
    return state


@compiled()
def give_back(state: State, c: int) -> None:
    """Put a class without records on the stack of free ones."""
    height = state.free[-1]
    state.free[height] = c
    state.free[-1] = height + 1


@compiled()
def join(field: Field, state: State, c: int, u: int) -> None:
    """Add the unassigned unit u to class c."""
    weight = field.weights[u]
    state.labels[u] = c
    state.sizes[c] += weight
    size = state.sizes[c]
    for j in range(field.numbers.shape[1]):
        state.sums[c, j] += weight * field.numbers[u, j]
        state.means[c, j] = state.sums[c, j] / size
    for j in range(field.codes.shape[1]):
        at = field.codes[u, j]
        state.counts[c, at] += weight
        state.modes[c, j] = max(state.modes[c, j], state.counts[c, at])
    for e in range(field.entry_starts[u], field.entry_starts[u + 1]):
        state.values[c, field.entry_values[e]] += field.entry_counts[e]
    link(state.heads, state.nexts, state.backs, c, u)


@compiled()
def leave(field: Field, state: State, u: int) -> None:
    """Remove unit u from its class."""
    c, weight = state.labels[u], field.weights[u]
    state.labels[u] = -1
    state.sizes[c] -= weight
    size = state.sizes[c]
    for j in range(field.numbers.shape[1]):
        state.sums[c, j] -= weight * field.numbers[u, j]
        state.means[c, j] = state.sums[c, j] / max(size, 1)
    if size == 0:  # rounding errors end here
        state.sums[c, :] = 0.0
    for j in range(field.codes.shape[1]):
        at = field.codes[u, j]
        before = state.counts[c, at]
        state.counts[c, at] -= weight
        if before == state.modes[c, j]:
            state.modes[c, j] = mode_without(field, state, c, j, at, state.counts[c, at])
    for e in range(field.entry_starts[u], field.entry_starts[u + 1]):
        state.values[c, field.entry_values[e]] -= field.entry_counts[e]
    unlink(state.heads, state.nexts, state.backs, c, u)


@compiled()
def mode_without(field: Field, state: State, c: int, j: int, at: int, rest: int) -> Any:
    """Return the records of the most frequent value of a column if value `at` had `rest`."""
    best = rest
    for place in range(field.code_starts[j], field.code_starts[j + 1]):
        if place != at and state.counts[c, place] > best:
            best = state.counts[c, place]
    return best


@compiled()
def join_cost(field: Field, state: State, c: int, u: int) -> Any:
    """Return what the cost of class c grows by if unit u joins."""
    size, weight = state.sizes[c], field.weights[u]
    if size == 0:
        return 0.0
    squares = 0.0
    for j in range(field.numbers.shape[1]):
        gap = field.numbers[u, j] - state.means[c, j]
        squares += gap * gap
    cost = squares * (size * weight / (size + weight))
    for j in range(field.codes.shape[1]):
        over = state.counts[c, field.codes[u, j]] + weight - state.modes[c, j]
        cost += weight - max(over, 0)
    return cost


@compiled()
def leave_gain(field: Field, state: State, u: int) -> Any:
    """Return what the cost of unit u's class shrinks by if it leaves."""
    c, weight = state.labels[u], field.weights[u]
    size = state.sizes[c]
    if size == weight:
        return 0.0
    squares = 0.0
    for j in range(field.numbers.shape[1]):
        gap = field.numbers[u, j] - state.means[c, j]
        squares += gap * gap
    gain = squares * (size * weight / (size - weight))
    for j in range(field.codes.shape[1]):
        at = field.codes[u, j]
        gain += weight
        if state.counts[c, at] == state.modes[c, j]:
            rest = state.counts[c, at] - weight
            gain -= state.modes[c, j] - mode_without(field, state, c, j, at, rest)
    return gain


@compiled()
def class_cost(field: Field, state: State, c: int) -> Any:
    """Return the cost of a class, from its records."""
    cost = 0.0
    u = state.heads[c]
    while u >= 0:
        for j in range(field.numbers.shape[1]):
            gap = field.numbers[u, j] - state.means[c, j]
            cost += field.weights[u] * gap * gap
        u = state.nexts[u]
    for j in range(field.codes.shape[1]):
        cost += state.sizes[c] - state.modes[c, j]
    return cost


@compiled()
def total_cost(field: Field, state: State) -> Any:
    """Return the cost of all classes, from their records."""
    total = 0.0
    for c in range(len(state.sizes)):
        total += class_cost(field, state, c)
    return total


@compiled()
def fits(field: Field, state: State, demands: Demands, c: int) -> bool:
    """Return whether a class is free, or has what every class must have."""
    size = state.sizes[c]
    if size == 0:
        return True
    if size < demands.k:
        return False
    for s in range(len(field.value_starts) - 1):
        if demands.diversity <= 1 and demands.entropy[s] <= 0.0:
            continue
        terms, distinct = field.entropy_terms[size], 0
        for at in range(field.value_starts[s], field.value_starts[s + 1]):
            distinct += state.values[c, at] > 0
            terms -= field.entropy_terms[state.values[c, at]]
        if distinct < demands.diversity or terms < (demands.entropy[s] - 1e-12) * size:
            return False
    return True


@compiled()
def distance(field: Field, u: int, v: int) -> Any:
    """Return the squared difference of numbers of two units, plus one for every category that differs."""
    total = 0.0
    for j in range(field.numbers.shape[1]):
        gap = field.numbers[u, j] - field.numbers[v, j]
        total += gap * gap
    for j in range(field.codes.shape[1]):
        total += field.codes[u, j] != field.codes[v, j]
    return total
