"""Published records by the best threshold of the levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

__all__ = ["BestThreshold"]


class BestThreshold(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation of levels that then publishes exactly the groups of at least a certain size.

    For given levels no other choice of records has the same k and publishes more: this is the best
    vector B for that k. The size is drawn at random; small sizes are drawn more often.

    Args:
        mutation: The mutation that changes the levels.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.operators import LevelMutation
    >>> from privmoo.problems import LevelsAndSuppression
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> operator = BestThreshold(LevelMutation(0.0))
    >>> operator._do(LevelsAndSuppression(table), np.array([[1, 0, 1, 1]]), random_state=1).tolist()
    [[1, 1, 1, 0]]
    """

    def __init__(self, mutation: Mutation) -> None:
        super().__init__()
        self.mutation = mutation

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        space = space_of(problem, "records")
        rng = np.random.default_rng(random_state)
        children = np.array(self.mutation._do(problem, X, random_state=rng))
        largest = max(2, space.table.n_records)
        thresholds = np.floor(largest ** (rng.random(len(X)) ** 2))
        published = space.publishing(space.levels(children), thresholds)
        # Above the size of all groups, nothing would be left.
        not_empty = published[:, space.table.n_qis :].any(axis=1)
        children[not_empty] = published[not_empty]
        return children
