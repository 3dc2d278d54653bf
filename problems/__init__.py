"""The formulations, each a pymoo Problem: one module per paper, and the general ones."""

from __future__ import annotations

if __name__ == "problems":
    raise ImportError(
        "import privmoo.problems, not problems: the folder is part of the package privmoo"
    )

from privmoo.problems.cuts import Cuts
from privmoo.problems.dewri import AnySuppression, BudgetSuppression, KLSafe, ZeroSuppression

__all__ = ["AnySuppression", "BudgetSuppression", "Cuts", "KLSafe", "ZeroSuppression"]
