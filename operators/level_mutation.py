"""Mutation of levels, of a threshold, and of published records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction
from privmoo.operators.space import space_of

__all__ = ["LevelMutation"]


class LevelMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Mutation of some levels: to any other (Jahan et al. 2025), or one step up or down the lattice.

    Published records are flipped at the same rate, and a threshold is multiplied or divided.

    Args:
        rate: How likely a level, and a bit, is changed. With steps, at least one level per child is
            changed on average.
        step: How likely a changed level moves by one instead of to any other.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Levels
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> LevelMutation(1.0, step=1.0)._do(Levels(table), np.array([[0]]), random_state=1).tolist()
    [[1]]
    """

    def __init__(self, rate: float = 0.1, *, step: float = 0.0) -> None:
        super().__init__()
        for name, value in (("rate", rate), ("step", step)):
            fraction(name, value)
        self.rate, self.step = rate, step

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
        n_levels = len(space.lowest)
        children = np.array(X)
        shape = (len(X), n_levels)
        levels = children[:, :n_levels].astype(np.int64)
        # One of the other levels: those from the present one on move up by one.
        anew = rng.integers(space.lowest, np.maximum(space.highest, space.lowest + 1), shape)
        anew = np.minimum(anew + (anew >= levels), space.highest)
        steps = levels + rng.choice([-1, 1], shape)
        # At an end the only step is back.
        steps = np.where(steps < space.lowest, levels + 1, steps)
        steps = np.where(steps > space.highest, levels - 1, steps)
        steps = np.clip(steps, space.lowest, space.highest)
        mutants = np.where(rng.random(shape) < self.step, steps, anew)
        hit = rng.random(shape) < max(self.rate, 1 / n_levels if self.step else 0.0)
        children[:, :n_levels] = np.where(hit, mutants, levels)
        rest = children[:, n_levels:]
        if "threshold" in space.kinds:
            factor = np.exp(rng.normal(size=rest.shape))
            new = np.clip(np.rint(rest * factor), 1, space.table.n_records)
            children[:, n_levels:] = np.where(rng.random(rest.shape) < 0.5, new, rest)
        elif "records" in space.kinds:
            flips = rng.random(rest.shape) < self.rate
            children[:, n_levels:] = np.where(flips, 1 - rest, rest)
        return children
