"""The staircase of a recoding: one release for every threshold on the size of its groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.groups.groups import GroupBatch

__all__ = ["Stairs", "most_suppressed", "stairs_of"]


class Stairs(NamedTuple):
    """The thresholds of one candidate: each distinct size of its groups is a step.

    Attributes:
        sizes: The distinct sizes of the groups, in ascending order.
        suppressed: For every size, the number of records in smaller groups.
        tuple_sizes: The size of the group of every distinct tuple; empty if the groups have no labels.
    """

    sizes: NDArray[np.int64]
    suppressed: NDArray[np.int64]
    tuple_sizes: NDArray[np.int64]

    def within(self, limit: int) -> NDArray[np.int64]:
        """Return the sizes that, as thresholds, suppress at most `limit` records."""
        return self.sizes[self.suppressed <= limit]


def stairs_of(groups: GroupBatch) -> list[Stairs]:
    """Return the staircase of every candidate, from its groups before suppression."""
    staircases = []
    for c in range(len(groups)):
        places = slice(int(groups.starts[c]), int(groups.stops[c]))
        sizes, step = np.unique(groups.sizes[places], return_inverse=True)
        records = np.bincount(step, weights=groups.records[places]).astype(np.int64)
        tuple_sizes = np.zeros(0, np.int64)
        if groups.labels is not None:
            tuple_sizes = groups.sizes[groups.starts[c] + groups.labels[c]]
        staircases.append(Stairs(sizes, np.cumsum(records) - records, tuple_sizes))
    return staircases


def most_suppressed(share: float, n_records: int) -> int:
    """Return the largest number of records whose share is within a limit.

    The share is compared as a constraint compares it, so that both agree on every number of records.

    Args:
        share: The largest share of suppressed records.
        n_records: The number of records of the table.

    >>> most_suppressed(1 / 3, 3)
    1
    """
    return int((np.arange(n_records + 1) / n_records <= share).sum()) - 1
