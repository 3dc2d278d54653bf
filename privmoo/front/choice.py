"""Choosing from a front: within limits, the best, the knee, a weighted compromise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError, nearest
from privmoo.front.quantities import Quantity, find
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = [
    "at_end",
    "best",
    "check_value",
    "compromise",
    "excess",
    "knee",
    "limit_in_words",
    "limited",
    "marked_knee",
    "nearest_ideal",
    "need_solutions",
    "nothing_within",
    "place_of",
    "reference_point",
    "scaled",
    "weights_of",
    "within",
]

_AUGMENTATION = 1e-3
_ROUNDING = 1e-12  # a loss of 0.4 may come out as 0.4000000000000001


def limited(front: Front, limit: str, asked: str = "where") -> tuple[Quantity, str]:
    """The quantity that a limit such as `max_loss` is about, and its side."""
    side, _, name = limit.partition("_")
    options = [f"{s}_{q.key}" for q in front.quantities for s in ("max", "min")]
    if limit not in options:
        keys = {q.key: q for q in front.quantities}
        if limit in keys:
            side = "min" if keys[limit].sense == "max" else "max"
            hint = f"; did you mean {f'{side}_{limit}'!r}?"
        else:
            hint = nearest(limit, options)
        raise ProblemError(
            f"{asked}: {limit!r} is not max_ or min_ and a recorded quantity; recorded are "
            f"{', '.join(keys)}{hint}"
        )
    return find(front.quantities, name), side


def check_limits(front: Front, limits: Mapping[str, float], asked: str) -> None:
    """Raise a ProblemError where a limit is about nothing recorded, or is no possible number."""
    for limit, bound in limits.items():
        check_value(limited(front, limit, asked)[0], limit, bound, asked)


def check_value(quantity: Quantity, name: str, value: Any, asked: str) -> None:
    """Raise a ProblemError where a value is no number, or was meant in per cent."""
    if not is_number(value):
        raise ProblemError(f"{asked}: {name} must be a number, got {value!r}")
    low, high = sorted((quantity.best, quantity.worst))
    # Someone who thinks in per cent would otherwise get everything, or nothing.
    if 0 <= low < high <= 1 < value < math.inf:
        meant = f"; did you mean {value / 100:g}?" if value <= 100 else ""
        raise ProblemError(
            f"{asked}: {name} = {value:g} is above the largest possible value {high:g}{meant}"
        )


def excess(front: Front, limit: str, bound: float) -> NDArray[np.float64]:
    """How far every solution is beyond a limit; at most 0 where it is within."""
    quantity, side = limited(front, limit)
    column = front.column(quantity.key)
    return column - bound if side == "max" else bound - column


def within(front: Front, limits: Mapping[str, float], asked: str = "where") -> NDArray[np.bool_]:
    """Which solutions are within all limits."""
    check_limits(front, limits, asked)
    kept = np.ones(len(front), dtype=np.bool_)
    for limit, bound in limits.items():
        kept &= excess(front, limit, bound) <= _ROUNDING * max(1.0, abs(bound))
    return kept


def limit_in_words(front: Front, limit: str, bound: float) -> str:
    """Such as "loss ≤ 25 %"."""
    quantity, side = limited(front, limit)
    return f"{quantity.words} {'≤' if side == 'max' else '≥'} {quantity.write(bound)}"


def nothing_within(front: Front, limits: Mapping[str, float]) -> str:
    """The sentence for limits that no solution is within."""
    said = " and ".join(limit_in_words(front, limit, bound) for limit, bound in limits.items())
    if not len(front):
        return f"where: the front is empty, so no solution has {said}"
    spans = "; ".join(
        f"{q.words} goes from {q.write(column.min())} to {q.write(column.max())}"
        for q in dict.fromkeys(limited(front, limit)[0] for limit in limits)
        for column in (front.column(q.key),)
    )
    return f"where: no solution of the front has {said}; {spans}"


def best(front: Front, name: str) -> int:
    """Place of the best solution in one quantity; of equal ones the best in the other objectives."""
    first = find(front.quantities, name)
    need_solutions(front, "best")
    others = [q for q in front.objectives if q.key != name]
    keys = [q.sign * front.column(q.key) for q in (first, *others)]
    return int(np.lexsort(keys[::-1])[0])


def knee(front: Front) -> int:
    """Place of the knee: the least sum of scaled objectives."""
    need_solutions(front, "knee")
    return int(np.argmin(scaled(front, front.objectives).sum(axis=1)))


def at_end(front: Front, place: int) -> bool:
    """Whether a solution is the best in some objective, so that it is an end of the front."""
    places = scaled(front, front.objectives)
    varied = np.ptp(places, axis=0) > 0  # where all are equal, nobody is the best
    return bool((places[place, varied] == 0).any())


def marked_knee(front: Front) -> int | None:
    """Place of the knee, if there is one worth marking: not on a front of two, and not at an end."""
    if len(front) < 3:
        return None
    place = knee(front)
    return None if at_end(front, place) else place


def compromise(front: Front, weights: Mapping[str, float] | None = None) -> int:
    """Place of the solution with the least augmented weighted Chebyshev distance."""
    need_solutions(front, "compromise")
    names = [q.key for q in front.objectives]
    given = dict.fromkeys(names, 1.0) if weights is None else weights
    return nearest_ideal(front, front.objectives, weights_of(front, given, "compromise"))


def weights_of(front: Front, weights: Mapping[str, float], asked: str) -> list[float]:
    """A weight for every objective, 0 where none is given."""
    names = [q.key for q in front.objectives]
    for name, weight in weights.items():
        if name not in names:
            raise ProblemError(
                f"{asked}: {name!r} is not one of the objectives {', '.join(names)}"
                f"{nearest(name, names)}"
            )
        if not (is_number(weight) and 0 <= weight < math.inf):
            raise ProblemError(f"{asked}: the weight of {name!r} must be 0 or more, got {weight!r}")
    if not any(weights.values()):
        raise ProblemError(f"{asked}: at least one objective needs a weight above 0")
    return [float(weights.get(name, 0.0)) for name in names]


def nearest_ideal(
    front: Front, quantities: Sequence[Quantity], weights: Sequence[float] | None = None
) -> int:
    """Place of the solution nearest to the best of all these quantities."""
    weighted = scaled(front, quantities) * (1.0 if weights is None else np.asarray(weights))
    return int(np.argmin(weighted.max(axis=1) + _AUGMENTATION * weighted.sum(axis=1)))


def scaled(front: Front, quantities: Sequence[Quantity]) -> NDArray[np.float64]:
    """Quantities from 0 (best of the front) to 1 (worst), on the axes of a plot."""
    return np.column_stack([q.scaled(front.column(q.key)) for q in quantities])


def reference_point(
    objectives: Sequence[Quantity], ref: Mapping[str, float] | Sequence[float] | None
) -> NDArray[np.float64]:
    """The reference point of a hypervolume, in the natural sense; the worst possible by default."""
    for q in objectives:
        if not q.bounded:
            raise ProblemError(
                f"hypervolume: {q.key!r} has no bounds; declare them in @measure(bounds=…)"
            )
    # An objective that cannot vary takes no part: with any width, all solutions fill it.
    worst = {q.key: q.worst if q.worst != q.best else q.best + q.sign for q in objectives}
    if isinstance(ref, Mapping):
        for name in ref:
            find(objectives, name, what="ref")
        worst |= ref
    elif ref is not None:
        if np.ndim(ref) != 1 or len(ref) != len(worst):
            raise ProblemError(
                f"ref: must have one value for each of {', '.join(worst)}, got {ref!r}"
            )
        worst = dict(zip(worst, ref, strict=True))
    try:
        point = np.array(list(worst.values()), dtype=np.float64)
    except (TypeError, ValueError):
        point = np.array([np.nan])
    if not np.isfinite(point).all():
        raise ProblemError(f"ref: must be of finite numbers, got {ref!r}")
    return point


def place_of(front: Front, solution: Solution | int, asked: str, what: str = "solution") -> int:
    """The place of a solution on a front, which may be a part of the one it was taken from."""
    if not isinstance(solution, Solution):
        if is_number(solution) and int(solution) == solution:
            return front[int(solution)].index
        raise ProblemError(
            f"{asked}: takes a solution or its number, got {type(solution).__name__}"
        )
    if solution.front is front:
        return solution.index
    for place, own in enumerate(front):
        if own == solution:
            return place
    raise ProblemError(f"{asked}: the {what} is not on this front")


def need_solutions(front: Front, what: str) -> None:
    """Raise a ProblemError where a front is empty."""
    if not len(front):
        raise ProblemError(f"{what}: the front is empty")
