"""Crossover that exchanges whole classes of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.problem import Problem

from privmoo.operators.class_demands import aims_of
from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.classes import ClassSpace

__all__ = ["ClassCrossover"]


class ClassCrossover(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Two parents exchange the classes of one side of the data.

    Two random units divide the space. A child has the classes of one parent that have most of their units
    nearer to the first, and what the other parent makes of the remaining units. Classes that this
    leaves too small join others where that costs least.

    Args:
        prob: How likely two parents exchange anything.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}), quasi_identifiers=["age"])
    >>> parents = np.array([[[0, 0, 1, 1]], [[0, 0, 0, 0]]])
    >>> ClassCrossover()._do(Clusters(table, 2), parents, random_state=1)[0].tolist()
    [[0, 0, 1, 1]]
    """

    def __init__(self, prob: float = 0.5) -> None:
        super().__init__(2, 2, prob=prob)

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int64]:
        space = space_of(problem, "classes")
        rng = np.random.default_rng(random_state)
        children = np.array(X, dtype=np.int64)
        aims = aims_of(problem)
        for i in range(X.shape[1]):
            pair = space.clean(X[:, i])
            near = _nearer_to_first(space, rng)
            for child in (0, 1):
                demands = space.demands_of(pair[child])
                if not aims.sizes:
                    demands = demands._replace(k=space.k)
                if not aims.values:
                    demands = demands._replace(diversity=1, entropy=np.zeros(len(demands.entropy)))
                mixed = _mixed(pair[child], pair[1 - child], near)
                children[child, i] = space.mended(mixed, demands)
        return children


def _mixed(
    one: NDArray[np.int64], other: NDArray[np.int64], near: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the classes of one parent for the units near them, and the other's for all other units."""
    share = np.bincount(one, weights=near) / np.bincount(one)
    keep = share[one] > 0.5
    return np.where(keep, one, other + one.max() + 1)


def _nearer_to_first(space: ClassSpace, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which units are nearer to the first of two random units than to the second."""
    field = space.field
    distances = []
    for u in rng.integers(space.n_units, size=2):
        squares = ((field.numbers - field.numbers[u]) ** 2).sum(axis=1)
        distances.append(squares + (field.codes != field.codes[u]).sum(axis=1))
    return np.asarray(distances[0] <= distances[1])
