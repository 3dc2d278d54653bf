"""Mutation for several families of recodings at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo.operators.space import space_of

__all__ = ["FamilyMutation"]


class FamilyMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation of the decision vectors of every family by the family's own mutation.

    >>> FamilyMutation().prob.value
    1.0
    """

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.float64]:
        space = space_of(problem, "families")
        rng = np.random.default_rng(random_state)
        numbers = space.numbers(X)
        children = np.array(X, dtype=np.float64)
        for number, part in enumerate(space.parts.values()):
            places = np.flatnonzero(numbers == number)
            if len(places):
                mutation = part.default_operators()["mutation"]
                inner = space.inner(X[places], number)
                children[places] = space.outer(mutation._do(part, inner, random_state=rng), number)
        return children
