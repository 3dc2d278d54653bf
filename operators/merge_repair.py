"""Repair: clusters that are too small are merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair

from privmoo.operators.space import space_of

__all__ = ["MergeRepair"]


class MergeRepair(Repair):  # type: ignore[misc]  # pymoo has no types
    """Repair that merges clusters of fewer than k records where that costs least; for nearest centroids.

    Balanced assignment needs no repair: it gives every cluster k records. A row whose clusters are large
    enough stays as it is.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 80]}), quasi_identifiers=["age"])
    >>> from pymoo.core.population import Population
    >>> problem = Clusters(table, 2, k=2, assignment="nearest")
    >>> MergeRepair().do(problem, Population.new("X", [[20.0, 50.0]])).get("X").tolist()
    [[20.0, 50.0]]
    >>> MergeRepair().do(problem, Population.new("X", [[20.0, 80.0]])).get("X").tolist()
    [[40.25, 40.25]]
    """

    def _do(self, problem: Problem, X: NDArray[Any], **kwargs: Any) -> NDArray[np.float64]:
        space = space_of(problem, "centroids")
        return np.stack([space.merge_small(x) for x in np.asarray(X, dtype=np.float64)])
