"""Marginal rates: what each step along a trade-off buys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.front.choices import suggested
from privmoo.front.pairs import pair_of
from privmoo.plot.style import (
    BLUE,
    ORANGE,
    PALE,
    RED,
    headline,
    new_figure,
    plain_numbers,
    quiet_grid,
)

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["RatesPicture", "plot_rates", "rates_of"]


@dataclass(frozen=True)
class RatesPicture:
    """The data of the picture of marginal rates.

    Attributes:
        costs: The cost of every solution along the trade-off, as an axis shows it, growing.
        rates: Gain per cost of the step to the next one; the area of a step is what it buys.
        average: Gain per cost over the whole trade-off.
        knee: Cost of the knee; None if it is not on the way, or at an end.
        suggested: Cost of the solution that `choices` suggests; None if it is not on the way.
        logarithmic: Whether the axis of the cost is logarithmic.
        x_label: Name and unit of the cost.
        y_label: Name and unit of the rates.
        title: What it shows, in one line.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> picture = rates_of(pm.Front.of(pm.problems.Cuts(table), cuts))
    >>> picture.y_label, picture.costs.round(3).tolist(), picture.rates.round(3).tolist()
    ('k-anonymity per point of loss', [0.0, 40.0, 100.0], [0.05, 0.05])
    """

    costs: NDArray[np.float64]
    rates: NDArray[np.float64]
    average: float
    knee: float | None
    suggested: float | None
    logarithmic: bool
    x_label: str
    y_label: str
    title: str


def rates_of(front: Front, *, gain: str | None = None, cost: str | None = None) -> RatesPicture:
    """Compute the data of the picture of marginal rates.

    Args:
        front: The front.
        gain: What is bought; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
    """
    pair = pair_of(front, gain, cost)
    if len(pair.rows) < 2:
        raise ProblemError(
            "plot_rates: needs two solutions, of which one costs more than the other"
        )
    gained, paid = pair.gained, pair.paid
    costs, gains = paid.shown(pair.costs), gained.shown(pair.gains)
    rates = np.abs(np.diff(gains) / np.diff(costs))
    if paid.sense == "max":  # the most expensive solution has the least of it
        costs, rates = costs[::-1], rates[::-1]
    unit = "point" if paid.percent else "1"
    bought = f"the next point of {paid.words}" if paid.percent else paid.words
    name = gained.label.removesuffix(" (%)")
    knee, start = front.knee().index, suggested(front)
    axis_values = paid.shown(front.column(paid.key))
    return RatesPicture(
        costs=costs,
        rates=rates,
        average=float(abs((gains[-1] - gains[0]) / (costs[-1] - costs[0]))),
        knee=float(axis_values[knee]) if knee in pair.rows[1:-1] else None,  # an end is not a knee
        suggested=float(axis_values[start]) if start is not None and start in pair.rows else None,
        x_label=paid.label,
        y_label=f"{gained.label} per {unit} of {paid.words}",
        logarithmic=paid.logarithmic(pair.costs),
        title=f"What {bought} buys of {name}, step by step",
    )


def plot_rates(
    front: Front, *, gain: str | None = None, cost: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the marginal rates of `Front.rates`: high where a little cost buys much.

    Args:
        front: The front.
        gain: What is bought; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
    >>> plot_rates(front).get_title()
    'What the next point of loss buys of k-anonymity, step by step'
    >>> plt.close("all")
    """
    picture = rates_of(front, gain=gain, cost=cost)
    if ax is None:
        ax = new_figure(7.0, 4.2)[0]
    rates, costs = picture.rates, picture.costs
    if rates.min() > 0 and rates.max() / rates.min() > 100:
        ax.set_yscale("log")
    base = float(rates.min()) / 2 if ax.get_yscale() == "log" else 0.0
    ax.stairs(rates, costs, baseline=base, fill=True, color=PALE, zorder=2)
    ax.stairs(
        np.where(rates > picture.average, rates, base),
        costs,
        baseline=base,
        fill=True,
        color=BLUE,
        label="steps above the average",
        zorder=3,
    )
    label = f"average: {picture.average:,.3g}"
    ax.axhline(picture.average, color="0.25", ls="--", lw=1.4, label=label, zorder=4)
    if picture.knee is not None:
        ax.axvline(picture.knee, color=ORANGE, ls=":", lw=1.6, label="knee", zorder=4)
    if picture.suggested is not None:
        ax.axvline(picture.suggested, color=RED, ls="-.", lw=1.4, label="suggested", zorder=4)
    ax.set_xlim(float(costs.min()), float(costs.max()))
    ax.set_ylim(bottom=base)
    if ax.get_yscale() == "log":
        plain_numbers(ax.yaxis)
    if picture.logarithmic:
        ax.set_xscale("log")
        plain_numbers(ax.xaxis)
    ax.set_xlabel(picture.x_label)
    ax.set_ylabel(picture.y_label)
    quiet_grid(ax)
    headline(ax, picture.title, above=22)
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 4}
    ax.legend(frameon=False, fontsize="x-small", columnspacing=1.2, **place)
    return ax
