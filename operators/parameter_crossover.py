"""Crossover of the parameters of a scheme."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["ParameterCrossover"]


class ParameterCrossover(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Crossover that takes whole parameters from a random parent, and real ones from around both (BLX-α).

    Eshelman and Schaffer 1993, on the scale of each parameter.

    Args:
        alpha: How far beyond the parents a real parameter may fall, in units of their distance.

    >>> import numpy as np, privmoo as pm
    >>> problem = pm.problems.Hybrid(pm.testing.example_hybrid_table(), patterns=["race"])
    >>> parents = np.stack([problem.xl[None], problem.xu[None]])
    >>> ParameterCrossover()._do(problem, parents, random_state=1).shape == parents.shape
    True
    """

    def __init__(self, alpha: float = 0.3) -> None:
        super().__init__(2, 2)
        fraction("alpha", alpha)
        self.alpha = alpha

    def _do(
        self, problem: Problem, X: NDArray[Any], *args: Any, random_state: Any = None, **kwargs: Any
    ) -> NDArray[np.float64]:
        space = space_of(problem, "parameters")
        rng = np.random.default_rng(random_state)
        first, second = X
        swap = rng.random(first.shape) < 0.5
        a, b = space.to_unit(first), space.to_unit(second)
        reach = rng.uniform(-self.alpha, 1 + self.alpha, (2, *first.shape))
        blends = [space.from_unit(a + part * (b - a)) for part in reach]
        swaps = [np.where(swap, second, first), np.where(swap, first, second)]
        children = [np.where(space.whole, t, m) for t, m in zip(swaps, blends, strict=True)]
        return np.stack([space.clean(child) for child in children])
