"""Facts about a table that several rooms need, each computed once per table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privmoo.data.cache import per_table
from privmoo.data.table import Table

__all__ = ["fewest_values", "leaf_offsets", "mean_digits", "no_distance", "value_numbers"]

FloatArray = NDArray[np.float64]
_LARGEST = 1e140
"""Squares of larger numbers overflow; squares of differences below its inverse become 0."""


@per_table
def leaf_offsets(table: Table) -> NDArray[np.int64]:
    """Return where the leaves of every quasi-identifier begin in a row of blocks."""
    return np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])]).astype(np.int64)


@per_table
def mean_digits(table: Table) -> FloatArray:
    """Return the power of ten to which released means are rounded, per quasi-identifier; 1 for categories.

    Means have nine digits of the column's range, or as many as a float has. So two classes whose means
    differ only by the order of a sum release the same value.
    """
    digits = np.ones(table.n_qis)
    for j, qi in enumerate(table.qis):
        if qi.numbers is None:
            continue
        values = qi.numbers[table.tuples[:, j]]
        values = values[~np.isnan(values)]
        span = float(values.max() - values.min()) if len(values) else 0.0
        largest = float(np.abs(values).max()) if len(values) else 0.0
        if largest > 0 and math.isfinite(span):
            exact = 15 - math.ceil(math.log10(largest))
            places = exact if span == 0 else min(exact, 9 - math.ceil(math.log10(span)))
            digits[j] = 10.0 ** np.clip(places, -300, 300)
    return digits


def no_distance(name: str, values: FloatArray) -> str | None:
    """Return why numbers have no mean or no squared distance, as part of a sentence; None if they have.

    Args:
        name: The column.
        values: Its numbers.

    >>> no_distance("pay", np.array([1.0, 1e200]))
    "column 'pay' has numbers beyond ±1e+140, whose squares overflow; give it in a larger unit"
    """
    if np.isnan(values).any():
        return (
            f"column {name!r} has missing values, which have no mean and no distance; leave those rows "
            "out (missing = 'drop')"
        )
    if len(values) and np.abs(values).max() > _LARGEST:
        return (
            f"column {name!r} has numbers beyond ±{_LARGEST:g}, whose squares overflow; "
            "give it in a larger unit"
        )
    span = float(values.max() - values.min()) if len(values) else 0.0
    if 0 < span < 1 / _LARGEST:
        return (
            f"column {name!r} has differences below {1 / _LARGEST:g}, whose squares are 0; give it in a "
            "smaller unit"
        )
    return None


@per_table
def value_numbers(table: Table) -> tuple[int, ...]:
    """Return the number of distinct values of every sensitive attribute, without unknown ones."""
    return tuple(
        int((attribute.totals > 0).sum()) - (attribute.unknown is not None)
        for attribute in table.sensitive.values()
    )


def fewest_values(table: Table) -> int:
    """Return the number of values of the sensitive attribute with the fewest; no group can have more."""
    return min(value_numbers(table), default=0)
