"""Wishes: pseudo-weights, the solution near a reference point, and knees by trade-off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError
from privmoo.front.choice import (
    check_value,
    limit_in_words,
    need_solutions,
    scaled,
    weights_of,
    within,
)
from privmoo.front.pairs import join
from privmoo.front.quantities import Quantity, find
from privmoo.front.questions import Answer
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["best_by_weights", "high_trade_off", "near", "pseudo_weights"]

_SMALLEST = 1e-3  # of the front's least value: where a logarithm ends


def pseudo_weights(front: Front) -> pd.DataFrame:
    """How much each solution looks like a choice for each objective.

    The pseudo-weight of objective i is wᵢ = (1 - fᵢ) / Σⱼ (1 - fⱼ), over objectives scaled from 0 (best
    of the front) to 1 (worst) as in `Front.knee` (Deb 2001, Multi-Objective Optimization Using
    Evolutionary Algorithms, the pseudo-weight vector approach). The best solution in one objective and
    the worst in the other has the weights 1 and 0. An objective in which all solutions are equal has no
    weight.

    Returns:
        A row per solution, a column per objective; every row adds up to 1.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> pseudo_weights(pm.Front.of(pm.problems.Cuts(table), cuts))
                k  loss
    solution
    0         0.0   1.0
    1         0.4   0.6
    2         1.0   0.0
    """
    need_solutions(front, "pseudo_weights")
    good = 1 - scaled(front, front.objectives)
    varied = np.ptp(good, axis=0) > 0
    # One solution, or all alike: nothing speaks for one objective more than for another.
    good = good * varied if varied.any() else np.ones_like(good)
    total = good.sum(axis=1, keepdims=True)
    shares = np.divide(good, total, out=np.full_like(good, 1 / good.shape[1]), where=total > 0)
    return pd.DataFrame(
        shares,
        columns=pd.Index([q.key for q in front.objectives]),
        index=pd.RangeIndex(len(front), name="solution"),
    )


def best_by_weights(front: Front, weights: Mapping[str, float]) -> Solution:
    """The solution whose pseudo-weights are nearest to given ones, by the sum of differences.

    Unlike a weighted sum it finds solutions in every part of a front, also where it is not convex.

    Args:
        front: The front.
        weights: By objective, of any sum; those not named have 0.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> best_by_weights(pm.Front.of(pm.problems.Cuts(table), cuts), {"k": 0.7, "loss": 0.3})
    Solution 1 of 3: k = 3, 40 % loss
    """
    need_solutions(front, "best_by_weights")
    wanted = np.array(weights_of(front, weights, "best_by_weights"))
    away = np.abs(pseudo_weights(front).to_numpy() - wanted / wanted.sum()).sum(axis=1)
    return front[int(np.argmin(away))]


def near(front: Front, **wishes: float) -> Answer:
    """What comes closest to "about k = 20 and 20 % loss"?

    Wishes are a reference point. The answer minimises the achievement scalarising function
    maxᵢ (fᵢ - zᵢ) / rᵢ (Wierzbicki 1980) of the wishes zᵢ, on the axes of `Front.plot`, where rᵢ is the
    range of the front; of equal solutions it has the least sum, which is the augmented function with a
    vanishing factor. So it is as far beyond all wishes as possible where they can be had together, and
    evenly short of them where not. What is not wished for is made as good as reachable wishes
    allow.

    Args:
        front: The front.
        wishes: Values by recorded quantity, such as `k=20, loss=0.2`.

    Returns:
        The solution, whether it has what was wished or how much it lacks, and for each wish that it
        misses the solution that would keep it.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
    >>> near(front, k=2, loss=0.5)
    reached: k = 3 and 40 % loss
    >>> near(front, k=4, loss=0.3)
    not reached: the closest is k = 3 (1 too low) and 40 % loss (10 % too high); with k ≥ 4 it would be
    k = 6 and 100 % loss; with loss ≤ 30 % it would be k = 1 and 0 % loss
    """
    if not wishes:
        raise ProblemError("near: say what you wish for, such as near(k=20, loss=0.2)")
    need_solutions(front, "near")
    asked = [find(front.quantities, name, what="near") for name in wishes]
    for quantity in asked:
        check_value(quantity, quantity.key, wishes[quantity.key], "near")
        if math.isinf(wishes[quantity.key]):
            raise ProblemError(f"near: {quantity.key} must be finite; leave it out for no wish")
    lacks = np.column_stack([_lack(front, q, wishes[q.key]) for q in asked])
    limits = {q.key: (f"{'min' if q.sense == 'max' else 'max'}_{q.key}") for q in asked}
    has = {q.key: within(front, {limits[q.key]: wishes[q.key]}, "near") for q in asked}
    others = [q for q in front.objectives if q not in asked]
    everyone = np.all(list(has.values()), axis=0)
    chosen = front[_closest(front, lacks, everyone, others)]
    told = [*asked, *others]
    if everyone[chosen.index]:
        return Answer(f"reached: {join(q.phrase(chosen.values[q.key]) for q in told)}", chosen, {})
    parts = [
        q.phrase(chosen.values[q.key])
        + ("" if q in others or has[q.key][chosen.index] else _off(q, chosen, wishes[q.key]))
        for q in told
    ]
    sentence = f"not reached: the closest is {join(parts)}"
    runners = {}
    for i, q in enumerate(asked):
        rows = np.flatnonzero(has[q.key])
        if has[q.key][chosen.index] or not len(rows):
            continue
        rest = np.delete(lacks, i, axis=1)[rows] if len(asked) > 1 else lacks[rows]
        runner = front[int(rows[_closest(front.rows(rows), rest, None, others)])]
        runners[q.key] = runner
        wish = limit_in_words(front, limits[q.key], wishes[q.key])
        sentence += (
            f"; with {wish} it would be {join(r.phrase(runner.values[r.key]) for r in told)}"
        )
    return Answer(sentence, chosen, runners)


def _lack(front: Front, quantity: Quantity, wish: float) -> NDArray[np.float64]:
    """How far every solution is short of a wish, in ranges of the front; below 0 where beyond it."""
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
    """Place of the least largest lack, of equal ones the least sum.

    What was not wished for decides first where all wishes are reached, and last where they are not.
    """
    achieved = [lacks.max(axis=1), lacks.sum(axis=1)]
    beside = (
        [scaled(front, others).max(axis=1), scaled(front, others).sum(axis=1)] if others else []
    )
    if reached is None or not reached.any():
        return int(np.lexsort([*achieved, *beside][::-1])[0])
    return int(np.lexsort([~reached, *beside, *achieved][::-1])[0])


def _off(quantity: Quantity, chosen: Solution, wish: float) -> str:
    lacking = abs(chosen.values[quantity.key] - wish)
    return f" ({quantity.write(lacking)} too {'low' if quantity.sense == 'max' else 'high'})"


def high_trade_off(front: Front, *, radius: float = 0.1, least: float = 1.0) -> pd.DataFrame:
    """Local knees: solutions from which every step to a neighbour loses more than it gains.

    Going from a solution to another loses Σ max(0, Δfᵢ) and gains Σ max(0, -Δfᵢ), over objectives scaled
    as in `Front.knee`. The worth of a solution is the least loss per gain among its neighbours
    (Rachmawati and Srinivasan 2009, IEEE Trans. Evol. Comput. 13(4), the trade-off metric µ; the idea of
    preferring such solutions is Branke et al. 2004's). Neighbours are all solutions within
    `radius`, and for every objective the nearest one that is better in it. Solutions that are the
    best in some objective are ends, from which one can go one way only, and are left out. If
    everyone is a neighbour, only the knee itself loses more than it gains wherever it goes.

    Args:
        front: The front.
        radius: How far neighbours may differ in any scaled objective.
        least: Least worth that is listed.

    Returns:
        A row per such solution, by its number: its objectives and its `worth`, the largest first.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> list(high_trade_off(pm.Front.of(pm.problems.Cuts(table), cuts)).columns)
    ['k', 'loss', 'worth']
    """
    for name, value in (("radius", radius), ("least", least)):
        if not (is_number(value) and value >= 0):
            raise ProblemError(f"high_trade_off: {name} must be a number from 0, got {value!r}")
    places = scaled(front, front.objectives) if len(front) else np.empty((0, front.n_objectives))
    varied = places[:, np.ptp(places, axis=0) > 0] if len(places) else places
    worth = np.array([_worth(varied, i, radius) for i in range(len(varied))], dtype=np.float64)
    ends = (varied == 0).any(axis=1)
    rows = np.flatnonzero(~ends & (worth > least))
    rows = rows[np.argsort(-worth[rows], kind="stable")]
    frame = front.rows(rows).to_frame()[[q.key for q in front.objectives]]
    frame["worth"] = worth[rows]
    return frame.set_axis(pd.Index(rows, name="solution"))


def _worth(places: NDArray[np.float64], i: int, radius: float) -> float:
    """Least loss per gain on the way to a neighbour; 0 without one."""
    change = np.delete(places, i, axis=0) - places[i]
    if not change.size:
        return 0.0
    away = np.abs(change).max(axis=1)
    neighbours = away <= radius
    for better in (change < 0).T:
        if better.any():
            neighbours[int(np.argmin(np.where(better, away, np.inf)))] = True
    losses = np.maximum(change[neighbours], 0).sum(axis=1)
    gains = np.maximum(-change[neighbours], 0).sum(axis=1)
    ratios = np.divide(losses, gains, out=np.full_like(losses, np.inf), where=gains > 0)
    return float(ratios.min(initial=np.inf))
