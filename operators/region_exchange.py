"""Crossover that takes the better parts of two partitions into regions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

__all__ = ["RegionExchange"]


class RegionExchange(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Each child is one parent, with those parts of the other that lose less and meet its target.

    A part is a set of tuples that both parents divide, each in its own way: what is below a node where
    their trees of splits first differ, or regions that share tuples. Tight regions of the other parent then
    claim tuples one by one, if they have about the size that the child needs: each takes those inside its
    ranges that lose more elsewhere. So no child loses more than its parent.

    Args:
        prob: How likely two parents exchange anything.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Regions
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3, 4, 11, 12, 13, 14]}), quasi_identifiers=["age"])
    >>> parents = np.array([[[0, 1, 0, 1, 2, 2, 3, 3]], [[0, 0, 1, 1, 2, 3, 2, 3]]])
    >>> RegionExchange()._do(Regions(table, publish="tight"), parents)[0].tolist()
    [[0, 0, 1, 1, 2, 2, 3, 3]]
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
    ) -> NDArray[Any]:
        space = space_of(problem, "regions")
        first, second = space.clean(X[0]), space.clean(X[1])

        def child(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
            return space.crossed(one, other, space.target_of(one))

        ones = [*first, *second]
        others = [*second, *first]
        children = np.stack(space.each(child, ones, others)).reshape(X.shape)
        space.passes += len(ones)
        return children.astype(X.dtype, copy=False)
