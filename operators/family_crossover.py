"""Crossover for several families of recodings at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

__all__ = ["FamilyCrossover"]


class FamilyCrossover(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Crossover of two parents of one family by the family's own crossover; other pairs stay as they are.

    Args:
        prob: The probability that two parents are crossed.

    >>> FamilyCrossover().n_parents
    2
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
        space = space_of(problem, "families")
        rng = np.random.default_rng(random_state)
        first, second = (space.numbers(parents) for parents in X)
        children = np.array(X, dtype=np.float64)
        for number, part in enumerate(space.parts.values()):
            pairs = np.flatnonzero((first == number) & (second == number))
            crossover = part.default_operators()["crossover"]
            if not len(pairs) or crossover.n_offsprings != 2:
                continue
            parents = np.stack([space.inner(rows[pairs], number) for rows in X])
            crossed = crossover._do(part, parents, random_state=rng)
            children[:, pairs] = np.stack([space.outer(rows, number) for rows in crossed])
        return children
