"""Crossover that exchanges whole clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.centroids import CentroidSpace

__all__ = ["ClusterExchange"]


class ClusterExchange(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Crossover in which two parents exchange the clusters on one side of the data.

    Two random records divide the space: a child has one parent's centroids that are nearer to the first
    record and the other parent's that are nearer to the second, so that neighbouring clusters stay
    together. Sizes come from either parent.

    Args:
        prob: The probability that two parents exchange anything.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, assignment="balanced")
    >>> parents = np.array([[[20.0, 40.0, 2, 1, 2]], [[30.0, 50.0, 2, 1, 2]]])
    >>> ClusterExchange()._do(problem, parents, random_state=1)[0].tolist()
    [[50.0, 20.0, 2.0, 1.0, 2.0]]
    """

    def __init__(self, prob: float = 0.9) -> None:
        super().__init__(2, 2, prob=prob)

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
        for i in range(X.shape[1]):
            pair = [space.matrices(X[parent, i])[0] for parent in (0, 1)]
            pair = [matrix[~space.is_unused(matrix)] for matrix in pair]
            ends = space.draw(rng, 2)
            sides = [_nearer_to_first(matrix, ends, space) for matrix in pair]
            for child, (a, b) in enumerate(((0, 1), (1, 0))):
                centroids = np.concatenate([pair[a][sides[a]], pair[b][~sides[b]]])
                centroids = rng.permutation(centroids, axis=0) if len(centroids) else pair[a][:1]
                children[child, i, :end] = space.from_centres(centroids)[:end]
            swap = rng.random(X.shape[2] - end) < 0.5
            children[0, i, end:] = np.where(swap, X[1, i, end:], X[0, i, end:])
            children[1, i, end:] = np.where(swap, X[0, i, end:], X[1, i, end:])
        return children


def _nearer_to_first(
    matrix: NDArray[np.float64], ends: NDArray[np.float64], space: CentroidSpace
) -> NDArray[np.bool_]:
    unit, numeric = space.coordinates.units, space.numeric
    distances = []
    for end in ends:
        gap = (matrix - end) / unit
        distances.append(np.where(numeric, gap**2, gap != 0).sum(axis=1))
    return np.asarray(distances[0] <= distances[1])
