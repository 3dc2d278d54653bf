"""Mutation of classes by local search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction, whole_number
from privmoo.operators.class_demands import aims_of, varied_demands
from privmoo.operators.class_sampling import interval_classes, search_steps
from privmoo.operators.space import space_of

__all__ = ["ClassSearch"]


class ClassSearch(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Records move and swap between near classes, classes dissolve, split and are founded, annealed.

    What the classes of a parent have, its least size and its least entropies, is what the child's classes
    must have, so that a child loses less at the same privacy; or these demands change first, and small
    classes merge to meet them. Now and then a child is made anew, of the best intervals along a
    direction of the data that meet the demands.

    Args:
        vary: How likely demands change.
        anew: How likely a child is made anew.
        steps: How many random steps a local search tries; by default a number that grows with the table.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Clusters
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}), quasi_identifiers=["age"])
    >>> parents = np.array([[0, 1, 0, 1]])
    >>> ClassSearch(vary=0, anew=0)._do(Clusters(table, 2), parents, random_state=1).tolist()
    [[0, 0, 1, 1]]
    """

    def __init__(self, vary: float = 0.5, *, anew: float = 0.1, steps: int | None = None) -> None:
        super().__init__()
        for name, value in (("vary", vary), ("anew", anew)):
            fraction(name, value)
        self.vary, self.anew = vary, anew
        self.steps = None if steps is None else whole_number("steps", steps, at_least=0)

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
        aims = aims_of(problem)
        steps = search_steps(space, 60) if self.steps is None else self.steps
        seeds = rng.integers(1 << 62, size=len(X)).tolist()

        def child(labels: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
            draw = np.random.default_rng(seed)
            demands = space.demands_of(labels)
            if not aims.sizes:
                demands = demands._replace(k=space.k)
            if not aims.values:
                demands = demands._replace(diversity=1, entropy=np.zeros(len(demands.entropy)))
            if draw.random() < self.vary:
                demands = varied_demands(space, demands, aims, draw)
            if draw.random() < self.anew:
                labels = interval_classes(space, demands, draw)
            heat = float(np.exp(draw.uniform(np.log(0.02), np.log(1.0))))
            labels = space.mended(labels, demands)
            return space.annealed(labels, demands, steps=steps, heat=heat, rng=draw)

        space.count_moves(len(X) * steps)
        return np.stack(space.each(child, list(space.clean(X)), seeds))
