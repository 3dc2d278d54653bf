"""Convergence: the quality of the fronts of runs while their budget is spent."""

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


def convergence(study: Study, indicator: str, problem: str | None) -> pd.DataFrame:
    """Return an indicator at every step of every run, for `Study.convergence`.

    Args:
        study: The study.
        indicator: The name of the indicator.
        problem: The name of the problem; all problems if None.
    """
    better(indicator)
    names = [p.name for p in study.problems] if problem is None else [study.problem(problem).name]
    limit = Limit(study.settings["evaluations"], study.settings["seconds"])
    by = "seconds" if limit.evaluations is None else "evaluations"
    steps = (
        np.linspace(0, limit.seconds or 0.0, _STEPS + 1)[1:]
        if limit.evaluations is None
        else np.array(list(limit.marks()), dtype=np.float64)
    )
    constant = {s.name for s in study.solvers if s.deterministic}
    parts = []
    for o in study.outcomes:
        box = study.boxes.get(o.problem)
        if o.status == "failed" or box is None or o.problem not in names:
            continue
        run = {"problem": o.problem, "solver": o.solver, "seed": o.seed, by: steps}
        values = _values(o, box, indicator, steps, by, constant=o.solver in constant)
        parts.append(pd.DataFrame({**run, indicator: values}))
    if not parts:
        return pd.DataFrame(columns=["problem", "solver", "seed", by, indicator])
    frame = pd.concat(parts, ignore_index=True)
    integer_types = {"seed": "Int64"} | ({by: "int64"} if by == "evaluations" else {})
    return frame.astype(integer_types)


def _values(
    outcome: Outcome,
    box: Box,
    indicator: str,
    steps: NDArray[np.float64],
    by: str,
    *,
    constant: bool,
) -> NDArray[np.float64]:
    no_points = np.empty((0, len(box.low)))
    last = box.measure(indicator, outcome.F if outcome.status == "ok" else no_points)
    if constant:
        return np.full(len(steps), last)
    values = np.full(len(steps), np.nan)
    if len(outcome.at):
        positions = outcome.at if by == "evaluations" else outcome.seconds
        counts = np.array(
            [
                box.measure(indicator, no_points),
                *(box.measure(indicator, F) for F in outcome.fronts()),
            ]
        )
        values = counts[np.searchsorted(positions, steps, side="right")]
    values[-1] = last
    return values
