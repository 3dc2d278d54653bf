"""Steps that the baselines share: checks, kinds of records, classes that merge, labels of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo.data.points import Space
from privmoo.data.table import Table, check_table
from privmoo.errors import ProblemError
from privmoo.kernels.class_merging import MergingClasses
from privmoo.recodings.class_labels import By
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, range_recoding
from privmoo.recodings.means import Means

__all__ = [
    "Kinds",
    "Publish",
    "check",
    "check_release",
    "classes_of",
    "labels_of_rows",
    "published",
    "sort_column",
]

Publish = Literal["mean", "range"]


def check(table: Table, k: int, *, diversity: int = 1) -> None:
    """Raise if no partition of the table can meet the demands.

    Args:
        table: The records.
        k: Fewest records of a class.
        diversity: Fewest distinct values of every sensitive attribute in a class.
    """
    check_table(table)
    table.need_records("baseline")
    whole_number("k", k, at_least=2)
    if k > table.n_records:
        raise ProblemError(f"k: must be at most {table.n_records}, the number of records, got {k}")
    if table.subjects is not None:
        raise ProblemError(
            "table: it has several rows per person, so k would count rows, not persons; give a table with "
            "one row per person and without subject="
        )
    whole_number("l", diversity)
    if diversity > 1 and not table.sensitive:
        raise ProblemError(
            f"l: {diversity} values of every sensitive attribute are required, but the table has no such "
            "attribute; name one in Table(..., sensitive=...)"
        )
    for attribute in table.sensitive.values():
        if diversity > 1 and attribute.unknown is not None:
            raise ProblemError(
                f"l: sensitive attribute {attribute.name!r} has missing values, which add no diversity; "
                "leave those rows out with Table(..., missing='drop'), or count them as a value with "
                "missing='value'"
            )
        present = int(np.count_nonzero(attribute.totals))
        if diversity > present:
            raise ProblemError(
                f"l: sensitive attribute {attribute.name!r} has {present} values, so no class can have "
                f"{diversity}; choose a smaller l"
            )


@dataclass(frozen=True)
class Kinds:
    """Records that are alike: in their quasi-identifiers and, if asked for, their sensitive values.

    Attributes:
        of_row: The kind of every row; kinds are ordered by tuple.
        tuples: The tuple of every kind.
        weights: The records of every kind.
        sensitive: Kinds × attributes: sensitive values, numbered consecutively over all attributes.
        n_values: The number of sensitive values, over all attributes.
    """

    of_row: NDArray[np.int64]
    tuples: NDArray[np.int64]
    weights: NDArray[np.int64]
    sensitive: NDArray[np.int64]
    n_values: int

    @classmethod
    def of(cls, table: Table, *, sensitive: bool) -> Kinds:
        """Return the kinds of a table's records; without sensitive values they are its tuples.

        Args:
            table: The records.
            sensitive: Whether records of one kind have the same sensitive values too.
        """
        kind_of_row = table.row_tuple.astype(np.int64)
        if not sensitive:
            none = np.empty((table.n_tuples, 0), np.int64)
            return cls(kind_of_row, np.arange(table.n_tuples), table.weights, none, 0)
        columns, n_values = [], 0
        for attribute in table.sensitive.values():
            codes = attribute.row_codes.astype(np.int64)
            columns.append(codes + n_values)
            n_values += attribute.n_values
            # renumbered after every attribute, so that the numbers stay small
            _, kind_of_row = np.unique(
                kind_of_row * attribute.n_values + codes, return_inverse=True
            )
        _, first, weights = np.unique(kind_of_row, return_index=True, return_counts=True)
        return cls(
            kind_of_row,
            table.row_tuple[first].astype(np.int64),
            weights.astype(np.int64),
            np.column_stack(columns)[first],
            n_values,
        )


def labels_of_rows(
    of_row: NDArray[np.int64],
    kinds: NDArray[np.int64],
    labels: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the label of every row, in the order of the rows within a kind.

    Args:
        of_row: The kind of every row.
        kinds: Per entry, a kind.
        labels: Per entry, a label.
        counts: Per entry, how many records of the kind have the label.

    >>> rows = np.array([0, 1, 0, 0])
    >>> labels_of_rows(rows, np.array([0, 1, 0]), np.array([7, 8, 9]), np.array([2, 1, 1])).tolist()
    [7, 8, 7, 9]
    """
    entries = np.argsort(kinds, kind="stable")
    result = np.empty(len(of_row), np.int64)
    result[np.argsort(of_row, kind="stable")] = np.repeat(labels[entries], counts[entries])
    return result


def sort_column(space: Space, weights: NDArray[np.int64]) -> int:
    """Return the numeric column that varies most, for a search along it; -1 if there is none.

    Args:
        space: The points of distinct tuples.
        weights: The records of every tuple.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 2], "b": [1, 9]}), quasi_identifiers=["a", "b"])
    >>> sort_column(Space.of(table), table.weights)
    1
    """
    mean = np.average(space.points, axis=0, weights=weights)
    spread = np.average((space.points - mean) ** 2, axis=0, weights=weights)
    spread[~space.numeric] = -1.0
    best = int(np.argmax(spread))
    return best if space.numeric[best] else -1


def category_offsets(table: Table, space: Space) -> NDArray[np.int64]:
    """Return where every column's categories begin in one tally; numbers have none.

    Args:
        table: The records.
        space: Their points.
    """
    sizes = [0 if space.numeric[j] else qi.n_leaves for j, qi in enumerate(table.qis)]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def classes_of(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    labels: NDArray[np.int64],
    n_classes: int,
    attributes: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
) -> MergingClasses:
    """Return classes of points, ready to merge.

    Args:
        points: Coordinates of kinds of records.
        numeric: Which columns are numbers.
        sizes: Records of every point.
        labels: The class of every point.
        n_classes: How many classes there are.
        attributes: Per sensitive attribute: the class, the value and the records of every entry.
    """
    totals = np.bincount(labels, weights=sizes, minlength=n_classes)
    means = np.column_stack(
        [np.zeros((n_classes, 0))]
        + [
            np.bincount(labels, weights=sizes * points[:, j], minlength=n_classes) / totals
            for j in np.flatnonzero(numeric)
        ]
    )
    columns = [(labels, points[:, j].astype(np.int64), sizes) for j in np.flatnonzero(~numeric)]
    n_columns = len(columns) + len(attributes)
    starts = np.zeros((n_classes, n_columns), np.int64)
    n_values, modes = starts.copy(), starts.copy()
    codes, counts, end = [], [], 0
    for j, (of_class, values, records) in enumerate([*columns, *attributes]):
        span = int(values.max()) + 1
        cells, place = np.unique(of_class * span + values, return_inverse=True)
        cell_records = np.bincount(place, weights=records).astype(np.int64)
        n_values[:, j] = np.bincount(cells // span, minlength=n_classes)
        starts[:, j] = end + np.cumsum(n_values[:, j]) - n_values[:, j]
        np.maximum.at(modes[:, j], cells // span, cell_records)
        codes.append(cells % span)
        counts.append(cell_records)
        end += len(cells)
    room = [np.zeros(end, np.int64)]
    return MergingClasses(
        totals.astype(np.int64),
        np.ascontiguousarray(means),
        starts,
        n_values,
        modes,
        np.concatenate(codes + room),
        np.concatenate(counts + room),
        np.array([end]),
        len(columns),
    )


def published(
    table: Table,
    labels: NDArray[np.int64],
    release: Publish = "mean",
    *,
    by: By,
    means: Means | None = None,
) -> PartitionRecoding:
    """Return the recoding that publishes the mean and mode of every class, or its members' range.

    Args:
        table: The records.
        labels: The class of every record or tuple.
        release: Publish the `"mean"` and mode, or the `"range"`.
        by: Whether labels are of `"records"` or of `"tuples"`.
        means: How means are published; exactly by default.
    """
    check_release(release, means)
    if release == "mean":
        return cluster_recoding(table, labels, by=by, means=means)
    return range_recoding(table, labels, by=by)


def check_release(release: Publish, means: Means | None) -> None:
    """Raise unless the arguments say clearly what is published.

    Args:
        release: `"mean"` or `"range"`.
        means: How means are published, if they are.
    """
    choice("release", release, get_args(Publish))
    if release == "range" and means is not None:
        raise ProblemError("means: ranges are published, not means; use release='mean'")
