"""Plots of an analysis and of releases side by side, by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from privmoo.analysis.columns import Codes
from privmoo.analysis.groups import Analysis
from privmoo.errors import MeasureError, TableError, nearest
from privmoo.learning.plots import method_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_distribution", "plot_evaluation", "plot_suppression"]

_BLUE, _RED, _ORANGE = "#1f5fa8", "#c1272d", "#e08a00"
_NAMES = {"k": "k, records of a QI-group", "l": "ℓ, distinct sensitive values of a QI-group"}
_WIDE = 50  # from this value on the axis is logarithmic


def plot_distribution(analyses: Analysis | Mapping[str, Analysis]) -> Any:
    """Draw how k and ℓ spread over the QI-groups, with both means (the paper's Figure 1 in kind).

    One analysis gives bars, the groups of each k and ℓ. Several, by name, give a box each: the
    middle half of the groups and their median, with whiskers to the smallest and the largest.

    Args:
        analyses: What `analyse` returned, once or by name.

    Returns:
        The axes, one for k and, with a sensitive column, one for ℓ.

    >>> import matplotlib.pyplot as plt
    >>> from privmoo.analysis import analyse
    >>> df = pd.DataFrame({"age": [1, 1, 2], "ill": list("aba")})
    >>> [ax.get_ylabel() for ax in plot_distribution(analyse(df, ["age"], sensitive="ill"))]
    ['QI-groups', 'QI-groups']
    >>> plt.close("all")
    """
    import matplotlib.pyplot as plt

    alone = isinstance(analyses, Analysis)
    several = {"": analyses} if isinstance(analyses, Analysis) else dict(analyses)
    for analysis in several.values():
        if not isinstance(analysis, Analysis):
            raise TableError(
                f"plot_distribution: draws what analyse returned, got {type(analysis).__name__}"
            )
    if not several:
        raise TableError("plot_distribution: no analysis given; make one with analyse")
    criteria = ["k", "l"] if any(a.diversities is not None for a in several.values()) else ["k"]
    figure, panels = plt.subplots(
        1,
        len(criteria),
        figsize=(5.6 * len(criteria), 3.8 if alone else 1.6 + 0.42 * len(several)),
        layout="constrained",
        squeeze=False,
        sharey=not alone,
    )
    axes = panels[0]
    for ax, criterion in zip(axes, criteria, strict=True):
        values = [analysis.values(criterion) for analysis in several.values()]
        if max(int(of_groups.max(initial=0)) for of_groups in values) > _WIDE:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if alone:
            _bars(ax, values[0], several[""], criterion)
        else:
            _boxes(ax, values, list(several.values()), criterion)
            ax.set_yticks(range(len(several)), list(several))
            ax.set_ylim(len(several) - 0.5, -0.5)
        ax.set_xlabel(_NAMES[criterion])
        ax.grid(axis="y" if alone else "x", color="#ececec", zorder=0)
        ax.set_axisbelow(True)
    spread = "k and ℓ spread" if len(criteria) > 1 else "k spreads"
    figure.suptitle(f"How {spread} over the QI-groups", fontsize="medium")
    if not alone:
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    return axes


def _bars(ax: Axes, values: Codes, analysis: Analysis, criterion: str) -> None:
    if ax.get_xscale() == "log":
        edges = np.unique(np.round(np.geomspace(1, values.max() + 1, 25))) - 0.5
    else:
        edges = np.arange(0.5, values.max() + 1)
    ax.hist(values, bins=edges.tolist(), color=_BLUE, edgecolor="white", linewidth=0.5)
    for kind, colour, line in (("groups", _RED, "-"), ("records", _ORANGE, "--")):
        mean = _mean(analysis, criterion, kind)
        label = f"mean over {kind}: {mean:,.4g}"
        ax.axvline(mean, color=colour, linestyle=line, linewidth=1.6, label=label)
    ax.set_ylabel("QI-groups")
    ax.yaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    # Above the axes: a bar may be anywhere inside.
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)


def _boxes(ax: Axes, values: Sequence[Codes], analyses: Sequence[Analysis], criterion: str) -> None:
    places = [i for i, of_groups in enumerate(values) if len(of_groups)]
    ax.boxplot(
        [values[i] for i in places],
        positions=places,
        orientation="horizontal",
        whis=(0, 100),
        widths=0.5,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": "#d5e2f1", "edgecolor": _BLUE},
        medianprops={"color": _BLUE, "linewidth": 1.8},
        whiskerprops={"color": _BLUE},
        capprops={"color": _BLUE},
    )
    for kind, colour, marker in (("groups", _RED, "D"), ("records", _ORANGE, "s")):
        means = [_mean(analyses[i], criterion, kind) for i in places]
        ax.plot(means, places, marker, color=colour, label=f"mean over {kind}", zorder=4)


def _mean(analysis: Analysis, criterion: str, kind: str) -> float:
    return float(getattr(analysis, f"mean_{criterion}_{kind}"))


def plot_suppression(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the share of records to suppress for each k and ℓ (the paper's Figure 2 in kind).

    Args:
        frame: What `suppression_needed` returned.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt
    >>> from privmoo.analysis import suppression_needed
    >>> df = pd.DataFrame({"age": [1, 1, 2]})
    >>> plot_suppression(suppression_needed(df, ["age"])).get_ylabel()
    'records to suppress (%)'
    >>> plt.close("all")
    """
    import matplotlib.pyplot as plt

    for name in ("criterion", "value", "share"):
        if name not in frame.columns:
            raise TableError(
                f"plot_suppression: the frame has no column {name!r}{nearest(name, frame.columns)}"
            )
    if frame.empty:
        raise TableError("plot_suppression: the frame is empty")
    if ax is None:
        ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    looks = (("k", _BLUE, "o-", "k-anonymity"), ("l", _ORANGE, "s--", "distinct ℓ-diversity"))
    for criterion, colour, line, label in looks:
        part = frame[frame["criterion"] == criterion].sort_values("value")
        if len(part):
            ax.plot(part["value"], 100 * part["share"], line, color=colour, label=label)
    criteria = [name for name in ("k", "l") if (frame["criterion"] == name).any()]
    ax.set_xlabel(" or ".join(criteria).replace("l", "ℓ") + " to reach")
    ax.set_ylabel("records to suppress (%)")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(color="#ececec", zorder=0)
    ax.set_axisbelow(True)
    ax.set_title("Records that must be suppressed to reach a property", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    return ax


def plot_evaluation(frame: pd.DataFrame) -> Any:
    """Draw records at risk, and records open to a homogeneity attack, against information loss.

    Args:
        frame: What `evaluate` returned.

    Returns:
        The axes, one per threshold and one for homogeneity.

    >>> import matplotlib.pyplot as plt
    >>> frame = pd.DataFrame({"method": ["original", "mine"], "il": [0.0, 0.1],
    ...                       "at_risk_05": [9, 3], "homogeneity": [2, 0]})
    >>> [ax.get_title() for ax in plot_evaluation(frame)]
    ['at risk of linkage, τ = 0.05', 'open to a homogeneity attack']
    >>> plt.close("all")
    """
    import matplotlib.pyplot as plt

    risk_names = [name for name in frame.columns if name.startswith("at_risk_")]
    risk_names += ["homogeneity"] if "homogeneity" in frame.columns else []
    if not risk_names or not {"method", "il"} <= set(frame.columns) or frame.empty:
        raise MeasureError(
            "plot_evaluation: draws what evaluate returns, with method, IL and risks"
        )
    figure, axes = plt.subplots(
        1,
        len(risk_names),
        figsize=(max(3.6 * len(risk_names), 6.4), 3.9),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    methods = list(frame["method"])
    for ax, name in zip(axes[0], risk_names, strict=True):
        for method, loss, records in zip(methods, frame["il"], frame[name], strict=True):
            colour, marker = method_style(method, methods)
            ax.plot(loss, records, marker, color=colour, markersize=8, alpha=0.9, label=method)
        tau = _tau_of(name)
        ax.set_title(
            "open to a homogeneity attack"
            if name == "homogeneity"
            else f"at risk of linkage, τ = {tau}",
            fontsize="medium",
        )
        ax.margins(x=0.08)
        ax.set_xlabel("information loss (IL)")
        ax.grid(color="#ececec", zorder=0)
        ax.set_axisbelow(True)
    first = axes[0, 0]
    first.set_ylabel("records")
    # The original has hundreds at risk, a good release none: a logarithm that reaches 0.
    first.set_yscale("symlog", linthresh=1)
    decades = int(np.ceil(np.log10(max(frame[risk_names].to_numpy().max(), 10))))
    first.set_yticks([0, *(10**i for i in range(decades + 1))])
    first.set_ylim(-0.3, 1.6 * 10**decades)
    first.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    handles, names = first.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside lower center", ncols=min(len(names), 6), frameon=False
    )
    return axes[0]


def _tau_of(column: str) -> str:
    digits = column.removeprefix("at_risk_")
    return "1" if digits == "100" else "0." + digits.rstrip("0")
