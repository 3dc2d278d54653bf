"""Mutation of the number of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.centroids import CentroidSpace

__all__ = ["SplitMergeDrop"]


class SplitMergeDrop(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation that adds, merges or drops some clusters.

    New centroids are records of the data, which split the clusters they fall into; where no place is
    free they replace others. A random centroid and the one nearest to it merge into their middle, with
    the categories of one of the two. Now and then, sizes change too.

    Args:
        share: The largest share of the clusters that one mutation adds, merges or drops.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, assignment="balanced")
    >>> parents = np.array([[20.0, 40.0, 2, 1, 2]])
    >>> SplitMergeDrop()._do(problem, parents, random_state=1)[0, :2].tolist()
    [30.0, 30.0]
    """

    def __init__(self, share: float = 0.1) -> None:
        super().__init__()
        fraction("share", share, above_zero=True)
        self.share = share

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
        end = space.n_centroid_variables
        for i in range(len(X)):
            matrix = space.matrices(X[i])[0]
            occupied = np.flatnonzero(~space.is_unused(matrix))
            n = int(rng.integers(1, max(2, round(self.share * len(occupied)) + 1)))
            kind = rng.integers(3)
            if kind == 0:
                centroids = np.concatenate([space.draw(rng, n), matrix[rng.permutation(occupied)]])
            elif kind == 1:
                centroids = _merge(matrix[occupied], n, space, rng)
            else:
                centroids = matrix[rng.permutation(occupied)[: max(1, len(occupied) - n)]]
            children[i, :end] = space.from_centres(centroids)[:end]
        space.vary_demands(children, rng, 0.3)
        return children


def _merge(
    matrix: NDArray[np.float64], n: int, space: CentroidSpace, rng: np.random.Generator
) -> NDArray[np.float64]:
    centroids = matrix.copy()
    for _ in range(min(n, len(centroids) - 1)):
        a = int(rng.integers(len(centroids)))
        gap = (centroids - centroids[a]) / space.coordinates.units
        distance = np.where(space.numeric, gap**2, gap != 0).sum(axis=1)
        distance[a] = np.inf
        b = int(distance.argmin())
        centroids[a, space.numeric] = (
            centroids[a, space.numeric] + centroids[b, space.numeric]
        ) / 2
        centroids = np.delete(centroids, b, axis=0)
    return centroids
