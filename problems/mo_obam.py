"""MO-OBAM (Wei, Benson, Agor and Capan 2024, 2025): information loss against entropy of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from privmoo.data.points import Scale
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import Constraint, InformationLoss, Measure, MinimumEntropy
from privmoo.problems.clusters import Assignment, Clusters
from privmoo.spaces.centroids import Published
from privmoo.suppression import Suppression

__all__ = ["MOOBAM"]


class MOOBAM(Clusters):
    """Less information loss against more entropy of sensitive values, in classes of at least k records.

    The multi-objective model of Wei et al. 2025, section 4.2, as a front: the papers weigh the two
    objectives by λ and search once per λ, number of clusters and k; here one run gives all trade-offs
    with up to `n_clusters` clusters. Some published results violate their own k; every solution of a
    front has at least k.

    Args:
        table: The records, with at least one sensitive attribute.
        n_clusters: The largest number of clusters; at most ⌊n/k⌋ are possible.
        k: The smallest size of a class.
        objectives: Further objectives, such as `RecordsAtRisk(0.05)`.
        constraints: Constraints besides k, such as `TCloseness() <= 0.3`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record.
        scale: The scale of distances: `"raw"`, `"standard"` or `"minmax"`.
        loss_scale: The scale of the information loss: `"raw"` as in the papers, where one wide column
            can outweigh all others, or `"standard"` deviations; then set `scale` to the same.
        release: `"mean"` (mean and mode, never a larger loss) or `"centroid"`, as in the papers.
        assignment: `"free"` (any classes; the default), `"balanced"` (centroids, every cluster gets k
            records), or `"nearest"` as in Algorithm 1. A scanned table needs `"nearest"`, or `split=0`.
        split: How many records of a distinct tuple can be assigned to other clusters one by one;
            `"nearest"` ignores it.
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
        assignment: Assignment | None = None,
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
