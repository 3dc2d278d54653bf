"""Attackers who know a few columns of a person: k^m-anonymity and LKC-privacy.

Terrovitis, Mamoulis & Kalnis 2008; Mohammed, Fung, Hung & Lee 2009. Whoever knows any m of the columns
finds the records that agree in them: their number, and the values that they share. Fewer columns never
single out more, so only combinations of exactly m columns are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import AttackError

__all__ = ["combined", "largest_share", "smallest_support"]

IntArray = NDArray[np.int64]


def smallest_support(labels: IntArray, records: IntArray, m: int) -> int:
    """Return the fewest records that agree in some m columns.

    Args:
        labels: Rows × columns: what is published, as codes. A row may stand for several records.
        records: The records of every row.
        m: How many columns the attacker knows.

    >>> labels = np.array([[0, 0], [0, 1], [1, 1]])
    >>> smallest_support(labels, np.array([2, 1, 3]), 1)
    2
    >>> smallest_support(labels, np.array([2, 1, 3]), 2)
    1
    """
    return min(
        int(support[support > 0].min(initial=int(records.sum())))
        for support in (np.bincount(key, records) for key in combined(labels, m))
    )


def largest_share(
    labels: IntArray,
    entries: tuple[IntArray, IntArray, IntArray],
    m: int,
    *,
    unknown: int | None = None,
) -> float:
    """Return the largest share of a value among the records that agree in some m columns.

    Args:
        labels: Rows × columns: what is published, as codes.
        entries: Row, value and number of records of every value in every row.
        m: How many columns the attacker knows.
        unknown: The code of missing values, each of which may be the most frequent value.

    >>> labels = np.array([[0, 0], [0, 1]])
    >>> values = np.array([0, 1, 1]), np.array([4, 4, 5]), np.array([2, 1, 1])
    >>> largest_share(labels, values, 1), largest_share(labels, values, 2)
    (1.0, 1.0)
    """
    row, value, count = entries
    n_values = int(value.max(initial=0)) + 1
    is_known = np.ones(len(value), np.bool_) if unknown is None else value != unknown
    worst = 0.0
    for key in combined(labels, m):
        agreeing = key[row]
        records = np.bincount(agreeing, count)
        pairs, place = np.unique(agreeing * n_values + value, return_inverse=True)
        of_pair = np.bincount(place, np.where(is_known, count, 0))
        starts = np.flatnonzero(np.diff(pairs // n_values, prepend=-1))
        most_frequent = np.maximum.reduceat(of_pair, starts)
        missing = np.bincount(agreeing, np.where(is_known, 0, count))
        present = pairs[starts] // n_values
        worst = max(worst, float(((most_frequent + missing[present]) / records[present]).max()))
    return worst


def combined(labels: IntArray, m: int) -> Iterator[IntArray]:
    """Yield for every combination of m columns a number of every row, equal where the row agrees.

    Args:
        labels: Rows × columns.
        m: The size of the combinations; all columns if it is larger.

    >>> [key.tolist() for key in combined(np.array([[0, 5], [0, 7], [1, 7]]), 1)]
    [[0, 0, 1], [0, 1, 1]]
    """
    if m < 1:
        raise AttackError(f"m: must be at least 1, got {m}")
    n_rows, n_columns = labels.shape
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in labels.T]
    spans = [int(column.max(initial=0)) + 1 for column in codes]
    for places in combinations(range(n_columns), min(m, n_columns)):
        key, span = np.zeros(n_rows, np.int64), 1
        for j in places:
            key, span = key * spans[j] + codes[j], span * spans[j]
            if span > 4 * n_rows + 1024:  # renumbered, so that counting stays cheap
                numbers, key = np.unique(key, return_inverse=True)
                span = len(numbers)
        yield key
