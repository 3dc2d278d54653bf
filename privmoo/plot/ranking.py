"""Critical difference diagram: mean ranks over problems, and solvers that cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from privmoo.plot.style import BLUE, RED, headline, new_figure, quiet_grid

if TYPE_CHECKING:
    from privmoo.study import Ranking

__all__ = ["RankingPicture", "plot_ranking", "ranking_of"]


@dataclass(frozen=True)
class RankingPicture:
    """The data of the diagram.

    Attributes:
        names: Solvers, the best first.
        ranks: Their mean ranks.
        bars: First and last place of solvers that cannot be told apart.
        critical_difference: How much mean ranks must differ for solvers to be told apart.
        title: What it shows, in one line.
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    bars: tuple[tuple[int, int], ...]
    critical_difference: float
    title: str


def ranking_of(ranking: Ranking) -> RankingPicture:
    """Compute the data of the diagram.

    >>> from privmoo.study import Ranking
    >>> ranking_of(Ranking({"a": 1.0, "b": 1.5, "c": 3.0}, 10, 0.01, 1.0)).bars
    ((0, 1),)
    """
    names = tuple(ranking.ranks)
    return RankingPicture(
        names=names,
        ranks=tuple(ranking.ranks.values()),
        bars=tuple((names.index(g[0]), names.index(g[-1])) for g in ranking.groups()),
        critical_difference=ranking.critical_difference,
        title=f"Mean ranks over {ranking.n_problems} problems (1 is best); bars join solvers that cannot "
        f"be told apart (Friedman p = {ranking.p:.2g})",
    )


def plot_ranking(ranking: Ranking, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks over problems with the critical difference (Demšar 2006).

    Args:
        ranking: What `Study.ranking` returned.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt
    >>> from privmoo.study import Ranking
    >>> plot_ranking(Ranking({"a": 1.0, "b": 1.5, "c": 3.0}, 10, 0.01, 1.0)).get_xlabel()
    'mean rank'
    >>> plt.close("all")
    """
    picture = ranking_of(ranking)
    n = len(picture.names)
    if ax is None:
        ax = new_figure(6.8, 1.7 + 0.36 * n)[0]
    places = np.arange(n)
    ax.hlines(places, 1, picture.ranks, color="#d8d8d8", lw=1.2, zorder=1)
    ax.plot(picture.ranks, places, "o", color=BLUE, zorder=3)
    for i, (first, last) in enumerate(picture.bars):
        height = n + 0.25 * (i % 3) - 0.3  # a few rows below the solvers
        ax.plot(
            [picture.ranks[first], picture.ranks[last]], [height, height], color=RED, lw=3, zorder=2
        )
    right = max(n, 1 + picture.critical_difference)
    ax.plot([1, 1 + picture.critical_difference], [-0.8, -0.8], "|-", color="0.3", lw=1.2)
    ax.annotate(
        f"critical difference {picture.critical_difference:.2f}",
        (1 + picture.critical_difference / 2, -0.9),
        ha="center",
        va="bottom",
        fontsize="small",
    )
    ax.set_xlim(0.9, right + 0.1)
    ax.set_ylim(n + 0.6, -1.6)
    ax.set_yticks(places, picture.names)
    ax.set_xlabel("mean rank")
    ax.set_ylabel("solver")
    quiet_grid(ax, "x")
    headline(ax, picture.title)
    return ax
