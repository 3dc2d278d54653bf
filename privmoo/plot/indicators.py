"""Box plots of an indicator over the runs of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.plot.convergence import INDICATOR_WORDS
from privmoo.plot.style import COLOURS, headline, new_figure, quiet_grid

if TYPE_CHECKING:
    from privmoo.study import Study

__all__ = ["IndicatorPicture", "indicator_of", "plot_indicator"]

_LETTERS = 10  # per hundred pixels, beyond which names would run into each other
_FEW = 40  # runs up to which each is drawn


@dataclass(frozen=True)
class IndicatorPicture:
    """The data of the picture of an indicator.

    Attributes:
        values: Finite values of the runs by solver.
        n_infeasible: How many runs of a solver found nothing feasible.
        label: The label of the axis.
        title: What it shows, in one line.
    """

    values: Mapping[str, NDArray[np.float64]]
    n_infeasible: Mapping[str, int]
    label: str
    title: str


def indicator_of(
    study: Study, problem: str | None = None, *, indicator: str = "hypervolume"
) -> IndicatorPicture:
    """Compute the data of the picture of an indicator.

    Args:
        study: The study.
        problem: The name of the problem; the only one by default.
        indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
    """
    entry = study.problem(problem)
    values = {name: v for name, v in study.values(entry.name, indicator).items() if len(v)}
    if not any(np.isfinite(v).any() for v in values.values()):
        raise ProblemError(f"plot_indicator: no run on {entry.name!r} found anything")
    rows = study.frame[(study.frame["problem"] == entry.name)]
    empty = rows[rows["status"] == "nothing feasible"]["solver"].value_counts()
    direction = "more" if indicator == "hypervolume" else "less"
    return IndicatorPicture(
        values={name: v[np.isfinite(v)] for name, v in values.items()},
        n_infeasible={str(name): int(n) for name, n in empty.items()},
        label=INDICATOR_WORDS[indicator],
        title=f"{entry.name}: {INDICATOR_WORDS[indicator]} of every run, {direction} is better",
    )


def plot_indicator(
    study: Study,
    problem: str | None = None,
    *,
    indicator: str = "hypervolume",
    ax: Axes | None = None,
) -> Axes:
    """Draw a box per solver, with every run as a point if there are few.

    Args:
        study: What `compare` returned.
        problem: The name of the problem; the only one by default.
        indicator: `"hypervolume"`, `"igd_plus"` or `"epsilon"`.
        ax: Where to draw; a new figure by default.
    """
    picture = indicator_of(study, problem, indicator=indicator)
    names = list(picture.values)
    if ax is None:
        ax = new_figure(max(5.2, 1.6 + 0.95 * len(names)), 4.2)[0]
    places = np.arange(len(names))
    box_plot = ax.boxplot(
        [picture.values[name] for name in names],
        positions=places,
        widths=0.55,
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "#222222"},
    )
    order = [solver.name for solver in study.solvers]
    for i, (box, name) in enumerate(zip(box_plot["boxes"], names, strict=True)):
        colour = COLOURS[order.index(name) % len(COLOURS)]
        box.set(facecolor=colour, alpha=0.35, edgecolor=colour)
        values = picture.values[name]
        if len(values) <= _FEW:
            shift = np.linspace(-0.16, 0.16, len(values)) if len(values) > 1 else np.zeros(1)
            ax.plot(places[i] + shift[: len(values)], values, "o", color=colour, ms=3.5, zorder=3)
    labels = [
        f"{name}\n({picture.n_infeasible[name]} found nothing)"
        if name in picture.n_infeasible
        else name
        for name in names
    ]
    ax.set_xticks(places, labels)
    if max(map(len, labels)) * len(labels) > _LETTERS * ax.get_window_extent().width / 100:
        ax.set_xticks(places, labels, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_ylabel(picture.label)
    quiet_grid(ax, "y")
    headline(ax, picture.title)
    return ax
