"""Two partitions of the same units, mixed: the cheaper of the two wherever they can be told apart.

Classes of two partitions that share a unit belong to the same part. Parts have no unit in common, so every
part can come from either partition, and the cheapest mixture takes the cheaper side of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_state import Field, State, class_cost, new_state
from privmoo.kernels.compiled import compiled

__all__ = ["cheaper_parts"]


@compiled()
def cheaper_parts(
    field: Field, one: NDArray[np.int32], other: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the cheapest mixture of two partitions, classes numbered from 0; equal parts are of `one`.

    A class of the mixture is a class of one of the two, so what all of their classes have, it has.

    Args:
        field: What is partitioned.
        one: The class of every unit.
        other: The same of another partition.
    """
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    parents = np.arange(n_one + n_other)
    for u in range(len(one)):
        a, b = _root(parents, one[u]), _root(parents, n_one + other[u])
        parents[max(a, b)] = min(a, b)
    gains = np.zeros(n_one + n_other)
    _add_costs(field, new_state(field, one, n_one, 0), parents, 0, 1.0, gains)
    _add_costs(field, new_state(field, other, n_other, 0), parents, n_one, -1.0, gains)
    places = np.full(n_one + n_other, -1, np.int32)
    mixture = np.empty(len(one), np.int32)
    n_classes = 0
    for u in range(len(one)):
        gain = gains[_root(parents, one[u])]
        c = n_one + other[u] if gain > 1e-12 else np.int64(one[u])
        if places[c] < 0:
            places[c] = n_classes
            n_classes += 1
        mixture[u] = places[c]
    return mixture


@compiled()
def _root(parents: NDArray[np.int64], c: int) -> Any:
    """The class that stands for the part of class c; paths become shorter on the way."""
    while parents[c] != c:
        parents[c] = parents[parents[c]]
        c = parents[c]
    return c


@compiled()
def _add_costs(
    field: Field,
    state: State,
    parents: NDArray[np.int64],
    shift: int,
    sign: float,
    gains: NDArray[np.float64],
) -> None:
    """Add the costs of all classes, times `sign`, to their parts."""
    for c in range(len(state.sizes)):
        if state.sizes[c] > 0:
            gains[_root(parents, shift + c)] += sign * class_cost(field, state, c)
