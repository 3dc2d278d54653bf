"""Labels of records or of distinct tuples, and centres: what classes are made from."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import RecodingError

__all__ = ["By", "checked_centres", "checked_labels", "codes_of", "labels_of_tuples"]

By = Literal["records", "tuples"]


def labels_of_tuples(table: Table, labels: NDArray[Any]) -> NDArray[Any] | None:
    """Return the label of every tuple; None where equal records have several.

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
    """Check labels and reduce them to tuples where equal records stay together.

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
    expected = table.n_records if by == "records" else table.n_tuples
    if array.shape != (expected,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise RecodingError(
            f"labels: expected a whole number from 0 for each of {expected} {by}, got {array.dtype} of "
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
                f"{qi.n_leaves} leaves where it has categories"
            )
    return array + 0.0  # no negative zero
