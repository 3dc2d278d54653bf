"""Differences of attainment: the regions that one solver's runs attain more often than another's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.plot.attainment import attainment_of, staircase
from privmoo.plot.style import COLOURS, headline, new_figure, plain_numbers, quiet_grid

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["DifferencePicture", "difference_of", "differing", "plot_attainment_difference"]

Points: TypeAlias = NDArray[np.float64]
_ROUNDING = 1e-9  # rounding of shares
_PALEST = 0.12


@dataclass(frozen=True)
class DifferencePicture:
    """The data of the picture of a difference.

    Attributes:
        names: The two solvers.
        rectangles: Left, bottom, right and top of regions, as axes show them.
        differences: For every region the share of the first solver's runs that attain it minus that of
            the second's.
        medians: Corners of what at least half of the runs of each attain.
        labels: The labels of the two axes.
        logarithmic: Whether each axis is logarithmic.
        corner: The worst value of each axis.
        titles: What each of the two panels shows.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> one, two = (pm.Front.of(problem, X) for X in ([[0, 0, 1, 0, 0], [1] * 5, [0] * 5],
    ...                                               [[1] * 5, [0] * 5]))
    >>> picture = difference_of({"one": [one, two], "two": [two]})
    >>> picture.rectangles.round(1).tolist(), picture.differences.tolist()
    ([[1.0, 40.0, 3.0, 100.0]], [0.5])
    """

    names: tuple[str, str]
    rectangles: NDArray[np.float64]
    differences: NDArray[np.float64]
    medians: tuple[NDArray[np.float64], NDArray[np.float64]]
    labels: tuple[str, str]
    logarithmic: tuple[bool, bool]
    corner: tuple[float, float]
    titles: tuple[str, str]


def difference_of(
    fronts: Mapping[str, Sequence[Front]], *, objectives: Sequence[str] | None = None
) -> DifferencePicture:
    """Compute the data of the picture: differences of empirical attainment.

    López-Ibáñez et al. 2010.

    Args:
        fronts: The fronts of the runs of two solvers, by name.
        objectives: Two recorded quantities; the first objectives by default.
    """
    if len(fronts) != 2:
        raise ProblemError(f"plot_attainment_difference: compares two solvers, got {len(fronts)}")
    surfaces = attainment_of(fronts, objectives=objectives)
    first = next(iter(fronts.values()))[0]
    names = [q.key for q in first.objectives[:2]] if objectives is None else list(objectives)
    quantities = [next(q for q in first.quantities if q.key == name) for name in names]
    signs = np.array([q.sign for q in quantities])
    first_runs, second_runs = (
        [
            np.column_stack([q.shown(front.column(q.key)) for q in quantities]) * signs
            for front in runs
        ]
        for runs in fronts.values()
    )
    corner = np.array(surfaces.corner) * signs
    boxes, differences = differing(first_runs, second_runs, corner)
    pairs = np.concatenate([boxes[:, :2] * signs, boxes[:, 2:] * signs], axis=1)
    low, high = np.minimum(pairs[:, :2], pairs[:, 2:]), np.maximum(pairs[:, :2], pairs[:, 2:])
    first_group, second_group = surfaces.groups
    titles = [
        f"Where {group.name} ({count_noun(group.n_runs, 'run')}) attains more often"
        for group in surfaces.groups
    ]
    return DifferencePicture(
        names=(first_group.name, second_group.name),
        rectangles=np.concatenate([low, high], axis=1),
        differences=differences,
        medians=(first_group.median, second_group.median),
        labels=surfaces.labels,
        logarithmic=surfaces.logarithmic,
        corner=surfaces.corner,
        titles=(titles[0], titles[1]),
    )


def differing(
    first: Sequence[Points], second: Sequence[Points], corner: Points
) -> tuple[Points, NDArray[np.float64]]:
    """Return rectangles that two solvers attain differently often, and the difference, as minimised.

    It does not use moocore's `eafdiff`, which assumes that half of all runs are the first solver's: solvers
    that are deterministic, or whose runs failed, have other numbers of runs.

    Args:
        first: Points of every run of the first solver.
        second: Points of every run of the second.
        corner: The worst values, where the regions end.

    >>> differing([np.array([[1.0, 1.0]])], [np.array([[2.0, 2.0]])], np.array([3.0, 3.0]))[0].tolist()
    [[1.0, 1.0, 2.0, 3.0], [2.0, 1.0, 3.0, 2.0]]
    """
    edges = np.unique(np.concatenate([*(p[:, 0] for p in (*first, *second)), corner[:1]]))
    edges = edges[edges <= corner[0]]
    # Between two edges, a run attains everything above the least of its points to the left.
    lowest = np.vstack([_lowest(points, edges[:-1]) for points in (*first, *second)])
    share = np.concatenate(
        [np.full(len(first), 1 / len(first)), np.full(len(second), -1 / len(second))]
    )
    boxes, differences = [], []
    for column, (left, right) in enumerate(pairwise(edges)):
        order = np.argsort(lowest[:, column], kind="stable")
        heights = np.append(lowest[order, column], corner[1])
        shares = np.cumsum(share[order])
        for bottom, top, difference in zip(heights[:-1], heights[1:], shares, strict=True):
            if bottom < min(top, corner[1]) and abs(difference) > _ROUNDING:
                boxes.append((left, bottom, right, min(top, corner[1])))
                differences.append(difference)
    return np.array(boxes, np.float64).reshape(-1, 4), np.array(differences, np.float64)


def _lowest(points: Points, edges: Points) -> Points:
    in_order = points[np.argsort(points[:, 0], kind="stable")]
    running_minimum = np.append(np.inf, np.minimum.accumulate(in_order[:, 1]))
    return np.asarray(running_minimum[np.searchsorted(in_order[:, 0], edges, side="right")])


def plot_attainment_difference(
    fronts: Mapping[str, Sequence[Front]],
    *,
    objectives: Sequence[str] | None = None,
    colours: Mapping[str, int] | None = None,
) -> list[Axes]:
    """Draw where the runs of one solver attain more often than those of another, one panel each.

    The darker, the larger the difference: from none to all runs. The line is what half of the solver's
    runs attain.

    Args:
        fronts: The fronts of the runs of two solvers, by name.
        objectives: Which two recorded quantities; the first objectives by default.
        colours: The number of each solver's colour; in their order by default.
    """
    picture = difference_of(fronts, objectives=objectives)
    axes = new_figure(11.5, 4.6, 2)
    for side, (ax, sign) in enumerate(zip(axes, (1.0, -1.0), strict=True)):
        advantage = sign * picture.differences
        colour = COLOURS[(colours or {}).get(picture.names[side], side) % len(COLOURS)]
        better = np.flatnonzero(advantage > 0)
        patches = [
            Rectangle((x, y), right - x, top - y) for x, y, right, top in picture.rectangles[better]
        ]
        shades = _PALEST + (0.9 - _PALEST) * np.clip(advantage[better], 0, 1)
        faces = [(*to_rgb(colour), float(shade)) for shade in shades]
        ax.add_collection(PatchCollection(patches, facecolors=faces, edgecolors="none", zorder=2))
        outline = staircase(picture.medians[side], picture.corner)
        ax.plot(outline[:, 0], outline[:, 1], color="0.25", lw=1.2, zorder=3)
        for logarithmic, part, scale in zip(
            picture.logarithmic, (ax.xaxis, ax.yaxis), (ax.set_xscale, ax.set_yscale), strict=True
        ):
            if logarithmic:
                scale("log")
                plain_numbers(part)
        ax.set_xlabel(picture.labels[0])
        ax.set_ylabel(picture.labels[1])
        quiet_grid(ax)
        headline(ax, picture.titles[side])
        ax.legend(
            [Patch(color=colour, alpha=a) for a in (0.9, 0.51, _PALEST)],
            ["in all runs more", "in half of the runs more", "in few runs more"],
            frameon=False,
            fontsize="small",
        )
    return axes
