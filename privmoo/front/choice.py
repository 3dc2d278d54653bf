"""Choice of one solution: the best in a quantity, or a weighted compromise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError, nearest
from privmoo.front.quantities import Quantity, find
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = [
    "best",
    "compromise",
    "nearest_ideal",
    "need_solutions",
    "place_of",
    "read_weights",
    "scale_quantities",
]

_AUGMENTATION = 1e-3


def best(front: Front, name: str) -> int:
    """Return the place of the best solution in one quantity, for `Front.best`.

    Args:
        front: The front.
        name: The key of the quantity; the other objectives decide between equal solutions.
    """
    first = find(front.quantities, name)
    need_solutions(front, "best")
    others = [q for q in front.objectives if q.key != name]
    keys = [q.sign * front.column(q.key) for q in (first, *others)]
    return int(np.lexsort(keys[::-1])[0])


def compromise(front: Front, weights: Mapping[str, float] | None = None) -> int:
    """Return the place of the solution nearest to the ideal point, for `Front.compromise`.

    Args:
        front: The front.
        weights: Weights by objective; all 1 by default.
    """
    need_solutions(front, "compromise")
    if weights is None:
        weights = {q.key: 1.0 for q in front.objectives}
    return nearest_ideal(front, front.objectives, read_weights(front, weights, "compromise"))


def read_weights(front: Front, weights: Mapping[str, float], method: str) -> list[float]:
    """Return a weight for every objective, 0 for those that are not named.

    Args:
        front: The front.
        weights: Weights by objective.
        method: The method that was called, for errors.
    """
    names = [q.key for q in front.objectives]
    for name, weight in weights.items():
        if name not in names:
            raise ProblemError(
                f"{method}: {name!r} is not one of the objectives {', '.join(names)}"
                f"{nearest(name, names)}"
            )
        if not (is_number(weight) and 0 <= weight < math.inf):
            raise ProblemError(
                f"{method}: the weight of {name!r} must be 0 or more, got {weight!r}"
            )
    if not any(weights.values()):
        raise ProblemError(f"{method}: at least one objective needs a weight above 0")
    return [float(weights.get(name, 0.0)) for name in names]


def nearest_ideal(
    front: Front, quantities: Sequence[Quantity], weights: Sequence[float] | None = None
) -> int:
    """Return the place of the solution nearest to the best values of some quantities.

    Args:
        front: The front.
        quantities: The quantities that count.
        weights: Their weights; all 1 by default.
    """
    distances = scale_quantities(front, quantities) * (
        1.0 if weights is None else np.asarray(weights)
    )
    return int(np.argmin(distances.max(axis=1) + _AUGMENTATION * distances.sum(axis=1)))


def scale_quantities(front: Front, quantities: Sequence[Quantity]) -> NDArray[np.float64]:
    """Scale quantities from 0 (best of the front) to 1 (worst), on the axes of a plot.

    Args:
        front: The front.
        quantities: The quantities, one column each.
    """
    return np.column_stack([q.scaled(front.column(q.key)) for q in quantities])


def place_of(front: Front, solution: Solution | int, method: str, what: str = "solution") -> int:
    """Return the place of a solution on a front, which may be a part of the one it was taken from.

    Args:
        front: The front.
        solution: A solution, or its number.
        method: The method that was called, for errors.
        what: What the error calls the solution.
    """
    if not isinstance(solution, Solution):
        if is_number(solution) and int(solution) == solution:
            return _place_of_number(front, int(solution))
        raise ProblemError(
            f"{method}: takes a solution or its number, got {type(solution).__name__}"
        )
    if solution.front is front:
        return solution.index
    for place, candidate in enumerate(front):
        if candidate == solution:
            return place
    raise ProblemError(f"{method}: the {what} is not on this front")


def _place_of_number(front: Front, number: int) -> int:
    """Return the place of the solution with a number; negative ones count from the end."""
    if number < 0:
        return front[number].index
    places = np.flatnonzero(front.numbers == number)
    if not len(places):
        span = f"from 0 to {front.n_whole - 1}"
        if len(front) < front.n_whole:
            span = f"some of those {span}, such as {', '.join(map(str, front.numbers[:3]))}"
        raise IndexError(f"front: there is no solution {number}; the numbers are {span}")
    return int(places[0])


def need_solutions(front: Front, method: str) -> None:
    """Raise if a front is empty.

    Args:
        front: The front.
        method: The method that was called, for the error.
    """
    if not len(front):
        raise ProblemError(f"{method}: the front is empty")
