"""Labels of records or of distinct tuples, centres and bounds: what classes are made from."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import RecodingError
from privmoo.kernels.class_bounds import bounds_of_classes

__all__ = [
    "Bounds",
    "By",
    "PublishedEnds",
    "checked_bounds",
    "checked_centres",
    "checked_labels",
    "codes_of",
    "labels_of_tuples",
    "member_bounds",
]

By = Literal["records", "tuples"]
PublishedEnds = Literal["region", "tight"]
"""Whose ends the published ranges of classes have: their region's, or their members' own."""
Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Classes × quasi-identifiers: the first leaf of a range, and the leaf after its last one."""


def labels_of_tuples(table: Table, labels: NDArray[Any]) -> NDArray[Any] | None:
    """Return the label of every tuple; None if equal records have several.

    Args:
        table: The records.
        labels: The label of every record.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [22, 20, 22]}), quasi_identifiers=["age"])
    >>> labels_of_tuples(table, np.array([1, 0, 1])).tolist()
    [0, 1]
    """
    of_tuples = np.empty(table.n_tuples, labels.dtype)
    of_tuples[table.row_tuple] = labels
    return of_tuples if np.array_equal(of_tuples[table.row_tuple], labels) else None


def codes_of(table: Table, by: By) -> NDArray[Any]:
    """Return the leaves of every tuple, or of every record.

    Args:
        table: The records.
        by: `"tuples"` or `"records"`.
    """
    return table.tuples if by == "tuples" else table.tuples[table.row_tuple]


def checked_labels(table: Table, labels: Any, by: str) -> tuple[NDArray[np.int64], By]:
    """Check labels and reduce them to tuples if equal records stay together.

    Args:
        table: The records.
        labels: A label for every record or tuple.
        by: `"records"` or `"tuples"`.

    Returns:
        The labels, and whether they are of records or of tuples.
    """
    if by not in ("records", "tuples"):
        raise RecodingError(f"by: must be 'records' or 'tuples', got {by!r}")
    if by == "records":
        table.need_records("by='records'", "give labels of tuples, with by='tuples'")
    array = np.asarray(labels)
    n_expected = table.n_records if by == "records" else table.n_tuples
    if array.shape != (n_expected,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise RecodingError(
            f"labels: expected a whole number from 0 for each of {n_expected} {by}, got {array.dtype} of "
            f"shape {array.shape}"
        )
    array = array.astype(np.int64)
    if by == "tuples":
        return array, "tuples"
    of_tuples = labels_of_tuples(table, array)
    return (array, "records") if of_tuples is None else (of_tuples, "tuples")


def checked_centres(table: Table, centres: Any, n_classes: int) -> NDArray[np.float64]:
    """Check the centres of classes.

    Args:
        table: The records.
        centres: Classes × quasi-identifiers: a number, or the code of a leaf.
        n_classes: The number of classes.

    Returns:
        The centres as an array.
    """
    try:
        array = np.array(centres, dtype=np.float64)
    except (TypeError, ValueError):
        raise RecodingError("centres: expected a matrix of numbers, one row per class") from None
    if array.ndim != 2 or array.shape[1] != table.n_qis or len(array) < n_classes:
        raise RecodingError(
            f"centres: expected {table.n_qis} values for each of {n_classes} classes, got shape "
            f"{array.shape}"
        )
    for j, qi in enumerate(table.qis):
        column = array[:, j]
        fits = np.isfinite(column)
        if qi.numbers is None and fits.all():
            fits = (column >= 0) & (column < qi.n_leaves) & (column % 1 == 0)
        if not fits.all():
            raise RecodingError(
                f"centres: those of {qi.name!r} must be finite numbers, or codes of its "
                f"{qi.n_leaves} leaves if it has categories"
            )
    return array + 0.0  # no negative zero


def member_bounds(codes: NDArray[Any], classes: NDArray[np.int64], n_classes: int) -> Bounds:
    """Return the smallest range of leaves around the members of every class.

    Args:
        codes: The leaves of every tuple or record.
        classes: The class of each.
        n_classes: The number of classes.

    >>> start, stop = member_bounds(np.array([[2], [5], [4]]), np.array([0, 0, 1]), 2)
    >>> start.tolist(), stop.tolist()
    ([[2], [4]], [[6], [5]])
    """
    return bounds_of_classes(np.asarray(codes), classes, n_classes)


def checked_bounds(
    table: Table, bounds: Any, members: Bounds, classes: NDArray[np.int64]
) -> Bounds:
    """Check the bounds of regions: ranges of leaves that cover the members of their classes.

    Args:
        table: The records.
        bounds: Two matrices, classes × quasi-identifiers: the first leaf, and the leaf after the last.
        members: The bounds of the members of the classes in use.
        classes: The classes in use, as the rows of `bounds` are numbered.

    Returns:
        The bounds of the classes in use.
    """
    shape = (int(classes.max()) + 1, table.n_qis)
    try:
        start, stop = (np.asarray(ends) for ends in bounds)
    except (TypeError, ValueError):
        raise RecodingError(
            "bounds: expected two matrices of whole numbers, start and stop"
        ) from None
    for ends in (start, stop):
        if ends.ndim != 2 or ends.shape[1] != shape[1] or len(ends) < shape[0]:
            raise RecodingError(
                f"bounds: expected {shape[1]} leaves for each of {shape[0]} classes, got shape "
                f"{ends.shape}"
            )
        if ends.dtype.kind not in "iu":
            raise RecodingError(f"bounds: leaves must be whole numbers, got {ends.dtype}")
    start, stop = start[classes].astype(np.int64), stop[classes].astype(np.int64)
    n_leaves = np.array([qi.n_leaves for qi in table.qis])
    is_inside = (start >= 0) & (stop <= n_leaves)
    does_cover = (start <= members[0]) & (members[1] <= stop)
    for j, qi in enumerate(table.qis):
        if not is_inside[:, j].all():
            raise RecodingError(
                f"bounds: those of {qi.name!r} must lie within its {qi.n_leaves} leaves, from 0 to "
                f"{qi.n_leaves}"
            )
        if not does_cover[:, j].all():
            raise RecodingError(
                f"bounds: those of {qi.name!r} do not cover the members of "
                f"{int((~does_cover[:, j]).sum())} classes; widen them"
            )
    return start, stop
