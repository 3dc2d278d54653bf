"""One seeded run of any pymoo algorithm, which can be stopped and continued."""

from __future__ import annotations

from privmoo.run.algorithms import algorithm_names, make_algorithm
from privmoo.run.budgets import Evaluations, Generations, Seconds, Stalled
from privmoo.run.optimization import optimize
from privmoo.run.spread import SpreadSurvival

__all__ = [
    "Evaluations",
    "Generations",
    "Seconds",
    "SpreadSurvival",
    "Stalled",
    "algorithm_names",
    "make_algorithm",
    "optimize",
]
