"""Parallel coordinates: many objectives at once, one line per solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.front.choice import need_solutions, place_of
from privmoo.front.choices import suggested
from privmoo.front.knees import marked_knee
from privmoo.front.quantities import Quantity, find
from privmoo.plot.style import ORANGE, RED, headline, new_figure, wrap_text

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution

__all__ = ["ParallelAxis", "ParallelPicture", "parallel_of", "plot_parallel"]

_TICKS = 5


@dataclass(frozen=True)
class ParallelAxis:
    """One of the parallel axes.

    Attributes:
        label: Its name and unit.
        heights: Where each solution is, from 0 (worst of the front) to 1 (best).
        ticks: Some heights.
        texts: The values there.
    """

    label: str
    heights: NDArray[np.float64]
    ticks: tuple[float, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ParallelPicture:
    """The data of parallel coordinates.

    Attributes:
        axes: Two or more.
        knee: Place of the knee; None if it is not worth marking.
        pick: Place of the pick, or of the suggested solution; None if there is none.
        suggested: Whether the pick is only suggested.
        title: What it shows, in one line.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> picture = parallel_of(pm.Front.of(pm.problems.Cuts(table), cuts))
    >>> [(axis.label, axis.heights.round(2).tolist()) for axis in picture.axes]
    [('k-anonymity', [0.0, 0.4, 1.0]), ('loss (%)', [1.0, 0.6, 0.0])]
    """

    axes: tuple[ParallelAxis, ...]
    knee: int | None
    pick: int | None
    suggested: bool
    title: str


def parallel_of(
    front: Front, *, pick: Solution | None = None, objectives: Sequence[str] | None = None
) -> ParallelPicture:
    """Compute the data of parallel coordinates.

    Args:
        front: The front.
        pick: A solution to mark.
        objectives: Two or more recorded quantities; all objectives by default.
    """
    need_solutions(front, "plot_parallel")
    names = [q.key for q in front.objectives] if objectives is None else list(objectives)
    if len(names) < 2:
        raise ProblemError(
            f"plot_parallel: draws two or more quantities, got {len(names)}; choose from "
            f"{', '.join(q.key for q in front.quantities)}"
        )
    quantities = [find(front.quantities, name, what="objectives") for name in names]
    return ParallelPicture(
        axes=tuple(_axis(q, front.column(q.key)) for q in quantities),
        knee=marked_knee(front),
        pick=suggested(front) if pick is None else place_of(front, pick, "plot_parallel", "pick"),
        suggested=pick is None,
        title=f"{count_noun(len(front), 'solution')}, a line each, coloured by "
        f"{quantities[0].label.removesuffix(' (%)')}; higher is better on every axis",
    )


def _axis(quantity: Quantity, values: NDArray[np.float64]) -> ParallelAxis:
    low, high = float(values.min()), float(values.max())
    if not high > low:
        label = quantity.label + " (the same for all)"
        return ParallelAxis(label, np.full(len(values), 0.5), (0.5,), (_text(quantity, low),))
    logarithmic = quantity.logarithmic(values)
    worst, best = (low, high) if quantity.sense == "max" else (high, low)
    if logarithmic:
        ends = np.log10([worst, best])
        inner = [float(f"{value:.2g}") for value in np.logspace(ends[0], ends[1], _TICKS)[1:-1]]
        numbers = np.array([worst, *inner, best])
        heights = (np.log10(numbers) - ends[0]) / (ends[1] - ends[0])
    else:
        heights = np.linspace(0, 1, _TICKS)
        numbers = worst + heights * (best - worst)
    return ParallelAxis(
        quantity.label,
        1 - quantity.scaled(values),
        tuple(heights.tolist()),
        tuple(_text(quantity, float(value)) for value in numbers),
    )


def _text(quantity: Quantity, value: float) -> str:
    number = float(quantity.shown(np.array([value]))[0])
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def plot_parallel(
    front: Front,
    *,
    pick: Solution | None = None,
    objectives: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw parallel coordinates: an axis per quantity, a line per solution, up is better.

    Lines that cross between two axes trade one quantity for the other; parallel lines have both.
    They are coloured by the first quantity.

    Args:
        front: The front.
        pick: A solution to mark.
        objectives: Two or more recorded quantities; all objectives by default.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
    >>> [tick.get_text() for tick in plot_parallel(front).get_xticklabels()]
    ['k-anonymity', 'loss (%)']
    >>> plt.close("all")
    """
    from matplotlib import colormaps

    picture = parallel_of(front, pick=pick, objectives=objectives)
    n = len(picture.axes)
    if ax is None:
        ax = new_figure(max(5.6, 2.0 * n + 1.2), 4.6)[0]
    heights = np.column_stack([axis.heights for axis in picture.axes])
    colours = colormaps["viridis"](heights[:, 0])
    places = np.arange(n)
    faint = float(np.clip(60 / len(heights), 0.12, 0.8))
    for line, colour in zip(heights, colours, strict=True):
        ax.plot(places, line, color=colour, alpha=faint, linewidth=1.0, zorder=2)
    for place, colour, name, dashes in (
        (picture.knee, ORANGE, "knee", "--"),
        (picture.pick, RED, "suggested" if picture.suggested else "pick", "-"),
    ):
        if place is not None:
            ax.plot(
                places, heights[place], dashes, color=colour, linewidth=2.4, label=name, zorder=4
            )
    for place, axis in enumerate(picture.axes):
        ax.axvline(place, color="0.35", linewidth=1.0, zorder=3)
        for height, text in zip(axis.ticks, axis.texts, strict=True):
            ax.plot([place - 0.012 * n, place], [height] * 2, color="0.35", linewidth=1.0, zorder=3)
            ax.annotate(
                text,
                (place, height),
                xytext=(-7, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize="small",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 0.8},
                zorder=5,
            )
    ax.set_xticks(places.tolist(), [wrap_text(axis.label, 1.5) for axis in picture.axes])
    ax.set_yticks([])
    ax.set_ylabel("better →")
    ax.set_xlim(-0.4, n - 0.8)
    ax.set_ylim(-0.05, 1.05)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    headline(ax, picture.title, above=22 if ax.get_legend_handles_labels()[1] else None)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(
            frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2
        )
    return ax
