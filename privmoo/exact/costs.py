"""The problems of levels that the sweep of the lattice can solve, and what releases cost in them."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.exact.stages import Price
from privmoo.measures import GeneralLoss, KAnonymity, Measure, SuppressedShare, Transparency
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.spaces.levels import LevelSpace
from privmoo.suppression import ExplicitRecords, NoSuppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["SweepGoal", "goal_of"]


class SweepGoal(NamedTuple):
    """A problem that the sweep can solve: more k against less of one additive cost.

    Attributes:
        measure: The second objective.
        price: What releases cost in it.
        most_suppressed: The largest number of suppressed records.
        least_k: The smallest k.
        all_limits: Whether suppressing fewer records is a third objective.
    """

    measure: Measure
    price: Price
    most_suppressed: int
    least_k: int
    all_limits: bool = False


def goal_of(problem: AnonymizationProblem) -> SweepGoal | None:
    """Return the problem in the form of the sweep; None if candidates must be evaluated one by one."""
    table, space = problem.table, space_of(problem, "levels")
    if table.subjects is not None:
        return None
    k = [m for m in problem.objectives if isinstance(m, KAnonymity) and m.stage == "after"]
    share = [m for m in problem.objectives if isinstance(m, SuppressedShare)]
    costs = [m for m in problem.objectives if m not in k and m not in share]
    if len(k) != 1 or len(costs) != 1:
        return None
    price = _price_of(space, costs[0])
    kinds = (NoSuppression, ExplicitRecords)
    if price is None or not isinstance(problem.suppression, kinds):
        return None
    limit = 0 if space.max_suppression is None else table.n_records
    least_k = 1
    for c in problem.constraints:
        if isinstance(c.measure, KAnonymity) and c.measure.stage == "after" and c.relation == ">=":
            least_k = max(least_k, math.ceil(c.bound))
        elif isinstance(c.measure, SuppressedShare) and c.relation == "<=":
            limit = min(limit, most_suppressed(float(c.bound), table.n_records))
        else:
            return None
    return SweepGoal(costs[0], price, min(limit, table.n_records - 1), least_k, bool(share))


def _price_of(space: LevelSpace, m: Measure) -> Price | None:
    table = space.table
    blocks: list[list[NDArray[np.float64]]] = []
    weights = np.array([qi.weight for qi in table.qis])
    weights = weights / weights.sum()
    kind: Literal["loss", "transparency"]
    if isinstance(m, GeneralLoss) and m.aggregate == "arithmetic" and m.stage == "after":
        kind = "loss"
    elif isinstance(m, Transparency) and m.stage == "after":
        kind = "transparency"
    else:
        return None
    for j, hierarchy in enumerate(space.hierarchies):
        levels = []
        for level in hierarchy.level_blocks:
            leaves = np.bincount(level)
            if kind == "loss":
                levels.append(weights[j] * (leaves - 1) / max(hierarchy.n_leaves - 1, 1))
            else:
                levels.append(1 - 1 / leaves)
        blocks.append(levels)
    suppressed = weights.tolist() if kind == "loss" else [1.0] * table.n_qis
    return Price(blocks, suppressed)
