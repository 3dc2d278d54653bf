"""Special uniques: which few values make people unique, and which columns are to blame (SUDA).

Elliot, Manning & Ford 2002. A minimal sample unique is a combination of columns in which a record is alone,
while it is alone in no part of it. The fewer columns, the more special: a combination of k columns scores
the product of (number of columns - i) for i from k to the largest size that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import AttackError

__all__ = ["SpecialUniques", "special_uniques"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class SpecialUniques:
    """The minimal sample uniques of every record.

    Attributes:
        scores: The score of every record: the sum over its minimal sample uniques.
        sizes: Records × sizes from 1: how many minimal sample uniques of each size a record has.
        blame: Records × columns: the part of the score from combinations that contain a column.
    """

    scores: IntArray
    sizes: IntArray
    blame: IntArray

    @property
    def contributions(self) -> NDArray[np.float64]:
        """The share of all scores from combinations with each column; they add up to more than 1."""
        return np.asarray(self.blame.sum(axis=0) / max(int(self.scores.sum()), 1))


def special_uniques(codes: IntArray, m: int = 3) -> SpecialUniques:
    """Find the minimal sample uniques of up to m columns.

    Args:
        codes: Records × columns, as codes.
        m: The most columns of a combination.

    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 0]])
    >>> special_uniques(codes, 2).sizes.tolist()
    [[0, 1], [0, 1], [0, 1], [0, 1], [0, 0], [0, 0]]
    """
    if m < 1:
        raise AttackError(f"m: must be at least 1, got {m}")
    n_records, n_columns = codes.shape
    largest = min(m, n_columns)
    scores = np.zeros(n_records, np.int64)
    sizes = np.zeros((n_records, largest), np.int64)
    blame = np.zeros((n_records, n_columns), np.int64)
    smaller: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(n_records, np.bool_)}
    for size in range(1, largest + 1):
        score = prod(n_columns - i for i in range(size, min(largest, n_columns - 1) + 1))
        alone: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for places in combinations(range(n_columns), size):
            alone[places] = _alone(codes[:, list(places)])
            # Whoever is alone in some part is alone in a part that lacks one column only.
            in_part = [smaller[places[:i] + places[i + 1 :]] for i in range(size)]
            minimal = alone[places] & ~np.logical_or.reduce(in_part)
            scores[minimal] += score
            sizes[minimal, size - 1] += 1
            blame[np.ix_(minimal, places)] += score
        smaller = alone
    return SpecialUniques(scores, sizes, blame)


def _alone(codes: IntArray) -> NDArray[np.bool_]:
    """Return which records are alone with their codes."""
    _, place, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[place.ravel()] == 1)
