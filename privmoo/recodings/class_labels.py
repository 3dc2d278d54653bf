"""What classes are made from: labels of records or of distinct tuples, and centres."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ReleaseError

__all__ = ["By", "checked_centres", "checked_labels", "codes_of", "labels_of_tuples"]

By = Literal["records", "tuples"]


def labels_of_tuples(table: Table, labels: NDArray[Any]) -> NDArray[Any] | None:
    """The label of every tuple from those of records; None where equal records have several.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [22, 20, 22]}), quasi_identifiers=["age"])
    >>> labels_of_tuples(table, np.array([1, 0, 1])).tolist()
    [0, 1]
    """
    found = np.empty(table.n_tuples, labels.dtype)
    found[table.row_tuple] = labels
    return found if np.array_equal(found[table.row_tuple], labels) else None


def codes_of(table: Table, by: By) -> NDArray[Any]:
    """The leaves of every tuple, or of every record."""
    return table.tuples if by == "tuples" else table.tuples[table.row_tuple]


def checked_labels(table: Table, labels: Any, by: str) -> tuple[NDArray[np.int64], By]:
    """Checked labels: of tuples where equal records stay together, else of records; and of which."""
    if by not in ("records", "tuples"):
        raise ReleaseError(f"by: must be 'records' or 'tuples', got {by!r}")
    if by == "records":
        table.need_records("by='records'", "give labels of tuples, with by='tuples'")
    own = np.asarray(labels)
    expected = table.n_records if by == "records" else table.n_tuples
    if own.shape != (expected,) or own.dtype.kind not in "iu" or own.min() < 0:
        raise ReleaseError(
            f"labels: expected a whole number from 0 for each of {expected} {by}, got {own.dtype} of "
            f"shape {own.shape}"
        )
    own = own.astype(np.int64)
    if by == "tuples":
        return own, "tuples"
    whole = labels_of_tuples(table, own)
    return (own, "records") if whole is None else (whole, "tuples")


def checked_centres(table: Table, centres: Any, n_classes: int) -> NDArray[np.float64]:
    """The centres of so many classes as an array, if numbers and codes of leaves are possible ones."""
    try:
        given = np.array(centres, dtype=np.float64)
    except (TypeError, ValueError):
        raise ReleaseError("centres: expected a matrix of numbers, one row per class") from None
    if given.ndim != 2 or given.shape[1] != table.n_qis or len(given) < n_classes:
        raise ReleaseError(
            f"centres: expected {table.n_qis} values for each of {n_classes} classes, got shape "
            f"{given.shape}"
        )
    for j, qi in enumerate(table.qis):
        column = given[:, j]
        fits = np.isfinite(column)
        if qi.numbers is None and fits.all():
            fits = (column >= 0) & (column < qi.n_leaves) & (column % 1 == 0)
        if not fits.all():
            raise ReleaseError(
                f"centres: those of {qi.name!r} must be finite numbers, or codes of its "
                f"{qi.n_leaves} leaves where it has categories"
            )
    return given + 0.0  # no negative zero
