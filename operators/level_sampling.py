"""Random vectors of levels for a first population."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling

from privmoo.operators.space import space_of

__all__ = ["LevelSampling"]


class LevelSampling(Sampling):  # type: ignore[misc]  # pymoo has no types
    """Sampling of random levels, with a threshold of any magnitude or bits of any density.

    The share of attributes that are generalised completely varies between individuals, from none to
    all, so that all magnitudes of k occur. The first individual generalises nothing, the second
    everything, and both publish all records; `ends=False` leaves these two out. With `spread=False` all
    levels are equally likely, and a record is published with probability one half.

    Args:
        ends: Whether both ends of the front are in the first population.
        spread: Whether the share of attributes at their highest level, and of published records, varies.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Levels
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> LevelSampling()(Levels(table), 2, to_numpy=True).tolist()
    [[0], [3]]
    """

    # Logs of runs know an operator by what is set on it, and older ones know no spread.
    spread: bool = True

    def __init__(self, *, ends: bool = True, spread: bool = True) -> None:
        super().__init__()
        self.ends = ends
        if not spread:
            self.spread = False

    def _do(
        self,
        problem: Problem,
        n_samples: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int64]:
        space = space_of(problem, "levels")
        rng = np.random.default_rng(random_state)
        n_levels, n_records = len(space.lowest), space.table.n_records
        X = np.empty((n_samples, space.n_variables), np.int64)
        shape = (n_samples, n_levels)
        X[:, :n_levels] = rng.integers(space.lowest, space.highest, shape, endpoint=True)
        if self.spread:
            top = rng.random(shape) < rng.random((n_samples, 1))
            X[:, :n_levels] = np.where(top, space.highest, X[:, :n_levels])
        n_ends = 2 if self.ends else 0
        X[:n_ends][:1, :n_levels], X[:n_ends][1:2, :n_levels] = space.lowest, space.highest
        if "threshold" in space.kinds:
            X[:, -1] = np.rint(n_records ** rng.random(n_samples) ** 2)
            X[:n_ends, -1] = 1
        elif "records" in space.kinds:
            density = (
                rng.random((n_samples, 1)) ** 0.3 if self.spread else np.full((n_samples, 1), 0.5)
            )
            density[:n_ends] = 1.0
            X[:, n_levels:] = rng.random((n_samples, n_records)) < density
        return X
