"""Mutation by one of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo.errors import ProblemError

__all__ = ["OneOf"]


class OneOf(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation of every child by one of several mutations, drawn by their weights.

    Args:
        mutations: Any pymoo mutations.
        weights: How often each is drawn, relative to the others; equally often by default.

    >>> from privmoo.operators import CentroidMutation, LloydStep
    >>> OneOf([LloydStep(), CentroidMutation()], [3, 1]).weights
    [0.75, 0.25]
    """

    def __init__(
        self, mutations: Sequence[Mutation], weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        shares = np.ones(len(mutations)) if weights is None else np.asarray(weights, dtype=float)
        if not len(mutations) or shares.shape != (len(mutations),):
            raise ProblemError(
                f"weights: give one for each of {len(mutations)} mutations, got {shares.size}"
            )
        if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
            raise ProblemError("weights: must be numbers of at least 0, and not all 0")
        self.mutations = list(mutations)
        self.weights = (shares / shares.sum()).tolist()

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[Any]:
        rng = np.random.default_rng(random_state)
        choice = rng.choice(len(self.mutations), size=len(X), p=self.weights)
        children = np.array(X)
        for i, mutation in enumerate(self.mutations):
            rows = np.flatnonzero(choice == i)
            if len(rows):
                children[rows] = mutation._do(problem, X[rows], random_state=rng)
        return children
