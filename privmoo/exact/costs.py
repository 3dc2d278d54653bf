"""The problems that the sweep of the lattice can solve, and what releases cost in them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.prices import Kind
from privmoo.exact.value_demands import is_value_demand
from privmoo.measures import (
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    Transparency,
    WeightedK,
)
from privmoo.measures.base import Constraint
from privmoo.problem import AnonymizationProblem
from privmoo.suppression import BelowThreshold, Budget, ExplicitRecords, NoSuppression
from privmoo.suppression.staircase import most_suppressed

__all__ = ["SweepGoal", "costs_of", "goal_of", "kind_of", "values_of"]


class SweepGoal(NamedTuple):
    """A problem that the sweep can solve: less of one additive cost, usually against more k.

    Attributes:
        measure: The second objective.
        kind: How it adds up.
        most_suppressed: The largest number of suppressed records.
        least_k: The smallest k.
        all_limits: Whether suppressing fewer records is a third objective.
        counts_k: Whether more k is an objective.
        threshold: The only size below which groups are suppressed; 0 if every size may be one.
        geometric: Whether losses of columns are combined geometrically.
        demands: Constraints on sensitive values.
        squares: Whether the first objective is weighted-k, the sum of squares of the groups' records,
            and not k. Nothing is suppressed then.
    """

    measure: Measure
    kind: Kind
    most_suppressed: int
    least_k: int
    all_limits: bool = False
    counts_k: bool = True
    threshold: int = 0
    geometric: bool = False
    demands: tuple[Constraint, ...] = ()
    squares: bool = False

    @property
    def privacy(self) -> str:
        """The key of the first objective."""
        return "weighted_k" if self.squares else "k"

    @property
    def is_plain(self) -> bool:
        """Whether costs of columns add up, every size is a threshold, and nothing else is asked for."""
        return not (self.all_limits or self.threshold or self.geometric or self.demands)

    @property
    def least_level(self) -> int:
        """The least level of privacy, as a whole number."""
        return 1 if self.squares else self.least_k

    def highest_level(self, n_records: int) -> int:
        """Return the level of privacy of one group of all records.

        Args:
            n_records: The number of records.
        """
        return n_records**2 if self.squares else n_records

    def levels_of(self, values: NDArray[np.float64], n_records: int) -> NDArray[np.int64]:
        """Return values of the first objective as whole numbers: k, or sums of squares.

        Args:
            values: The values.
            n_records: The number of records.
        """
        return np.rint(values * n_records if self.squares else values).astype(np.int64)

    def for_columns(self) -> SweepGoal:
        """Return what is searched in some of the columns alone, for a bound.

        A release within the limits, restricted to these columns, publishes part of the records of a
        threshold. The part satisfies demands on sensitive values; all records of the threshold need not,
        so these demands stay only if nothing is suppressed. Nor need it be the only threshold there is.
        """
        demands = self.demands if self.most_suppressed == 0 else ()
        return self._replace(demands=demands, threshold=0)


def goal_of(problem: AnonymizationProblem) -> SweepGoal | None:
    """Return the problem in the form of the sweep; None if candidates must be evaluated one by one.

    Weighted-k is known for cuts without suppression or constraints only.
    """
    table, policy = problem.table, problem.suppression
    if table.subjects is not None:
        return None
    after = [m for m in problem.objectives if m.stage == "after"]
    k: list[Measure] = [m for m in after if isinstance(m, KAnonymity)]
    average: list[Measure] = [m for m in after if isinstance(m, WeightedK)]
    share: list[Measure] = [m for m in problem.objectives if isinstance(m, SuppressedShare)]
    costs = [m for m in problem.objectives if m not in k + share + average]
    if len(k + average) > 1 or len(share) > 1 or len(costs) != 1:
        return None
    limit = threshold = 0
    if isinstance(policy, Budget) and policy.by == "k":
        limit = policy.limit(table.n_records)
    elif isinstance(policy, BelowThreshold) and policy.by == "k":
        limit, threshold = table.n_records, math.ceil(policy.k)
    elif not isinstance(policy, NoSuppression | ExplicitRecords):
        return None
    elif getattr(problem.space, "max_suppression", None) is not None:
        limit = table.n_records
    least_k, demands = 1, []
    for c in problem.constraints:
        if isinstance(c.measure, KAnonymity) and c.measure.stage == "after" and c.relation == ">=":
            least_k = max(least_k, math.ceil(c.bound))
        elif isinstance(c.measure, SuppressedShare) and c.relation == "<=":
            limit = min(limit, most_suppressed(float(c.bound), table.n_records))
        elif is_value_demand(table, c):
            demands.append(c)
        else:
            return None
    kind = kind_of(costs[0])
    if kind is None:
        return None
    limit = min(limit, table.n_records - 1)
    geometric = getattr(costs[0], "aggregate", "") == "geometric"
    if average and (limit or share or geometric or problem.constraints or not _has_cuts(problem)):
        return None
    return SweepGoal(
        measure=costs[0],
        kind=kind,
        most_suppressed=limit,
        least_k=max(least_k, threshold),
        all_limits=bool(share),
        counts_k=bool(k or average),
        threshold=threshold,
        geometric=geometric,
        demands=tuple(demands),
        squares=bool(average),
    )


def _has_cuts(problem: AnonymizationProblem) -> bool:
    return "cuts" in getattr(problem.space, "kinds", ())


def kind_of(m: Measure) -> Kind | None:
    """Return how a measure adds up over cells; None if it does not."""
    if isinstance(m, GeneralLoss) and m.stage == "after":
        return "loss"
    if isinstance(m, Transparency) and m.stage == "after":
        return "transparency"
    return None


def costs_of(table: Table, goal: SweepGoal, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values of the second objective as costs summed over all records.

    The cost of a geometric loss G is `n log₂(1 + G)`, a sum over columns: `n Σ w log₂(1 + L)`.

    Args:
        table: The records.
        goal: What is searched.
        values: Values in the objective's own unit.
    """
    if goal.kind == "transparency":
        return np.asarray(table.n_qis * table.n_records - values)
    if goal.geometric:
        return np.asarray(np.log1p(values) / math.log(2) * table.n_records)
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
    if goal.geometric:
        return np.asarray(np.expm1(costs / table.n_records * math.log(2)))
    return np.asarray(costs / table.n_records)
