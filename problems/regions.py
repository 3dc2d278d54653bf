"""Regions: local recoding, where every region of the table is published with its own ranges or nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from privmoo._util.checks import fraction
from privmoo.data.table import Table, check_table
from privmoo.measures import (
    Constraint,
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    WeightedK,
)
from privmoo.problem import AnonymizationProblem, read_constraints, read_policy
from privmoo.spaces.regions import Publish, RegionSpace
from privmoo.suppression import Budget, Suppression

__all__ = ["Regions"]


class Regions(AnonymizationProblem):
    """Local recoding: the space of the quasi-identifiers is divided into regions of at least k records.

    A value may be published as "20–29" in one region and as "25–34" in another, so much less is lost than
    by recodings that treat a column the same way everywhere. Hierarchies are not needed: numbers get
    ranges, categories without a tree get sets of neighbours. With flat hierarchies (`Hierarchy.flat()`) a
    cell is kept or becomes `*`, and the loss is the share of cells that do: cell suppression, as
    `baselines.local_suppression` does greedily for one k. A `*` counts as a value of its own, so the k
    records of a region are published alike. Weights, levels and fixed cuts of the quasi-identifiers are
    respected.

    If small groups may be left out, outliers who would widen the ranges of others are left out whenever
    that lowers the loss; each of them adds 1 to it. The policies are `Budget` and `JointBudget` by k,
    `BelowThreshold`, `Thresholds`, and `ViolatingGroups` with a bound on k. Any other policy, such as
    `Budget` by ℓ, `KLBudget` or `BelowAverage`, is applied to regions that were formed without it, because
    it does not decide by the size of a region. A budget is an offer: some local searches use all of it,
    some a part of it, and some leave nobody out.

    k counts persons if the table has a subject column. The search shares each person among the tuples with
    records of that person, so that every region has enough persons; one with several tuples of the same
    persons may have more than necessary.

    Args:
        table: The records.
        publish: `"region"`: the bounds of the region. Ordered columns are split at the roundest number
            between the members of both sides, trees at their nodes, so bounds do not show the extremes
            of real people. `"tight"`: the smallest ranges around the members, which lose less and show
            these extremes. Under t, β, δ or α they lose far less, because these regions may overlap: they
            also grow tuple by tuple, where hardly any split keeps such a limit.
        objectives: Measures to optimise; k and general loss by default.
        constraints: Bounds such as `KAnonymity() >= 5` or `TCloseness() <= 0.2`.
        max_suppression: The largest share of records that may be left out; short for
            `suppression=Budget(max_suppression)`. Nobody by default.
        suppression: Which records are left out; none by default.
        consistent: Quasi-identifiers that are recoded the same way everywhere.
        extras: Further measures to record; k, ℓ, weighted-k and the loss by default.
        threads: The number of threads of search and evaluation; all cores by default.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41], "zip": [1, 1, 2, 3]}),
    ...                  quasi_identifiers=["age", "zip"])
    >>> front = pm.optimize(Regions(table, publish="tight"), budget=2, seed=1, progress=False)
    >>> front.to_frame()[["k", "loss"]].round(3).values.tolist()
    [[1.0, 0.0], [2.0, 0.292], [4.0, 1.0]]
    """

    space: RegionSpace
    default_population = 48
    default_offspring = 16  # a local search takes long, and each of them is worth waiting for
    default_generations = 34

    def __init__(
        self,
        table: Table,
        *,
        publish: Publish = "region",
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        max_suppression: float = 0.0,
        suppression: Suppression | None = None,
        consistent: Sequence[str] = (),
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
    ) -> None:
        check_table(table)
        self.max_suppression = fraction("max_suppression", max_suppression)
        if self.max_suppression and suppression is None:
            suppression = Budget(self.max_suppression)
        policy = read_policy(suppression)
        self.table = table
        constraints = read_constraints(constraints)
        goals = tuple(self.default_objectives() if objectives is None else objectives)
        space = RegionSpace(
            table,
            publish=publish,
            constraints=constraints,
            objectives=goals,
            consistent=consistent,
            suppression=policy,
        )
        super().__init__(
            table,
            space=space,
            objectives=goals,
            constraints=constraints,
            suppression=policy,
            extras=extras,
            threads=threads,
        )

    def default_extras(self) -> Sequence[Measure]:
        """Return k, weighted-k, the loss, and ℓ if there is a sensitive attribute."""
        diversity = [FrequencyDiversity()] if self.table.sensitive else []
        return [KAnonymity(), WeightedK(), GeneralLoss(), SuppressedShare(), *diversity]
