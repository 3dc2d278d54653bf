"""Regions from greedy splits, for a first population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.operators.space import space_of

if TYPE_CHECKING:
    from privmoo.spaces.region_limits import Target

__all__ = ["RegionSampling"]

_BY_LEVELS = 8
_BY_GROWTH = 4


class RegionSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Regions that are split greedily by loss, for the sizes that people publish and others beside them.

    Splits for a size that was there before have gains that are distorted a little. Where most columns have
    trees, and ranges are tight, a few sizes that people publish begin with groups that are alike at some
    levels. Where tight ranges must resemble the table, as t demands, a few begin with regions that grow.

    Args:
        noise: How much gains are distorted, as a logarithm.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Regions
    >>> table = pm.Table(pd.DataFrame({"age": [20, 22, 40, 44]}), quasi_identifiers=["age"])
    >>> rows = RegionSampling()(Regions(table, publish="tight"), 4, to_numpy=True, random_state=1)
    >>> rows[0].tolist()
    [0, 1, 2, 3]
    """

    def __init__(self, noise: float = 0.3) -> None:
        super().__init__()
        self.noise = noise

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int32]:
        space = space_of(problem, "regions")
        rng = np.random.default_rng(random_state)
        targets = space.draw_targets(rng, n_samples)
        steps = rng.integers(0, space.n_steps, size=(n_samples, len(space.n_steps)))
        keys = [(target.k, target.bounds.tobytes()) for target in targets]
        is_noised = [keys[i] in keys[:i] for i in range(n_samples)]
        jobs: dict[tuple[bytes, bool], list[int]] = {}
        for i in range(n_samples):
            jobs.setdefault((steps[i].tobytes(), is_noised[i]), []).append(i)
        seeds = rng.integers(1 << 31, size=len(jobs)).tolist()

        def grown(rows: list[int], seed: int) -> NDArray[np.int32]:
            of_rows: list[Target] = [targets[i] for i in rows]
            noise = self.noise if is_noised[rows[0]] else 0.0
            return space.grow(of_rows, steps[rows[0]], noise=noise, seed=seed)

        X = np.empty((n_samples, space.n_variables), np.int32)
        for rows, part in zip(
            jobs.values(), space.each(grown, list(jobs.values()), seeds), strict=True
        ):
            X[rows] = part
        if space.groups_by_levels:
            rows = space.targets.most_usual(targets, _BY_LEVELS)
            grouped = space.each(space.by_levels, [targets[i] for i in rows], list(steps[rows]))
            X[rows] = np.stack(grouped)
        able = [i for i in range(n_samples) if space.can_grow(targets[i])]
        places = space.targets.most_usual([targets[i] for i in able], _BY_GROWTH)
        if places:
            rows = [able[place] for place in places]
            of_rows = [targets[i] for i in rows]
            X[rows] = np.stack(space.each(space.by_growth, of_rows, list(steps[rows])))
        return X
