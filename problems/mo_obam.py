"""MO-OBAM (Wei, Benson, Agor and Capan 2024, 2025): information loss against entropy, by centroids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from privmoo.data.points import Scale
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import Constraint, InformationLoss, Measure, MinimumEntropy
from privmoo.problems.clusters import Clusters
from privmoo.spaces.centroids import Assignment, Published
from privmoo.suppression import Suppression

__all__ = ["MOOBAM"]


class MOOBAM(Clusters):
    """Less information loss against more entropy of sensitive values, every class with k records.

    The multi-objective model of Wei et al. 2025, section 4.2, as a front: where the papers weigh the two
    objectives by λ and search once per λ, number of clusters and k, one run gives all trade-offs with up
    to `n_clusters` clusters. Unlike the published results, of which some break their own k, every solution
    of a front has it.

    Args:
        table: The records, with at least one sensitive attribute.
        n_clusters: The largest number of clusters; at most ⌊n/k⌋ are possible.
        k: The smallest size of a class.
        objectives: More objectives than the two, such as `RecordsAtRisk(0.05)`.
        constraints: More than k, such as `TCloseness() <= 0.3`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record.
        scale: Of distances: `"raw"`, `"standard"` or `"minmax"`.
        loss_scale: Of the information loss: `"raw"` numbers as published, so that one wide column can
            outweigh all others, or `"standard"`: in standard deviations; then give `scale` the same.
        release: `"mean"` (mean and mode, never a larger loss) or `"centroid"`, as the authors.
        assignment: `"balanced"`, or `"nearest"` as in Algorithm 1. On a scanned table `"nearest"`, or
            `"balanced"` with `split=0`.
        split: With `"balanced"`, how many records of a distinct tuple can go to other clusters one by one.
        threads: The number of threads of the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> MOOBAM(pm.datasets.german_credit(), 30, 5).objective_names
    ['il', 'min_entropy']
    """

    def __init__(
        self,
        table: Table,
        n_clusters: int,
        k: int,
        *,
        objectives: Sequence[Measure] = (),
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        scale: Scale = "raw",
        loss_scale: Literal["raw", "standard"] = "raw",
        release: Published = "mean",
        assignment: Assignment = "balanced",
        split: int = 8,
        threads: int | None = None,
    ) -> None:
        if isinstance(table, Table) and not table.sensitive:
            raise ProblemError(
                "sensitive: MO-OBAM maximises the entropy of sensitive values, but the table has none; "
                "name them in Table(..., sensitive=...), or use Clusters"
            )
        super().__init__(
            table,
            n_clusters,
            k=k,
            objectives=(InformationLoss(scale=loss_scale), MinimumEntropy(), *objectives),
            constraints=constraints,
            suppression=suppression,
            extras=extras,
            scale=scale,
            release=release,
            assignment=assignment,
            split=split,
            threads=threads,
        )
