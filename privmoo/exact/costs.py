"""The problems that the sweep of the lattice can solve, and what releases cost in them."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.choices import Choices
from privmoo.exact.stages import Price
from privmoo.measures import GeneralLoss, KAnonymity, Measure, SuppressedShare, Transparency
from privmoo.problem import AnonymizationProblem
from privmoo.suppression import Budget, ExplicitRecords, NoSuppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["Kind", "SweepGoal", "cost_of_block", "goal_of", "kind_of", "price_of", "shares_of"]

Kind = Literal["loss", "transparency"]
"""A cost that adds up over cells: general loss, or what is missing from full transparency."""


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


def shares_of(table: Table, kind: Kind) -> NDArray[np.float64]:
    """Return what a suppressed record costs in every quasi-identifier.

    Args:
        table: The records.
        kind: The cost.
    """
    if kind == "transparency":
        return np.ones(table.n_qis)
    weights = np.array([qi.weight for qi in table.qis])
    return np.asarray(weights / weights.sum())


def cost_of_block(leaves: NDArray[Any], n_leaves: int, share: float, kind: Kind) -> NDArray[Any]:
    """Return what a record loses in blocks of one quasi-identifier.

    Args:
        leaves: The leaves of every block.
        n_leaves: The leaves of the quasi-identifier.
        share: What a suppressed record loses.
        kind: The cost.
    """
    if kind == "transparency":
        return np.asarray(1 - 1 / leaves)
    return np.asarray(share * (leaves - 1) / max(n_leaves - 1, 1))


def price_of(choices: Choices, kind: Kind) -> Price:
    """Return what every block of every partition costs a record.

    Args:
        choices: The partitions.
        kind: The cost.
    """
    shares = shares_of(choices.table, kind)
    of_blocks = []
    for j, qi in enumerate(choices.table.qis):
        counts = [np.bincount(row) for row in choices.blocks(j)]
        of_blocks.append([cost_of_block(c, qi.n_leaves, shares[j], kind) for c in counts])
    return Price(of_blocks, shares.tolist())


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
