"""Random cuts for a first population, from no generalization to full generalization."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.kernels.cuts import grow_cuts
from privmoo.operators.space import space_of

__all__ = ["CutSampling"]


class CutSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Sampling of valid random cuts: trees are opened from the root down, other bits are drawn.

    As in Dewri et al. 2011, section 6.4, a node decides at random whether its children are kept apart.
    The probability varies between individuals, in equal steps from never to always, and again between
    attributes, so that all depths and densities occur. The first two individuals are the finest and the
    coarsest cut.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> CutSampling()(Cuts(table), 2, to_numpy=True).astype(int).tolist()
    [[1, 1], [0, 0]]
    """

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.bool_]:
        space = space_of(problem, "cuts")
        rng = np.random.default_rng(random_state)
        shape = (n_samples, space.n_attributes)
        steps = (rng.permutation(n_samples) + rng.random(n_samples)) / max(n_samples, 1)
        probability = steps[:, None] ** np.exp(rng.standard_normal(shape))
        X = np.empty((n_samples, space.n_bits), np.bool_)
        uniform = rng.random((n_samples, len(space.first)))
        grow_cuts(probability, uniform, space.switches, X)
        X[:1] = space.finest()
        X[1:2] = space.coarsest()
        return X
