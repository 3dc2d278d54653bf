"""Showing a front: pictures, the explorer and its file, each made where it belongs when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmoo.explorer.widget import Explorer
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution
    from privmoo.release.release import Release

__all__ = [
    "explore",
    "plot",
    "plot_3d",
    "plot_parallel",
    "plot_rates",
    "plot_trade_off",
    "report",
]


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


def explore(front: Front, pick: Solution | None = None) -> Explorer:
    """The explorer, in JupyterLab, Notebook 7 and VS Code: linked views of all solutions.

    What is done there can be read and set in Python: see `privmoo.explorer.widget.Explorer`.

    Args:
        front: The front; `privmoo.explore` takes several at once.
        pick: A solution to mark.
    """
    from privmoo.explorer.widget import explore

    return explore(front, pick=pick)


def report(
    front: Front,
    path: str | Path,
    *,
    pick: Solution | None = None,
    release: Release | None = None,
    force: bool = False,
) -> None:
    """Write the explorer as one HTML file that loads nothing from anywhere.

    Of the records it holds rows of the pick only, and those only if the audited k of its release
    is at least 2; of all other solutions labels and counts. See `privmoo.explorer.write_report`.

    Args:
        front: The front.
        path: The file.
        pick: The solution that was chosen: its rows and certificate go into the file.
        release: The release of the pick, if it was made already; else one is made.
        force: Whether a file that exists is replaced.
    """
    from privmoo.explorer.page import write_report

    write_report(front, path, pick=pick, release=release, force=force)
