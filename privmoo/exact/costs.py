"""The problems that the sweep of the lattice can solve, and what releases cost in them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.prices import Kind
from privmoo.measures import GeneralLoss, KAnonymity, Measure, SuppressedShare, Transparency
from privmoo.problem import AnonymizationProblem
from privmoo.suppression import Budget, ExplicitRecords, NoSuppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["SweepGoal", "costs_of", "goal_of", "kind_of", "values_of"]


class SweepGoal(NamedTuple):
    """A problem that the sweep can solve: more k against less of one additive cost.

    Attributes:
        measure: The second objective.
        kind: How it adds up.
        most_suppressed: The largest number of suppressed records.
        least_k: The smallest k.
        all_limits: Whether suppressing fewer records is a third objective.
    """

    measure: Measure
    kind: Kind
    most_suppressed: int
    least_k: int
    all_limits: bool = False


def goal_of(problem: AnonymizationProblem) -> SweepGoal | None:
    """Return the problem in the form of the sweep; None if candidates must be evaluated one by one."""
    table, policy = problem.table, problem.suppression
    if table.subjects is not None:
        return None
    k = [m for m in problem.objectives if isinstance(m, KAnonymity) and m.stage == "after"]
    share = [m for m in problem.objectives if isinstance(m, SuppressedShare)]
    costs = [m for m in problem.objectives if m not in k and m not in share]
    if len(k) != 1 or len(costs) != 1:
        return None
    limit = 0
    if isinstance(policy, Budget) and policy.by == "k":
        limit = policy.limit(table.n_records)
    elif not isinstance(policy, NoSuppression | ExplicitRecords):
        return None
    elif getattr(problem.space, "max_suppression", None) is not None:
        limit = table.n_records
    least_k = 1
    for c in problem.constraints:
        if isinstance(c.measure, KAnonymity) and c.measure.stage == "after" and c.relation == ">=":
            least_k = max(least_k, math.ceil(c.bound))
        elif isinstance(c.measure, SuppressedShare) and c.relation == "<=":
            limit = min(limit, most_suppressed(float(c.bound), table.n_records))
        else:
            return None
    kind = kind_of(costs[0])
    if kind is None:
        return None
    limit = min(limit, table.n_records - 1)
    return SweepGoal(costs[0], kind, limit, least_k, bool(share))


def kind_of(m: Measure) -> Kind | None:
    """Return how a measure adds up over cells; None if it does not."""
    if isinstance(m, GeneralLoss) and m.aggregate == "arithmetic" and m.stage == "after":
        return "loss"
    if isinstance(m, Transparency) and m.stage == "after":
        return "transparency"
    return None


def costs_of(table: Table, goal: SweepGoal, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of the second objective as costs summed over all records.

    Args:
        table: The records.
        goal: What is searched.
        values: Values in the objective's own unit.
    """
    if goal.kind == "transparency":
        return np.asarray(table.n_qis * table.n_records - values)
    return np.asarray(values * table.n_records)


def values_of(table: Table, goal: SweepGoal, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs summed over all records in the objective's own unit.

    Args:
        table: The records.
        goal: What is searched.
        costs: The costs.
    """
    if goal.kind == "transparency":
        return np.asarray(table.n_qis * table.n_records - costs)
    return np.asarray(costs / table.n_records)
