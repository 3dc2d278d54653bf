"""RandomPairs: every individual of a population is a parent once, with a random partner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.selection import Selection

__all__ = ["RandomPairs"]


class RandomPairs(Selection):  # type: ignore[misc]  # pymoo has no types
    """Selection of parents that divides the population at random into groups.

    Jahan et al. 2025, section 5.2: 30 individuals are 15 groups of a father and a mother. If more groups
    are needed than the population has, it is divided again.

    >>> from pymoo.algorithms.moo.nsga2 import NSGA2
    >>> type(NSGA2(30, selection=RandomPairs()).mating.selection).__name__
    'RandomPairs'
    """

    def _do(
        self,
        problem: Problem,
        pop: Population,
        n_select: int,
        n_parents: int,
        *args: Any,
        random_state: Any = None,
        **kwargs: Any,
    ) -> NDArray[np.int64]:
        rng = np.random.default_rng(random_state)
        groups_per_division = max(1, len(pop) // n_parents)
        divisions = -(-n_select // groups_per_division)
        # A population smaller than a group has to repeat individuals.
        everybody = np.resize(np.arange(len(pop)), max(len(pop), n_parents))
        groups = [
            rng.permutation(everybody)[: groups_per_division * n_parents].reshape(-1, n_parents)
            for _ in range(divisions)
        ]
        return np.concatenate(groups)[:n_select]
