"""Choosing from a front: within limits, the best, the knee, a weighted compromise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError, nearest
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["best", "compromise", "knee", "limit_in_words", "limited", "nothing_within", "within"]

_AUGMENTATION = 1e-3
_ROUNDING = 1e-12  # a loss of 0.4 may come out as 0.4000000000000001


def limited(front: Front, limit: str) -> tuple[Quantity, str]:
    """The quantity that a limit such as `max_loss` is about, and its side."""
    side, _, name = limit.partition("_")
    options = [f"{s}_{q.key}" for q in front.quantities for s in ("max", "min")]
    if limit not in options:
        raise ProblemError(
            f"where: {limit!r} is not max_ or min_ and a recorded quantity; recorded are "
            f"{', '.join(q.key for q in front.quantities)}{nearest(limit, options)}"
        )
    return find(front.quantities, name), side


def excess(front: Front, limit: str, bound: float) -> NDArray[np.float64]:
    """How far every solution is beyond a limit; at most 0 where it is within."""
    quantity, side = limited(front, limit)
    if np.isnan(bound):
        raise ProblemError(f"where: {limit} must be a number, got {bound!r}")
    column = front.column(quantity.key)
    return column - bound if side == "max" else bound - column


def within(front: Front, limits: Mapping[str, float]) -> NDArray[np.bool_]:
    """Which solutions are within all limits."""
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
    _need_solutions(front, "best")
    others = [q for q in front.objectives if q.key != name]
    keys = [q.sign * front.column(q.key) for q in (first, *others)]
    return int(np.lexsort(keys[::-1])[0])


def knee(front: Front) -> int:
    """Place of the knee: the least sum of scaled objectives."""
    _need_solutions(front, "knee")
    return int(np.argmin(scaled(front, front.objectives).sum(axis=1)))


def compromise(front: Front, weights: Mapping[str, float] | None = None) -> int:
    """Place of the solution with the least augmented weighted Chebyshev distance."""
    _need_solutions(front, "compromise")
    names = [q.key for q in front.objectives]
    given = dict.fromkeys(names, 1.0) if weights is None else dict(weights)
    for name, weight in given.items():
        if name not in names:
            raise ProblemError(
                f"compromise: {name!r} is not one of the objectives {', '.join(names)}"
                f"{nearest(name, names)}"
            )
        if not (np.isfinite(weight) and weight >= 0):
            raise ProblemError(
                f"compromise: the weight of {name!r} must be 0 or more, got {weight!r}"
            )
    if not any(given.values()):
        raise ProblemError("compromise: at least one objective needs a weight above 0")
    return nearest_ideal(front, front.objectives, [given.get(name, 0.0) for name in names])


def nearest_ideal(
    front: Front, quantities: Sequence[Quantity], weights: Sequence[float] | None = None
) -> int:
    """Place of the solution nearest to the best of all these quantities."""
    weighted = scaled(front, quantities) * (1.0 if weights is None else np.asarray(weights))
    return int(np.argmin(weighted.max(axis=1) + _AUGMENTATION * weighted.sum(axis=1)))


def scaled(front: Front, quantities: Sequence[Quantity]) -> NDArray[np.float64]:
    """Quantities from 0 (best of the front) to 1 (worst), on the axes of a plot."""
    return np.column_stack([q.scaled(front.column(q.key)) for q in quantities])


def _need_solutions(front: Front, what: str) -> None:
    if not len(front):
        raise ProblemError(f"{what}: the front is empty")
