"""Distinct keys of many records: by look-up where keys are few, by sorting where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_keys", "number_by_appearance", "number_equal", "number_rows"]

IntArray = NDArray[np.int64]
_DENSE = 8


def number_rows(
    keys: IntArray, columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Number equal rows, in the order of keys and then of codes; return the numbers and one row of each.

    Args:
        keys: A number from 0 for every row.
        columns: Codes of every row.
        sizes: Per column, how many codes there are.

    >>> number_rows(np.array([1, 0, 1]), [np.array([0, 5, 0])], [6])
    (array([1, 0, 1]), array([1, 0]))
    """
    span = int(keys.max()) + 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 2**62:  # renumbered, so that keys stay numbers
            keys = np.unique(keys, return_inverse=True)[1]
            span = len(keys)
        keys, span = keys * size + column, span * size
    if span > _DENSE * len(keys):
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        return of_row, first
    row = np.full(span, -1)
    row[keys[::-1]] = np.arange(len(keys))[::-1]
    owners = np.flatnonzero(row >= 0)
    number = np.empty(span, np.int64)
    number[owners] = np.arange(len(owners))
    return number[keys], row[owners]


def number_equal(matrix: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Number the equal rows of a matrix, in their order; return the numbers and the first row of each.

    Args:
        matrix: Whole numbers from 0.

    >>> number_equal(np.array([[1, 5], [0, 7], [1, 5]]))
    (array([1, 0, 1]), array([1, 0]))
    """
    sizes = (matrix.max(axis=0, initial=0) + 1).tolist()
    return number_rows(np.zeros(len(matrix), np.int64), list(matrix.T), sizes)


def number_by_appearance(labels: NDArray[np.integer]) -> tuple[NDArray[np.int32], IntArray]:
    """Number labels by their first appearance.

    Args:
        labels: Numbers from 0.

    Returns:
        The new numbers, and the label of every new number.

    >>> number_by_appearance(np.array([7, 2, 7]))
    (array([0, 1, 0], dtype=int32), array([7, 2]))
    """
    places, first = number_rows(labels.astype(np.int64, copy=False), [], [])
    order = np.argsort(first)
    ranks = np.empty(len(first), np.int32)
    ranks[order] = np.arange(len(first), dtype=np.int32)
    return ranks[places], labels[first[order]].astype(np.int64)


def count_keys(keys: IntArray, span: int) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, ascending, and how often each occurs.

    Args:
        keys: Numbers from 0.
        span: One more than the largest possible key.

    >>> count_keys(np.array([2, 0, 2]), 3)
    (array([0, 2]), array([1, 2]))
    """
    if span > _DENSE * len(keys):
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=span)
    cells = np.flatnonzero(counts)
    return cells, counts[cells]
