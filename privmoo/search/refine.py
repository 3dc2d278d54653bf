"""Refine: continue the search of a front towards wishes, from the solutions that are nearest to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.front.choice import need_solutions
from privmoo.front.front import Front
from privmoo.front.limits import check_value
from privmoo.front.quantities import Quantity, find
from privmoo.search.budgets import RunBudget, Seconds
from privmoo.search.optimization import optimize, possible_focus
from privmoo.search.progress import Progress

__all__ = ["refine"]

_FACTOR = 1.5  # how far from a wish the search looks, by a factor
_POINTS = 0.05  # and where values are fractions, by so much


def refine(
    front: Front,
    near: Mapping[str, float] | None = None,
    *,
    seconds: float | None = None,
    budget: int | RunBudget | None = None,
    seed: int | None = None,
    progress: bool | Progress = True,
) -> Front:
    """Search on near some values of the objectives, for `Front.refine`.

    Args:
        front: The front, with its problem.
        near: Values by objective; everywhere if not given.
        seconds: How long to search.
        budget: Another budget, as for `optimize`.
        seed: Seeds the search.
        progress: Whether to show a progress bar, or the display that is to show it.
    """
    need_solutions(front, "refine")
    problem = front.problem
    if problem is None:
        raise ProblemError(
            "refine: the front was loaded without its problem; use Front.load(path, problem=…)"
        )
    if (seconds is None) == (budget is None):
        raise ProblemError("refine: say how long to search: give one of seconds and budget")
    wishes = {} if near is None else _read_wishes(front, near)
    size = max(2, problem.default_population // 2)
    start = front.rows(_nearest(front, wishes)[:size]) if wishes else front
    focus = {q.key: _around(q, value) for q, value in wishes.items()}
    result = optimize(
        problem,
        None,
        Seconds(seconds) if seconds is not None else budget,
        seed=seed,
        progress=progress,
        start=start,
        focus=possible_focus(problem, focus) if focus else None,
    )
    if front.families is not None:
        space: Any = problem.space
        result = replace(result, families=tuple(space.family(x) for x in result.X))
    return front.merge(result)


def _read_wishes(front: Front, near: Mapping[str, float]) -> dict[Quantity, float]:
    """Return the wishes by objective, or raise."""
    if not near:
        raise ProblemError('refine: say where to search, such as near={"k": 10, "loss": 0.2}')
    wishes = {find(front.objectives, name, what="near"): value for name, value in near.items()}
    for quantity, value in wishes.items():
        check_value(quantity, quantity.key, value, "refine")
    return wishes


def _nearest(front: Front, wishes: Mapping[Quantity, float]) -> NDArray[np.intp]:
    """Return the places of all solutions, the nearest to the wishes first, on the axes of a plot."""
    distance = np.zeros(len(front))
    for quantity, value in wishes.items():
        values_and_wish = np.append(front.column(quantity.key), value)
        scaled = quantity.scaled(values_and_wish)
        distance = np.maximum(distance, np.abs(scaled[:-1] - scaled[-1]))
    return np.argsort(distance, kind="stable")


def _around(quantity: Quantity, value: float) -> tuple[float, float]:
    """Return the values near a wish, within what is possible."""
    low, high = sorted((quantity.best, quantity.worst))
    ends = [value / _FACTOR, value * _FACTOR]
    if quantity.percent:
        ends = [value - _POINTS, value + _POINTS]
    inside = sorted(min(max(end, low), high) for end in ends)
    return float(inside[0]), float(inside[1])
