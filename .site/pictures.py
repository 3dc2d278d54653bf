"""Draw the pictures of the pages on ideas: `python .site/pictures.py`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

import privmoo as pm
from privmoo.release import Release

IDEAS = Path(__file__).resolve().parent.parent / "notebooks" / "ideas"
BLUE, ORANGE, GREY = "#1f5fa8", "#d9730d", "#777777"
K = 5
DOMAIN = {"age": (18, 89), "income": (0, 71)}


def people() -> pd.DataFrame:
    """Return 160 people in two dimensions: towns of different density."""
    rng = np.random.default_rng(5)
    centres = np.array([[28, 24], [36, 42], [62, 34]])
    spread = np.array([[6, 5], [9, 8], [9, 12]])
    town = rng.choice(3, 160, p=[0.5, 0.3, 0.2])
    points = rng.normal(centres[town], spread[town]).clip([18, 0], [89, 71]).astype(int)
    return pd.DataFrame(points, columns=["age", "income"])


def releases(frame: pd.DataFrame) -> dict[str, Release]:
    """Return a release of each family in which every group has at least K people; a few may be left out."""
    table = pm.Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(18, 90, widths=[9, 18, 36]),
            "income": pm.Hierarchy.intervals(0, 72, widths=[9, 18, 36]),
        },
    )
    free = pm.Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.ordered(range(18, 90)),
            "income": pm.Hierarchy.ordered(range(72)),
        },
    )
    levels = pm.exact_front(pm.problems.Levels(table, max_suppression=0.05), progress=False)
    cuts = pm.optimize(
        pm.problems.BudgetSuppression(free, max_suppression=0.05),
        budget=150,
        seed=1,
        progress=False,
    )
    regions = pm.optimize(pm.problems.Regions(free), budget=5, seed=1, progress=False)
    picks = {
        name: front.where(min_k=K).best("loss").release(shuffle=False)
        for name, front in (("levels", levels), ("cuts", cuts), ("regions", regions))
    }
    classes = pm.baselines.mdav(pm.Table(frame, quasi_identifiers=["age", "income"]), K)
    return {**picks, "clusters": pm.make_release(free, classes, shuffle=False)}


def bounds(column: str, label: str) -> tuple[float, float]:
    """Return the ends of a published range or value."""
    if label == "*":
        return DOMAIN[column]
    parts = [float(part) for part in label.strip("[)").replace(", ", "–").split("–")]
    return parts[0], parts[-1]


def draw_groups(ax: Axes, frame: pd.DataFrame, release: Release) -> None:
    """Draw the published rectangle of every group, or lines to the published mean."""
    published = release.frame
    for (age, income), group in published.groupby(["age", "income"], sort=False):
        members = frame.iloc[release.rows[group.index.to_numpy()]]
        if isinstance(age, str):
            (left, right), (low, high) = bounds("age", age), bounds("income", income)
            size = (right - left + 1, high - low + 1)
            ax.add_patch(
                Rectangle((left - 0.5, low - 0.5), *size, facecolor=BLUE, alpha=0.10, lw=0)
            )
            ax.add_patch(
                Rectangle((left - 0.5, low - 0.5), *size, fill=False, edgecolor=BLUE, lw=1)
            )
        else:
            for x, y in members.to_numpy():
                ax.plot([x, age], [y, income], color=BLUE, lw=0.6)
            ax.plot(age, income, "o", color=ORANGE, ms=5)


def families() -> None:
    """Draw the same people under four families of recodings."""
    frame = people()
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), sharey=True, layout="constrained")
    for ax, (name, release) in zip(axes, releases(frame).items(), strict=True):
        draw_groups(ax, frame, release)
        ax.plot(frame["age"], frame["income"], ".", color=GREY, ms=3)
        groups = release.frame.groupby(["age", "income"]).ngroups
        ax.set(title=f"{name}: {groups} groups", xlabel="age", xlim=(15, 92), ylim=(-3, 74))
    axes[0].set_ylabel("income (thousands)")
    figure.savefig(IDEAS / "families.svg")


def groups() -> None:
    """Draw records, what is published of them, and their groups."""
    figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
    ax.axis("off")
    original = [("23", "14260"), ("27", "14221"), ("24", "14260"), ("45", "90210"), ("52", "90213")]
    published = [("20–29", "142**")] * 3 + [("40–59", "9021*")] * 2
    columns(ax, 0.0, "known about people", original)
    columns(ax, 0.42, "published", published)
    ax.annotate("", (0.39, 0.42), (0.30, 0.42), arrowprops={"arrowstyle": "->", "color": GREY})
    for top, size, color in ((0.72, 3, BLUE), (0.30, 2, ORANGE)):
        height = 0.14 * size
        box = FancyBboxPatch(
            (0.42, top - height + 0.085), 0.27, height - 0.02, boxstyle="round,pad=0.01", fc=color
        )
        box.set(alpha=0.15, ec=color)
        ax.add_patch(box)
        middle = top - height / 2 + 0.075
        ax.text(0.73, middle, f"QI-group of {size}", color=color, va="center", fontsize=11)
    ax.text(0.73, -0.06, "k = 2: the smallest group", va="center", fontsize=11)
    ax.set(xlim=(-0.02, 1), ylim=(-0.15, 1))
    figure.savefig(IDEAS / "groups.svg")


def columns(ax: Axes, left: float, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Write a small table."""
    ax.text(left, 0.94, title, fontsize=11, weight="bold")
    ax.text(left, 0.83, "age", color=GREY, fontsize=10)
    ax.text(left + 0.14, 0.83, "zip", color=GREY, fontsize=10)
    for i, (age, place) in enumerate(rows):
        ax.text(left, 0.72 - 0.14 * i, age, fontsize=11, va="center")
        ax.text(left + 0.14, 0.72 - 0.14 * i, place, fontsize=11, va="center")


if __name__ == "__main__":
    mpl.rcParams.update({"svg.hashsalt": "privmoo", "svg.fonttype": "path", "font.size": 9})
    families()
    groups()
