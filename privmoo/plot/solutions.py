"""Pictures of one solution: the sizes of its groups, and the loss of every attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.plot.style import (
    BLUE,
    ORANGE,
    RED,
    headline,
    new_figure,
    plain_numbers,
    quiet_grid,
    short,
    whole_numbers,
)

if TYPE_CHECKING:
    from privmoo.front.solution import Solution

__all__ = [
    "GroupSizesPicture",
    "LossPicture",
    "group_sizes_of",
    "loss_of",
    "plot_group_sizes",
    "plot_loss",
]


@dataclass(frozen=True)
class GroupSizesPicture:
    """Released records by the size of their QI-group.

    Attributes:
        sizes: The sizes that occur.
        records: Records in groups of each size.
        title: What it shows, in one line.
    """

    sizes: NDArray[np.float64]
    records: NDArray[np.float64]
    title: str


def group_sizes_of(solution: Solution) -> GroupSizesPicture:
    """Compute the data of the picture of group sizes."""
    by_size = solution.group_sizes()
    if not len(by_size):
        raise ProblemError("plot_group_sizes: the release has no records")
    n_records, groups = int(by_size["records"].sum()), int(by_size["groups"].sum())
    title = (
        f"{count_noun(n_records, 'released record')} in {count_noun(groups, 'QI-group')}, "
        "by the size of their group"
    )
    sizes, records = by_size.index.to_numpy(float), by_size["records"].to_numpy(float)
    return GroupSizesPicture(sizes, records, title)


def plot_group_sizes(solution: Solution, *, ax: Axes | None = None) -> Axes:
    """Draw the released records by the size of their QI-group (Dewri et al. 2011, inset of Fig. 6).

    Args:
        solution: The solution.
        ax: Where to draw; a new figure by default.
    """
    picture = group_sizes_of(solution)
    sizes = picture.sizes
    if ax is None:
        ax = new_figure(6.4, 3.8)[0]
    if sizes.max() / sizes.min() > 100:
        edges = np.geomspace(sizes.min(), sizes.max() + 1, 31)
        ax.set_xscale("log")
        plain_numbers(ax.xaxis)
    else:
        step = max(1, int(np.ceil((sizes.max() - sizes.min() + 1) / 40)))
        edges = np.arange(sizes.min() - 0.5, sizes.max() + step + 0.5, step)
    ax.hist(
        sizes,
        bins=edges.tolist(),
        weights=picture.records,
        color=BLUE,
        edgecolor="white",
        linewidth=0.5,
    )
    ax.axvline(sizes.min(), color=RED, linewidth=1.2, label=f"smallest group: {sizes.min():,.0f}")
    if ax.get_xscale() == "linear":
        few = np.arange(sizes.min(), sizes.max() + 1)
        whole_numbers(ax.xaxis)
        if len(few) <= 15:
            ax.set_xticks(few.tolist())
    whole_numbers(ax.yaxis)
    ax.set_xlabel("size of the QI-group (records)")
    ax.set_ylabel("records")
    headline(ax, picture.title, above=22)
    # Above the axes: a bar may be anywhere inside.
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return ax


@dataclass(frozen=True)
class LossPicture:
    """The loss of every quasi-identifier.

    Attributes:
        names: The quasi-identifiers, the one that loses the most first.
        losses: Their losses, as fractions.
        title: What it shows, in one line.
    """

    names: tuple[str, ...]
    losses: NDArray[np.float64]
    title: str

    @property
    def mean(self) -> float:
        """The mean loss of the attributes."""
        return float(self.losses.mean())


def loss_of(solution: Solution) -> LossPicture:
    """Compute the data of the picture of losses."""
    losses = solution.loss_per_attribute().sort_values(ascending=False, kind="stable")
    phrases = ", ".join(q.phrase(solution.values[q.key]) for q in solution.front.objectives)
    title = f"What each attribute loses in solution {solution.number} ({phrases})"
    return LossPicture(tuple(map(str, losses.index)), losses.to_numpy(float), title)


def plot_loss(solution: Solution, *, ax: Axes | None = None) -> Axes:
    """Draw the loss of every quasi-identifier; suppressed records have lost all.

    Args:
        solution: The solution.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> solution = pm.Front.of(pm.problems.Cuts(table), [[0, 0, 1, 0, 0]])[0]
    >>> plot_loss(solution).get_title().replace(chr(10), " ")
    'What each attribute loses in solution 0 (k = 3, 40 % loss)'
    >>> plt.close("all")
    """
    picture = loss_of(solution)
    places = np.arange(len(picture.names))
    if ax is None:
        ax = new_figure(6.4, 1.7 + 0.32 * len(places))[0]
    percents = 100 * picture.losses
    ax.barh(places, percents, color=BLUE, height=0.7)
    for place, value in zip(places, percents, strict=True):
        inside = value > 85
        ax.annotate(
            f"{value:.3g} %",
            (value, place),
            xytext=(-4 if inside else 4, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            fontsize="small",
            color="white" if inside else "black",
            bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            zorder=5,
        )
    mean = 100 * picture.mean
    ax.axvline(mean, color=ORANGE, linestyle="--", linewidth=1.4, label=f"mean: {mean:.3g} %")
    ax.set_yticks(places.tolist(), [short(name) for name in picture.names])
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_xlim(0, max(100.0, float(percents.max())))
    ax.xaxis.set_major_formatter(PercentFormatter(symbol=""))
    ax.set_xlabel("loss of the attribute (%)")
    ax.set_ylabel("quasi-identifier")
    quiet_grid(ax, "x")
    headline(ax, picture.title, above=22, inches=5.0)
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return ax
