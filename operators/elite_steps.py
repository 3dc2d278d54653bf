"""Steps in the lattice from the levels behind the best trade-offs so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["EliteSteps"]


class EliteSteps(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation that turns some children into neighbours of the levels behind the front.

    A vector of levels is worth its whole staircase of thresholds, of which an individual has one. The
    space knows whose steps are not dominated (`space.elite`). Better vectors are likely a few steps
    from these, or from a mix of two of them; a step changes the level of one attribute.

    Args:
        mutation: The mutation of the other children, and of everything but levels.
        share: How likely a child takes its levels from the elite.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.operators import LevelMutation
    >>> from privmoo.problems import Levels
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> problem = Levels(table, max_suppression=1.0)
    >>> problem.space.elite.add(np.array([[1]]), np.array([[-2.0, 0.5]]))
    >>> operator = EliteSteps(LevelMutation(0.0), share=1.0)
    >>> int(operator._do(problem, np.array([[3, 1]]), random_state=1)[0, 0]) in (0, 2)
    True
    """

    def __init__(self, mutation: Mutation, *, share: float = 0.75) -> None:
        super().__init__()
        fraction("share", share)
        self.mutation, self.share = mutation, share

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        space = space_of(problem, "levels")
        rng = np.random.default_rng(random_state)
        children = np.array(self.mutation._do(problem, X, random_state=rng))
        elite = space.elite.levels
        movable = np.flatnonzero(space.highest > space.lowest)
        if not len(elite) or not len(movable):
            return children
        for i in np.flatnonzero(rng.random(len(X)) < self.share):
            first, second = elite[rng.integers(len(elite), size=2)]
            levels = np.where(rng.random(len(first)) < 0.5 * rng.integers(2), second, first)
            for _ in range(min(int(rng.geometric(0.6)), len(movable))):
                j = rng.choice(movable)
                low, high = int(space.lowest[j]), int(space.highest[j])
                others = [level for level in range(low, high + 1) if level != levels[j]]
                near = [level for level in others if abs(level - levels[j]) == 1]
                levels[j] = rng.choice(near if rng.random() < 0.5 else others)
            children[i, : len(levels)] = levels
        return children
