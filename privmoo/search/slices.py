"""Slices: the best trade-off for each k, or each k and ℓ, that people publish."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError, nearest
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.base import Limits
from privmoo.suppression import NoSuppression

__all__ = [
    "Focus",
    "Slice",
    "best_of_slices",
    "limits_of",
    "marks_of",
    "most_left_out",
    "nearest_to_limits",
    "read_focus",
]

Focus = Mapping[str, tuple[float, float]]
"""By objective, the least and the largest value that matters."""


class Slice(NamedTuple):
    """What reaches one mark of each objective that has marks, and the best trade-off there."""

    place: int
    """The place of the trade-off with the least of another objective."""
    marks: dict[int, float]
    """The marks, by the place of the objective."""


_PUBLISHED: dict[str, tuple[float, ...]] = {
    "k": (2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100),
    "l": (1.5, 2, 2.5, 3, 4, 5),
}
_MARKS = 8


def read_focus(problem: AnonymizationProblem, focus: object) -> dict[str, tuple[float, float]]:
    """Return the limits of a focus, checked.

    Args:
        problem: The problem.
        focus: By objective two numbers, such as `{"k": (3, 50)}`; None for none.

    Raises:
        ProblemError: It names something else than an objective, or its limits are not two ordered numbers.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2]}), quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> read_focus(pm.problems.Cuts(table), {"k": (3, 50)})
    {'k': (3.0, 50.0)}
    """
    if focus is None:
        return {}
    if not isinstance(focus, Mapping):
        raise ProblemError(f"focus: must be like {{'k': (3, 50)}}, got {focus!r}")
    names = problem.objective_names
    limits = {}
    for name, pair in focus.items():
        if name not in names:
            raise ProblemError(
                f"focus: {name!r} is not an objective; there are {', '.join(names)}"
                f"{nearest(str(name), names)}"
            )
        good = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
        numbers = [float(v) for v in pair if type(v) in (int, float)] if good else []
        if len(numbers) != 2 or not all(map(math.isfinite, numbers)) or numbers[0] > numbers[1]:
            raise ProblemError(
                f"focus: the limits of {name!r} must be two numbers, the smaller first, got {pair!r}"
            )
        limits[str(name)] = (numbers[0], numbers[1])
    return limits


def marks_of(problem: AnonymizationProblem, focus: Focus) -> dict[int, list[float]]:
    """Return the values of objectives at which slices begin, by the place of the objective.

    k and ℓ have the values that people publish. A focus takes these within its limits, with the limits
    themselves; of any other objective some in between.

    Args:
        problem: The problem.
        focus: Limits by objective; empty for none.
    """
    marks = {}
    for place, objective in enumerate(problem.objectives):
        usual = _PUBLISHED.get(objective.name, ()) if objective.sense == "max" else ()
        if objective.key not in focus:
            if usual:
                marks[place] = list(usual)
            continue
        low, high = focus[objective.key]
        inside = [mark for mark in usual if low < mark < high]
        if not usual:
            inside = np.linspace(low, high, _MARKS)[1:-1].tolist()
        marks[place] = sorted({low, *inside, high})
    return marks


def best_of_slices(
    problem: AnonymizationProblem, F: NDArray[np.float64], marks: Mapping[int, Sequence[float]]
) -> list[Slice]:
    """Return all slices that have a trade-off, with their best one; once for each other objective.

    Args:
        problem: The problem.
        F: Minimised objectives, one row per trade-off.
        marks: The values at which slices begin, by the place of the objective.
    """
    costs = [j for j in range(F.shape[1]) if j not in marks] or list(marks)
    signs = [1.0 if m.sense == "min" else -1.0 for m in problem.objectives]
    slices = []
    for corner in product(*marks.values()):
        marks_of_slice = dict(zip(marks, corner, strict=True))
        inside = np.ones(len(F), np.bool_)
        for j, mark in marks_of_slice.items():
            inside &= F[:, j] <= signs[j] * mark
        rows = np.flatnonzero(inside)
        if len(rows):
            slices += [Slice(int(rows[np.argmin(F[rows, j])]), marks_of_slice) for j in costs]
    return slices


def most_left_out(problem: AnonymizationProblem) -> int | None:
    """Return how many records releases may leave out, where limits of k or ℓ and loss say what is best.

    None where something else does: no objective is k or ℓ, or none is a loss, or the policy has no budget.
    """
    lowers_loss = any("loss" in m.needs and m.sense == "min" for m in problem.objectives)
    engine = problem.evaluator.engine
    if not (_places_of_limits(problem) and lowers_loss):
        return None
    if engine.staircase is not None:
        return engine.staircase.limit(problem.table.n_records)
    return 0 if isinstance(engine.suppression, NoSuppression) else None


def limits_of(problem: AnonymizationProblem, values: Mapping[int, float], left_out: int) -> Limits:
    """Return the k and ℓ of a trade-off, or those at which a slice begins, as limits.

    Args:
        problem: The problem.
        values: Values of objectives by their place.
        left_out: How many records may be left out.
    """
    least = {"k": 1.0, "l": 1.0}
    for name, place in _places_of_limits(problem).items():
        least[name] = values.get(place, 1.0)
    # Less than ℓ by a hair, so that rounding does not exclude a group that is exactly as diverse.
    return Limits(math.ceil(least["k"]), least["l"] - 1e-9, left_out)


def nearest_to_limits(
    problem: AnonymizationProblem, F: NDArray[np.float64], limits: Limits
) -> NDArray[np.intp]:
    """Return the places of trade-offs, those first whose k and ℓ differ from limits by the least factors.

    Args:
        problem: The problem.
        F: Minimised objectives, one row per trade-off.
        limits: The limits.
    """
    distance = np.zeros(len(F))
    for name, place in _places_of_limits(problem).items():
        limit = limits.k if name == "k" else limits.diversity
        distance += np.abs(np.log(np.maximum(-F[:, place], 1.0) / limit))
    return np.argsort(distance, kind="stable")


def _places_of_limits(problem: AnonymizationProblem) -> dict[str, int]:
    """Return the places of k and ℓ among the objectives, as far as they are maximised."""
    return {
        objective.name: place
        for place, objective in enumerate(problem.objectives)
        if objective.name in _PUBLISHED and objective.sense == "max"
    }
