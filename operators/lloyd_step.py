"""Lloyd's step: centroids move to the means of what they attract."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["LloydStep"]


class LloydStep(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Memetic mutation in which every centroid becomes the mean and mode of its cluster (Lloyd 1982).

    Clusters without records are dropped. Their places stay free, or some get new centroids, which are
    records of the data.

    Args:
        explore: How likely new centroids are tried.
        share: The largest number of new centroids, as a share of the clusters.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 30, 40, 50]}), quasi_identifiers=["age"])
    >>> problem = Clusters(table, 2, assignment="balanced")
    >>> parents = np.array([[20.0, 40.0, 2, 1, 2]])
    >>> LloydStep(explore=0)._do(problem, parents, random_state=1)[0, :2].tolist()
    [25.0, 45.0]
    """

    def __init__(self, explore: float = 0.5, *, share: float = 0.2) -> None:
        super().__init__()
        for name, value in (("explore", explore), ("share", share)):
            fraction(name, value)
        self.explore, self.share = explore, share

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
        for i, classes in enumerate(space.decode(X, release="mean")):
            labels = np.unique(classes.labels)
            centroids = classes.centres[labels]
            free = min(space.n_clusters - len(centroids), round(self.share * len(centroids)) + 1)
            if free > 0 and rng.random() < self.explore:
                centroids = np.concatenate(
                    [centroids, space.draw(rng, int(rng.integers(1, free + 1)))]
                )
            children[i, :end] = space.from_centres(centroids)[:end]
        return children
