"""Showing a front: its pictures, which are drawn by `privmoo.plot` when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmoo.front.front import Front
    from privmoo.front.solution import Solution

__all__ = ["plot", "plot_3d", "plot_parallel", "plot_rates", "plot_trade_off"]


def plot(
    front: Front,
    pick: Solution | None = None,
    ax: Axes | None = None,
    *,
    objectives: Sequence[str] | None = None,
) -> Any:
    """Draw the front, dominated candidates grey, the knee and the pick marked."""
    from privmoo.plot import plot_front

    return plot_front(front, pick=pick, ax=ax, objectives=objectives)


def plot_3d(front: Front, **options: Any) -> Any:
    """Draw three objectives in space. See `privmoo.plot.plot_front_3d`."""
    from privmoo.plot import plot_front_3d

    return plot_front_3d(front, **options)


def plot_parallel(front: Front, **options: Any) -> Axes:
    """Draw all objectives, one line per solution. See `privmoo.plot.plot_parallel`."""
    from privmoo.plot import plot_parallel

    return plot_parallel(front, **options)


def plot_trade_off(front: Front, **options: Any) -> Axes:
    """Draw what is gained for what, flat regions magnified. See `privmoo.plot.plot_trade_off`."""
    from privmoo.plot import plot_trade_off

    return plot_trade_off(front, **options)


def plot_rates(front: Front, **options: Any) -> Axes:
    """Draw what each step along the trade-off buys. See `privmoo.plot.plot_rates`."""
    from privmoo.plot import plot_rates

    return plot_rates(front, **options)
