"""One seeded run of any pymoo algorithm, which can be stopped and continued."""

from __future__ import annotations

from privmoo.search.algorithms import algorithm_names, make_algorithm
from privmoo.search.budgets import Evaluations, Generations, Seconds, Stalled
from privmoo.search.domination_count import DominationCount
from privmoo.search.optimization import optimize
from privmoo.search.random_pairs import RandomPairs
from privmoo.search.survival import SpreadSurvival

__all__ = [
    "DominationCount",
    "Evaluations",
    "Generations",
    "RandomPairs",
    "Seconds",
    "SpreadSurvival",
    "Stalled",
    "algorithm_names",
    "make_algorithm",
    "optimize",
]
