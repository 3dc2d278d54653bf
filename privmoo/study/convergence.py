"""How good the fronts of runs are as their budget is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.study.indicators import Box, better
from privmoo.study.outcomes import Outcome
from privmoo.study.recorder import Limit

if TYPE_CHECKING:
    from privmoo.study.study import Study

__all__ = ["convergence"]

_STEPS = 40


def convergence(
    self: Study, indicator: str = "hypervolume", problem: str | None = None
) -> pd.DataFrame:
    """An indicator over evaluations, or over seconds where these are the budget: one row per run and step.

    A solver without chance in it has its value from the beginning; one whose search could not be watched,
    such as a grid of swarms, only at the end.

    Args:
        self: The study.
        indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
        problem: Of this one only; of all by default.
    """
    better(indicator)
    wanted = [p.name for p in self.problems] if problem is None else [self.problem(problem).name]
    limit = Limit(self.settings["evaluations"], self.settings["seconds"])
    by = "seconds" if limit.evaluations is None else "evaluations"
    steps = (
        np.linspace(0, limit.seconds or 0.0, _STEPS + 1)[1:]
        if limit.evaluations is None
        else np.array(list(limit.marks()), dtype=np.float64)
    )
    constant = {s.name for s in self.solvers if s.deterministic}
    parts = []
    for o in self.outcomes:
        box = self.boxes.get(o.problem)
        if o.status == "failed" or box is None or o.problem not in wanted:
            continue
        known = {"problem": o.problem, "solver": o.solver, "seed": o.seed, by: steps}
        values = _values(o, box, indicator, steps, by, constant=o.solver in constant)
        parts.append(pd.DataFrame({**known, indicator: values}))
    if not parts:
        return pd.DataFrame(columns=["problem", "solver", "seed", by, indicator])
    frame = pd.concat(parts, ignore_index=True)
    whole = {"seed": "Int64"} | ({by: "int64"} if by == "evaluations" else {})
    return frame.astype(whole)


def _values(
    outcome: Outcome,
    box: Box,
    indicator: str,
    steps: NDArray[np.float64],
    by: str,
    *,
    constant: bool,
) -> NDArray[np.float64]:
    nothing = np.empty((0, len(box.low)))
    last = box.measure(indicator, outcome.F if outcome.status == "ok" else nothing)
    if constant:
        return np.full(len(steps), last)
    values = np.full(len(steps), np.nan)
    if len(outcome.at):
        at = outcome.at if by == "evaluations" else outcome.seconds
        known = np.array(
            [
                box.measure(indicator, nothing),
                *(box.measure(indicator, F) for F in outcome.fronts()),
            ]
        )
        values = known[np.searchsorted(at, steps, side="right")]
    values[-1] = last
    return values
