"""trade_off: one call that searches every family of recodings and returns one front."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privmoo.data.table import Table
from privmoo.families.search import FamilyBudget, search_families
from privmoo.front.front import Front
from privmoo.problems.trade_off import TradeOff
from privmoo.search.slices import Focus, read_focus

__all__ = ["trade_off"]


def trade_off(
    table: Table,
    *,
    budget: FamilyBudget = None,
    seed: int | None = None,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    focus: Focus | None = None,
    **options: Any,
) -> Front:
    """Compute the trade-off between privacy and usefulness over every family of recodings.

    Levels are searched exactly if their lattice is small, cuts and regions by NSGA-II. All families
    have the same measures, constraints and limit of suppression, and share one budget. The front holds the
    solutions that no solution of any family dominates; `solution.family` names the family, and
    `front.where(family="cuts")` selects one. Ctrl-C ends the search and returns what was found.

    Args:
        table: The records.
        budget: The budget of all families together, as for `optimize`; every family that is not searched
            exactly gets an equal share. What the exact search and a family that ends early leave of
            `Seconds(…)` goes to the families after them. `Generations(…)`, or a number, counts generations,
            however long they take: one of regions takes as long as dozens of cuts, so
            `{"cuts": 60, "regions": 2}` gives each family its own. A family that is not named, and every
            family by default, gets the default budget of its own problem.
        seed: Makes the search repeatable; drawn and recorded if not given.
        progress: Whether to show a progress bar.
        checkpoint: A file in which to log evaluations, with one more file for each further family; the
            same call continues a search that was stopped or killed.
        focus: The values of objectives that matter most, such as `{"k": (3, 50)}`; see `optimize`.
        options: Arguments of `privmoo.problems.TradeOff`, such as `families`, `objectives`,
            `constraints`, `max_suppression` and `consistent`.

    Returns:
        The front of all families.

    >>> import privmoo as pm
    >>> front = trade_off(pm.testing.example_table(), families=["levels", "cuts"], budget=10, seed=1,
    ...                   progress=False)
    >>> sorted({solution.family for solution in front}) <= ["cuts", "levels"]
    True
    """
    problem = TradeOff(table, **options)
    read_focus(problem, focus)
    return search_families(
        problem, budget=budget, seed=seed, progress=progress, checkpoint=checkpoint, focus=focus
    )
