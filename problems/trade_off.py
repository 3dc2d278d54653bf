"""TradeOff: several families of recodings as one problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from privmoo._util.checks import fraction
from privmoo.data.table import Table
from privmoo.errors import MeasureError, PrivmooError, ProblemError, nearest
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
)
from privmoo.problem import AnonymizationProblem, read_constraints
from privmoo.problems.clusters import Clusters
from privmoo.problems.cuts import Cuts
from privmoo.problems.levels import Levels
from privmoo.problems.regions import Regions
from privmoo.spaces.regions import Publish
from privmoo.spaces.union import UnionSpace
from privmoo.suppression import Budget, JointBudget
from privmoo.suppression.ranks import measure_of_groups

__all__ = ["TradeOff"]

_ON_REQUEST = ("clusters",)


class TradeOff(AnonymizationProblem):
    """All families of recodings that fit a table, with the same measures, as one problem.

    `optimize` searches the families one after the other and joins their fronts; levels are searched exactly
    if that is quick. `privmoo.trade_off` does this in one call. Each solution knows its family.

    Families are `"levels"` (one level per column), `"cuts"` (one cut of each column's domain) and
    `"regions"` (local recoding: every region of the table has its own ranges and nodes). Levels and
    cuts need a hierarchy for every quasi-identifier; they recode a column the same way everywhere.
    `"clusters"`, classes of similar records that publish means, are searched only on request. General
    loss is not defined for means, so they need other objectives, such as
    `[KAnonymity(), QueryError()]`.

    Records are left out by the size of their group. If an objective or a constraint is about the
    sensitive values of single groups, such as ℓ or t, the sensitive values of a group decide as well
    (`JointBudget`).

    Args:
        table: The records.
        families: The families to search; by default all that fit the table, without clusters.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Bounds such as `KAnonymity() >= 5`.
        max_suppression: The largest share of records left out.
        publish: What regions publish: the bounds of the `"region"`, or `"tight"` ranges of its members.
        consistent: Quasi-identifiers that regions recode the same way everywhere, as levels and cuts always
            do.
        extras: Further measures to record; ℓ and the suppressed share by default.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> problem = TradeOff(pm.testing.example_table())
    >>> problem.families
    ('levels', 'cuts', 'regions')
    """

    space: UnionSpace
    parameter_names: ClassVar[tuple[str, ...]] = (
        "families",
        "max_suppression",
        "publish",
        "consistent",
    )

    def __init__(
        self,
        table: Table,
        *,
        families: Sequence[str] | None = None,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        max_suppression: float = 0.05,
        publish: Publish = "region",
        consistent: Sequence[str] = (),
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        self.table = table
        self.max_suppression = fraction("max_suppression", max_suppression)
        self.publish = publish
        self.consistent = (consistent,) if isinstance(consistent, str) else tuple(consistent)
        self.families = _families(table, families)
        all_objectives = tuple(self.default_objectives() if objectives is None else objectives)
        bounds = read_constraints(constraints)
        self.budget = _budget(self.max_suppression, all_objectives, bounds)
        arguments: dict[str, Any] = {
            "objectives": all_objectives,
            "constraints": bounds,
            "extras": self.default_extras() if extras is None else tuple(extras),
            "threads": threads,
        }
        parts = {name: _BUILDERS[name](self, arguments) for name in self.families}
        super().__init__(
            table,
            space=UnionSpace(table, parts),
            suppression=self.budget,
            **self._with_limit(arguments),
        )
        offspring = (part.default_offspring for part in parts.values())
        self.default_offspring = min((n for n in offspring if n is not None), default=None)
        if "clusters" in parts:
            _check_measures(parts)

    def _with_limit(self, shared: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that families share, with the limit of suppression as a constraint."""
        limits = (*shared["constraints"], SuppressedShare() <= self.max_suppression)
        return {**shared, "constraints": limits}

    def default_objectives(self) -> Sequence[Measure]:
        """Return k and general loss."""
        return KAnonymity(), GeneralLoss()

    def default_extras(self) -> Sequence[Measure]:
        """Return the suppressed share, and ℓ if there is a sensitive attribute."""
        diversity = [FrequencyDiversity()] if self.table.sensitive else []
        return [SuppressedShare(), *diversity]


def _levels(problem: TradeOff, shared: dict[str, Any]) -> AnonymizationProblem:
    if isinstance(problem.budget, JointBudget):
        return Levels(problem.table, suppression=problem.budget, **problem._with_limit(shared))
    return Levels(problem.table, max_suppression=problem.max_suppression, **shared)


def _cuts(problem: TradeOff, shared: dict[str, Any]) -> AnonymizationProblem:
    return Cuts(problem.table, suppression=problem.budget, **problem._with_limit(shared))


def _regions(problem: TradeOff, shared: dict[str, Any]) -> AnonymizationProblem:
    return Regions(
        problem.table,
        publish=problem.publish,
        consistent=problem.consistent,
        suppression=problem.budget,
        **problem._with_limit(shared),
    )


def _clusters(problem: TradeOff, shared: dict[str, Any]) -> AnonymizationProblem:
    table = problem.table
    sizes = [
        c.bound
        for c in shared["constraints"]
        if isinstance(c.measure, KAnonymity) and c.measure.columns is None and c.relation == ">="
    ]
    k = min(max(2, math.ceil(max(sizes, default=2))), table.n_records)
    return Clusters(
        table,
        max(1, table.n_records // k),
        k=k,
        scale="minmax",
        split=0,  # equal records stay together, as in all other families
        suppression=problem.budget,
        **problem._with_limit(shared),
    )


_BUILDERS: dict[str, Callable[[TradeOff, dict[str, Any]], AnonymizationProblem]] = {
    "levels": _levels,
    "cuts": _cuts,
    "regions": _regions,
    "clusters": _clusters,
}


def _budget(
    max_suppression: float, objectives: Sequence[Measure], constraints: Sequence[Constraint]
) -> Budget | JointBudget:
    """Return the policy: by size and, if a measure is about the sensitive values of groups, by those."""
    for measure in (*objectives, *(c.measure for c in constraints)):
        if "counts" in measure.needs and _orders_groups(measure):
            return JointBudget(max_suppression, by=("k", measure.name))
    return Budget(max_suppression)


def _orders_groups(measure: Measure) -> bool:
    """Return whether a measure can order groups: it is about single groups and has its usual parameters."""
    try:
        usual = measure_of_groups(measure.name)
    except PrivmooError:
        return False
    # The measure itself decides which records t and similar measures compare with.
    ours, theirs = ({**m.parameters, "reference": None} for m in (measure, usual))
    return type(measure) is type(usual) and ours == theirs


def _check_measures(parts: Mapping[str, AnonymizationProblem]) -> None:
    """Raise unless every family can evaluate the measures."""
    for name, part in parts.items():
        try:
            part.evaluate_measures(part.space.clean(np.zeros((1, part.n_var))))
        except MeasureError as error:
            raise ProblemError(
                f"objectives: {str(error).split(':')[0]!r} is not defined for {name}; with clusters, "
                "choose measures that every family has, such as objectives=[KAnonymity(), QueryError()]"
            ) from error


def _families(table: Table, families: Sequence[str] | None) -> tuple[str, ...]:
    """Return the families to search, or raise if one is unknown or does not fit the table."""
    without = [qi.name for qi in table.qis if qi.hierarchy is None]
    if families is None:
        usual = [name for name in _BUILDERS if name not in _ON_REQUEST]
        if without or all(qi.n_leaves == 1 for qi in table.qis):
            usual = ["regions"]
        return tuple(usual)
    if isinstance(families, str) or not families:
        raise ProblemError("families: name at least one in a list, such as ['cuts', 'regions']")
    for name in families:
        if name not in _BUILDERS:
            raise ProblemError(
                f"families: {name!r} is not one of {', '.join(_BUILDERS)}{nearest(str(name), _BUILDERS)}"
            )
        if without and name in ("levels", "cuts"):
            raise ProblemError(
                f"families: {name} need a hierarchy for every quasi-identifier, but {without[0]!r} has "
                "none; leave them out or give it one"
            )
    return tuple(dict.fromkeys(families))
