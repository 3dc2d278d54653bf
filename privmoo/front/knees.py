"""Knees: solutions from which every step away loses more than it gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError
from privmoo.front.choice import need_solutions, scale_quantities

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["high_trade_off", "knee", "marked_knee", "protecting"]


def knee(front: Front) -> int:
    """Return the place of the knee, the least sum of scaled objectives, for `Front.knee`."""
    need_solutions(front, "knee")
    rows = protecting(front)
    candidates = front.rows(rows)
    return int(rows[np.argmin(scale_quantities(candidates, front.objectives).sum(axis=1))])


def protecting(front: Front) -> NDArray[np.intp]:
    """Return the places of the solutions with k above 1; of all if there are none or k is not recorded."""
    if "k" not in [q.key for q in front.quantities]:
        return np.arange(len(front))
    rows = np.flatnonzero(front.column("k") > 1)
    return rows if len(rows) else np.arange(len(front))


def marked_knee(front: Front) -> int | None:
    """Return the place of the knee if a picture should mark it, else None.

    Fewer than three solutions have no such knee, and a knee at an end of them says nothing.
    """
    rows = protecting(front)
    if len(rows) < 3:
        return None
    place = knee(front)
    return None if _is_end(front.rows(rows), int(np.searchsorted(rows, place))) else place


def _is_end(front: Front, place: int) -> bool:
    """Return whether a solution is the best in some objective."""
    values = scale_quantities(front, front.objectives)
    varies = np.ptp(values, axis=0) > 0  # where all are equal, nobody is the best
    return bool((values[place, varies] == 0).any())


def high_trade_off(front: Front, *, radius: float, min_worth: float) -> pd.DataFrame:
    """Return the local knees of a front, for `Front.high_trade_off`.

    Args:
        front: The front.
        radius: How far neighbours may differ in any scaled objective.
        min_worth: The worth above which a solution is listed.
    """
    for name, value in (("radius", radius), ("min_worth", min_worth)):
        if not (is_number(value) and value >= 0):
            raise ProblemError(
                f"high_trade_off: {name} must be a number of at least 0, got {value!r}"
            )
    values = (
        scale_quantities(front, front.objectives)
        if len(front)
        else np.empty((0, front.n_objectives))
    )
    columns = values[:, np.ptp(values, axis=0) > 0] if len(values) else values
    worth = np.array([_worth(columns, i, radius) for i in range(len(columns))], dtype=np.float64)
    ends = (columns == 0).any(axis=1)
    rows = np.flatnonzero(~ends & (worth > min_worth))
    rows = rows[np.argsort(-worth[rows], kind="stable")]
    frame = front.rows(rows).to_frame()[[q.key for q in front.objectives]]
    frame["worth"] = worth[rows]
    return frame


def _worth(values: NDArray[np.float64], i: int, radius: float) -> float:
    """Return the least loss per gain on the way from solution i to a neighbour; 0 without one."""
    change = np.delete(values, i, axis=0) - values[i]
    if not change.size:
        return 0.0
    distance = np.abs(change).max(axis=1)
    neighbours = distance <= radius
    for better in (change < 0).T:
        if better.any():
            neighbours[int(np.argmin(np.where(better, distance, np.inf)))] = True
    losses = np.maximum(change[neighbours], 0).sum(axis=1)
    gains = np.maximum(-change[neighbours], 0).sum(axis=1)
    ratios = np.divide(losses, gains, out=np.full_like(losses, np.inf), where=gains > 0)
    return float(ratios.min(initial=np.inf))
