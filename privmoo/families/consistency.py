"""What it costs to recode a column the same way everywhere, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from privmoo._util.wording import join_words
from privmoo.errors import ProblemError
from privmoo.front.front import Front

__all__ = ["consistency_in_words", "cost_of_consistency"]

_LOCAL = "regions"


def cost_of_consistency(
    front: Front, levels: Sequence[float] = (3, 5, 10, 20, 50, 100)
) -> pd.DataFrame:
    """Return the best value that each family reaches, for some values of the first objective.

    Regions may recode a column differently in every region; all other families recode it the same way
    everywhere. The difference is what consistent columns cost.

    Args:
        front: A front of `trade_off` with two objectives, the first of which is maximised.
        levels: The values of the first objective that a solution must reach.

    Returns:
        A row per value of the first objective and a column per family; `consistency costs` is the best of
        the consistent families minus the best of the regions, if both reach the value.

    Raises:
        ProblemError: The front is not one of several families.

    >>> import privmoo as pm
    >>> front = pm.trade_off(pm.testing.example_table(), families=["levels", "cuts"], budget=10, seed=1,
    ...                      progress=False)
    >>> list(cost_of_consistency(front, [2]).columns)
    ['levels', 'cuts']
    """
    families = front.run.get("families")
    if not isinstance(families, dict) or front.n_objectives != 2:
        raise ProblemError(
            "front: consistency can be compared only on a front of trade_off with two objectives"
        )
    first, second = front.objectives
    columns = {}
    for name, family in families.items():
        F = np.asarray(family["objectives"], dtype=np.float64)
        reachable = [F[F[:, 0] <= first.sign * level] for level in levels]
        columns[name] = [
            float(second.sign * points[:, 1].min()) if len(points) else np.nan
            for points in reachable
        ]
    table = pd.DataFrame(columns, index=pd.Index(levels, name=first.key))
    consistent = [name for name in columns if name != _LOCAL]
    if consistent and _LOCAL in columns:
        best = table[consistent].min(axis=1) if second.sign > 0 else table[consistent].max(axis=1)
        table["consistency costs"] = second.sign * (best - table[_LOCAL])
    return table


def consistency_in_words(front: Front) -> str:
    """Say in a few sentences what it costs to recode every column the same way everywhere.

    Args:
        front: A front of `trade_off` with two objectives, the first of which is maximised.

    Raises:
        ProblemError: The front is not one of several families.

    >>> import privmoo as pm
    >>> front = pm.trade_off(pm.testing.example_table(), families=["levels", "cuts"], budget=10, seed=1,
    ...                      progress=False)
    >>> consistency_in_words(front)
    'Every family of this front recodes a column the same way everywhere, or none does: nothing to compare.'
    """
    table = cost_of_consistency(front)
    if "consistency costs" not in table:
        return (
            "Every family of this front recodes a column the same way everywhere, or none does: nothing to "
            "compare."
        )
    first, second = front.objectives
    priced_levels = table.dropna(subset="consistency costs")
    if priced_levels.empty:
        return "No value of the table is reached by regions and by a consistent family: nothing to compare."
    dearer = priced_levels[priced_levels["consistency costs"] > 0]
    if dearer.empty:
        return (
            "Columns that are recoded the same way everywhere cost nothing here: at no value of "
            f"{first.key} that was compared are regions better."
        )
    consistent = [name for name in front.run["families"] if name != _LOCAL]
    rows = dearer.iloc[sorted({0, len(dearer) // 2, len(dearer) - 1})]
    best = rows[_LOCAL] + second.sign * rows["consistency costs"]
    prices = [
        f"at {first.phrase(float(level))} it is {second.write(float(rows[_LOCAL].loc[level]))} instead of "
        f"{second.write(float(best.loc[level]))}"
        for level in rows.index
    ]
    return (
        f"{join_words(consistent).capitalize()} recode a column the same way everywhere; regions do not. "
        f"With regions {second.words} is "
        f"{'lower' if second.sign > 0 else 'higher'}: {join_words(prices)}. They are better at "
        f"{len(dearer)} of the {len(priced_levels)} values of {first.words} that were compared."
    )
