"""Distinct tuples with weights, which the optimiser works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["SubjectLinks", "distinct_tuples", "sparse_counts", "subject_links"]

_LARGEST_KEY = 2**62


def distinct_tuples(
    codes: Sequence[NDArray[Any]], domain_sizes: Sequence[int], order: Sequence[int]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Find the distinct tuples of coded columns, sorted by the columns in `order`.

    Keys are mixed radix numbers. If the radix would overflow, they are replaced by their ranks, which
    keeps the order; so any number of columns works.

    Args:
        codes: The codes of every column.
        domain_sizes: The number of codes that every column can have.
        order: The columns in the order by which tuples are sorted.

    Returns:
        The tuples (n_tuples × columns), the tuple of every row, and the number of rows of every tuple.

    >>> tuples, row_tuple, weights = distinct_tuples([np.array([1, 0, 1])], [2], [0])
    >>> tuples.tolist(), row_tuple.tolist(), weights.tolist()
    ([[0], [1]], [1, 0, 1], [1, 2])
    """
    key = np.zeros(len(codes[0]), dtype=np.int64)
    span = 1
    for j in order:
        if span * domain_sizes[j] > _LARGEST_KEY:
            ranks, key = np.unique(key, return_inverse=True)
            span = len(ranks)
        key = key * domain_sizes[j]
        key += codes[j]
        span *= domain_sizes[j]
    _, first, inverse, counts = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    kind = np.result_type(*codes)
    tuples = np.empty((len(first), len(codes)), dtype=kind)
    for j, column in enumerate(codes):
        tuples[:, j] = column[first]
    return tuples, inverse.astype(np.int32), counts.astype(np.int64)


def sparse_counts(
    row_tuple: NDArray[np.int32],
    row_codes: NDArray[Any],
    n_tuples: int,
    n_values: int,
    weights: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Count how often each value occurs in each tuple.

    Args:
        row_tuple: The tuple of every row.
        row_codes: The value of every row.
        n_tuples: The number of tuples.
        n_values: The number of values.
        weights: The number of records of every row; one each by default.

    Returns:
        Offsets, value codes and counts; see `Attribute`.

    >>> offsets, codes, counts = sparse_counts(np.array([0, 1, 1], np.int32), np.array([2, 0, 0]), 2, 3)
    >>> offsets.tolist(), codes.tolist(), counts.tolist()
    ([0, 1, 2], [2, 0], [1, 2])
    """
    pairs = row_tuple.astype(np.int64) * n_values + row_codes
    if weights is None:
        key, counts = np.unique(pairs, return_counts=True)
    else:
        key, of_row = np.unique(pairs, return_inverse=True)
        counts = np.zeros(len(key), dtype=np.int64)
        np.add.at(counts, of_row, weights)
    owner = key // n_values
    offsets = np.zeros(n_tuples + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=n_tuples), out=offsets[1:])
    return offsets, (key % n_values).astype(np.int32), counts.astype(np.int64)


@dataclass(frozen=True)
class SubjectLinks:
    """The tuples of every person, if persons have several rows.

    A group's persons are the sum of its tuples' persons, minus the repetitions of those who have rows
    in several tuples of the group. Only these `links` must be checked for every candidate.
    """

    n_subjects: int
    persons: NDArray[np.int64]
    """Distinct persons in every tuple."""
    offsets: NDArray[np.int64]
    tuples: NDArray[np.int32]
    """The tuples of every person who has more than one, from `offsets`."""
    row_subject: NDArray[np.int64]


def subject_links(
    subject: pd.Series[Any], row_tuple: NDArray[np.int32], n_tuples: int
) -> SubjectLinks:
    """Count persons per tuple; all rows without a subject count as one, so that k is never overstated.

    Args:
        subject: The person of every row.
        row_tuple: The tuple of every row.
        n_tuples: The number of tuples.

    >>> links = subject_links(pd.Series(["a", "a", "b"]), np.array([0, 1, 1], np.int32), 2)
    >>> links.persons.tolist(), links.tuples.tolist()
    ([1, 2], [0, 1])
    """
    numbers, persons_named = pd.factorize(subject)
    codes = numbers.astype(np.int64)
    n_subjects = len(persons_named) + int((codes < 0).any())
    codes[codes < 0] = len(persons_named)
    pairs = np.unique(codes * n_tuples + row_tuple)
    owner, where = pairs // n_tuples, (pairs % n_tuples).astype(np.int32)
    persons = np.bincount(where, minlength=n_tuples).astype(np.int64)
    several = np.bincount(owner, minlength=n_subjects) > 1
    has_links = several[owner]
    lengths = np.bincount(owner[has_links], minlength=n_subjects)[several]
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return SubjectLinks(n_subjects, persons, offsets, where[has_links], codes)
