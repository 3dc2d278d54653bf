"""Sampling for several families of recodings at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.operators.space import space_of

__all__ = ["FamilySampling"]


class FamilySampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Sampling of the same number of decision vectors from every family, by its own sampling.

    >>> import privmoo as pm
    >>> problem = pm.problems.TradeOff(pm.testing.example_table(), families=["cuts", "levels"])
    >>> FamilySampling()(problem, 4, to_numpy=True)[:, 0].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.float64]:
        space = space_of(problem, "families")
        rng = np.random.default_rng(random_state)
        shares = np.array_split(np.arange(n_samples), len(space.parts))
        rows = []
        for number, (part, places) in enumerate(zip(space.parts.values(), shares, strict=True)):
            if len(places):
                sampling = part.default_operators()["sampling"]
                samples = sampling(part, len(places), random_state=rng).get("X")
                rows.append(space.outer(samples[: len(places)], number))
        return np.concatenate(rows)
