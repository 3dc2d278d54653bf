"""Clusters: centroids as decision variables, classes that release a mean (microaggregation)."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo.data.points import Scale
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.engine import thread_count
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
from privmoo.operators import (
    CentroidMutation,
    CentroidSampling,
    ClusterExchange,
    HashDuplicates,
    LloydStep,
    OneOf,
    SplitMergeDrop,
)
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding
from privmoo.spaces.centroids import Assignment, CentroidSpace, check_clusters
from privmoo.suppression import Suppression

__all__ = ["Clusters", "ClustersWarning"]


class ClustersWarning(UserWarning):
    """A parameter was changed to one that is possible."""


class Clusters(AnonymizationProblem):
    """Any clusters of similar records, each released as one class: the general problem behind MO-OBAM.

    Decision variables are the centroids of up to `n_clusters` clusters. See `CentroidSpace` for how records
    find their clusters. A cluster without records is no class, and clusters that release equal values are
    one class. Hierarchies are not needed; a quasi-identifier whose values are all numbers is numeric.

    Args:
        table: The records.
        n_clusters: The largest number of clusters; at most ⌊n/k⌋ are possible.
        k: The smallest size of a class: a constraint.
        objectives: Measures to optimise; information loss and k by default.
        constraints: More than k, such as `TCloseness() <= 0.3`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record; information loss, k, records at risk and such by default.
        scale: Of distances: `"raw"`, `"standard"` or `"minmax"`. Information loss is measured on raw
            numbers.
        release: `"mean"`: mean and mode of the cluster; `"centroid"`: the decision variables.
        assignment: `"balanced"`: every cluster gets k records; `"nearest"`: nearest centroids, k may fail.
            On a scanned table `"nearest"`, or `"balanced"` with `split=0`.
        split: With `"balanced"`, how many records of a distinct tuple can go to other clusters one by one.
        threads: For the evaluation; all cores by default.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, k=2)
    >>> x = problem.centroids.encode(np.array([[20.0], [41.0]]))
    >>> measured = problem.evaluate_measures(x[None])
    >>> measured["k"].tolist(), measured["il"].round(5).tolist()
    ([2.0], [0.00249])
    """

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
        release: Literal["mean", "centroid"] = "mean",
        assignment: Assignment = "balanced",
        split: int = 8,
        threads: int | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        most = check_clusters(table, n_clusters, k)
        if n_clusters > most:
            warnings.warn(
                f"n_clusters: {n_clusters} clusters of at least {k} need {n_clusters * k:,} records, the "
                f"table has {table.n_records:,}; {most} clusters are searched instead",
                ClustersWarning,
                stacklevel=3 if type(self) is not Clusters else 2,
            )
        choice("release", release, ("mean", "centroid"))
        choice("assignment", assignment, ("balanced", "nearest"))
        self.n_clusters, self.k = min(int(n_clusters), most), int(k)
        self.scale: Scale = scale
        self.release: Literal["mean", "centroid"] = release
        self.assignment: Assignment = assignment
        self.split = whole_number("split", split, at_least=0)
        self.centroids = CentroidSpace(
            table,
            self.n_clusters,
            k=self.k,
            scale=scale,
            assignment=assignment,
            split=self.split,
            threads=threads or thread_count(),
        )
        own = objectives if objectives is not None else (InformationLoss(), KAnonymity())
        demands = (KAnonymity() >= k, *constraints)
        if extras is None:
            extras = _usual_extras(table, [*own, *(getattr(c, "measure", c) for c in demands)])
        low, high = self.centroids.bounds
        super().__init__(
            table,
            objectives=own,
            constraints=demands,
            suppression=suppression,
            extras=extras,
            threads=threads,
            view=self.centroids.view,
            n_var=len(low),
            xl=low,
            xu=high,
            vtype=float,
        )

    def limit_threads(self, threads: int) -> None:
        """Assign records and evaluate with so many threads."""
        super().limit_threads(threads)
        self.centroids.threads = threads

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Classes of decision vectors, as the engine groups them."""
        decoded = self.centroids.decode(X, release=self.release)
        labels = np.stack([classes.labels for classes in decoded])
        if self.release == "mean":
            return Candidates(labels=labels)
        return Candidates(labels=labels, centres=np.stack([c.centres for c in decoded]))

    def recoding(self, x: NDArray[Any]) -> PartitionRecoding:
        """What a decision vector publishes."""
        return self.centroids.recoding(x, release=self.release)

    def encode(self, recoding: Any) -> NDArray[np.float64]:
        """The decision vector nearest to given classes, such as a baseline's: to start a search from."""
        classes = self.adopt(recoding)
        first = np.arange(classes.n_classes)
        if self.centroids.view is not self.table:
            _, first = np.unique(classes.labels, return_index=True)
        order = np.lexsort((first, -classes.sizes))
        size = max(self.k, int(classes.sizes.min()))
        return self.centroids.encode(classes.centres[order], size=size)

    def adopt(self, recoding: Any) -> PartitionRecoding:
        """Classes found elsewhere, released as this problem releases them: ranges become means."""
        if not isinstance(recoding, PartitionRecoding):
            raise ProblemError(
                f"start: expected classes such as baselines give, got {type(recoding).__name__}"
            )
        if recoding.n_records != self.table.n_records:
            raise ProblemError(
                f"start: the classes are of a table of {recoding.n_records:,} records, this one has "
                f"{self.table.n_records:,}"
            )
        if not self.table.has_records:
            of_tuples = recoding.labels_for(self.table)
            if recoding.publishes == "ranges":
                return cluster_recoding(self.table, of_tuples, by="tuples")
        elif recoding.publishes == "ranges":
            return cluster_recoding(self.table, recoding.labels)
        return recoding

    def range_of(self, m: Measure) -> tuple[float, float]:
        """As of the measure; means and modes never lose more than 1."""
        if isinstance(m, InformationLoss) and self.release == "mean":
            return 0.0, 1.0
        return super().range_of(m)

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """One key per decision vector, equal where its centroids and sizes are."""
        rows = self.centroids.clean(X)
        return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]

    def parameters(self) -> dict[str, Any]:
        """What makes classes of centroids."""
        return {
            "n_clusters": self.n_clusters,
            "k": self.k,
            "scale": self.scale,
            "release": self.release,
            "assignment": self.assignment,
            "split": self.split,
        }

    def default_operators(self) -> dict[str, Any]:
        """Centroids from the data, exchange of clusters, Lloyd steps, splits and merges."""
        return {
            "sampling": CentroidSampling(),
            "crossover": ClusterExchange(),
            "mutation": OneOf([LloydStep(), SplitMergeDrop(), CentroidMutation()], [0.5, 0.3, 0.2]),
            "eliminate_duplicates": HashDuplicates(),
        }


def _usual_extras(table: Table, wanted: Sequence[Any]) -> list[Measure]:
    extras: list[Measure] = [
        InformationLoss(),
        KAnonymity(),
        RecordsAtRisk(tau=0.05, count=True).named("at_risk_05"),
        RecordsAtRisk(tau=0.075, count=True).named("at_risk_075"),
        RecordsAtRisk(tau=0.1, count=True).named("at_risk_10"),
    ]
    if table.sensitive:
        extras += [MinimumEntropy(), DistinctDiversity(), Homogeneity(count=True)]
    known = {getattr(m, "key", None) for m in wanted}
    return [extra for extra in extras if extra.key not in known]
