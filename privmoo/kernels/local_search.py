"""Annealed local search of a partition: records move, swap, leave a class that dissolves or found one.

Every step computes its exact change of the cost, and is taken if the change is below a random limit that
falls with the temperature. Partners come from lists of near neighbours, so that a step takes the same time
whatever the number of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_state import (
    Demands,
    Field,
    State,
    class_cost,
    distance,
    fits,
    give_back,
    join,
    join_cost,
    leave,
    leave_gain,
    mode_without,
)
from privmoo.kernels.compiled import compiled
from privmoo.kernels.members import exchange_links
from privmoo.kernels.random_numbers import uniform

__all__ = ["anneal", "costs_per_record"]


@compiled()
def costs_per_record(field: Field, state: State) -> NDArray[np.float64]:
    """Return what a record costs in the class of every unit."""
    of_class = np.zeros(len(state.sizes))
    for c in range(len(state.sizes)):
        if state.sizes[c] > 0:
            of_class[c] = class_cost(field, state, c) / state.sizes[c]
    return of_class[state.labels]


@compiled()
def anneal(
    field: Field,
    state: State,
    demands: Demands,
    units: NDArray[np.int64],
    steps: int,
    hot: float,
    cold: float,
) -> None:
    """Take random steps at temperatures that fall from `hot` to `cold`; every class fits, before and after.

    Every step concerns one of `units`, where a unit may stand several times, and a near unit. A thousand
    steps share a temperature. Classes much larger than 2k are rarely tried to cut, which takes long.
    """
    n_units, k = len(field.weights), demands.k
    scratch = np.empty(n_units, np.int64)
    origins = np.empty(n_units, np.int32)
    keys = np.empty(n_units)
    temperature = hot
    constrained = demands.diversity > 1 or (demands.entropy > 0.0).any()
    for step in range(steps):
        if step % 1000 == 0:
            share = step / steps
            temperature = hot * (cold / hot) ** share if cold > 0.0 else hot * (1.0 - share)
        u, v = _pair(field, state, units)
        a, b = state.labels[u], state.labels[v]
        draw = uniform(state.random)
        limit = -temperature * np.log(uniform(state.random) + 1e-300)
        if draw < 0.002:
            if draw < 0.001:
                _dissolve(field, state, demands, a, limit, scratch, origins)
            else:
                _try_new_class(field, state, demands, u, limit, scratch, origins)
            continue
        if a == b:
            continue
        rest = state.sizes[a] - field.weights[u]
        if rest >= k and draw < 0.5:
            if join_cost(field, state, b, u) - leave_gain(field, state, u) < limit:
                leave(field, state, u)
                join(field, state, b, u)
                if not _both_fit(field, state, demands, a, b):
                    leave(field, state, u)
                    join(field, state, a, u)
                elif uniform(state.random) < (2 * k / state.sizes[b]) ** 2 <= 1.0:
                    _try_split(field, state, demands, b, scratch, keys)
            continue
        v = _other_member(
            state.nexts, state.heads, v, b, int(uniform(state.random) * min(state.sizes[b], 2 * k))
        )
        weight = field.weights[u]
        if weight != field.weights[v]:
            continue
        change = _squares_after_swap(
            field.numbers, state.means, u, v, a, b, weight, state.sizes[a], state.sizes[b]
        )
        if field.codes.shape[1] > 0:
            change += _mismatches_after_swap(field, state, u, v)
        if change < limit:
            _exchange(field, state, u, v)
            if constrained and not _both_fit(field, state, demands, a, b):
                _exchange(field, state, u, v)


@compiled()
def _both_fit(field: Field, state: State, demands: Demands, a: int, b: int) -> bool:
    """Return whether two classes have what is demanded of every class."""
    return fits(field, state, demands, a) and fits(field, state, demands, b)


@compiled()
def _pair(field: Field, state: State, units: NDArray[np.int64]) -> Any:
    """Draw a unit and a near one, in either order: outliers are near nobody, and must draw others."""
    u = units[int(uniform(state.random) * len(units))]
    place = int(uniform(state.random) * field.neighbours.shape[1])
    near = field.neighbours[field.owners[u], place]
    first, end = field.unit_starts[near], field.unit_starts[near + 1]
    v = first + int(uniform(state.random) * (end - first)) if end - first > 1 else first
    return (v, u) if uniform(state.random) < 0.5 else (u, v)


@compiled()
def _other_member(
    nexts: NDArray[np.int64], heads: NDArray[np.int64], v: int, c: int, hops: int
) -> Any:
    """The member of a class some places after v."""
    for _ in range(hops):
        v = nexts[v]
        if v < 0:
            v = heads[c]
    return v


@compiled()
def _exchange(field: Field, state: State, u: int, v: int) -> None:
    """Two units of different classes, and of equal weight, change places."""
    if field.codes.shape[1] > 0 or len(field.entry_values) > 0:
        a, b = state.labels[u], state.labels[v]
        leave(field, state, u)
        leave(field, state, v)
        join(field, state, b, u)
        join(field, state, a, v)
        return
    _exchange_numbers(
        field.numbers, state.sums, state.means, state.sizes, state.labels, field.weights[u], u, v
    )
    exchange_links(state.labels, state.heads, state.nexts, state.backs, u, v)


@compiled()
def _exchange_numbers(
    numbers: NDArray[np.float64],
    sums: NDArray[np.float64],
    means: NDArray[np.float64],
    sizes: NDArray[np.int64],
    labels: NDArray[np.int32],
    weight: int,
    u: int,
    v: int,
) -> None:
    a, b = labels[u], labels[v]
    for j in range(numbers.shape[1]):
        gap = weight * (numbers[v, j] - numbers[u, j])
        sums[a, j] += gap
        sums[b, j] -= gap
        means[a, j] = sums[a, j] / sizes[a]
        means[b, j] = sums[b, j] / sizes[b]


@compiled()
def _undo(
    field: Field,
    state: State,
    n_moves: int,
    moves: NDArray[np.int64],
    origins: NDArray[np.int32],
) -> None:
    """Take moves back, the last one first."""
    for i in range(n_moves - 1, -1, -1):
        leave(field, state, moves[i])
        join(field, state, origins[i], moves[i])


@compiled()
def _dissolve(
    field: Field,
    state: State,
    demands: Demands,
    c: int,
    limit: float,
    moves: NDArray[np.int64],
    origins: NDArray[np.int32],
) -> None:
    """Let every unit of a class join the cheapest near class, if all of it costs less than `limit`."""
    if state.sizes[c] >= 2 * demands.k:
        return
    change = -class_cost(field, state, c)
    n_moves = 0
    reach = field.neighbours.shape[1]
    while state.heads[c] >= 0 and change < limit:
        u = state.heads[c]
        best, place = np.inf, -1
        for i in range(reach):
            v = field.unit_starts[field.neighbours[field.owners[u], i]]
            b = state.labels[v]
            if b != c and b != place:
                cost = join_cost(field, state, b, u)
                if cost < best:
                    best, place = cost, b
        if place < 0:
            change = np.inf
            break
        change += best
        leave(field, state, u)
        join(field, state, place, u)
        moves[n_moves], origins[n_moves] = u, c
        n_moves += 1
    accepted = change < limit
    for i in range(n_moves):
        accepted = accepted and fits(field, state, demands, state.labels[moves[i]])
    if accepted:
        give_back(state, c)
    else:
        _undo(field, state, n_moves, moves, origins)


@compiled()
def _try_new_class(
    field: Field,
    state: State,
    demands: Demands,
    u: int,
    limit: float,
    moves: NDArray[np.int64],
    origins: NDArray[np.int32],
) -> None:
    """Make a class of unit u and near units that others can spare, if it costs less than `limit`."""
    if state.free[-1] == 0 or state.sizes[state.labels[u]] - field.weights[u] < demands.k:
        return
    c = state.free[state.free[-1] - 1]
    change, n_moves = 0.0, 0
    reach = field.neighbours.shape[1]
    i = -1
    v = u
    while True:
        a = state.labels[v]
        if a != c and state.sizes[a] - field.weights[v] >= demands.k:
            change += join_cost(field, state, c, v) - leave_gain(field, state, v)
            leave(field, state, v)
            join(field, state, c, v)
            moves[n_moves], origins[n_moves] = v, a
            n_moves += 1
            if state.sizes[c] >= demands.k:
                break
        v += 1
        if i < 0 or v >= field.unit_starts[field.neighbours[field.owners[u], i] + 1]:
            i += 1
            if i >= reach:
                break
            v = field.unit_starts[field.neighbours[field.owners[u], i]]
    accepted = change < limit and fits(field, state, demands, c)
    for i in range(n_moves):
        accepted = accepted and fits(field, state, demands, origins[i])
    if accepted:
        state.free[-1] -= 1
    else:
        _undo(field, state, n_moves, moves, origins)


@compiled()
def _try_split(
    field: Field,
    state: State,
    demands: Demands,
    c: int,
    members: NDArray[np.int64],
    keys: NDArray[np.float64],
) -> None:
    """Make two classes of one: in the order between two distant units, cut where it costs least."""
    if state.free[-1] == 0:
        return
    n = 0
    u = state.heads[c]
    while u >= 0:
        members[n] = u
        n += 1
        u = state.nexts[u]
    left_end = _farthest(field, members[:n], members[int(uniform(state.random) * n)])
    right_end = _farthest(field, members[:n], left_end)
    for i in range(n):
        u = members[i]
        keys[i] = distance(field, u, left_end) - distance(field, u, right_end)
    order = members[:n][np.argsort(keys[:n])]
    new = state.free[state.free[-1] - 1]
    change, best, place = 0.0, np.inf, -1
    for i in range(n - 1):
        u = order[i]
        change += join_cost(field, state, new, u) - leave_gain(field, state, u)
        leave(field, state, u)
        join(field, state, new, u)
        if change < best and fits(field, state, demands, c) and fits(field, state, demands, new):
            best, place = change, i
    for i in range(n - 2, place, -1):
        leave(field, state, order[i])
        join(field, state, c, order[i])
    if place >= 0:
        state.free[-1] -= 1


@compiled()
def _farthest(field: Field, members: NDArray[np.int64], u: int) -> Any:
    best, place = -1.0, u
    for v in members:
        apart = distance(field, u, v)
        if apart > best:
            best, place = apart, v
    return place


@compiled()
def _squares_after_swap(
    numbers: NDArray[np.float64],
    means: NDArray[np.float64],
    u: int,
    v: int,
    a: int,
    b: int,
    weight: int,
    size_a: int,
    size_b: int,
) -> Any:
    """What the squared distances grow by. It takes arrays, not tuples of them, to be fast."""
    along, squares = 0.0, 0.0
    for j in range(numbers.shape[1]):
        gap = numbers[v, j] - numbers[u, j]
        along += gap * (means[b, j] - means[a, j])
        squares += gap * gap
    return weight * (2.0 * along - squares * weight * (1.0 / size_a + 1.0 / size_b))


@compiled()
def _mismatches_after_swap(field: Field, state: State, u: int, v: int) -> Any:
    """What the number of records that differ from the mode grows by."""
    a, b, weight = state.labels[u], state.labels[v], field.weights[u]
    change = 0
    for j in range(field.codes.shape[1]):
        of_u, of_v = field.codes[u, j], field.codes[v, j]
        if of_u != of_v:
            change += state.modes[a, j] - _mode_after(field, state, a, j, of_u, of_v, weight)
            change += state.modes[b, j] - _mode_after(field, state, b, j, of_v, of_u, weight)
    return change


@compiled()
def _mode_after(
    field: Field, state: State, c: int, j: int, minus: int, plus: int, weight: int
) -> Any:
    """The records of the most frequent value if one value loses some records to another."""
    mode = state.modes[c, j]
    if state.counts[c, minus] == mode:
        mode = mode_without(field, state, c, j, minus, mode - weight)
    return max(mode, state.counts[c, plus] + weight)
