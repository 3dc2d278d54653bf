"""Uniform crossover of whole attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

__all__ = ["AttributeExchange"]


class AttributeExchange(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Crossover in which a child inherits the whole cut of every attribute, from a random parent.

    Args:
        prob: The probability that two parents are crossed.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> order = pm.Hierarchy.ordered()
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3]}),
    ...                  quasi_identifiers={"a": order, "b": order})
    >>> parents = np.array([[[1, 1, 1, 1]], [[0, 0, 0, 0]]], dtype=bool)
    >>> child = AttributeExchange()._do(Cuts(table), parents, random_state=1)[0, 0]
    >>> bool(child[0] == child[1] and child[2] == child[3])
    True
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
    ) -> NDArray[np.bool_]:
        space = space_of(problem, "cuts")
        rng = np.random.default_rng(random_state)
        parents = space.bits(np.concatenate(X)).reshape(X.shape)
        swap = rng.random((X.shape[1], space.n_attributes)) < 0.5
        return np.where(np.repeat(swap, np.diff(space.offsets), axis=1), parents[::-1], parents)
