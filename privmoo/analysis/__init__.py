"""Which quasi-identifiers identify, before anything is anonymised (Jahan et al. 2025)."""

from __future__ import annotations

from privmoo.analysis.attack import attack
from privmoo.analysis.combinations import keys
from privmoo.analysis.foreign import ForeignRelease
from privmoo.analysis.groups import Analysis, analyse, leave_one_out, suppression_needed
from privmoo.analysis.plots import plot_distribution, plot_evaluation, plot_suppression
from privmoo.analysis.releases import disclosure_risks, evaluate

__all__ = [
    "Analysis",
    "ForeignRelease",
    "analyse",
    "attack",
    "disclosure_risks",
    "evaluate",
    "keys",
    "leave_one_out",
    "plot_distribution",
    "plot_evaluation",
    "plot_suppression",
    "suppression_needed",
]
