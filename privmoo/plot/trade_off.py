"""The trade-off of two objectives: flat regions marked and magnified, and what each step buys."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, ScalarFormatter
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.front.advice import remarks
from privmoo.front.choice import need_solutions, place_of
from privmoo.front.choices import suggested
from privmoo.front.flat_regions import largest_regions
from privmoo.front.knees import marked_knee
from privmoo.front.pairs import Pair, pair_of
from privmoo.plot.fronts import Axis, axis_of, mark
from privmoo.plot.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    RED,
    headline,
    plain_numbers,
    quiet_grid,
)

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution

__all__ = ["FlatRegion", "TradeOffPicture", "plot_trade_off", "trade_off_of"]

_MARGIN = 0.35  # of a region's width, on both sides of its magnification
_LETTERS = 48  # in a line of the words beside a picture


@dataclass(frozen=True)
class FlatRegion:
    """A part of a trade-off where much is gained for little.

    Attributes:
        letter: Its name in the picture.
        first: Place of its first solution along the trade-off.
        last: Place of its last solution along the trade-off.
        sentence: What is gained there, and for how much.
    """

    letter: str
    first: int
    last: int
    sentence: str


@dataclass(frozen=True)
class TradeOffPicture:
    """The data of the picture of a trade-off.

    Attributes:
        gain: The axis of what is gained, with the values of all solutions.
        cost: The axis of what is paid.
        along: Places of the solutions that no other beats in both, from the cheapest on.
        regions: The flat regions, in the order of the cost.
        knee: Place of the front's knee; None if it is an end.
        pick: Place of the pick, or of the suggested solution; None if there is none.
        suggested: Whether the pick is only suggested.
        title: What it shows, in one line.
        words: The titles and sentences beside it.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> picture = trade_off_of(pm.Front.of(pm.problems.Cuts(table), cuts))
    >>> picture.title, picture.along.tolist(), picture.words[0][0]
    ('What k-anonymity costs in loss: 3 solutions, no flat region', [0, 1, 2], 'The choices')
    """

    gain: Axis
    cost: Axis
    along: NDArray[np.intp]
    regions: tuple[FlatRegion, ...]
    knee: int | None
    pick: int | None
    suggested: bool
    title: str
    words: tuple[tuple[str, str], ...]


def trade_off_of(
    front: Front,
    *,
    gain: str | None = None,
    cost: str | None = None,
    pick: Solution | None = None,
    regions: int = 3,
) -> TradeOffPicture:
    """Compute the data of the picture of a trade-off, with its largest flat regions.

    Args:
        front: The front.
        gain: What is gained; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        pick: A solution to mark.
        regions: How many flat regions to mark at most.
    """
    need_solutions(front, "plot_trade_off")
    pair = pair_of(front, gain, cost)
    largest, _ = largest_regions(pair, regions)
    flat = [
        _region(pair, letter, *ends) for letter, ends in zip(ascii_uppercase, largest, strict=False)
    ]
    names = [q.label.removesuffix(" (%)") for q in (pair.gained, pair.paid)]
    region_count = count_noun(len(flat), "flat region") + " marked" if flat else "no flat region"
    return TradeOffPicture(
        gain=axis_of(front, pair.gained),
        cost=axis_of(front, pair.paid),
        along=pair.rows,
        regions=tuple(flat),
        knee=marked_knee(front),
        pick=suggested(front) if pick is None else place_of(front, pick, "plot_trade_off", "pick"),
        suggested=pick is None,
        title=f"What {names[0]} costs in {names[1]}: {count_noun(len(front), 'solution')}, {region_count}",
        words=tuple(remarks(front, gain=gain, cost=cost)),
    )


def _region(pair: Pair, letter: str, first: int, last: int) -> FlatRegion:
    gained, paid = pair.gained, pair.paid
    price = paid.write_difference(abs(float(pair.costs[last] - pair.costs[first])))
    ends = [gained.write(float(pair.gains[i])) for i in (first, last)]
    direction = "more" if paid.sense == "min" else "less"
    sentence = f"{gained.words} {ends[0]} → {ends[1]} for {price} {direction} {paid.words}"
    return FlatRegion(letter, first, last, sentence)


def plot_trade_off(
    front: Front,
    *,
    gain: str | None = None,
    cost: str | None = None,
    pick: Solution | None = None,
    regions: int = 3,
    words: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a gain costs, with flat regions marked and magnified (Dewri et al. 2011, Fig. 7).

    The sentences of `Front.advice` stand beside the picture; below it, each flat region is drawn again
    on separate axes.

    Args:
        front: The front; if it has three objectives, the line joins solutions that are not dominated in
            the two chosen ones.
        gain: What is gained; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        pick: A solution to mark.
        regions: How many flat regions to mark at most, the largest ones.
        words: Whether the advice stands beside the picture.
        ax: Where to draw; then without words and magnifications. A new figure by default.

    Returns:
        The axes of the picture.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> front = pm.Front.of(pm.problems.Cuts(table), cuts)
    >>> plot_trade_off(front).get_title()
    'What k-anonymity costs in loss: 3 solutions, no flat region'
    >>> plt.close("all")
    """
    picture = trade_off_of(front, gain=gain, cost=cost, pick=pick, regions=regions)
    if ax is not None:
        _draw(ax, picture)
        return ax
    import matplotlib.pyplot as plt

    zooms = len(picture.regions)
    sentences = [text for text in picture.words if text[0] != "To ask"] if words else []
    wide, high = (10.4 if sentences else 6.8), (7.2 if zooms else 4.6)
    figure = plt.figure(figsize=(wide, high), layout="constrained")
    rows = figure.add_gridspec(2 if zooms else 1, 1, height_ratios=[1.65, 1] if zooms else [1])
    top = rows[0].subgridspec(
        1, 2 if sentences else 1, width_ratios=[1.75, 1] if sentences else [1]
    )
    ax = figure.add_subplot(top[0])
    _draw(ax, picture)
    if sentences:
        _words(figure.add_subplot(top[1]), sentences)
    if zooms:
        below = rows[1].subgridspec(1, zooms)
        for i, region in enumerate(picture.regions):
            _zoom(figure.add_subplot(below[i]), picture, region)
    return ax


def _draw(ax: Axes, picture: TradeOffPicture) -> None:
    x, y, along = picture.gain, picture.cost, picture.along
    if len(x.dominated) and len(y.dominated):
        ax.scatter(
            x.dominated, y.dominated, s=5, color=GREY, label="dominated", zorder=1, rasterized=True
        )
    beside = np.setdiff1d(np.arange(len(x.values)), along)
    if len(beside):
        ax.scatter(
            x.values[beside], y.values[beside], s=9, color=PALE, label="better elsewhere", zorder=2
        )
    ax.plot(
        x.values[along], y.values[along], "o-", color=BLUE, ms=3.5, lw=0.8, label="front", zorder=3
    )
    for axis, part in ((x, ax.xaxis), (y, ax.yaxis)):
        if axis.logarithmic:
            (ax.set_xscale if part is ax.xaxis else ax.set_yscale)("log")
            plain_numbers(part)
    for i, region in enumerate(picture.regions):
        inside = along[region.first : region.last + 1]
        ax.plot(
            x.values[inside],
            y.values[inside],
            "o-",
            color=GREEN,
            ms=4.5,
            lw=3.0,
            zorder=4,
            label="_" if i else "flat region",
        )
        ends = x.values[inside[[0, -1]]]
        ax.axvspan(float(ends.min()), float(ends.max()), color=GREEN, alpha=0.13, zorder=0, lw=0)
        middle = np.sqrt(ends.prod()) if x.logarithmic else ends.mean()
        ax.annotate(
            region.letter,
            (float(middle), 1.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontweight="bold",
            zorder=6,
        )
    # The search also tried what is far off the front, which would leave little room for the front.
    for axis, set_limits in ((x, ax.set_xlim), (y, ax.set_ylim)):
        set_limits(*_room(axis))
    if picture.knee is not None:
        mark(ax, x, y, picture.knee, "D", ORANGE, "knee")
    if picture.pick is not None:
        mark(ax, x, y, picture.pick, "*", RED, "suggested" if picture.suggested else "pick")
    ax.set_xlabel(x.label)
    ax.set_ylabel(y.label)
    quiet_grid(ax)
    headline(ax, picture.title, inches=6.0, above=20 if picture.regions else None)
    ax.legend(frameon=False, fontsize="small", loc="best")


def _room(axis: Axis) -> tuple[float, float]:
    """Return the range of the front's values, with a margin."""
    values = np.log10(axis.values) if axis.logarithmic else axis.values
    margin = 0.05 * (float(np.ptp(values)) or 1.0)
    ends = float(values.min()) - margin, float(values.max()) + margin
    return (10 ** ends[0], 10 ** ends[1]) if axis.logarithmic else ends


def _words(ax: Axes, sentences: list[tuple[str, str]]) -> None:
    ax.set_axis_off()
    whole = {" = ": "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", " %": "\N{NO-BREAK SPACE}%"}
    paragraphs = []
    for title, sentence in sentences:
        text = f"{title}: {sentence}"
        for apart, together in whole.items():
            text = text.replace(apart, together)
        paragraphs.append("\n".join(textwrap.wrap(text, _LETTERS)))
    ax.text(0, 1, "\n\n".join(paragraphs), va="top", ha="left", fontsize=9, transform=ax.transAxes)


def _zoom(ax: Axes, picture: TradeOffPicture, region: FlatRegion) -> None:
    """Draw one flat region on linear axes, with a little of what is on both sides of it."""
    x, y, along = picture.gain.values, picture.cost.values, picture.along
    ax.plot(x[along], y[along], "o-", color=BLUE, ms=3.5, lw=0.8, zorder=3)
    inside = along[region.first : region.last + 1]
    ax.plot(x[inside], y[inside], "o-", color=GREEN, ms=4.5, lw=3.0, zorder=4)
    for values, set_limits in ((x[inside], ax.set_xlim), (y[inside], ax.set_ylim)):
        margin = _MARGIN * float(np.ptp(values))
        low, high = float(values.min()), float(values.max())
        set_limits(max(low - margin, 0.0) if low >= 0 else low - margin, high + margin)
    for axis, values in ((ax.xaxis, x), (ax.yaxis, y)):
        whole = bool((values == np.round(values)).all())
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], integer=whole))
        if whole:
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        else:
            axis.set_major_formatter(ScalarFormatter(useOffset=False))
    ax.set_xlabel(picture.gain.label)
    ax.set_ylabel(picture.cost.label)
    quiet_grid(ax)
    letters = 44 if len(picture.regions) > 2 else 60
    text = f"{region.letter}: {region.sentence}"
    ax.set_title("\n".join(textwrap.wrap(text, letters)), fontsize="small")
