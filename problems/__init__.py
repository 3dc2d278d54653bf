"""The problems, each a pymoo Problem: the general ones, and one module per paper."""

from __future__ import annotations

if __name__ == "problems":
    raise ImportError("the folder problems is the package privmoo.problems: import that instead")

from privmoo.problems.clusters import Clusters, ClustersWarning
from privmoo.problems.cuts import Cuts
from privmoo.problems.dewri import AnySuppression, BudgetSuppression, KLSafe, ZeroSuppression
from privmoo.problems.hybrid import Hybrid
from privmoo.problems.jahan import LevelsAndSuppression
from privmoo.problems.levels import Levels
from privmoo.problems.mo_obam import MOOBAM
from privmoo.problems.regions import Regions
from privmoo.problems.scalar_grid import ScalarGrid, scalar_grid
from privmoo.problems.scalar_mo_obam import ScalarMOOBAM, WeighedLoss
from privmoo.problems.trade_off import TradeOff

__all__ = [
    "MOOBAM",
    "AnySuppression",
    "BudgetSuppression",
    "Clusters",
    "ClustersWarning",
    "Cuts",
    "Hybrid",
    "KLSafe",
    "Levels",
    "LevelsAndSuppression",
    "Regions",
    "ScalarGrid",
    "ScalarMOOBAM",
    "TradeOff",
    "WeighedLoss",
    "ZeroSuppression",
    "scalar_grid",
]
