"""Pictures of a front: two objectives in one panel, three in a panel per pair, or in space."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.front.choice import place_of
from privmoo.front.choices import suggested
from privmoo.front.knees import marked_knee
from privmoo.front.quantities import Quantity, find
from privmoo.plot.style import (
    BLUE,
    COLOURS,
    GREY,
    ORANGE,
    RED,
    headline,
    new_figure,
    plain_numbers,
    quiet_grid,
    whole_numbers,
)

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution

__all__ = [
    "Axis",
    "FrontPicture",
    "axis_of",
    "mark",
    "picture_of",
    "plot_front",
    "plot_front_3d",
    "thumbnail",
]

_MOST = 3


@dataclass(frozen=True)
class Axis:
    """The data of one axis.

    Attributes:
        label: The name of the quantity.
        values: The front's values in the natural sense, fractions in per cent.
        dominated: The values of dominated candidates.
        logarithmic: Whether the axis is logarithmic.
    """

    label: str
    values: NDArray[np.float64]
    dominated: NDArray[np.float64]
    logarithmic: bool


@dataclass(frozen=True)
class FamilyPoints:
    """One family of recodings in a picture of two objectives.

    Attributes:
        name: The name of the family.
        places: The places of its solutions on the front.
        x: Its own front on the first axis; solutions of other families may dominate it.
        y: Its own front on the second axis.
    """

    name: str
    places: NDArray[np.intp]
    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """The gap between what was found and what is still possible, as steps in k.

    Attributes:
        k: Where the steps end.
        found: The best values that were found.
        possible: The best values that are possible.
        upright: Whether k is on the vertical axis.
    """

    k: NDArray[np.float64]
    found: NDArray[np.float64]
    possible: NDArray[np.float64]
    upright: bool


@dataclass(frozen=True)
class FrontPicture:
    """The data of a picture of a front, for any program that draws.

    Attributes:
        axes: The axes, one to three.
        knee: Place of the knee among the solutions; None if it is not worth marking.
        pick: Place of the pick, or of the suggested solution; None if there is none.
        suggested: Whether the pick is only suggested.
        title: What it shows, in one line.
        families: The families of recodings, if the front has several.
        band: What an exact search that ended early has not decided; None if there is nothing.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> picture = picture_of(pm.Front.of(problem, [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]]))
    >>> [(axis.label, axis.values.round(3).tolist()) for axis in picture.axes]
    [('k-anonymity', [1.0, 3.0]), ('loss (%)', [0.0, 40.0])]
    >>> picture.title
    'Front of 2 solutions: k-anonymity against loss'
    """

    axes: tuple[Axis, ...]
    knee: int | None
    pick: int | None
    title: str = ""
    families: tuple[FamilyPoints, ...] = ()
    suggested: bool = False
    band: Band | None = None

    @property
    def name_of_pick(self) -> str:
        """What the legend calls the pick."""
        return "suggested" if self.suggested else "pick"


def picture_of(
    front: Front, *, pick: Solution | None = None, objectives: Sequence[str] | None = None
) -> FrontPicture:
    """Return the data of a picture of up to three objectives.

    Args:
        front: The front.
        pick: A solution to mark.
        objectives: One to three recorded quantities; the first objectives by default.
    """
    if not len(front):
        raise ProblemError("plot: the front is empty")
    names = [q.key for q in front.objectives[:_MOST]] if objectives is None else list(objectives)
    if not 1 <= len(names) <= _MOST:
        raise ProblemError(
            f"plot: draws one to three objectives, got {len(names)}; choose with "
            "plot(objectives=(…, …))"
        )
    quantities = [find(front.quantities, name, what="objectives") for name in names]
    place = suggested(front) if pick is None else place_of(front, pick, "plot", "pick")
    knee = marked_knee(front)
    title = _title(front, quantities, is_default=objectives is None)
    axes = tuple(axis_of(front, q) for q in quantities)
    families = _families_of(front, quantities)
    band = _band_of(front, quantities)
    return FrontPicture(axes, knee, place, title, families, suggested=pick is None, band=band)


def _band_of(front: Front, quantities: Sequence[Quantity]) -> Band | None:
    """Return what is not proven, if an exact search ended early and its two objectives are drawn."""
    if "bound" not in front.run or tuple(quantities) != front.objectives or len(quantities) != 2:
        return None
    gap = front.gap()
    is_known = np.isfinite(gap.found)
    best, possible = (gap.cost.shown(values[is_known]) for values in (gap.found, gap.possible))
    return Band(gap.k[is_known].astype(np.float64), best, possible, quantities[1].key == "k")


def _families_of(front: Front, quantities: Sequence[Quantity]) -> tuple[FamilyPoints, ...]:
    """Return the families of a front with two objectives, as its picture shows them."""
    if front.families is None or tuple(quantities) != front.objectives or len(quantities) != 2:
        return ()
    facts = front.run.get("families") or {}
    names = np.array(front.families)
    families = []
    for name in facts or sorted(set(front.families)):
        points = np.asarray(facts[name]["objectives"] if facts else np.empty((0, 2)), np.float64)
        points = points[np.argsort(points[:, 0])]
        x, y = (q.shown(q.sign * points[:, i]) for i, q in enumerate(quantities))
        families.append(FamilyPoints(name, np.flatnonzero(names == name), x, y))
    return tuple(families)


def _title(front: Front, quantities: Sequence[Quantity], *, is_default: bool) -> str:
    first, *others = (q.label.removesuffix(" (%)") for q in quantities)
    text = f"Front of {count_noun(len(front), 'solution')}: {first}"
    if others:
        text += f" against {' and '.join(others)}"
    if is_default and front.n_objectives > len(quantities):
        text += f" (the first {len(quantities)} of {front.n_objectives} objectives)"
    return text


def axis_of(front: Front, quantity: Quantity) -> Axis:
    """Return the values of a front on one axis.

    Args:
        front: The front.
        quantity: The quantity on the axis.
    """
    values = front.column(quantity.key)
    beside = np.empty(0)
    if quantity in front.objectives:
        beside = front.dominated[:, front.objectives.index(quantity)]
    logarithmic = quantity.logarithmic(values)
    if logarithmic:
        beside = np.where(beside > 0, beside, np.nan)
    return Axis(quantity.label, quantity.shown(values), quantity.shown(beside), logarithmic)


def plot_front(
    front: Front,
    *,
    pick: Solution | None = None,
    ax: Axes | None = None,
    objectives: Sequence[str] | None = None,
) -> Any:
    """Draw a front, with dominated candidates in grey, and mark the knee and the pick.

    Three objectives give three panels, one for each pair, coloured by the third; with `ax` only the
    first of them. If there are more, the first three are drawn; a single objective is drawn as the
    place of the front among all candidates. A front of several families is coloured by family, and a
    line shows the front that each family has alone. An axis is logarithmic if the front spans more than
    two decades.

    Args:
        front: The front.
        pick: A solution to mark.
        ax: Where to draw; a new figure by default.
        objectives: One to three recorded quantities; the first objectives by default.

    Returns:
        The axes, or an array of three.
    """
    picture = picture_of(front, pick=pick, objectives=objectives)
    if len(picture.axes) < _MOST or ax is not None:
        ax = new_figure(6.4, 4.4, 1)[0] if ax is None else ax
        _first_panel(ax, picture)
        return ax
    first, second, third = picture.axes
    panels = new_figure(15.0, 4.4, 3)
    for panel, (x, y, colour) in zip(
        panels,
        ((first, second, third), (first, third, second), (second, third, first)),
        strict=True,
    ):
        _panel(panel, picture, x, y, colour)
    figure = panels[0].get_figure(root=True)
    if figure is not None:
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        figure.suptitle(f"{picture.title}; each pair, coloured by the third", fontsize="medium")
        for panel in panels:
            headline(panel, f"{_bare(panel.get_ylabel())} by {_bare(panel.get_xlabel())}")
    return np.array(panels, dtype=object)


def _bare(label: str) -> str:
    return label.removesuffix(" (%)")


def _first_panel(ax: Axes, picture: FrontPicture) -> None:
    if len(picture.axes) == 1:
        _line(ax, picture, picture.axes[0])
    else:
        first, second, *rest = picture.axes
        _panel(ax, picture, first, second, rest[0] if rest else None)
    ax.legend(frameon=False, fontsize="small")
    headline(ax, picture.title)


def _line(ax: Axes, picture: FrontPicture, x: Axis) -> None:
    """Draw one objective: how many candidates had which value, and where the front is."""
    everyone = np.concatenate([x.dominated[np.isfinite(x.dominated)], x.values])
    if x.logarithmic:
        ax.set_xscale("log")
        plain_numbers(ax.xaxis)
        edges = np.geomspace(everyone.min(), everyone.max(), 31)
    else:
        edges = np.histogram_bin_edges(everyone, 30)
    ax.hist(everyone, bins=edges.tolist(), color=GREY, label="candidates")
    for i, value in enumerate(x.values):
        ax.axvline(value, color=BLUE, linewidth=1.8, label="_" if i else "front")
    if picture.pick is not None:
        name = picture.name_of_pick
        ax.axvline(x.values[picture.pick], color=RED, linestyle="--", linewidth=1.8, label=name)
    ax.set_xlabel(x.label)
    ax.set_ylabel("candidates")
    whole_numbers(ax.yaxis)


def _panel(ax: Axes, picture: FrontPicture, x: Axis, y: Axis, colour: Axis | None) -> None:
    if picture.band is not None:
        band = picture.band
        fill = ax.fill_betweenx if band.upright else ax.fill_between
        fill(
            band.k,
            band.possible,
            band.found,
            step="pre",
            color=BLUE,
            alpha=0.18,
            linewidth=0,
            label="not decided",
            zorder=0,
        )
    if len(x.dominated) and len(y.dominated):
        ax.scatter(
            x.dominated, y.dominated, s=6, color=GREY, label="dominated", zorder=1, rasterized=True
        )
    options: dict[str, Any] = {"s": 16, "zorder": 3, "label": "front"}
    if picture.families:
        for family, shade in zip(picture.families, cycle(COLOURS), strict=False):
            ax.plot(family.x, family.y, color=shade, linewidth=0.8, alpha=0.6, zorder=2)
            x_values, y_values = x.values[family.places], y.values[family.places]
            ax.scatter(x_values, y_values, color=shade, **{**options, "label": family.name})
    elif colour is None:
        ax.scatter(x.values, y.values, color=BLUE, **options)
    else:
        norm = "log" if colour.logarithmic else None
        points = ax.scatter(
            x.values, y.values, c=colour.values, cmap="viridis", norm=norm, **options
        )
        bar = ax.figure.colorbar(points, ax=ax, label=colour.label)
        if colour.logarithmic:
            plain_numbers(bar.ax.yaxis)
    if picture.knee is not None:
        mark(ax, x, y, picture.knee, "D", ORANGE, "knee")
    if picture.pick is not None:
        mark(ax, x, y, picture.pick, "*", RED, picture.name_of_pick)
    for axis, part in ((x, ax.xaxis), (y, ax.yaxis)):
        if axis.logarithmic:
            (ax.set_xscale if part is ax.xaxis else ax.set_yscale)("log")
            plain_numbers(part)
    ax.set_xlabel(x.label)
    ax.set_ylabel(y.label)
    quiet_grid(ax)


def mark(ax: Axes, x: Axis, y: Axis, place: int, marker: str, colour: str, name: str) -> None:
    """Mark one solution: a hollow diamond for a knee, a star for a pick.

    Args:
        ax: Where to draw.
        x: The horizontal axis.
        y: The vertical axis.
        place: The place of the solution.
        marker: `"D"` or `"*"`.
        colour: The colour of the marker.
        name: The text in the legend.
    """
    ax.scatter(
        [x.values[place]],
        [y.values[place]],
        marker=marker,
        s=170 if marker == "*" else 90,
        facecolors="none" if marker == "D" else colour,
        edgecolors=colour,
        linewidths=1.8,
        label=name,
        zorder=5 if marker == "*" else 4,
    )


def plot_front_3d(
    front: Front, *, pick: Solution | None = None, objectives: Sequence[str] | None = None
) -> Any:
    """Draw three objectives in space, each solution with its drop line to the floor.

    The third one is up and colours the points. A picture in space shows the shape of a surface; to read
    values, see `plot_front`, which has a panel for each pair.

    Args:
        front: The front.
        pick: A solution to mark.
        objectives: Three recorded quantities; the first objectives by default.

    Returns:
        The axes, which can be turned.
    """
    import matplotlib.pyplot as plt

    picture = picture_of(front, pick=pick, objectives=objectives)
    if len(picture.axes) < _MOST:
        raise ProblemError(
            f"plot_front_3d: needs three objectives, got {len(picture.axes)}; use plot_front"
        )
    figure = plt.figure(figsize=(6.6, 5.8), layout="constrained")
    ax: Any = figure.add_subplot(projection="3d")
    # 3D plots have no logarithmic axes: the logarithm is drawn, and the ticks show the number.
    x, y, z = (np.log10(a.values) if a.logarithmic else a.values for a in picture.axes)
    floor = z.min() - 0.02 * (np.ptp(z) or 1.0)
    for left, depth, height in zip(x, y, z, strict=True):
        ax.plot([left] * 2, [depth] * 2, [floor, height], color=GREY, linewidth=0.5, zorder=1)
    ax.scatter(x, y, z, c=z, cmap="viridis", s=16, depthshade=False, label="front")
    for place, marker, colour, name in (
        (picture.knee, "D", ORANGE, "knee"),
        (picture.pick, "*", RED, picture.name_of_pick),
    ):
        if place is not None:
            size, at = (170, ([x[place]], [y[place]], [z[place]]))
            ax.scatter(*at, marker=marker, color=colour, s=size / 2, depthshade=False, label=name)
    for axis, set_label, part in zip(
        picture.axes,
        (ax.set_xlabel, ax.set_ylabel, ax.set_zlabel),
        (ax.xaxis, ax.yaxis, ax.zaxis),
        strict=True,
    ):
        set_label(axis.label, labelpad=8)
        if axis.logarithmic:
            part.set_major_locator(MaxNLocator(6, integer=True))
            part.set_major_formatter(FuncFormatter(lambda value, _: f"{10**value:,g}"))
    ax.view_init(elev=22, azim=-125)
    ax.zaxis.set_rotate_label(False)
    ax.zaxis.label.set_rotation(90)
    ax.set_box_aspect(None, zoom=0.92)  # the label of the upright axis needs room
    headline(ax, picture.title)
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return ax


def thumbnail(front: Front) -> bytes:
    """Return a small PNG of a front, drawn without pyplot so that no figure stays open."""
    figure = Figure(figsize=(4.4, 2.9), layout="constrained")
    picture = picture_of(front)
    _first_panel(figure.subplots(), picture)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=80)
    return content.getvalue()
