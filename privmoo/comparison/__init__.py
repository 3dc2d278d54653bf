"""Solvers against each other: equal budgets, many seeds, and what the differences are worth."""

from __future__ import annotations

from privmoo.comparison.comparing import compare
from privmoo.comparison.islands import optimize_islands
from privmoo.comparison.solvers import Solver
from privmoo.comparison.statistics import Ranking, rank
from privmoo.comparison.study import Study

__all__ = ["Ranking", "Solver", "Study", "compare", "optimize_islands", "rank"]
