"""Convergence: the quality of the fronts of solvers while their budget is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.plot.style import COLOURS, headline, new_figure, quiet_grid, whole_numbers
from privmoo.stats.medians import median

if TYPE_CHECKING:
    from privmoo.study import Study

__all__ = [
    "INDICATOR_WORDS",
    "ConvergenceLine",
    "ConvergencePicture",
    "convergence_of",
    "plot_convergence",
]

Values = NDArray[np.float64]
INDICATOR_WORDS = {
    "hypervolume": "hypervolume",
    "igd_plus": "IGD+",
    "epsilon": "additive epsilon",
}
_STYLES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class ConvergenceLine:
    """One solver: median and quartiles of its runs at every step; NaN if nothing is known.

    Attributes:
        name: The solver.
        n_runs: Its runs.
        low: The lower quartile.
        median: The median.
        high: The upper quartile.
    """

    name: str
    n_runs: int
    low: Values
    median: Values
    high: Values


@dataclass(frozen=True)
class ConvergencePicture:
    """The data of the picture of convergence.

    Attributes:
        lines: One per solver.
        steps: Evaluations or seconds.
        labels: The labels of the two axes.
        title: What it shows, in one line.
    """

    lines: tuple[ConvergenceLine, ...]
    steps: Values
    labels: tuple[str, str]
    title: str


def convergence_of(
    study: Study, problem: str | None = None, *, indicator: str = "hypervolume"
) -> ConvergencePicture:
    """Compute the data of the picture of convergence.

    Args:
        study: The study.
        problem: The name of the problem; the only one by default.
        indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
    """
    entry = study.problem(problem)
    frame = study.convergence(indicator, entry.name)
    if frame.empty:
        raise ProblemError(f"plot_convergence: no run on {entry.name!r} found anything")
    by = "evaluations" if "evaluations" in frame.columns else "seconds"
    lines = []
    for solver in study.solvers:
        part = frame[frame["solver"] == solver.name]
        if part.empty:
            continue
        wide = part[indicator].to_numpy(np.float64).reshape(-1, part[by].nunique())
        low, high = np.quantile(wide, [0.25, 0.75], axis=0, method="inverted_cdf")
        middle = np.array([median(column) for column in wide.T])  # as the tables have it
        lines.append(ConvergenceLine(solver.name, len(wide), low, middle, high))
    return ConvergencePicture(
        lines=tuple(lines),
        steps=np.unique(frame[by].to_numpy(np.float64)),
        labels=(by, INDICATOR_WORDS[indicator]),
        title=f"{entry.name}: {INDICATOR_WORDS[indicator]} over {by}, median and quartiles of the runs",
    )


def plot_convergence(
    study: Study,
    problem: str | None = None,
    *,
    indicator: str = "hypervolume",
    ax: Axes | None = None,
) -> Axes:
    """Draw an indicator over the budget: the line is the median of the runs, the band the quartiles.

    Args:
        study: What `compare` returned.
        problem: The name of the problem; the only one by default.
        indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
        ax: Where to draw; a new figure by default.
    """
    picture = convergence_of(study, problem, indicator=indicator)
    if ax is None:
        ax = new_figure(6.8, 4.2)[0]
    places = {solver.name: i for i, solver in enumerate(study.solvers)}
    for line in picture.lines:
        i = places[line.name]
        colour = COLOURS[i % len(COLOURS)]
        finite = np.isfinite(line.median)
        name = f"{line.name} ({line.n_runs})"
        if finite.sum() == 1:  # only the end is known
            ax.plot(
                picture.steps[finite], line.median[finite], "D", color=colour, label=name, zorder=4
            )
            continue
        band = finite & np.isfinite(line.low) & np.isfinite(line.high)
        ax.fill_between(
            picture.steps[band],
            line.low[band],
            line.high[band],
            color=colour,
            alpha=0.2,
            lw=0,
            zorder=2,
        )
        style = _STYLES[i // len(COLOURS) % len(_STYLES)]
        ax.plot(
            picture.steps[finite],
            line.median[finite],
            style,
            color=colour,
            lw=1.8,
            label=name,
            zorder=3,
        )
    if picture.labels[0] == "evaluations":
        whole_numbers(ax.xaxis)
    ax.set_xlabel(picture.labels[0])
    ax.set_ylabel(picture.labels[1])
    quiet_grid(ax)
    headline(ax, picture.title)
    ax.legend(frameon=False, fontsize="small", title="solver (runs)", title_fontsize="small")
    return ax
