"""Mutation of the parameters of a scheme."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["ParameterMutation"]


class ParameterMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation that moves some parameters a little on their scale, and draws a few of them anew.

    Args:
        rate: How likely a parameter is changed; at least one per child on average.
        width: The standard deviation of a move, as a share of the parameter's range; a whole number
            moves by at least 1.
        anew: How likely a changed parameter is drawn from its whole range.

    >>> import numpy as np, privmoo as pm
    >>> problem = pm.problems.Hybrid(pm.testing.example_hybrid_table(), patterns=["race"])
    >>> child = ParameterMutation(1.0)._do(problem, problem.xl[None], random_state=1)
    >>> bool((child >= problem.xl).all() and (child <= problem.xu).all())
    True
    """

    def __init__(self, rate: float = 0.1, *, width: float = 0.1, anew: float = 0.1) -> None:
        super().__init__()
        for name, value in (("rate", rate), ("width", width), ("anew", anew)):
            fraction(name, value)
        self.rate, self.width, self.anew = rate, width, anew

    def _do(
        self, problem: Problem, X: NDArray[Any], *args: Any, random_state: Any = None, **kwargs: Any
    ) -> NDArray[np.float64]:
        space = space_of(problem, "parameters")
        rng = np.random.default_rng(random_state)
        steps = space.from_unit(space.to_unit(X) + rng.normal(0.0, self.width, X.shape))
        step = X + rng.choice([-1.0, 1.0], X.shape)
        steps = np.where(space.whole & (steps == X), step, steps)
        fresh = space.from_unit(rng.random(X.shape))
        children = np.where(rng.random(X.shape) < self.anew, fresh, steps)
        hit = rng.random(X.shape) < max(self.rate, 1 / space.n_variables)
        return space.clean(np.where(hit, children, X))
