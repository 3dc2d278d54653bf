"""Heat maps of the results of a grid of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["HeatMap", "heat_map_of", "plot_heat_maps"]

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


@dataclass(frozen=True)
class HeatMap:
    """The data of one heat map.

    Attributes:
        x: The values along the axis.
        y: The values up the axis.
        cells: A value for every y and x; NaN if there is none.
        title: What the values are.

    >>> runs = pd.DataFrame({"n_clusters": [8, 4], "lam": [0.1, 0.1], "il": [0.1, 0.2]})
    >>> heat_map_of(runs, x="n_clusters", y="lam", value="il").cells
    array([[0.2, 0.1]])
    """

    x: tuple[Any, ...]
    y: tuple[Any, ...]
    cells: NDArray[np.float64]
    title: str

    @property
    def top(self) -> float:
        """The largest value, or 0 if no value is above 0."""
        finite = self.cells[np.isfinite(self.cells)]
        return max(0.0, float(finite.max(initial=0.0)))


def heat_map_of(frame: pd.DataFrame, *, x: str, y: str, value: str) -> HeatMap:
    """Compute the data of one heat map: the mean of a column over two others.

    Args:
        frame: One row per run.
        x: The column along the axis.
        y: The column up the axis.
        value: The column to average.
    """
    for name in (x, y, value):
        _check_column(frame, name)
    table = frame.pivot_table(index=y, columns=x, values=value, dropna=False).astype(float)
    table = table.sort_index().sort_index(axis=1)
    title = _TITLES.get(value, value)
    heat_map = HeatMap(
        tuple(table.columns.tolist()), tuple(table.index.tolist()), table.to_numpy(), title
    )
    return heat_map if heat_map.top else replace(heat_map, title=f"{title} (0 everywhere)")


def plot_heat_maps(
    frame: pd.DataFrame, *, x: str, y: str, values: Sequence[str], rows: str | None = None
) -> Figure:
    """Draw one map per value, darker where it is larger; a hatched cell has no value.

    Args:
        frame: One row per run.
        x: The column along the axis.
        y: The column up the axis.
        values: The columns to draw.
        rows: A column whose every value has a row of maps, in the same shades; one row of maps by default.

    >>> runs = pd.DataFrame({"n_clusters": [4, 8], "lam": [0.1, 0.1], "il": [0.2, 0.1]})
    >>> len(plot_heat_maps(runs, x="n_clusters", y="lam", values=["il"]).axes)
    2
    """
    from matplotlib.figure import Figure

    if not len(values):
        raise ProblemError("values: name at least one column to draw")
    parts: dict[str, pd.DataFrame] = {"": frame}
    if rows is not None:
        _check_column(frame, rows)
        parts = {f"{_TITLES.get(rows, rows)} = {value}": p for value, p in frame.groupby(rows)}
    height = 3.2 if len(parts) == 1 else 0.5 + 2.1 * len(parts)
    figure = Figure(figsize=(3.7 * len(values), height), layout="constrained")
    axes = figure.subplots(len(parts), len(values), squeeze=False, sharex=True, sharey=True)
    for j, value in enumerate(values):
        maps = [heat_map_of(part, x=x, y=y, value=value) for part in parts.values()]
        darkest = max(maps, key=lambda heat_map: heat_map.top)
        for ax, heat_map in zip(axes[:, j], maps, strict=True):
            picture = _draw(ax, heat_map, darkest.top or 1)
        axes[0, j].set_title(darkest.title, fontsize="medium")
        axes[-1, j].set_xlabel(_TITLES.get(x, x))
        figure.colorbar(picture, ax=axes[:, j].tolist())
    for ax, name in zip(axes[:, 0], parts, strict=True):
        up = _TITLES.get(y, y)
        ax.set_ylabel(f"{name}\n{up}" if name else up)
    along = f"{_TITLES.get(x, x)} and {_TITLES.get(y, y)}"
    figure.suptitle(f"What {count_noun(len(frame), 'run')} found, by {along}", fontsize="medium")
    return figure


def _draw(ax: Axes, heat_map: HeatMap, top: float) -> AxesImage:
    cells = np.ma.masked_invalid(heat_map.cells)
    ax.set_facecolor("white")
    if cells.mask.any():
        ax.patch.set(hatch="///", edgecolor="0.7")
    picture = ax.imshow(cells, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=top)
    ax.set_xticks(range(len(heat_map.x)), [f"{v:g}" for v in heat_map.x])
    ax.set_yticks(range(len(heat_map.y)), [f"{v:g}" for v in heat_map.y])
    if len(heat_map.x) > 9:
        for i, label in enumerate(ax.get_xticklabels()):
            label.set_visible(i % 2 == 0)
    return picture


def _check_column(frame: pd.DataFrame, name: str) -> None:
    if name not in frame.columns:
        raise ProblemError(
            f"values: {name!r} is not a column of the runs{nearest(name, frame.columns)}"
        )
