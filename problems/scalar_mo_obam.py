"""MO-OBAM as the papers solve it: a particle swarm minimises one number, both objectives weighted by λ."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import fraction, is_number
from privmoo.data.points import Scale
from privmoo.data.table import Table, check_table
from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.measures import InformationLoss, Measure, MinimumEntropy
from privmoo.operators import CentroidSampling
from privmoo.problems.clusters import Clusters
from privmoo.spaces.centroids import Published, check_clusters

__all__ = ["ScalarMOOBAM", "WeighedLoss"]

_TINY = 1e-9


class WeighedLoss(Measure):
    """Information loss less λ times the minimum entropy, in one of two published forms. Less is better.

    Wei et al. 2025: `IL - λ·entropy`. Wei et al. 2024, Eq. 18, with a `least_loss`:
    `(1 - least_loss/IL) - λ·entropy/most`, where `most` is the entropy of the whole table, which the
    classes cannot exceed. Algorithm 1 of the 2025 paper also subtracts a penalty for small classes, which
    would reward them; here k is a constraint, by which pymoo ranks before it compares losses.

    Args:
        lam: λ, from 0 to 1.
        least_loss: The best loss at λ = 0, for the scaled form.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 3, 5, 7], "ill": list("xyxy")})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive="ill")
    >>> pairs = pm.recodings.Candidates(labels=np.array([[0, 0, 1, 1]], np.int32))
    >>> WeighedLoss(0.1)(pm.group(table, pairs))
    0.1
    """

    name = "weighed_loss"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "labels", "counts"})

    def __init__(self, lam: float, *, least_loss: float | None = None) -> None:
        self.lam = fraction("lam", lam)
        if least_loss is not None and not (is_number(least_loss) and 0 <= least_loss < math.inf):
            raise ProblemError(f"least_loss: must be a number of at least 0, got {least_loss!r}")
        self.least_loss = least_loss

    def batch(self, groups: GroupBatch) -> NDArray[np.float64]:
        """Return the weighed loss of every candidate."""
        loss = InformationLoss().values(groups)
        entropy = MinimumEntropy().values(groups)
        if self.least_loss is not None:
            none = (loss == 0) & (self.least_loss == 0)
            loss = np.where(none, 0.0, 1 - self.least_loss / np.maximum(loss, _TINY))
            entropy = entropy / max(table_entropy(groups.table), 1e-300)
        return np.asarray(loss - self.lam * entropy)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no loss at the entropy of the whole table to all loss at none."""
        largest_entropy = table_entropy(table) if self.least_loss is None else 1.0
        worst = InformationLoss().range(table)[1] if self.least_loss is None else 1.0
        # Less than `least_loss` is possible, so less than 0.
        smallest = 0.0 if self.least_loss is None else min(0.0, 1 - self.least_loss / _TINY)
        return smallest - self.lam * largest_entropy, worst


class ScalarMOOBAM(Clusters):
    """One point of MO-OBAM's trade-off: the least weighed loss for one λ, as the papers search it.

    Nearest centroids (Wei et al. 2025, Algorithm 1), solved by pymoo's particle swarm from particles whose
    values are drawn from the data. A solution whose classes are too small is infeasible and never
    returned. In the swarm a category is a code that is rounded; the order of codes is arbitrary. The papers
    do not state the swarm size or the number of iterations.

    Args:
        table: The records, with at least one sensitive attribute.
        n_clusters: The number of centroids; n_clusters · k must not exceed the number of records.
        k: The smallest size of a class.
        lam: λ, from 0 to 1.
        scaled: Whether both parts are scaled as in the 2024 paper; needs `least_loss`.
        least_loss: The best information loss at λ = 0 for the same n_clusters and k.
        scale: The scale of distances: `"raw"`, `"standard"` or `"minmax"`.
        release: `"centroid"`, as in the papers, or `"mean"` (mean and mode, never a larger loss).
        threads: The number of threads of the evaluation; all cores by default.

    >>> import privmoo as pm
    >>> problem = ScalarMOOBAM(pm.datasets.german_credit(), 4, 5, 0.01)
    >>> problem.objective_names, problem.default_algorithm
    (['weighed_loss'], 'pso')
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("lam", "scaled", "least_loss")
    default_algorithm = "pso"
    default_population = 50
    default_generations = 100

    def __init__(
        self,
        table: Table,
        n_clusters: int,
        k: int,
        lam: float,
        *,
        scaled: bool = False,
        least_loss: float | None = None,
        scale: Scale = "raw",
        release: Published = "centroid",
        threads: int | None = None,
    ) -> None:
        check_table(table)
        largest = check_clusters(table, n_clusters, k)
        if n_clusters > largest:
            raise ProblemError(
                f"n_clusters: {n_clusters} clusters of at least {k} need {n_clusters * k:,} records, the "
                f"table has {table.n_records:,}; choose at most {largest}"
            )
        if scaled and least_loss is None:
            raise ProblemError(
                "least_loss: the scaled form needs the best information loss at lam=0 for the same "
                "n_clusters and k; scalar_grid(..., scaled=True) finds it"
            )
        self.lam, self.scaled, self.least_loss = lam, scaled, least_loss
        loss = WeighedLoss(lam, least_loss=least_loss if scaled else None)
        super().__init__(
            table,
            n_clusters,
            k=k,
            objectives=(loss,),
            scale=scale,
            release=release,
            assignment="nearest",
            threads=threads,
        )

    def default_operators(self) -> dict[str, Any]:
        """Return the operators of clusters, with particles that have values of the data."""
        sampling = CentroidSampling("values", vary=False)
        return {**super().default_operators(), "sampling": sampling}


def table_entropy(table: Table) -> float:
    """Return the entropy of the sensitive attributes in the whole table, summed, in bits.

    >>> import pandas as pd
    >>> df = pd.DataFrame({"a": [1, 2, 3, 4], "ill": list("xyxy")})
    >>> table_entropy(Table(df, quasi_identifiers=["a"], sensitive="ill"))
    1.0
    """
    total = 0.0
    for attribute in table.sensitive.values():
        shares = attribute.totals[attribute.totals > 0] / table.n_records
        total -= float((shares * np.log2(shares)).sum())
    return total
