"""Local search of regions as a mutation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from privmoo._util.checks import fraction, positive
from privmoo.operators.space import space_of

__all__ = ["RegionMutation"]

_LARGEST_EFFORT = 400_000.0


class RegionMutation(Mutation):  # type: ignore[misc]  # pymoo has no types
    """Parts of a partition into regions are divided anew where that loses less: memetic mutation.

    A child meets the target that its parent meets, or one nearby. Columns that are recoded the same way
    everywhere are sometimes recoded by another step; all regions are then split anew. Most children begin
    with the best regions of the run for a size that people publish, and with what is better in the parent.
    Among tight ranges, pools of neighbouring regions are divided anew, and boxes around a tuple become
    regions that take from all others what loses more there.

    Args:
        effort: How often every distinct tuple of the table is divided anew for a child, about; for a large
            table it is less often.
        retarget: How likely a child has another target than its parent.
        elite: How likely it begins with the best regions for a usual size.

    >>> import pandas as pd, privmoo as pm
    >>> from privmoo.problems import Regions
    >>> table = pm.Table(pd.DataFrame({"age": [20, 22, 40, 44]}), quasi_identifiers=["age"])
    >>> mutation = RegionMutation(retarget=0)
    >>> parents = np.array([[0, 1, 0, 1]])
    >>> mutation._do(Regions(table, publish="tight"), parents, random_state=1).tolist()
    [[0, 0, 1, 1]]
    """

    def __init__(self, effort: float = 16.0, *, retarget: float = 0.3, elite: float = 0.75) -> None:
        super().__init__()
        self.effort = positive("effort", effort)
        self.retarget = fraction("retarget", retarget)
        self.elite = fraction("elite", elite)

    def _do(
        self,
        problem: Problem,
        X: NDArray[Any],
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int32]:
        space = space_of(problem, "regions")
        rng = np.random.default_rng(random_state)
        seeds = rng.integers(1 << 31, size=len(X)).tolist()
        rows = space.clean(X)
        effort = min(self.effort * space.table.n_tuples, _LARGEST_EFFORT)
        is_elite = rng.random(len(X)) < self.elite
        best = space.best_remembered(rng, int(is_elite.sum()))
        places = np.flatnonzero(is_elite)[: len(best)].tolist()
        chains: dict[int, list[int]] = {}
        for place, (_, target) in zip(places, best, strict=True):
            chains.setdefault(target.k, []).append(place)
        starts = dict(zip(places, best, strict=True))
        children: dict[int, NDArray[np.int32]] = {}

        def search_best(chain: list[int]) -> None:
            """Search from the best regions for a size; each child begins with the one before."""
            row, target = starts[chain[0]]
            share = space.draw_share(np.random.default_rng(seeds[chain[0]]))
            for i in chain:
                row = space.crossed(row, rows[i], target)
                row = space.improved(row, target, effort, seeds[i], share=share)
                children[i] = row

        def search(chain: list[int]) -> None:
            """Search from a parent, or from the best regions."""
            [i, *_] = chain
            if i in starts:
                search_best(chain)
                return
            draw = np.random.default_rng(seeds[i])
            share, target = space.draw_share(draw), space.target_of(rows[i])
            if target.k == 1 or draw.random() < self.retarget:
                target = space.targets.near(
                    target, draw
                )  # with regions of one record nothing is gained
            row = space.other_steps(rows[i], target, draw)
            children[i] = space.improved(row, target, effort, seeds[i], share=share)

        space.each(search, [*chains.values(), *([i] for i in range(len(X)) if i not in starts)])
        space.passes += len(X) * space.passes_of(effort) + sum(map(len, chains.values()))
        return np.stack([children[i] for i in range(len(X))]).astype(X.dtype, copy=False)
