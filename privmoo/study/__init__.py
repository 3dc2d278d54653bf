"""Solvers against each other: equal budgets, many seeds, and what the differences are worth."""

from __future__ import annotations

from privmoo.stats.ranking import Ranking, rank
from privmoo.study.comparison import compare
from privmoo.study.islands import optimize_islands
from privmoo.study.solvers import Solver
from privmoo.study.study import Study

__all__ = ["Ranking", "Solver", "Study", "compare", "optimize_islands", "rank"]
