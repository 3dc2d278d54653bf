"""Sums over the cells of groups: what generalised values tell less than the original ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "block_leaves",
    "block_maxima",
    "column_sums",
    "recoding_bits",
    "sum_groups",
    "sum_products",
]


@compiled()
def sum_groups(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    values: NDArray[Any],
    sums: NDArray[Any],
) -> None:
    """Per candidate, the sum over its groups."""
    for c in range(len(starts)):
        sums[c] = 0
        for g in range(starts[c], stops[c]):
            sums[c] += values[g]


@compiled()
def block_leaves(
    blocks: NDArray[np.uint32], leaf_offsets: NDArray[np.int64], out: NDArray[np.float64]
) -> None:
    """For every leaf, the number of leaves in its block; blocks are runs of leaves."""
    for c in range(len(blocks)):
        for j in range(len(leaf_offsets) - 1):
            start = leaf_offsets[j]
            while start < leaf_offsets[j + 1]:
                stop = start + 1
                while stop < leaf_offsets[j + 1] and blocks[c, stop] == blocks[c, start]:
                    stop += 1
                out[c, start:stop] = stop - start
                start = stop


@compiled()
def block_maxima(
    blocks: NDArray[np.uint32],
    leaf_offsets: NDArray[np.int64],
    joins: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """For every leaf, the largest of `joins` inside its block; joins[i] is that of i and i + 1."""
    for c in range(len(blocks)):
        for j in range(len(leaf_offsets) - 1):
            start = leaf_offsets[j]
            while start < leaf_offsets[j + 1]:
                stop = start + 1
                largest = 0.0
                while stop < leaf_offsets[j + 1] and blocks[c, stop] == blocks[c, start]:
                    largest = max(largest, joins[stop - 1])
                    stop += 1
                out[c, start:stop] = largest
                start = stop


@compiled()
def column_sums(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    firsts: NDArray[np.int32],
    tuples: NDArray[Any],
    leaf_offsets: NDArray[np.int64],
    leaf_values: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Per candidate and quasi-identifier, the sum over records of a value of their leaf."""
    out[:] = 0.0
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            for j in range(tuples.shape[1]):
                out[c, j] += records[g] * leaf_values[c, leaf_offsets[j] + tuples[firsts[g], j]]


@compiled()
def sum_products(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    firsts: NDArray[np.int32],
    tuples: NDArray[Any],
    leaf_offsets: NDArray[np.int64],
    leaf_values: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Per candidate, the sum over records of the product of their leaves' values."""
    for c in range(len(starts)):
        total = 0.0
        for g in range(starts[c], stops[c]):
            product = 1.0
            for j in range(tuples.shape[1]):
                product *= leaf_values[c, leaf_offsets[j] + tuples[firsts[g], j]]
            total += records[g] * product
        out[c] = total


@compiled()
def recoding_bits(
    n_groups: NDArray[np.int64],
    blocks: NDArray[np.uint32],
    labels: NDArray[np.int32],
    kept: NDArray[np.int64],
    weights: NDArray[np.int64],
    tuples: NDArray[Any],
    leaf_offsets: NDArray[np.int64],
    leaf_totals: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Bits that tell the leaf from its block, and the block from the suppressed records.

    `kept` may have no rows: tuples of a group at or after the candidate's last are suppressed.
    """
    lost = np.empty(len(leaf_totals), np.int64)
    for c in range(len(blocks)):
        lost[:] = 0
        n_lost = np.int64(0)
        for t in range(len(weights)):
            gone = weights[t] if labels[c, t] >= n_groups[c] else 0
            if len(kept):
                gone = weights[t] - kept[c, t]
            if gone > 0:
                n_lost += gone
                for j in range(tuples.shape[1]):
                    lost[leaf_offsets[j] + tuples[t, j]] += gone
        bits = 0.0
        for j in range(len(leaf_offsets) - 1):
            start = leaf_offsets[j]
            while start < leaf_offsets[j + 1]:
                stop = start
                total = np.int64(0)
                gone = np.int64(0)
                while stop < leaf_offsets[j + 1] and blocks[c, stop] == blocks[c, start]:
                    total += leaf_totals[stop]
                    gone += lost[stop]
                    stop += 1
                for leaf in range(start, stop):
                    if leaf_totals[leaf] > 0:
                        bits += leaf_totals[leaf] * np.log2(total / leaf_totals[leaf])
                if gone > 0:
                    bits += gone * np.log2(n_lost / gone)
                start = stop
        out[c] = bits
