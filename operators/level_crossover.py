"""Crossover of levels and of published records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.errors import ProblemError
from privmoo.operators.space import space_of

__all__ = ["LevelCrossover"]


class LevelCrossover(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Crossover that takes every level from a random parent, and publishes what either parent publishes.

    Jahan et al. 2025, section 5.2: uniform on vector A, union on vector B. A threshold comes from either
    parent. The second child has the other parent's level everywhere.

    Args:
        prob: The probability that two parents exchange anything.
        children: How many children two parents have: 2, or 1 as in the paper's Figure 4.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import LevelsAndSuppression
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> parents = np.array([[[0, 1, 0]], [[3, 0, 0]]])
    >>> children = LevelCrossover()._do(LevelsAndSuppression(table), parents, random_state=1)
    >>> sorted(children[:, 0].tolist())
    [[0, 1, 0], [3, 1, 0]]
    """

    def __init__(self, prob: float = 0.9, *, children: int = 2) -> None:
        if children not in (1, 2):
            raise ProblemError(f"children: must be 1 or 2, got {children!r}")
        super().__init__(2, children, prob=prob)

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        space = space_of(problem, "levels")
        n_levels = len(space.lowest)
        rng = np.random.default_rng(random_state)
        mother, father = X
        swap = rng.random(mother.shape) < 0.5
        children = np.stack([np.where(swap, father, mother), np.where(swap, mother, father)])
        if "records" in space.kinds:
            children[:, :, n_levels:] = np.maximum(mother, father)[:, n_levels:]
        return children[: self.n_offsprings]
