"""Centroids drawn from the data, for a first population or swarm."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.errors import ProblemError
from privmoo.operators.space import space_of

__all__ = ["CentroidSampling"]


class CentroidSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Random centroids with values of the data.

    Args:
        of: `"records"` takes whole distinct tuples; `"values"` draws every coordinate on its own from the
            records, as Algorithm 1 of Wei et al. 2025 does.
        vary: Whether the number of clusters varies from two to all, in equal steps of its logarithm;
            otherwise every row uses all clusters.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, assignment="balanced")
    >>> rows = CentroidSampling()(problem, 5, to_numpy=True, random_state=1)
    >>> rows.shape, bool(np.isin(rows[:, :2], [20, 30, 40, 50]).all())
    ((5, 5), True)
    """

    def __init__(self, of: Literal["records", "values"] = "records", *, vary: bool = True) -> None:
        super().__init__()
        if of not in ("records", "values"):
            raise ProblemError(f"of: must be 'records' or 'values', got {of!r}")
        self.of, self.vary = of, vary

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.float64]:
        space = space_of(problem, "centroids")
        rng = np.random.default_rng(random_state)
        largest = space.n_clusters
        n_centroids = np.full(n_samples, largest)
        if self.vary:
            smallest = min(2, largest)
            steps = (rng.permutation(n_samples) + rng.random(n_samples)) / max(n_samples, 1)
            n_centroids = np.rint(smallest * (largest / smallest) ** steps).astype(np.int64)
        X = np.empty((n_samples, space.n_variables))
        for i in range(n_samples):
            if self.of == "values":
                rows = space.draw_records(rng, (int(n_centroids[i]), space.table.n_qis))
                columns = np.arange(space.table.n_qis)
                centres = space.coordinates.points[rows, columns] * space.coordinates.units
            else:
                n = min(int(n_centroids[i]), space.table.n_tuples)
                tuples = rng.permutation(space.table.n_tuples)[:n]
                centres = space.coordinates.points[tuples] * space.coordinates.units
            low, high = space.demands.T
            demands = rng.integers(low.astype(np.int64), high.astype(np.int64), endpoint=True)
            # The smallest demands allow most, so they are tried most; passes have no such order.
            demands = np.where(rng.random(len(demands)) < [0.5, 0.5, 0.0][: len(low)], low, demands)
            X[i] = space.from_centres(centres)
            X[i, space.n_centroid_variables :] = demands
        return X
