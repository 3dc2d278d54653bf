"""Information loss of MO-OBAM: the distance of records to the mean or mode of their cluster."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo.data.cache import per_table
from privmoo.data.facts import leaf_offsets, mean_digits, no_distance
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.kernels.clusters import Columns, spread_of_clusters, spread_to_centres
from privmoo.measures.base import FloatArray
from privmoo.measures.records import released_records
from privmoo.measures.staged import Staged
from privmoo.recodings.columns import Intervals, Labels, Noised
from privmoo.recodings.nodes import numeric_columns

__all__ = ["InformationLoss"]

Scale = Literal["raw", "standard"]


class InformationLoss(Staged):
    """IL: distance of all records to their released values, over that to the table's mean and mode.

    Wei et al. 2024 (MO-OBAM), Eqs. 10 and 11, for clusters: a group releases the mean of its numbers
    and the mode of its other values, or the centres that a candidate gives it. The distance is squared
    for numbers and 1 for a value that differs; a suppressed record counts its own distance to the
    table's mean and mode, so the loss of an empty release is 1. A number is that of its leaf; the number of
    an interval is its middle. A node of several categories differs from each of them. Less is better.

    Args:
        scale: `"raw"` numbers, or `"standard"`: in standard deviations of the original column.
        stage: `"after"` or `"before"` suppression.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 3, 5, 7]}), quasi_identifiers=["a"])
    >>> pairs = pm.recodings.Candidates(labels=np.array([[0, 0, 1, 1]], np.int32))
    >>> InformationLoss()(pm.group(table, pairs))
    0.2
    """

    name = "il"
    label = "information loss"
    symbol = "IL"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "labels"})
    coarser = "worse"

    def __init__(self, *, scale: Scale = "raw", stage: Stage = "after") -> None:
        choice("scale", scale, ("raw", "standard"), error=MeasureError)
        self.scale: Scale = scale
        super().__init__(stage=stage)

    def check(self, table: Table) -> None:
        """Raise a MeasureError if a column of numbers has no mean, such as one with missing values."""
        super().check(table)
        _deviations(table)

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the relative distance of every candidate."""
        if groups.cells is not None:
            return self._of_cells(groups)
        if groups.has_losses:
            raise MeasureError(
                "il: needs clusters, which release means, but these groups release generalised values; "
                "choose another utility measure such as the general loss"
            )
        table = groups.table
        facts = _deviations(table)[self.scale]
        if facts.total == 0:
            return np.zeros(len(groups))
        out = np.empty(len(groups))
        common = (
            groups.n_groups,
            groups.need_labels(self.name),
            np.zeros((0, 0), np.int64) if groups.kept is None else groups.kept,
            table.weights,
            Columns(
                table.tuples,
                leaf_offsets(table),
                facts.leaf_numbers,
                facts.numeric,
                facts.deviations,
                facts.units,
                mean_digits(table),
            ),
        )
        if groups.centres is None or groups.clusters is None:
            spread_of_clusters(*common, out)
        else:
            spread_to_centres(*common, groups.clusters, groups.centres, out)
        return out / facts.total

    def _of_cells(self, groups: GroupBatch) -> FloatArray:
        """Return the loss of recodings of single cells; an interval counts as its middle."""
        table = groups.table
        out = np.empty(len(groups))
        for c, rows in enumerate(released_records(groups, self.name)):
            cells = (groups.cells or ())[c]
            total = loss = 0.0
            for j, (column, numbers) in enumerate(
                zip(cells.columns, numeric_columns(table), strict=True)
            ):
                total_deviation, deviations = _column_deviation(table, j)
                if numbers is not None and isinstance(column, Noised | Intervals):
                    low, high = column.ends
                    middle = ((low + high) / 2)[column.codes[rows]]
                    change = (middle - numbers[rows]) ** 2
                elif isinstance(column, Labels):
                    change = (column.widths > 1)[column.codes[rows]].astype(np.float64)
                else:
                    raise MeasureError(
                        f"il: column {column.name!r} publishes values that are neither labels nor "
                        "numbers of its records; choose another utility measure"
                    )
                unit = 1.0
                if self.scale == "standard" and numbers is not None and total_deviation > 0:
                    unit = total_deviation / table.n_records
                suppressed_deviation = (
                    total_deviation - deviations[rows].sum() if len(rows) < table.n_records else 0.0
                )
                total += total_deviation / unit
                loss += (change.sum() + suppressed_deviation) / unit
            out[c] = loss / total if total else 0.0
        return out

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to the worst centres within the bounds of the data.

        Means and modes never exceed 1; centres within the data's bounds can.
        """
        facts = _deviations(table)[self.scale]
        return 0.0, max(1.0, facts.farthest / facts.total) if facts.total else 1.0

    def worst(self, table: Table) -> float:
        """Return 1, because a release without records loses the whole deviation of the data."""
        return 1.0


class _Deviations(NamedTuple):
    """Distances of a table's tuples to its mean and mode."""

    leaf_numbers: FloatArray
    numeric: NDArray[np.bool_]
    deviations: FloatArray
    total: float
    units: FloatArray
    farthest: float
    """Distance of all records to centres at the far end of the data's bounds."""


def _column_deviation(table: Table, j: int) -> tuple[float, FloatArray]:
    """Return the loss of a column if nothing is released, in total and per record, in raw numbers."""
    return _column_deviations(table)[j]


@per_table
def _column_deviations(table: Table) -> list[tuple[float, FloatArray]]:
    columns = []
    for j, (qi, numbers) in enumerate(zip(table.qis, numeric_columns(table), strict=True)):
        if numbers is None:
            codes = table.tuples[table.row_tuple, j]
            totals = np.bincount(codes, minlength=qi.n_leaves)
            modes = np.flatnonzero(totals == totals.max())
            deviations = (codes != min(modes, key=lambda code: qi.leaves[code])).astype(np.float64)
        else:
            constant = (numbers == numbers[0]).all()  # a rounded mean may differ from equal numbers
            deviations = (numbers - (numbers[0] if constant else numbers.mean())) ** 2
        columns.append((float(deviations.sum()), deviations))
    return columns


@per_table
def _deviations(table: Table) -> dict[str, _Deviations]:
    return {"raw": _deviation(table, "raw"), "standard": _deviation(table, "standard")}


def _deviation(table: Table, scale: Scale) -> _Deviations:
    weights, n = table.weights, table.n_records
    deviations = np.zeros(table.n_tuples)
    units = np.ones(table.n_qis)
    farthest = 0.0
    numbers = []
    for j, qi in enumerate(table.qis):
        codes = table.tuples[:, j]
        if qi.numbers is None:
            numbers.append(np.zeros(qi.n_leaves))
            totals = np.bincount(codes, weights=weights, minlength=qi.n_leaves)
            # of several modes the first by name, as an auditor would take it
            modes = np.flatnonzero(totals == totals.max())
            deviations += codes != min(modes, key=lambda code: qi.leaves[code])
            farthest += n
            continue
        values = qi.numbers[codes]
        if (reason := no_distance(qi.name, values)) is not None:
            raise MeasureError(f"il: {reason}")
        constant = (values == values[0]).all()  # a rounded mean may differ from equal numbers
        deviation = values - (values[0] if constant else (values * weights).sum() / n)
        spread = np.sqrt((deviation**2 * weights).sum() / n)
        unit = spread if scale == "standard" and spread > 0 else 1.0
        units[j] = unit
        numbers.append(np.nan_to_num(qi.numbers) / unit)
        deviations += (deviation / unit) ** 2
        reach = np.maximum(values - values.min(), values.max() - values) / unit
        farthest += float((reach**2 * weights).sum())
    numeric = np.array([qi.numbers is not None for qi in table.qis])
    total = float((deviations * weights).sum())
    return _Deviations(np.concatenate(numbers), numeric, deviations, total, units, farthest)
