"""The better parts of two partitions into regions with tight ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.region_layout import Layout, Limits
from privmoo.kernels.region_partition import keeps_limits, leave_out, new_partition

__all__ = ["better_parts"]

_FEWEST = 1e-9


@compiled()
def better_parts(
    layout: Layout,
    limits: Limits,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    k: int,
    child: NDArray[np.int32],
) -> None:
    """Take from two partitions the better division of every set of tuples that both divide.

    Regions of both that share tuples belong together; such a set is divided as the first partition does,
    unless the second one loses less and keeps all limits there.

    Args:
        layout: The table.
        limits: Limits beside k.
        first: The region of every tuple.
        second: Another region of every tuple.
        k: The least size of a region.
        child: Filled: the region of every tuple.
    """
    n = len(first)
    mother = new_partition(layout, first.copy(), n + 1)
    father = new_partition(layout, second.copy(), n + 1)
    above = np.arange(n + 1)
    leader = np.full(n + 1, -1, np.int64)
    for t in range(n):
        a = _root(above, first[t])
        if leader[second[t]] < 0:
            leader[second[t]] = a
        else:
            b = _root(above, leader[second[t]])
            if a != b:
                above[a] = b
    spare = limits.outliers.most - leave_out(mother, limits.outliers)
    leave_out(father, limits.outliers)
    gains = np.zeros(n + 1)
    more = np.zeros(
        n + 1, np.int64
    )  # records that the second partition leaves out, and the first does not
    is_kept = np.ones(n + 1, np.bool_)
    for i in range(mother.numbers[0]):
        r = mother.places[i]
        root = _root(above, r)
        gains[root] += mother.records[r] * (1.0 if mother.is_out[r] else mother.costs[r])
        more[root] -= mother.records[r] if mother.is_out[r] else 0
    for i in range(father.numbers[0]):
        r = father.places[i]
        root = _root(above, leader[r])
        gains[root] -= father.records[r] * (1.0 if father.is_out[r] else father.costs[r])
        more[root] += father.records[r] if father.is_out[r] else 0
        if not father.is_out[r] and not keeps_limits(limits, father, r, k):
            is_kept[root] = False
    takes = np.zeros(n + 1, np.bool_)
    for root in range(n + 1):
        if gains[root] > _FEWEST and is_kept[root] and more[root] <= max(spare, 0):
            takes[root] = True
            spare -= more[root]
    for t in range(n):
        child[t] = n + second[t] if takes[_root(above, first[t])] else first[t]


@compiled()
def _root(above: NDArray[np.int64], r: int) -> int:
    while above[r] != r:
        above[r] = above[above[r]]
        r = above[r]
    return int(r)
