"""Estimated answers of counting queries, from the leaves that published values may stand for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["Terms", "estimate_counts"]


class Terms(NamedTuple):
    """The conditions of a workload; those of query q are `offsets[q]:offsets[q + 1]`.

    Attributes:
        offsets: Where the conditions of every query begin.
        columns: The quasi-identifier of every condition.
        starts: Where the counts of every condition begin in `matches`.
        matches: Per condition and leaf, how many leaves before it satisfy the condition; one more entry
            than leaves.
    """

    offsets: NDArray[np.int64]
    columns: NDArray[np.int64]
    starts: NDArray[np.int64]
    matches: NDArray[np.int32]


@compiled()
def estimate_counts(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    records: NDArray[np.int64],
    terms: Terms,
    estimates: NDArray[np.float64],
) -> None:
    """For every query, the sum over groups of records times the share of leaves that satisfy it.

    A group has the leaves `low` to `high - 1` of every quasi-identifier; its records are spread evenly
    over them.
    """
    n, n_columns = low.shape
    below, above = np.empty((n_columns, n), np.int32), np.empty((n_columns, n), np.int32)
    portion = np.empty((n_columns, n))
    for g in range(n):
        for j in range(n_columns):
            below[j, g], above[j, g] = low[g, j], high[g, j]
            portion[j, g] = 1.0 / (high[g, j] - low[g, j])
    rest, shares = np.empty(n, np.int64), np.empty(n)
    for q in range(len(estimates)):
        count = n
        for g in range(n):
            rest[g], shares[g] = g, records[g]
        for t in range(terms.offsets[q], terms.offsets[q + 1]):
            j = terms.columns[t]
            matches = terms.matches[terms.starts[t] :]
            next_count = 0
            for i in range(count):
                g = rest[i]
                leaves = matches[above[j, g]] - matches[below[j, g]]
                # Written always, counted only where the group can satisfy the condition: no branch.
                rest[next_count] = g
                shares[next_count] = shares[i] * leaves * portion[j, g]
                next_count += leaves > 0
            count = next_count
        total = 0.0
        for i in range(count):
            total += shares[i]
        estimates[q] = total
