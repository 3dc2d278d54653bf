"""Attainment surfaces: what one run, half of the runs and all runs of a solver reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import moocore
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find
from privmoo.plot.style import COLOURS, headline, new_figure, plain_numbers, quiet_grid

if TYPE_CHECKING:
    from privmoo.front.front import Front

    Runs: TypeAlias = Sequence[Front] | Mapping[str, Sequence[Front]]

__all__ = ["Attained", "AttainmentPicture", "attainment_of", "plot_attainment", "staircase"]

Points: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Attained:
    """The attainment surfaces of one solver; points are their corners, as axes show them.

    Attributes:
        name: The solver; empty if there is only one.
        n_runs: The number of runs.
        best: Reached by at least one run.
        median: Reached by at least half of the runs.
        worst: Reached by all runs.
    """

    name: str
    n_runs: int
    best: Points
    median: Points
    worst: Points


@dataclass(frozen=True)
class AttainmentPicture:
    """The data of the picture of attainment surfaces.

    Attributes:
        groups: One per solver.
        labels: The labels of the two axes.
        logarithmic: Whether each axis is logarithmic.
        corner: The worst value of each axis, where surfaces end.
        title: What it shows, in one line.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> fronts = [pm.Front.of(problem, [x]) for x in ([0, 0, 1, 0, 0], [0, 0, 0, 0, 0])]
    >>> (group,) = attainment_of(fronts).groups
    >>> group.best.round(1).tolist(), group.worst.round(1).tolist()
    ([[6.0, 100.0], [3.0, 40.0]], [[3.0, 100.0]])
    """

    groups: tuple[Attained, ...]
    labels: tuple[str, str]
    logarithmic: tuple[bool, bool]
    corner: tuple[float, float]
    title: str


def attainment_of(fronts: Runs, *, objectives: Sequence[str] | None = None) -> AttainmentPicture:
    """Compute the data of the picture by the empirical attainment function.

    Args:
        fronts: The fronts of several runs, or several such groups by name.
        objectives: Two recorded quantities; the first objectives by default.
    """
    several = dict(fronts) if isinstance(fronts, Mapping) else {"": list(fronts)}
    everyone = [front for runs in several.values() for front in runs]
    if not everyone or not all(len(runs) for runs in several.values()):
        raise ProblemError("plot_attainment: give the fronts of at least one run of every solver")
    if not all(len(front) for front in everyone):
        raise ProblemError("plot_attainment: one of the fronts is empty")
    first = everyone[0]
    names = [q.key for q in first.objectives[:2]] if objectives is None else list(objectives)
    if len(names) != 2:
        raise ProblemError(f"plot_attainment: draws two objectives, got {len(names)}")
    x, y = (find(first.quantities, name, what="objectives") for name in names)
    for front in everyone:
        for q in (x, y):
            if find(front.quantities, q.key, what="objectives").sense != q.sense:
                raise ProblemError(f"plot_attainment: {q.key!r} is not the same in all fronts")
    points = np.concatenate([_points_of(front, (x, y)) for front in everyone])
    worst = [
        float(v.min() if q.sense == "max" else v.max())
        for q, v in zip((x, y), points.T, strict=True)
    ]
    runs = sum(len(group) for group in several.values())
    against = f"{_bare(x)} against {_bare(y)}"
    return AttainmentPicture(
        groups=tuple(_attainment_of(name, group, (x, y)) for name, group in several.items()),
        labels=(x.label, y.label),
        logarithmic=tuple(  # type: ignore[arg-type]
            q.logarithmic(np.concatenate([front.column(q.key) for front in everyone]))
            for q in (x, y)
        ),
        corner=(worst[0], worst[1]),
        title=f"What {count_noun(runs, 'run')} attained, {against}: best, median and worst",
    )


def _bare(quantity: Quantity) -> str:
    return quantity.label.removesuffix(" (%)")


def _points_of(front: Front, pair: tuple[Quantity, Quantity]) -> Points:
    return np.column_stack([q.shown(front.column(q.key)) for q in pair])


def _attainment_of(name: str, fronts: Sequence[Front], pair: tuple[Quantity, Quantity]) -> Attained:
    signs = np.array([q.sign for q in pair])
    points = np.concatenate([_points_of(front, pair) * signs for front in fronts])
    runs = np.repeat(np.arange(len(fronts)), [len(front) for front in fronts])
    n = len(fronts)
    levels = [100 * reached / n for reached in (1, -(-n // 2), n)]
    surfaces = []
    for level in levels:
        corners = np.asarray(moocore.eaf(points, runs, percentiles=[level]))[:, :2]
        surfaces.append(corners[np.argsort(corners[:, 0], kind="stable")] * signs)
    return Attained(name, n, *surfaces)


def staircase(points: Points, corner: tuple[float, float]) -> Points:
    """Return the outline of what some points attain, from one edge to the other.

    Args:
        points: The corners of the surface.
        corner: The worst value of each axis, where the outline ends.

    >>> staircase(np.array([[1.0, 3.0], [2.0, 1.0]]), (4.0, 5.0)).tolist()
    [[1.0, 5.0], [1.0, 3.0], [2.0, 3.0], [2.0, 1.0], [4.0, 1.0]]
    """
    x = np.repeat(points[:, 0], 2)
    y = np.concatenate([[corner[1]], np.repeat(points[:, 1], 2)[:-1]])
    return np.vstack([np.column_stack([x, y]), [[corner[0], points[-1, 1]]]])


def plot_attainment(
    fronts: Runs,
    *,
    objectives: Sequence[str] | None = None,
    colours: Mapping[str, int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what runs with different seeds attain (Grunert da Fonseca, Fonseca and Hall 2001).

    The line is what at least half of the runs reach, the band goes from what one run reaches to what all
    of them reach. Where the bands of two solvers do not overlap, one is better in every run.

    Args:
        fronts: The fronts of several runs, or several such groups by name.
        objectives: Which two recorded quantities; the first objectives by default.
        colours: The number of each group's colour; in their order by default.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
    >>> plot_attainment({"all": [front, front], "some": [front[1:]]}).get_title()
    'What 3 runs attained, k-anonymity against loss: best, median and worst'
    >>> plt.close("all")
    """
    picture = attainment_of(fronts, objectives=objectives)
    if ax is None:
        ax = new_figure(6.8, 4.6)[0]
    for place, group in enumerate(picture.groups):
        i = (colours or {}).get(group.name, place)
        colour = COLOURS[i % len(COLOURS)]
        best, median, worst = (
            staircase(points, picture.corner) for points in (group.best, group.median, group.worst)
        )
        name = f"{group.name}: " if group.name else ""
        lines = ("-", "--", "-.", ":")
        if group.n_runs > 1:
            band = np.vstack([best, worst[::-1]])
            ax.fill(band[:, 0], band[:, 1], color=colour, alpha=0.22, lw=0, zorder=2)
            for outline in (best, worst):
                ax.plot(outline[:, 0], outline[:, 1], color=colour, lw=0.7, zorder=2)
        label = f"{name}median of {count_noun(group.n_runs, 'run')}"
        ax.plot(
            median[:, 0],
            median[:, 1],
            lines[i // len(COLOURS) % len(lines)],
            color=colour,
            lw=2.0,
            label=label,
            zorder=3,
        )
    for logarithmic, part, scale in zip(
        picture.logarithmic, (ax.xaxis, ax.yaxis), (ax.set_xscale, ax.set_yscale), strict=True
    ):
        if logarithmic:
            scale("log")
            plain_numbers(part)
    ax.set_xlabel(picture.labels[0])
    ax.set_ylabel(picture.labels[1])
    quiet_grid(ax)
    headline(ax, picture.title)
    handles, names = ax.get_legend_handles_labels()
    if any(group.n_runs > 1 for group in picture.groups):
        handles.append(Patch(color="0.5", alpha=0.3, lw=0))
        names.append("band: from the best run to what all attain")
    ax.legend(handles, names, frameon=False, fontsize="small")
    return ax
