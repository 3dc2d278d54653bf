"""Reference points: the solution closest to "about k = 20 and 20 % loss" (Wierzbicki 1980)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.wording import join_words
from privmoo.errors import ProblemError
from privmoo.front.answer import Answer
from privmoo.front.choice import need_solutions, scale_quantities
from privmoo.front.limits import Limit, check_value
from privmoo.front.quantities import Quantity, find
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["near"]

_SMALLEST = 1e-3  # of the front's least value: where a logarithm ends


def near(front: Front, wishes: Mapping[str, float]) -> Answer:
    """Answer which solution comes closest to wishes, for `Front.near`.

    Args:
        front: The front.
        wishes: Values by recorded quantity.
    """
    if not wishes:
        raise ProblemError("near: say what you wish for, such as near(k=20, loss=0.2)")
    need_solutions(front, "near")
    wish_quantities = [find(front.quantities, name, what="near") for name in wishes]
    for quantity in wish_quantities:
        check_value(quantity, quantity.key, wishes[quantity.key], "near")
        if math.isinf(wishes[quantity.key]):
            raise ProblemError(
                f"near: {quantity.key} must be a finite number; leave it out if you have no wish"
            )
    lacks = np.column_stack([_lack(front, q, wishes[q.key]) for q in wish_quantities])
    limits = {q.key: Limit.wish(q, wishes[q.key]) for q in wish_quantities}
    is_met = {key: limit.holds(front) for key, limit in limits.items()}
    others = [q for q in front.objectives if q not in wish_quantities]
    all_met = np.all(list(is_met.values()), axis=0)
    solution = front[_closest(front, lacks, all_met, others)]
    quantities = [*wish_quantities, *others]
    if all_met[solution.index]:
        phrases = join_words(q.phrase(solution.values[q.key]) for q in quantities)
        return Answer(f"reached: {phrases}", solution, {})
    misses = [q for q in wish_quantities if not is_met[q.key][solution.index]]
    parts = [
        q.phrase(solution.values[q.key]) + (_off(q, solution, wishes[q.key]) if q in misses else "")
        for q in quantities
    ]
    sentence = f"not reached: the closest is {join_words(parts)}"
    runners = {}
    for q in misses:
        rows = np.flatnonzero(is_met[q.key])
        if not len(rows):
            continue
        rest = (
            np.delete(lacks, wish_quantities.index(q), axis=1)
            if len(wish_quantities) > 1
            else lacks
        )
        runner = front[int(rows[_closest(front.rows(rows), rest[rows], None, others)])]
        runners[q.key] = runner
        phrases = join_words(r.phrase(runner.values[r.key]) for r in quantities)
        sentence += f"; with {limits[q.key]} it would be {phrases}"
    return Answer(sentence, solution, runners)


def _lack(front: Front, quantity: Quantity, wish: float) -> NDArray[np.float64]:
    """Return how far every solution is from the reference point in one quantity.

    Distances are in ranges of the front, and below 0 where a solution is better than the point.
    """
    values = front.column(quantity.key)
    if quantity.logarithmic(values):
        wish = math.log10(max(wish, float(values.min()) * _SMALLEST))
        values = np.log10(values)
    span = float(np.ptp(values))
    return np.asarray(quantity.sign * (values - wish) / (span or 1.0))


def _closest(
    front: Front,
    lacks: NDArray[np.float64],
    reached: NDArray[np.bool_] | None,
    others: list[Quantity],
) -> int:
    """Return the place of the smallest largest lack; among equals, of the smallest sum.

    What was not wished for decides first where all wishes are reached, and last where they are not.
    """
    lack_keys = [lacks.max(axis=1), lacks.sum(axis=1)]
    beside = []
    if others:
        distances = scale_quantities(front, others)
        beside = [distances.max(axis=1), distances.sum(axis=1)]
    if reached is None or not reached.any():
        return int(np.lexsort([*lack_keys, *beside][::-1])[0])
    return int(np.lexsort([~reached, *beside, *lack_keys][::-1])[0])


def _off(quantity: Quantity, solution: Solution, wish: float) -> str:
    lacking = abs(solution.values[quantity.key] - wish)
    return f" ({quantity.write_difference(lacking)} too {'low' if quantity.sense == 'max' else 'high'})"
