"""Pictures of fronts and solutions, by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution

__all__ = ["Axis", "FrontPicture", "picture_of", "plot_front", "plot_group_sizes", "thumbnail"]

_MOST = 3
_GREY, _BLUE, _RED, _ORANGE = "#c8c8c8", "#1f5fa8", "#c1272d", "#e08a00"


@dataclass(frozen=True)
class Axis:
    """What one axis shows.

    Attributes:
        label: Its name, in the natural sense.
        values: The front's values as shown: fractions in per cent.
        dominated: Those of dominated candidates.
        logarithmic: Whether it needs a logarithm.
    """

    label: str
    values: NDArray[np.float64]
    dominated: NDArray[np.float64]
    logarithmic: bool


@dataclass(frozen=True)
class FrontPicture:
    """What a picture of a front shows, whoever draws it.

    Attributes:
        axes: One to three.
        knee: Place of the knee among the solutions; None if it is no news.
        pick: Place of the pick; None if there is none.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> picture = picture_of(pm.Front.of(problem, [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]]))
    >>> [(axis.label, axis.values.round(3).tolist()) for axis in picture.axes]
    [('k-anonymity', [1.0, 3.0]), ('loss (%)', [0.0, 40.0])]
    """

    axes: tuple[Axis, ...]
    knee: int | None
    pick: int | None


def picture_of(
    front: Front, *, pick: Solution | None = None, objectives: Sequence[str] | None = None
) -> FrontPicture:
    """The data of a picture: up to three objectives of a front, the first ones by default."""
    if not len(front):
        raise ProblemError("plot: the front is empty")
    names = [q.key for q in front.objectives[:_MOST]] if objectives is None else list(objectives)
    if not 1 <= len(names) <= _MOST:
        raise ProblemError(
            f"plot: draws one to three objectives, got {len(names)}; choose with "
            "plot(objectives=(…, …))"
        )
    axes = tuple(_axis(front, find(front.quantities, name, what="objectives")) for name in names)
    place = None
    if pick is not None:
        places = [i for i, solution in enumerate(front) if solution == pick]
        if not places:
            raise ProblemError("plot: the pick is not on this front")
        place = places[0]
    return FrontPicture(axes, front.knee().index if len(front) > 2 else None, place)


def _axis(front: Front, quantity: Quantity) -> Axis:
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
    """Draw a front: dominated candidates grey, the knee and the pick marked.

    Three objectives give three panels, one for each pair, coloured by the third; with `ax` only the
    first of them. Of more objectives the first three are drawn; of a single one, where the front lies
    among all candidates. An axis is logarithmic where the front spreads over more than two decades.

    Args:
        front: The front.
        pick: A solution to mark.
        ax: Where to draw; a new figure by default.
        objectives: Which one to three recorded quantities; the first objectives by default.

    Returns:
        The axes, or an array of three.
    """
    picture = picture_of(front, pick=pick, objectives=objectives)
    if len(picture.axes) < _MOST or ax is not None:
        ax = _new_figure(6.4, 4.4, 1)[0] if ax is None else ax
        _first_panel(ax, picture)
        return ax
    first, second, third = picture.axes
    panels = _new_figure(15.0, 4.4, 3)
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
        if objectives is None and front.n_objectives > _MOST:
            figure.suptitle(
                f"The first three of {front.n_objectives} objectives", fontsize="medium"
            )
    return np.array(panels, dtype=object)


def _new_figure(width: float, height: float, n: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, n, figsize=(width, height), layout="constrained", squeeze=False)
    engine = figure.get_layout_engine()
    if n > 1 and engine is not None:
        engine.set(wspace=0.08)  # type: ignore[call-arg]  # a panel's colour bar is not the next one's
    return list(axes[0])


def _first_panel(ax: Axes, picture: FrontPicture) -> None:
    if len(picture.axes) == 1:
        _line(ax, picture, picture.axes[0])
    else:
        first, second, *rest = picture.axes
        _panel(ax, picture, first, second, rest[0] if rest else None)
    ax.legend(frameon=False, fontsize="small")


def _line(ax: Axes, picture: FrontPicture, x: Axis) -> None:
    """One objective: how many candidates had which value, and where the front is."""
    everyone = np.concatenate([x.dominated[np.isfinite(x.dominated)], x.values])
    if x.logarithmic:
        ax.set_xscale("log")
        _plain_numbers(ax.xaxis)
        edges = np.geomspace(everyone.min(), everyone.max(), 31)
    else:
        edges = np.histogram_bin_edges(everyone, 30)
    ax.hist(everyone, bins=edges.tolist(), color=_GREY, label="candidates")
    for i, value in enumerate(x.values):
        ax.axvline(value, color=_BLUE, linewidth=1.8, label="_" if i else "front")
    if picture.pick is not None:
        ax.axvline(x.values[picture.pick], color=_RED, linestyle="--", linewidth=1.8, label="pick")
    ax.set_xlabel(x.label)
    ax.set_ylabel("candidates")
    _whole_numbers(ax.yaxis)


def _panel(ax: Axes, picture: FrontPicture, x: Axis, y: Axis, colour: Axis | None) -> None:
    if len(x.dominated) and len(y.dominated):
        ax.scatter(
            x.dominated, y.dominated, s=6, color=_GREY, label="dominated", zorder=1, rasterized=True
        )
    options: dict[str, Any] = {"s": 16, "zorder": 3, "label": "front"}
    if colour is None:
        ax.scatter(x.values, y.values, color=_BLUE, **options)
    else:
        norm = "log" if colour.logarithmic else None
        points = ax.scatter(
            x.values, y.values, c=colour.values, cmap="viridis", norm=norm, **options
        )
        bar = ax.figure.colorbar(points, ax=ax, label=colour.label)
        if colour.logarithmic:
            _plain_numbers(bar.ax.yaxis)
    if picture.knee is not None:
        _mark(ax, x, y, picture.knee, "D", _ORANGE, "knee")
    if picture.pick is not None:
        _mark(ax, x, y, picture.pick, "*", _RED, "pick")
    for axis, part in ((x, ax.xaxis), (y, ax.yaxis)):
        if axis.logarithmic:
            (ax.set_xscale if part is ax.xaxis else ax.set_yscale)("log")
            _plain_numbers(part)
    ax.set_xlabel(x.label)
    ax.set_ylabel(y.label)
    ax.grid(color="#ececec", zorder=0)
    ax.set_axisbelow(True)


def _mark(ax: Axes, x: Axis, y: Axis, place: int, marker: str, colour: str, name: str) -> None:
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


def _plain_numbers(axis: Any) -> None:
    """1, 10, 1,000 instead of powers, on a logarithmic axis."""
    axis.set_major_locator(LogLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_formatter(NullFormatter())


def _whole_numbers(axis: Any) -> None:
    axis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def plot_group_sizes(solution: Solution, *, ax: Axes | None = None) -> Axes:
    """Draw the released records by the size of their QI-group (Dewri et al. 2011, inset of Fig. 6)."""
    by_size = solution.group_sizes()
    if not len(by_size):
        raise ProblemError("plot_group_sizes: the release has no records")
    if ax is None:
        ax = _new_figure(6.4, 3.6, 1)[0]
    sizes, records = by_size.index.to_numpy(float), by_size["records"].to_numpy(float)
    if sizes.max() / sizes.min() > 100:
        edges = np.geomspace(sizes.min(), sizes.max() + 1, 31)
        ax.set_xscale("log")
        _plain_numbers(ax.xaxis)
    else:
        step = max(1, int(np.ceil((sizes.max() - sizes.min() + 1) / 40)))
        edges = np.arange(sizes.min() - 0.5, sizes.max() + step + 0.5, step)
    ax.hist(
        sizes, bins=edges.tolist(), weights=records, color=_BLUE, edgecolor="white", linewidth=0.5
    )
    ax.axvline(sizes.min(), color=_RED, linewidth=1.2, label=f"smallest group: {sizes.min():,.0f}")
    if ax.get_xscale() == "linear":
        few = np.arange(sizes.min(), sizes.max() + 1)
        _whole_numbers(ax.xaxis)
        if len(few) <= 15:
            ax.set_xticks(few.tolist())
    _whole_numbers(ax.yaxis)
    ax.set_xlabel("size of the QI-group")
    ax.set_ylabel("records")
    # Above the axes: a bar may be anywhere inside.
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return ax


def thumbnail(front: Front) -> bytes:
    """A small PNG of a front, drawn without pyplot so that no figure stays open."""
    figure = Figure(figsize=(4.4, 2.9), layout="constrained")
    picture = picture_of(front)
    _first_panel(figure.subplots(), picture)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=80)
    return content.getvalue()
