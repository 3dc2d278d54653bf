"""Greedy k-member clusters by spread: they grow one record at a time, by the one that costs least.

The same greedy idea with the width of what is published as its price is in `growth_by_width`. They are
two loops because their walks differ, not only their prices. A spread grows with the distance in every
column, so records are visited outwards along a sorted column until the gap alone is too dear; that is
two to four times as fast as looking at every record (`tests/benchmarks/RESULTS.md`). The price by width
also counts sensitive values, whose excess may be negative, so no gap bounds it and every record is
looked at. numba cannot cache a loop that takes the price as a function either: it would be compiled in
every process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.mdav import compact, distances, farthest

__all__ = ["SpreadKinds", "grow_clusters"]


class SpreadKinds(NamedTuple):
    """Records that are alike.

    Attributes:
        points: Coordinates of the kinds.
        numeric: Which columns are numbers.
        offsets: Starts of every column's categories in one tally.
        sensitive: The kinds' sensitive values, numbered through over all attributes.
        n_values: How many numbers of sensitive values there are.
        weights: Records of each kind.
    """

    points: NDArray[np.float64]
    numeric: NDArray[np.bool_]
    offsets: NDArray[np.int64]
    sensitive: NDArray[np.int64]
    n_values: int
    weights: NDArray[np.int64]


class _Line(NamedTuple):
    """Kinds sorted by one column; the links skip those that have no records left.

    Place p + 1 of the links is place p of the order, with a stop at either end.
    """

    key: int
    keys: NDArray[np.float64]
    order: NDArray[np.int64]
    place_of: NDArray[np.int64]
    left_links: NDArray[np.int64]
    right_links: NDArray[np.int64]


class _Cluster(NamedTuple):
    """The cluster that grows: its centre, its categories and its sensitive values."""

    centre: NDArray[np.float64]
    tally: NDArray[np.int64]
    tops: NDArray[np.int64]
    seen: NDArray[np.bool_]
    n_seen: NDArray[np.int64]


@compiled()
def _sorted_line(kinds: SpreadKinds, key: int) -> _Line:
    n = len(kinds.points)
    keys = kinds.points[:, key].copy() if key >= 0 else np.zeros(n, np.float64)
    order = np.argsort(keys, kind="mergesort")
    place_of = np.empty(n, np.int64)
    place_of[order] = np.arange(1, n + 1)
    return _Line(key, keys[order], order, place_of, np.arange(n + 2), np.arange(n + 2))


@compiled()
def _new_cluster(kinds: SpreadKinds) -> _Cluster:
    n_columns = len(kinds.numeric)
    return _Cluster(
        np.zeros(n_columns, np.float64),
        np.zeros(kinds.offsets[-1], np.int64),
        np.zeros(n_columns, np.int64),
        np.zeros(kinds.n_values, np.bool_),
        np.zeros(kinds.sensitive.shape[1], np.int64),
    )


@compiled()
def _skip(links: NDArray[np.int64], place: int) -> int:
    """Follow the links past places that have no records left, and shorten the way."""
    end = place
    while links[end] != end:
        end = links[end]
    while links[place] != end:
        links[place], place = end, links[place]
    return end


@compiled()
def _brings(values: NDArray[np.int64], cluster: _Cluster, diversity: int) -> bool:
    """Whether a record has a new value of an attribute that lacks values."""
    brings = False
    for q in range(len(values)):
        brings |= cluster.n_seen[q] < diversity and not cluster.seen[values[q]]
    return brings


@compiled()
def _cheapest(
    kinds: SpreadKinds,
    line: _Line,
    cluster: _Cluster,
    size: int,
    diversity: int,
    by_increase: bool,
    restricted: bool,
) -> int:
    """The kind of record that a cluster gets cheapest, the first of equals.

    Kinds are visited away from the centre in the order of their sorted column, until even the next
    gap alone is dearer.
    """
    points, numeric, offsets = kinds.points, kinds.numeric, kinds.offsets
    keys, order, left_links, right_links = line.keys, line.order, line.left_links, line.right_links
    centre, tally, tops = cluster.centre, cluster.tally, cluster.tops
    n = len(order)
    factor = size / (size + 1.0) if by_increase else 1.0
    middle = centre[line.key] if line.key >= 0 else 0.0
    high = int(np.searchsorted(keys, middle)) + 1
    low = _skip(left_links, high - 1)
    high = _skip(right_links, high)
    best = -1
    best_cost = np.inf
    while low > 0 or high <= n:
        gap_low = middle - keys[low - 1] if low > 0 else np.inf
        gap_high = keys[high - 1] - middle if high <= n else np.inf
        gap = min(gap_low, gap_high)
        if gap * gap * factor > best_cost:
            break
        if gap_low <= gap_high:
            unit = order[low - 1]
            low = _skip(left_links, low - 1)
        else:
            unit = order[high - 1]
            high = _skip(right_links, high + 1)
        if restricted and not _brings(kinds.sensitive[unit], cluster, diversity):
            continue
        squares = 0.0
        differing = 0.0
        for j in range(len(numeric)):
            value = points[unit, j]
            if numeric[j]:
                squares += (value - centre[j]) * (value - centre[j])
            elif by_increase:
                differing += tally[offsets[j] + np.int64(value)] + 1 <= tops[j]
            else:
                differing += value != centre[j]
        cost = squares * factor + differing
        if cost < best_cost or (cost == best_cost and unit < best):
            best_cost = cost
            best = unit
    return best


@compiled()
def _join(kinds: SpreadKinds, cluster: _Cluster, unit: int, size: int, by_increase: bool) -> None:
    """A cluster of `size` records takes one of a kind."""
    for j in range(len(kinds.numeric)):
        value = kinds.points[unit, j]
        if size == 0:
            cluster.centre[j] = value
        elif kinds.numeric[j] and by_increase:
            cluster.centre[j] = (cluster.centre[j] * size + value) / (size + 1)
        if not kinds.numeric[j]:
            leaf = kinds.offsets[j] + np.int64(value)
            cluster.tally[leaf] += 1
            cluster.tops[j] = max(cluster.tops[j], cluster.tally[leaf])
    for q in range(kinds.sensitive.shape[1]):
        value_here = kinds.sensitive[unit, q]
        cluster.n_seen[q] += not cluster.seen[value_here]
        cluster.seen[value_here] = True


@compiled()
def _restart(kinds: SpreadKinds, cluster: _Cluster, members: NDArray[np.int64]) -> None:
    """Empty a cluster of its members."""
    cluster.seen[:] = False
    cluster.n_seen[:] = 0
    cluster.tops[:] = 0
    for unit in members:
        for j in range(len(kinds.numeric)):
            if not kinds.numeric[j]:
                cluster.tally[kinds.offsets[j] + np.int64(kinds.points[unit, j])] = 0


@compiled()
def grow_clusters(
    kinds: SpreadKinds, key: int, k: int, diversity: int, by_increase: bool, near_start: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Which kind of record gives how many to which cluster: three arrays (kind, cluster, records).

    A cluster starts with the record farthest from the last one taken, and grows by the cheapest
    record: by the increase of spread, or by the distance to its first record. When only as many
    places are open as values are missing, a record must bring one. Records that are left when no
    further cluster is possible have cluster -1.

    Args:
        kinds: The records.
        key: The column the search is sorted by, or -1.
        k: Fewest records of a cluster.
        diversity: Fewest values of each sensitive attribute.
        by_increase: The price of a record, see above.
        near_start: Start with the record nearest to the last one taken instead.
    """
    points, weights, sensitive = kinds.points, kinds.weights, kinds.sensitive
    n = len(points)
    n_sensitive = sensitive.shape[1]
    records = weights.sum()
    left = weights.copy()
    line = _sorted_line(kinds, key)
    columns = points.T.copy()
    far_left, ids = weights.copy(), np.arange(n)
    at = np.arange(n)  # where a kind is among the columns
    live, spent = n, 0
    distance = np.empty(n, np.float64)
    of_unit = np.empty(records, np.int64)
    of_cluster = np.empty(records, np.int64)
    n_entries = 0
    rest = np.zeros(kinds.n_values, np.int64)
    n_in_rest = np.zeros(n_sensitive, np.int64)
    for u in range(n):
        for q in range(n_sensitive):
            n_in_rest[q] += rest[sensitive[u, q]] == 0
            rest[sensitive[u, q]] += weights[u]
    cluster = _new_cluster(kinds)
    last = points[0].copy()
    number = 0
    while records >= k and (n_sensitive == 0 or n_in_rest.min() >= diversity):
        if spent * 8 > live:
            live = compact(columns, far_left, ids, live)
            for i in range(live):
                at[ids[i]] = i
            spent = 0
        distances(columns, kinds.numeric, live, last, distance)
        if near_start:
            distance[:live] *= -1.0
        unit = ids[farthest(distance, far_left, live)]
        size = 0
        first_entry = n_entries
        while True:
            _join(kinds, cluster, unit, size, by_increase)
            for q in range(n_sensitive):
                rest[sensitive[unit, q]] -= 1
                n_in_rest[q] -= rest[sensitive[unit, q]] == 0
            size += 1
            records -= 1
            left[unit] -= 1
            far_left[at[unit]] -= 1
            if left[unit] == 0:
                spent += 1
                place = line.place_of[unit]
                line.left_links[place] = place - 1
                line.right_links[place] = place + 1
            of_unit[n_entries] = unit
            of_cluster[n_entries] = number
            n_entries += 1
            missing = 0
            for q in range(n_sensitive):
                missing = max(missing, diversity - cluster.n_seen[q])
            if size >= k and missing <= 0:
                break
            restricted = missing > 0 and k - size <= missing
            unit = _cheapest(kinds, line, cluster, size, diversity, by_increase, restricted)
        _restart(kinds, cluster, of_unit[first_entry:n_entries])
        write_into(last, points[unit])
        number += 1
    for u in range(n):
        for _ in range(left[u]):
            of_unit[n_entries] = u
            of_cluster[n_entries] = -1
            n_entries += 1
    return of_unit, of_cluster, np.ones(n_entries, np.int64)
