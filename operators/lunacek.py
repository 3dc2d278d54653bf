"""Lunacek's crossover: valid parents have valid children."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.kernels.cuts import cross_cuts
from privmoo.operators.space import space_of

__all__ = ["LunacekCrossover"]


class LunacekCrossover(Crossover):  # type: ignore[misc]  # pymoo has no types
    """One-point crossover per attribute; in a tree, only where both parents keep two leaves apart.

    Lunacek, Whitley & Ray 2006, as used by Dewri et al. 2011, section 6.3. Before and after such a
    point both parents are valid on their own, so the children are valid as well. Unconstrained
    attributes are cut anywhere. The ends of an attribute are points too: the attribute is then
    inherited whole. For every attribute, a random child begins with the first parent.

    Args:
        prob: The probability that two parents are crossed.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Cuts
    >>> tree = pm.Hierarchy.tree([["a", "b"], ["c", "d"]])
    >>> problem = Cuts(pm.Table(pd.DataFrame({"job": ["a", "d"]}), quasi_identifiers={"job": tree}))
    >>> parents = np.array([[[1, 1, 0]], [[0, 1, 1]]], dtype=bool)
    >>> children = LunacekCrossover()._do(problem, parents, random_state=1)
    >>> bool(problem.space.valid(children[:, 0]).all())
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
        shape = (X.shape[1], space.n_attributes)
        parents = space.bits(np.concatenate(X)).reshape(X.shape)
        children = np.empty_like(parents)
        point, swap = rng.random(shape), rng.random(shape) < 0.5
        cross_cuts(parents, point, swap, space.offsets, space.constrained, children)
        return children
