"""Downcoding: undoing generalisation with the knowledge that it was no more than necessary.

Cohen 2022. A local recoding that is minimal publishes a group with a label only if no part of the group
could be published with a finer one: a part, or the rest, would have fewer than k records. So the members
of a group do not all lie under one child of the label, and no child holds at least k of them while at
least k lie elsewhere. Whoever knows that, knows more of the group than the label says. Other parts of
the group, such as those that another column tells apart, would tell more: this is the least that
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import lgamma, log, prod

import numpy as np
from numpy.typing import NDArray

from privmoo.attacks.worlds import Posterior, believe
from privmoo.errors import AttackError

__all__ = ["ChildCounts", "child_counts", "downcode", "is_minimal"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
_MOST_COUNTS = 200_000


def downcode(
    options: Sequence[Sequence[int]],
    publishes: Callable[[IntArray], bool],
    *,
    weights: FloatArray | None = None,
    most_worlds: int = 50_000,
    samples: int = 10_000,
    seed: int = 0,
) -> Posterior:
    """Return what somebody believes of generalised cells who can run the method on every possible table.

    Args:
        options: The values that the label of every cell stands for, as codes.
        publishes: Takes a value for every cell; returns whether the method publishes the same release.
        weights: How likely every value is before the release is seen; equally likely by default.
        most_worlds: Up to how many worlds all of them are tried.
        samples: How many worlds are drawn if there are more, or if values are not equally likely.
        seed: The seed of the draws.

    Returns:
        Cells × values: the share of the worlds in which a cell has a value.

    Raises:
        AttackError: No world that was tried is consistent with the release.

    >>> belief = downcode([[0, 1], [0, 1]], lambda cells: cells[0] != cells[1])
    >>> belief.shares.tolist(), belief.consistent
    ([[0.5, 0.5], [0.5, 0.5]], 2)
    """
    if any(not len(cell) for cell in options):
        raise AttackError("options: a label must stand for at least one value")
    n_values = 1 + max(max(cell) for cell in options)
    exact = weights is None and prod(len(cell) for cell in options) <= most_worlds
    worlds: Iterator[IntArray]
    if exact:
        worlds = (np.array(world, np.int64) for world in product(*options))
    else:
        chances = np.ones(n_values) if weights is None else np.asarray(weights, np.float64)
        worlds = _draw(options, chances, samples, np.random.default_rng(seed))

    def consistent(rows: IntArray) -> NDArray[np.bool_]:
        return np.array([publishes(row) for row in rows], np.bool_)

    return believe(worlds, consistent, n_values, exact=exact)


def _draw(
    options: Sequence[Sequence[int]],
    chances: FloatArray,
    number: int,
    rng: np.random.Generator,
) -> Iterator[IntArray]:
    columns = []
    for cell in options:
        values = np.asarray(cell, np.int64)
        columns.append(rng.choice(values, number, p=chances[values] / chances[values].sum()))
    yield from np.column_stack(columns)


def is_minimal(counts: Sequence[int], k: int) -> bool:
    """Return whether neither a group nor its members under one child can be published with a finer label.

    Args:
        counts: The members of the group under every child of its label.
        k: The least size of a group.

    >>> is_minimal([1, 2], 2), is_minimal([3, 0], 2), is_minimal([2, 2], 2)
    (True, False, False)
    """
    size = sum(counts)
    return all(n < size and (n < k or size - n < k) for n in counts)


@dataclass(frozen=True)
class ChildCounts:
    """What follows for one group from the knowledge that its label is minimal.

    Attributes:
        expected: The expected share of the members under every child.
        before: The same before anything was concluded.
        fewest: The fewest members that every child has for certain.
        largest: The most members that every child can have.
        ruled_out: The probability, before anything was concluded, of the counts that are ruled out.
    """

    expected: tuple[float, ...]
    before: tuple[float, ...]
    fewest: tuple[int, ...]
    largest: tuple[int, ...]
    ruled_out: float


@lru_cache(maxsize=4096)
def child_counts(size: int, shares: tuple[float, ...], k: int) -> ChildCounts:
    """Return what follows for the members of a group from the knowledge that its label is minimal.

    Members are drawn independently before anything is concluded. All counts are enumerated.

    Args:
        size: The members of the group.
        shares: How likely every child is, as shares of the label.
        k: The least size of a group.

    Raises:
        AttackError: There are too many counts, or none that is minimal.

    >>> belief = child_counts(2, (0.9, 0.1), 2)
    >>> belief.expected, belief.fewest
    ((0.5, 0.5), (1, 1))
    """
    total = sum(shares)
    before = tuple(share / total for share in shares)
    expected = np.zeros(len(shares))
    fewest, largest = np.full(len(shares), size), np.zeros(len(shares), np.int64)
    weight = 0.0
    for counts in _compositions(size, len(shares)):
        if not is_minimal(counts, k):
            continue
        if any(n and not share for n, share in zip(counts, before, strict=True)):
            continue
        chance = np.exp(
            lgamma(size + 1)
            + sum(
                n * log(share) - lgamma(n + 1) for n, share in zip(counts, before, strict=True) if n
            )
        )
        weight += chance
        expected += chance * np.array(counts) / size
        fewest, largest = np.minimum(fewest, counts), np.maximum(largest, counts)
    if not weight:
        raise AttackError(
            f"counts: no group of {size} under {len(shares)} children is minimal for k = {k}"
        )
    return ChildCounts(
        tuple((expected / weight).tolist()),
        before,
        tuple(fewest.tolist()),
        tuple(largest.tolist()),
        max(0.0, 1.0 - float(weight)),
    )


def _compositions(size: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all counts of some parts that sum up to a size."""
    number = np.exp(lgamma(size + parts) - lgamma(size + 1) - lgamma(parts))
    if number > _MOST_COUNTS:
        raise AttackError(
            f"counts: {size} members under {parts} children have more than {_MOST_COUNTS:,} counts; merge "
            "children"
        )
    yield from _parts(size, parts)


def _parts(size: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (size,)
        return
    for first in range(size + 1):
        for rest in _parts(size - first, parts - 1):
            yield (first, *rest)
