"""Nested sets of partitions: bits are decided one after another, and every decision makes two sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Members", "blocks_of_bits", "nested_sets"]

_SMALLEST = 8  # members of a set that is worth a bound


class Members(NamedTuple):
    """A set of partitions, or one partition.

    Attributes:
        rows: The places of the partitions.
        skip: How many sets and partitions that follow are members; 0 for a single partition.
        common: The bits that all members have.
        any: The bits that some member has.
    """

    rows: NDArray[np.intp]
    skip: int
    common: NDArray[np.bool_]
    any: NDArray[np.bool_]


def nested_sets(bits: NDArray[np.bool_], weights: NDArray[np.float64]) -> Iterator[Members]:
    """Yield sets of partitions before their members, down to single partitions.

    The bit that most partitions have is decided first: in a tree that is the root's. Equal ones are
    decided as in a bisection of the records.

    Args:
        bits: Partitions × bits; 1 keeps two neighbouring leaves apart.
        weights: How many records lie before every bit.
    """
    order = np.lexsort((_bisection(weights), -bits.sum(axis=0)))
    yield from _nested(bits[:, order], order, np.arange(len(bits)), 0)


def _nested(
    bits: NDArray[np.bool_], order: NDArray[np.intp], rows: NDArray[np.intp], depth: int
) -> Iterator[Members]:
    """Yield the sets of some rows of bits in the order of decision, of which some are decided."""
    part = bits[rows]
    common, some = np.empty((2, len(order)), np.bool_)
    common[order], some[order] = part.all(axis=0), part.any(axis=0)
    if len(rows) == 1:
        yield Members(rows, 0, common, some)
        return
    while depth < len(order) and (common | ~some)[order[depth]]:
        depth += 1
    # Equal partitions, which no bit tells apart, are halved by their places.
    has = part[:, depth] if depth < len(order) else np.arange(len(rows)) < len(rows) // 2
    inside = [
        *_nested(bits, order, rows[has], depth),
        *_nested(bits, order, rows[~has], depth),
    ]
    if len(rows) >= _SMALLEST:
        yield Members(rows, len(inside), common, some)
    yield from inside


def _bisection(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rank of every bit if stretches are halved by their records, the widest first."""
    ranks = np.zeros(len(weights), np.int64)
    stretches, rank = [(0, len(weights))], 0
    while stretches:
        low, high = stretches.pop(0)
        if low == high:
            continue
        below = weights[low - 1] if low else 0.0
        above = weights[high] if high < len(weights) else weights[-1]
        middle = low + int(np.abs(weights[low:high] - (below + above) / 2).argmin())
        ranks[middle], rank = rank, rank + 1
        stretches += [(low, middle), (middle + 1, high)]
    return ranks


def blocks_of_bits(bits: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the block of every leaf, numbered from 0.

    Args:
        bits: One for each two neighbouring leaves; 1 keeps them apart.

    >>> blocks_of_bits(np.array([True, False])).tolist()
    [0, 1, 1]
    """
    return np.concatenate([[0], np.cumsum(bits)])
