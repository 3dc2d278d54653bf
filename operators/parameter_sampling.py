"""Sampling of the parameters of a scheme."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.operators.space import space_of

__all__ = ["ParameterSampling"]


class ParameterSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Sampling by a Latin hypercube: parameters are spread evenly over their ranges, or the logarithms.

    >>> import numpy as np, privmoo as pm
    >>> problem = pm.problems.Hybrid(pm.testing.example_hybrid_table(), patterns=["race"])
    >>> ParameterSampling()._do(problem, 4, random_state=1).shape == (4, problem.n_var)
    True
    """

    def _do(
        self, problem: Problem, n_samples: int, *args: Any, random_state: Any = None, **kwargs: Any
    ) -> NDArray[np.float64]:
        space = space_of(problem, "parameters")
        rng = np.random.default_rng(random_state)
        shape = (n_samples, space.n_variables)
        strata = np.argsort(rng.random(shape), axis=0)
        return space.from_unit((strata + rng.random(shape)) / max(n_samples, 1))
