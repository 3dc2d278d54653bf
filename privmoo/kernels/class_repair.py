"""Classes made large and diverse enough, and few enough, by merging them where that costs least."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmoo.kernels.class_state import Demands, Field, State, fits, give_back, join, leave
from privmoo.kernels.compiled import compiled

__all__ = ["repair_classes"]


@compiled()
def repair_classes(field: Field, state: State, demands: Demands, most: int) -> None:
    """Merge classes until every class fits and there are at most `most`, or one is left.

    The smallest class that does not fit, or of all if there are too many, joins the class where that
    costs least.

    Args:
        field: What is partitioned.
        state: The classes, changed in place.
        demands: What every class must have.
        most: The largest number of classes.
    """
    n_classes = len(state.sizes)
    is_fit = np.zeros(n_classes, np.bool_)
    used = 0
    for c in range(n_classes):
        is_fit[c] = fits(field, state, demands, c)
        used += state.sizes[c] > 0
    while used > 1:
        small, smallest = -1, np.int64(0)
        for c in range(n_classes):
            size = state.sizes[c]
            if size > 0 and (used > most or not is_fit[c]) and (small < 0 or size < smallest):
                small, smallest = c, size
        if small < 0:
            return
        target = _cheapest(field, state, small)
        while state.heads[small] >= 0:
            u = state.heads[small]
            leave(field, state, u)
            join(field, state, target, u)
        give_back(state, small)
        used -= 1
        is_fit[small] = True
        is_fit[target] = fits(field, state, demands, target)


@compiled()
def _cheapest(field: Field, state: State, c: int) -> Any:
    """Return the class that c can join at least cost.

    The sum over the categories is left out where the numbers alone cost too much already.
    """
    best, place = np.inf, -1
    n = state.sizes[c]
    for d in range(len(state.sizes)):
        m = state.sizes[d]
        if d == c or m == 0:
            continue
        squares = 0.0
        for j in range(field.numbers.shape[1]):
            gap = state.means[c, j] - state.means[d, j]
            squares += gap * gap
        cost = squares * (n * m / (n + m))
        if cost >= best:
            continue
        for j in range(field.codes.shape[1]):
            most = np.int64(0)
            for at in range(field.code_starts[j], field.code_starts[j + 1]):
                most = max(most, state.counts[c, at] + state.counts[d, at])
            cost += state.modes[c, j] + state.modes[d, j] - most
        if cost < best:
            best, place = cost, d
    return place
