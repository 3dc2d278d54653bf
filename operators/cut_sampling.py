"""Random cuts for a first population, from no generalization to full generalization."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo._util.checks import fraction
from privmoo.kernels.cuts import grow_cuts
from privmoo.operators.space import space_of

__all__ = ["CutSampling"]


class CutSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Sampling of valid random cuts: trees are opened from the root down, other bits are drawn.

    As in Dewri et al. 2011, section 6.4, a node decides at random whether its children are kept apart.
    The probability varies between individuals, in equal steps from never to always, and again between
    attributes, so that all depths and densities occur. The first two individuals are the finest and the
    coarsest cut. The paper does not state a probability and has no such first individuals:
    `CutSampling(probability=0.5)` tosses a coin for every node and bit.

    Args:
        probability: The probability that children, or neighbours, are kept apart, for all alike; varied,
            with the finest and the coarsest cut, if None.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> table = pm.Table(pd.DataFrame({"age": [1, 2, 3]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> CutSampling()(Cuts(table), 2, to_numpy=True).astype(int).tolist()
    [[1, 1], [0, 0]]
    """

    # Logs of runs know an operator by what is set on it, and older ones know no probability.
    probability: float | None = None

    def __init__(self, probability: float | None = None) -> None:
        super().__init__()
        if probability is not None:
            fraction("probability", probability)
            self.probability = probability

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
        if self.probability is None:
            steps = (rng.permutation(n_samples) + rng.random(n_samples)) / max(n_samples, 1)
            probability = steps[:, None] ** np.exp(rng.standard_normal(shape))
        else:
            probability = np.full(shape, self.probability)
        X = np.empty((n_samples, space.n_bits), np.bool_)
        uniform = rng.random((n_samples, len(space.first)))
        grow_cuts(probability, uniform, space.switches, X)
        if self.probability is None:
            X[:1] = space.finest()
            X[1:2] = space.coarsest()
        return X
