"""Optimal univariate microaggregation: the best classes that are intervals of an order."""

from __future__ import annotations

import numpy as np

from privmoo.baselines.common import Publish, check, published
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError, nearest
from privmoo.kernels.class_state import Demands
from privmoo.recodings.classes import PartitionRecoding
from privmoo.spaces.orders import IntervalClasses
from privmoo.spaces.units import cut_up, field_of

__all__ = ["univariate"]


def univariate(
    table: Table,
    k: int,
    *,
    column: str | None = None,
    scale: Scale = "standard",
    release: Publish = "mean",
) -> PartitionRecoding:
    """Find the best classes of k to 2k - 1 neighbours in the order of a column (Hansen & Mukherjee 2003).

    With one numeric quasi-identifier that is the optimum over all classes. With more, records are put in
    the order of a column, or by default of the first principal component, and the classes are the best
    along that order for the loss of all columns: squared distance to the mean plus records that differ from
    the mode. Time is O(n log n + n·k).

    Args:
        table: The records.
        k: Fewest records of a class.
        column: The quasi-identifier whose numbers give the order; the first principal component by default.
        scale: The unit of numbers: `"raw"`, `"standard"` deviations or `"minmax"`.
        release: Publish the `"mean"` and mode, or the `"range"`.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 22, 54, 21]}), quasi_identifiers=["age"])
    >>> univariate(table, 2).apply(table, np.arange(5))["age"].tolist()
    [21.0, 52.0, 21.0, 52.0, 21.0]
    """
    check(table, k)
    coordinates = Space.of(table, scale)
    names = [qi.name for qi in table.qis]
    if column is not None and column not in names:
        raise ProblemError(
            f"column: {column!r} is not a quasi-identifier of the table{nearest(column, names)}"
        )
    if column is not None and not coordinates.numeric[names.index(column)]:
        raise ProblemError(f"column: {column!r} holds categories; choose a column of numbers")
    view, units = cut_up(table, coordinates, table.n_records)
    intervals = IntervalClasses(field_of(units, coordinates))
    keys = intervals.keys(0) if column is None else units.points[:, names.index(column)]
    order = np.argsort(keys, kind="stable")
    starts = np.arange(len(order) + 1)
    spreads = intervals.measure(order, starts, most=2 * k - 1)
    demands = Demands(k, 1, np.zeros(len(table.sensitive)))
    labels = intervals.best(order, starts, spreads, demands, table.n_records)
    if labels is None:  # impossible: a class of 2k - 1 or fewer records always is
        raise ProblemError(f"k: no classes of {k} records are possible")
    return published(table, labels[view.row_tuple], release, by="records")
