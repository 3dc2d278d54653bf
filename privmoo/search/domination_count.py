"""DominationCount: survival of those whom the fewest others dominate, as Jahan et al. (2025) state it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.survival import Survival

__all__ = ["DominationCount", "domination_counts"]


def domination_counts(F: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return, for every row of minimised objectives, how many other rows dominate it.

    >>> domination_counts(np.array([[0.0, 2.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0]])).tolist()
    [0, 0, 2, 2]
    """
    no_worse = (F[:, None] <= F[None]).all(axis=2)
    better = (F[:, None] < F[None]).any(axis=2)
    return np.asarray((no_worse & better).sum(axis=0), dtype=np.int64)


class DominationCount(Survival):  # type: ignore[misc]  # pymoo has no types
    """Survival by the number of individuals that dominate an individual, then by the first objective.

    Section 5.4 of Jahan et al. (2025) describes two rules of selection. One is NSGA-II's. The other orders
    the individuals by their domination count, ascending, and by their anonymity degree, descending; this
    is the other one. It has no measure of crowding, so among individuals that nobody dominates only those
    with the largest k survive.

    >>> from pymoo.algorithms.moo.nsga2 import NSGA2
    >>> type(NSGA2(30, survival=DominationCount()).survival).__name__
    'DominationCount'
    """

    def __init__(self) -> None:
        super().__init__(filter_infeasible=True)

    def _do(
        self,
        problem: Problem,
        pop: Population,
        *args: Any,
        n_survive: int | None = None,
        **kwargs: Any,
    ) -> Population:
        F = pop.get("F").astype(np.float64)
        counts = domination_counts(F)
        # The names under which a binary tournament looks for the order of a survival.
        pop.set("rank", counts)
        pop.set("crowding", -F[:, 0])
        return pop[np.lexsort((F[:, 0], counts))[:n_survive]]
