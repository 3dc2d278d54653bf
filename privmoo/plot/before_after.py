"""A column before and after anonymisation: what a reader of the release can still see in it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError, nearest
from privmoo.hierarchy.canonical import canonical
from privmoo.plot.style import BLUE, GREY, headline, new_figure, quiet_grid, short, whole_numbers

if TYPE_CHECKING:
    from privmoo.data.columns import QIColumn
    from privmoo.data.table import Table
    from privmoo.release.release import Release

__all__ = ["BeforeAfterPicture", "before_after_of", "plot_before_after"]

_FEW = 20  # values that get a bar each, with its name
_BINS = 30


@dataclass(frozen=True)
class BeforeAfterPicture:
    """The data of the picture of a column.

    Attributes:
        column: Its name.
        labels: The values, in the order of the column; for bins, their ranges.
        edges: The ends of the bins; None if values are names and not numbers.
        before: Original records of each value.
        after: Released records of each; a label's records are shared out evenly over its values.
        title: What it shows, in one line.
    """

    column: str
    labels: tuple[str, ...]
    edges: NDArray[np.float64] | None
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    title: str


def before_after_of(table: Table, release: Release, column: str) -> BeforeAfterPicture:
    """Compute the data of the picture of a column.

    Args:
        table: The original records.
        release: A release of them.
        column: A released column.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 20, 21, 40]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0, 1]]))
    >>> picture = before_after_of(table, release, "age")
    >>> picture.labels, picture.before.tolist(), picture.after.tolist()
    (('20', '21', '40'), [2.0, 1.0, 1.0], [1.5, 1.5, 1.0])
    """
    if column not in release.frame.columns:
        raise ProblemError(
            f"column: {column!r} is not released{nearest(column, release.frame.columns)}"
        )
    labels = release.frame[column]
    name = column if len(column) <= 60 else column[:59] + "…"
    n, n_released = table.n_records, len(release.frame)
    suppression_note = f", {n - n_released:,} suppressed" if n > n_released else ""
    title = f"{name} before and after: {count_noun(n, 'record')}{suppression_note}"
    if column in table.qi_names:
        qi = table.qis[table.qi_names.index(column)]
        if not pd.api.types.is_numeric_dtype(labels) or qi.numbers is None:
            return _of_labels(table, release, qi, f"{title}, {_label_count(labels)}")
        original = pd.Series(qi.numbers[table.tuples[table.row_tuple, table.qis.index(qi)]])
    else:
        original = table.frame[column]
    if pd.api.types.is_numeric_dtype(original) and original.nunique() > _FEW:
        values = [np.asarray(part.dropna(), dtype=np.float64) for part in (original, labels)]
        edges = _edges(np.concatenate(values))
        before, after = (np.histogram(part, edges)[0].astype(np.float64) for part in values)
        names = tuple(f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges))
        return BeforeAfterPicture(column, names, edges, before, after, title)
    counts = [part.map(canonical).value_counts() for part in (original, labels)]
    frequencies = pd.concat(counts, axis=1, keys=["before", "after"]).fillna(0.0)
    frequencies = frequencies.sort_values("before", ascending=False, kind="stable")
    return _most_frequent(column, frequencies, title)


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges of bins of equal width; whole numbers get whole widths, so that bins compare."""
    low, high = float(values.min()), float(values.max())
    if not np.array_equal(values, np.round(values)):
        return np.histogram_bin_edges(values, _BINS)
    width = max(1.0, np.ceil((high - low + 1) / (3 * _BINS)))
    return np.asarray(np.arange(low - 0.5, high + width, width))


def _label_count(labels: pd.Series) -> str:
    return f"released as {count_noun(labels.nunique(), 'label')}"


def _of_labels(table: Table, release: Release, qi: QIColumn, title: str) -> BeforeAfterPicture:
    """Share a label's records out over the leaves it stands for, as a reader of labels alone would."""
    codes = table.tuples[table.row_tuple, table.qis.index(qi)]
    before = np.bincount(codes, minlength=qi.n_leaves).astype(np.float64)
    after = np.zeros(qi.n_leaves)
    place = {leaf: i for i, leaf in enumerate(qi.leaves)}
    meanings = release.meanings.get(qi.name, {})
    for label, records in release.frame[qi.name].map(canonical).value_counts().items():
        leaves = [
            place[x] for x in dict.fromkeys(meanings.get(str(label), [str(label)])) if x in place
        ]
        if leaves:
            after[leaves] += records / len(leaves)
    return BeforeAfterPicture(qi.name, qi.leaves, None, before, after, title)


def _most_frequent(column: str, counts: pd.DataFrame, title: str) -> BeforeAfterPicture:
    """Return the most frequent values, and the others together."""
    if len(counts) > _FEW:
        rest = counts.iloc[_FEW - 1 :]
        others = pd.DataFrame([rest.sum()], index=pd.Index([f"{len(rest):,} others"]))
        counts = pd.concat([counts.iloc[: _FEW - 1], others])
    before, after = (counts[name].to_numpy(np.float64) for name in ("before", "after"))
    return BeforeAfterPicture(column, tuple(map(str, counts.index)), None, before, after, title)


def plot_before_after(
    table: Table, release: Release, column: str, *, ax: Axes | None = None
) -> Axes:
    """Draw a column before and after: the original in grey, what the release still shows in blue.

    A generalised label says only that a record has one of several values, so its records are shared out
    evenly over them. The picture counts original records: it is for the publisher, not for publishing.

    Args:
        table: The original records.
        release: A release of them.
        column: A released column.
        ax: Where to draw; a new figure by default.

    >>> import matplotlib.pyplot as plt, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0, 0, 1, 0, 0]]))
    >>> plot_before_after(table, release, "age").get_title()
    'age before and after: 6 records, released as 2 labels'
    >>> plt.close("all")
    """
    picture = before_after_of(table, release, column)
    n = len(picture.labels)
    bars = picture.edges is None and n <= _FEW
    if ax is None:
        ax = new_figure(6.8, 1.9 + 0.34 * n if bars else 4.2)[0]
    (_bars if bars else _steps)(ax, picture)
    headline(ax, picture.title, above=22, inches=4.6 if bars else None)
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return ax


def _bars(ax: Axes, picture: BeforeAfterPicture) -> None:
    places = np.arange(len(picture.labels))
    for values, shift, colour, name in (
        (picture.before, -0.2, GREY, "before"),
        (picture.after, 0.2, BLUE, "after"),
    ):
        ax.barh(places + shift, values, height=0.4, color=colour, label=name)
    ax.set_yticks(places.tolist(), [short(name) for name in picture.labels])
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set_ylabel(short(picture.column))
    ax.set_xlabel("records")
    whole_numbers(ax.xaxis)
    quiet_grid(ax, "x")


def _steps(ax: Axes, picture: BeforeAfterPicture) -> None:
    edges = np.arange(len(picture.labels) + 1, dtype=np.float64) - 0.5
    if picture.edges is not None:
        edges = picture.edges
    else:
        texts = picture.labels

        def _name(at: float, _: int | None = None) -> str:
            whole = round(at)
            return short(texts[whole]) if at == whole and 0 <= whole < len(texts) else ""

        whole_numbers(ax.xaxis)
        ax.xaxis.set_major_formatter(FuncFormatter(_name))
        if max(map(len, texts)) > 6:
            for label in ax.get_xticklabels():
                label.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.stairs(picture.before, edges, fill=True, color=GREY, label="before", zorder=2)
    ax.stairs(picture.after, edges, color=BLUE, lw=1.8, label="after", zorder=3)
    ax.set_xlim(float(edges[0]), float(edges[-1]))
    ax.set_xlabel(short(picture.column, 60))
    ax.set_ylabel("records")
    whole_numbers(ax.yaxis)
    quiet_grid(ax, "y")
