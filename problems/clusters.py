"""Clusters: classes of similar records that release a mean (microaggregation)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from privmoo._util.checks import choice
from privmoo.data.points import Scale
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    Constraint,
    DistinctDiversity,
    Homogeneity,
    InformationLoss,
    KAnonymity,
    Measure,
    MinimumEntropy,
    RecordsAtRisk,
)
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.means import Means
from privmoo.spaces.centroids import CentroidSpace, Published, check_clusters
from privmoo.spaces.classes import ClassSpace
from privmoo.suppression import Suppression

__all__ = ["Assignment", "Clusters", "ClustersWarning"]

Assignment = Literal["free", "balanced", "nearest"]


class ClustersWarning(UserWarning):
    """A parameter was impossible for the table, and another value is used instead."""


class Clusters(AnonymizationProblem):
    """Clusters of similar records, each released as one class: the general problem behind MO-OBAM.

    The decision variables are either the classes of the records themselves (`ClassSpace`) or the centroids
    of up to `n_clusters` clusters, to which the records are assigned (`CentroidSpace`). A cluster without
    records is not a class, and clusters that release equal values are one class. Hierarchies are not
    needed. A quasi-identifier is numeric if all its values are numbers.

    Args:
        table: The records.
        n_clusters: The largest number of clusters; at most ⌊n/k⌋ are possible.
        k: The smallest size of a class: a constraint.
        objectives: Measures to optimise; information loss and k by default.
        constraints: Constraints besides k, such as `TCloseness() <= 0.3`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record; information loss, k, records at risk and such by default.
        scale: The scale of distances: `"raw"`, `"standard"` or `"minmax"`. Information loss is measured
            on raw numbers.
        release: `"mean"`: mean and mode of the cluster; `"centroid"`: the decision variables.
        assignment: `"free"`: any classes, searched by moving records; `"balanced"`: centroids, and every
            cluster gets k records; `"nearest"`: nearest centroids, k may fail. The default is `"free"`, and
            `"balanced"` with `release="centroid"`. A scanned table needs `"nearest"`, or `split=0`.
        split: How many records of a distinct tuple can be assigned to other clusters one by one.
            `"nearest"` ignores it and keeps them together.
        means: How means are rounded: `Means(step=5)`, or `{"step": 5}`; not at all by default.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, k=2)
    >>> measured = problem.evaluate_measures(np.array([[0, 0, 1, 1]]))
    >>> measured["k"].tolist(), measured["il"].round(5).tolist()
    ([2.0], [0.00249])
    """

    space: ClassSpace | CentroidSpace
    default_population = 100
    default_generations = 60

    def __init__(
        self,
        table: Table,
        n_clusters: int,
        *,
        k: int = 2,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        scale: Scale = "raw",
        release: Published = "mean",
        assignment: Assignment | None = None,
        split: int = 8,
        means: Means | Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        largest = check_clusters(table, n_clusters, k)
        if n_clusters > largest:
            warnings.warn(
                f"n_clusters: {n_clusters} clusters of at least {k} need {n_clusters * k:,} records, the "
                f"table has {table.n_records:,}; {largest} clusters are searched instead",
                ClustersWarning,
                stacklevel=3 if type(self) is not Clusters else 2,
            )
        space = _space_for(
            table,
            min(int(n_clusters), largest),
            release=release,
            assignment=assignment,
            k=int(k),
            scale=scale,
            split=split,
            means=means,
        )
        super().__init__(
            table,
            space=space,
            objectives=objectives,
            constraints=(KAnonymity() >= k, *constraints),
            suppression=suppression,
            extras=extras,
            threads=threads,
        )

    @property
    def n_clusters(self) -> int:
        """The largest number of clusters."""
        return self.space.n_clusters

    @property
    def k(self) -> int:
        """The smallest size of a class."""
        return self.space.k

    def default_objectives(self) -> Sequence[Measure]:
        """Return information loss and k."""
        return InformationLoss(), KAnonymity()

    def default_extras(self) -> Sequence[Measure]:
        """Return loss, k and records at risk, and the diversity of sensitive values."""
        diversity = (
            [MinimumEntropy(), DistinctDiversity(), Homogeneity(count=True)]
            if self.table.sensitive
            else []
        )
        return [
            InformationLoss(),
            KAnonymity(),
            RecordsAtRisk(tau=0.05, count=True).named("at_risk_05"),
            RecordsAtRisk(tau=0.075, count=True).named("at_risk_075"),
            RecordsAtRisk(tau=0.1, count=True).named("at_risk_10"),
            *diversity,
        ]

    def range_of(self, m: Measure) -> tuple[float, float]:
        """Return the range of the measure; exact means and modes never lose more than 1."""
        is_exact = self.space.release == "mean" and self.space.means is None
        if isinstance(m, InformationLoss) and is_exact:
            return 0.0, 1.0
        return super().range_of(m)


def _space_for(
    table: Table,
    n_clusters: int,
    *,
    release: Published,
    assignment: Assignment | None,
    **options: Any,
) -> ClassSpace | CentroidSpace:
    """Return the classes themselves for free assignments, and centroids for others."""
    choice("release", release, get_args(Published))
    if assignment is None:
        assignment = "free" if release == "mean" else "balanced"
    choice("assignment", assignment, get_args(Assignment))
    if assignment != "free":
        return CentroidSpace(table, n_clusters, release=release, assignment=assignment, **options)
    if release == "centroid":
        raise ProblemError(
            "release: 'centroid' publishes decision variables, which are not centroids with "
            "assignment='free'; use release='mean', or assignment='balanced'"
        )
    return ClassSpace(table, n_clusters, **options)
