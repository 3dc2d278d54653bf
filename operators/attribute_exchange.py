"""Uniform crossover of whole attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover

from privmoo.cuts import space_of

__all__ = ["AttributeExchange"]


class AttributeExchange(Crossover):  # type: ignore[misc]  # pymoo has no types
    """Every attribute's cut is inherited whole, from either parent with equal chances.

    Args:
        prob: How likely two parents are crossed at all.
    """

    def __init__(self, prob: float = 0.9) -> None:
        super().__init__(2, 2, prob=prob)

    def _do(
        self,
        problem: Any,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.bool_]:
        space = space_of(problem)
        rng = np.random.default_rng(random_state)
        parents = space.bits(np.concatenate(X)).reshape(X.shape)
        swap = rng.random((X.shape[1], space.n_attributes)) < 0.5
        return np.where(np.repeat(swap, np.diff(space.offsets), axis=1), parents[::-1], parents)
