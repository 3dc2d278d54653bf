"""The style of pictures: colours that colour-blind readers can distinguish, figures, numbers on axes."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "ORANGE",
    "PALE",
    "RED",
    "headline",
    "new_figure",
    "plain_numbers",
    "quiet_grid",
    "whole_numbers",
    "wrap_text",
]

GREY, BLUE, RED, ORANGE = "#c8c8c8", "#1f5fa8", "#c1272d", "#e08a00"
PALE = "#9dbfe0"
GREEN = "#009E73"
# Okabe and Ito's colours, without yellow and black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_PER_INCH = 13.0  # letters of the size of a title


def new_figure(width: float, height: float, n: int = 1) -> list[Axes]:
    """Make a new figure with axes side by side.

    Args:
        width: The width of the figure in inches.
        height: Its height in inches.
        n: The number of axes.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, n, figsize=(width, height), layout="constrained", squeeze=False)
    engine = figure.get_layout_engine()
    if n > 1 and engine is not None:
        engine.set(wspace=0.08)  # type: ignore[call-arg]  # keep colour bars apart
    return list(axes[0])


def wrap_text(text: str, inches: float) -> str:
    """Break text into lines.

    Args:
        text: The text.
        inches: The length of a line.

    >>> wrap_text("k-anonymity against loss", 1.0).splitlines()
    ['k-anonymity', 'against loss']
    """
    return "\n".join(textwrap.wrap(text, max(12, int(inches * _PER_INCH))))


def headline(
    ax: Axes, text: str, *, above: float | None = None, inches: float | None = None
) -> None:
    """Set the title of axes, broken into lines as wide as they are.

    Args:
        ax: The axes.
        text: The title.
        above: The height in points of a legend that the title stands above.
        inches: The length of a line; the width of the axes by default.
    """
    if inches is None:
        figure, spec = ax.get_figure(root=True), ax.get_subplotspec()
        columns = 1 if spec is None else spec.get_gridspec().ncols // len(spec.colspan)
        inches = 0.92 * (6.4 if figure is None else figure.get_figwidth()) / max(1, columns)
    ax.set_title(plain(wrap_text(text, inches)), fontsize="medium", pad=above)


def plain(text: str) -> str:
    r"""Escape text that matplotlib would take for mathematics: a column may be called "pay in $".

    >>> print(plain("pay in $"))
    pay in \$
    """
    return text.replace("$", r"\$")


def short(name: str, longest: int = 30) -> str:
    """Shorten a name of the data for an axis, as plain text.

    Args:
        name: The name.
        longest: The largest number of letters.

    >>> short("abcdef", 4)
    'abc…'
    """
    return plain(name if len(name) <= longest else name[: longest - 1] + "…")


def quiet_grid(ax: Axes, axis: Any = "both") -> None:
    """Draw pale lines behind the data.

    Args:
        ax: The axes.
        axis: `"x"`, `"y"` or `"both"`.
    """
    ax.grid(axis=axis, color="#ececec", zorder=0)
    ax.set_axisbelow(True)


def plain_numbers(axis: Any) -> None:
    """Write 1, 10, 1,000 instead of powers on a logarithmic axis."""
    axis.set_major_locator(LogLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    low, high = sorted(axis.get_view_interval())
    if low > 0 and np.log10(high / low) < 1:  # less than a decade: a single tick says nothing
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_minor_formatter(NullFormatter())


def whole_numbers(axis: Any) -> None:
    """Set ticks at whole numbers, with commas."""
    axis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
