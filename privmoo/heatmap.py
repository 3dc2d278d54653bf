"""Heat maps of what a grid of runs found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privmoo.errors import ProblemError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_heat_maps"]

_TITLES = {
    "il": "information loss",
    "min_entropy": "minimum entropy (bits)",
    "at_risk_05": "records at risk, τ = 0.05",
    "at_risk_075": "records at risk, τ = 0.075",
    "at_risk_10": "records at risk, τ = 0.1",
    "homogeneity": "records open to homogeneity",
    "n_clusters": "clusters",
    "lam": "λ",
}


def plot_heat_maps(frame: pd.DataFrame, *, x: str, y: str, values: Sequence[str]) -> Figure:
    """One map per value, darker where it is larger; a hatched cell has none.

    Args:
        frame: One row per run.
        x: The column along the axis.
        y: The column up the axis.
        values: The columns to draw.

    >>> runs = pd.DataFrame({"n_clusters": [4, 8], "lam": [0.1, 0.1], "il": [0.2, 0.1]})
    >>> len(plot_heat_maps(runs, x="n_clusters", y="lam", values=["il"]).axes)
    2
    """
    from matplotlib.figure import Figure

    for name in (x, y, *values):
        if name not in frame.columns:
            raise ProblemError(
                f"values: {name!r} is not a column of the runs{nearest(name, frame.columns)}"
            )
    if not len(values):
        raise ProblemError("values: name at least one column to draw")
    figure = Figure(figsize=(4.6 * len(values), 3.4), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(values), squeeze=False)[0], values, strict=True):
        table = frame.pivot_table(index=y, columns=x, values=name, dropna=False).astype(float)
        table = table.sort_index().sort_index(axis=1)
        shown = np.ma.masked_invalid(table.to_numpy())
        ax.set_facecolor("white")
        if shown.mask.any():
            ax.patch.set(hatch="///", edgecolor="0.7")
        top = float(shown.max()) if shown.count() else 0.0
        picture = ax.imshow(
            shown, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=top if top > 0 else 1
        )
        ax.set_xticks(range(table.shape[1]), [f"{v:g}" for v in table.columns])
        ax.set_yticks(range(table.shape[0]), [f"{v:g}" for v in table.index])
        if table.shape[1] > 12:
            for i, label in enumerate(ax.get_xticklabels()):
                label.set_visible(i % 2 == 0)
        ax.set_xlabel(_TITLES.get(x, x))
        ax.set_ylabel(_TITLES.get(y, y))
        ax.set_title(_TITLES.get(name, name) + (" (0 everywhere)" if top == 0 else ""))
        figure.colorbar(picture, ax=ax)
    return figure
