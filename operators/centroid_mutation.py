"""Mutation of single coordinates of centroids, with values of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["CentroidMutation"]


class CentroidMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation that changes some centroids in one column: to the value of a random record, or nearby.

    A category is always drawn from the records, frequent ones more often, because codes have no order.
    Now and then, sizes change too.

    Args:
        rate: How likely a centroid is changed.
        reach: The standard deviation of a step to a number nearby, as a share of the column's range.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"sex": list("ffmm")}), quasi_identifiers=["sex"])
    >>> problem = Clusters(table, 2, assignment="balanced")
    >>> parents = np.zeros((1, 5))
    >>> CentroidMutation(1.0)._do(problem, parents, random_state=2)[0, :2].tolist()
    [0.0, 1.0]
    """

    def __init__(self, rate: float = 0.1, *, reach: float = 0.05) -> None:
        super().__init__()
        for name, value in (("rate", rate), ("reach", reach)):
            fraction(name, value)
        self.rate, self.reach = rate, reach

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.float64]:
        space = space_of(problem, "centroids")
        rng = np.random.default_rng(random_state)
        children = np.array(X, dtype=np.float64)
        matrices = space.matrices(X)
        n, clusters, width = matrices.shape
        hit = rng.random((n, clusters)) < np.maximum(self.rate, 1 / clusters)
        column = rng.integers(width, size=(n, clusters))
        rows = space.draw_records(rng, (n, clusters))
        values = space.coordinates.points[rows, column] * space.coordinates.units[column]
        current = np.take_along_axis(matrices, column[..., None], axis=2)[..., 0]
        span = (space.high - space.low)[column]
        near = current + rng.normal(size=(n, clusters)) * self.reach * span
        step = space.numeric[column] & (rng.random((n, clusters)) < 0.5)
        value = np.where(hit, np.where(step, near, values), current)
        np.put_along_axis(matrices, column[..., None], value[..., None], axis=2)
        children[:, : space.n_centroid_variables] = matrices.reshape(n, -1)
        space.vary_demands(children, rng, 0.3)
        return space.clean(children)
