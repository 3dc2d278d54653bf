"""Plots of scores and importances, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privmoo._util.checks import whole_number
from privmoo.errors import MeasureError, nearest
from privmoo.learning.experiment import ORIGINAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["method_style", "plot_importances", "plot_scores"]

# Okabe and Ito's colours, which colour-blind readers can distinguish; the original is black.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "v", "P", "X")


def method_style(method: str, methods: Sequence[str]) -> tuple[str, str]:
    """Return the colour and marker of a method, which are the same in every picture.

    Args:
        method: The name of the method.
        methods: The names of all methods in their order.

    >>> method_style("original", ["original", "a"]), method_style("a", ["original", "a"])
    (('#000000', 'D'), ('#0072B2', 'o'))
    """
    if method == ORIGINAL:
        return "#000000", "D"
    others = [name for name in methods if name != ORIGINAL]
    turn, place = divmod(others.index(method), len(_COLOURS))
    return _COLOURS[place], _MARKERS[(place + turn) % len(_MARKERS)]


def plot_scores(frame: pd.DataFrame, *, metric: str = "f1") -> Any:
    """Draw the mean and standard deviation of every method, learner by learner.

    One panel shows tests on original rows, the other tests on released rows; the original is in
    both, tested on its own rows.

    Args:
        frame: What `scores` returned.
        metric: `"f1"`, `"accuracy"` or `"auc"`.

    Returns:
        The two axes.

    >>> import matplotlib.pyplot as plt
    >>> frame = pd.DataFrame({"method": ["original", "mine"], "model": "DT", "repeat": 0,
    ...                       "tested_on": "original", "f1": [0.8, 0.7]})
    >>> [ax.get_title() for ax in plot_scores(frame)]
    ['tested on original rows', 'tested on released rows']
    >>> plt.close("all")
    """
    import matplotlib.pyplot as plt

    _require(frame, ["method", "model", "tested_on", metric])
    models, methods = list(frame["model"].unique()), list(frame["method"].unique())
    width = max(7.0, 1.2 + 0.16 * len(models) * (len(methods) + 2))
    figure, axes = plt.subplots(
        2, 1, figsize=(min(width, 10.0), 6.4), layout="constrained", sharex=True, sharey=True
    )
    by = frame.groupby(["method", "model", "tested_on"])[metric]
    mean, spread = by.mean(), by.std().fillna(0.0)
    for ax, tested_on in zip(axes, (ORIGINAL, "released"), strict=True):
        for i, method in enumerate(methods):
            test = ORIGINAL if method == ORIGINAL else tested_on
            keys = [(method, model, test) for model in models]
            x = np.arange(len(models)) + 0.7 * ((i + 0.5) / len(methods) - 0.5)
            colour, marker = method_style(method, methods)
            ax.errorbar(
                x,
                mean.reindex(keys).to_numpy(),
                yerr=spread.reindex(keys).to_numpy(),
                fmt=marker,
                color=colour,
                markersize=6,
                elinewidth=1.2,
                capsize=2,
                label=method,
            )
        for border in np.arange(len(models) - 1) + 0.5:
            ax.axvline(border, color="#dcdcdc", linewidth=0.8, zorder=0)
        ax.set_xticks(np.arange(len(models)), models)
        ax.set_xlim(-0.5, len(models) - 0.5)
        ax.set_title(f"tested on {tested_on} rows", fontsize="medium")
        ax.grid(axis="y", color="#ececec", zorder=0)
        ax.set_axisbelow(True)
    name = {"f1": "F1", "auc": "AUC"}.get(metric, metric)
    for ax in axes:
        ax.set_ylabel(name)
    title = f"What releases are worth to learners: {name}, mean and standard deviation"
    figure.suptitle(title, fontsize="medium")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=min(len(names), 6), frameon=False
    )
    return axes


def plot_importances(frame: pd.DataFrame, *, top: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the columns most important in the original, with their share in every method.

    Quasi-identifiers, the columns that releases change, are in bold.

    Args:
        frame: What `importances` returned.
        top: The number of columns to draw.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt
    >>> frame = pd.DataFrame({"method": ["original"] * 2, "column": ["age", "cost"],
    ...     "role": ["quasi-identifying", "insensitive"], "share": [0.7, 0.3]})
    >>> plot_importances(frame).get_xlabel()
    'share of the importance (%)'
    >>> plt.close("all")
    """
    import matplotlib.pyplot as plt

    _require(frame, ["method", "column", "role", "share"])
    whole_number("top", top, error=MeasureError)
    methods = list(frame["method"].unique())
    first = frame[frame["method"] == methods[0]].sort_values(
        "share", ascending=False, kind="stable"
    )
    largest = first.head(top)
    columns = largest["column"].tolist()
    if ax is None:
        height = 1.6 + 0.34 * len(columns)
        ax = plt.subplots(figsize=(7.4, height), layout="constrained")[1]
    y = np.arange(len(columns))
    for i, method in enumerate(methods):
        by_column = frame[frame["method"] == method].set_index("column")["share"]
        colour, marker = method_style(method, methods)
        shift = 0.5 * ((i + 0.5) / len(methods) - 0.5)
        shares = 100 * by_column.reindex(columns).to_numpy(np.float64)
        ax.plot(shares, y + shift, marker, color=colour, markersize=6, label=method)
    for border in y[:-1] + 0.5:
        ax.axhline(border, color="#ececec", linewidth=0.8, zorder=0)
    ax.set_yticks(y, columns)
    for label, role in zip(ax.get_yticklabels(), largest["role"], strict=True):
        label.set_fontweight("bold" if role == "quasi-identifying" else "normal")
    ax.set_ylim(len(columns) - 0.5, -0.5)
    ax.set_xlim(left=-0.02 * ax.get_xlim()[1])  # a marker at 0 is whole
    ax.set_xlabel("share of the importance (%)")
    ax.set_title(f"The {len(columns)} columns most important to learners", fontsize="medium")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def _require(frame: pd.DataFrame, columns: list[str]) -> None:
    for column in columns:
        if column not in frame.columns:
            raise MeasureError(
                f"plot: the frame has no column {column!r}{nearest(column, frame.columns)}"
            )
    if frame.empty:
        raise MeasureError("plot: the frame is empty")
