"""Groups by levels: what is alike at the least general vector of levels is a region of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.region_layout import Layout, Limits, allowed, count_entries

__all__ = ["LevelVectors", "group_by_levels"]

_SAME = 1e-9  # totals that differ by less are equal
_LEFT, _REGION = -1, -2  # what becomes of a group, before regions have numbers


class LevelVectors(NamedTuple):
    """Vectors of levels, in the order in which they are tried.

    Attributes:
        starts: Attributes × levels, where the codes of a level begin in `blocks`.
        blocks: The node above every code.
        vectors: Vectors × attributes, the levels.
        totals: How general every vector is; of equal ones, that with most records in regions comes first.
    """

    starts: NDArray[np.int64]
    blocks: NDArray[np.int32]
    vectors: NDArray[np.int64]
    totals: NDArray[np.float64]


class _HashTable(NamedTuple):
    """The numbers of keys; an entry counts if it has the present stamp, which is in `now`."""

    keys: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    stamps: NDArray[np.int64]
    now: NDArray[np.int64]


@compiled()
def group_by_levels(
    layout: Layout,
    limits: Limits,
    cells: NDArray[np.int64],
    k: int,
    levels: LevelVectors,
    labels: NDArray[np.int32],
) -> int:
    """Make regions of tuples that are alike at a vector of levels, the first vectors first.

    Args:
        layout: The table.
        limits: Limits beside k.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
        levels: The vectors.
        labels: Filled: the region of every tuple; what is left of a cell is one region, of any size.

    Returns:
        The number of regions.
    """
    n = len(layout.codes)
    rest = np.arange(n)
    room = _power_of_two(2 * n)
    table = _HashTable(
        np.empty(room, np.uint64),
        np.empty(room, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(1, np.int64),
    )
    groups, sizes, fates = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    regions = 0
    order, end = np.arange(len(levels.vectors)), 0
    for place in range(len(order)):
        if place == end:
            end = _end_of_ties(levels.totals, place)
            settled = np.zeros(end - place)
            for i in range(end - place if end > place + 1 else 0):
                n_groups = _group_at(layout, cells, levels, place + i, rest, table, groups, sizes)
                for g in range(n_groups):
                    settled[i] -= sizes[g] if sizes[g] >= k else 0
            order[place:end] = place + np.argsort(settled, kind="mergesort")
        v = order[place]
        n_groups = _group_at(layout, cells, levels, v, rest, table, groups, sizes)
        is_any = False
        for g in range(n_groups):
            fates[g] = _REGION if sizes[g] >= k else _LEFT
            is_any = is_any or sizes[g] >= k
        if not is_any:
            continue
        if len(limits.kinds):
            _refuse(layout, limits, rest, groups, fates[:n_groups])
        left = 0
        for i in range(len(rest)):
            g = groups[i]
            if fates[g] == _LEFT:
                rest[left] = rest[i]
                left += 1
                continue
            if fates[g] == _REGION:
                fates[g] = regions
                regions += 1
            labels[rest[i]] = fates[g]
        rest = rest[:left]
        if left == 0:
            break
    by_cell = np.argsort(cells[rest])
    for i in range(len(rest)):
        if i > 0 and cells[rest[by_cell[i]]] != cells[rest[by_cell[i - 1]]]:
            regions += 1
        labels[rest[by_cell[i]]] = regions
    return regions + (1 if len(rest) else 0)


@compiled()
def _end_of_ties(totals: NDArray[np.float64], place: int) -> int:
    """Return one past the last vector that is about as general as another one."""
    end = place + 1
    while end < len(totals) and totals[end] <= totals[end - 1] * (1 + _SAME):
        end += 1
    return end


@compiled()
def _power_of_two(least: int) -> int:
    """Return the first power of two from 2 on that is not below a number."""
    power = 2
    while power < least:
        power *= 2
    return power


@compiled()
def _group_at(
    layout: Layout,
    cells: NDArray[np.int64],
    levels: LevelVectors,
    v: int,
    rest: NDArray[np.int64],
    table: _HashTable,
    groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Group tuples by a vector of levels.

    Args:
        layout: The table.
        cells: The cell of every tuple, which no group may leave.
        levels: The vectors.
        v: The number of the vector.
        rest: The tuples.
        table: A hash table with room for them.
        groups: Filled: the group of every tuple of `rest`.
        sizes: Filled: the size of every group.

    Returns:
        The number of groups.
    """
    starts, blocks, vectors, _ = levels
    keys, numbers, stamps, now = table
    now[0] += 1
    stamp = now[0]
    prime = np.uint64(0x9E3779B97F4A7C15)
    mask = _power_of_two(2 * len(rest)) - 1  # it shrinks with what is left, to stay in the cache
    used = 0
    for i in range(len(rest)):
        t = rest[i]
        key = np.uint64(cells[t])
        for j in range(layout.codes.shape[1]):
            block = blocks[starts[j, vectors[v, j]] + layout.codes[t, j]]
            key = (key ^ (key >> np.uint64(29))) * prime + np.uint64(block)
        key ^= key >> np.uint64(32)
        place = np.int64(key & np.uint64(mask))
        while stamps[place] == stamp and keys[place] != key:
            place = (place + 1) & mask
        if stamps[place] != stamp:
            stamps[place] = stamp
            keys[place] = key
            numbers[place] = used
            sizes[used] = 0
            used += 1
        groups[i] = numbers[place]
        sizes[numbers[place]] += layout.sizes[t]
    return used


@compiled()
def _refuse(
    layout: Layout,
    limits: Limits,
    rest: NDArray[np.int64],
    groups: NDArray[np.int64],
    fates: NDArray[np.int64],
) -> None:
    """Leave the groups that break a limit."""
    places = np.full(len(fates), -1, np.int64)
    number = 0
    for g in range(len(fates)):
        if fates[g] == _REGION:
            places[g] = number
            number += 1
    histograms = np.zeros((number, limits.offsets[-1]), np.int64)
    records = np.zeros(number, np.int64)
    for i in range(len(rest)):
        place = places[groups[i]]
        if place >= 0:
            count_entries(limits, rest[i], 1, histograms[place])
            records[place] += layout.weights[rest[i]]
    for g in range(len(fates)):
        if places[g] >= 0 and not allowed(limits, histograms[places[g]], records[places[g]]):
            fates[g] = _LEFT
