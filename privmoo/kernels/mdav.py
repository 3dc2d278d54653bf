"""MDAV: groups of k records around the two most distant ones, over distinct tuples with weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["compact", "distances", "farthest", "mdav_groups"]


@compiled()
def distances(
    columns: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    live: int,
    center: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Squared difference on numbers plus one per differing category, of the first `live` tuples."""
    out[:live] = 0.0
    for j in range(len(columns)):
        column = columns[j]
        value = center[j]
        if numeric[j]:
            for i in range(live):
                gap = column[i] - value
                out[i] += gap * gap
        else:
            for i in range(live):
                out[i] += 1.0 if column[i] != value else 0.0


@compiled()
def farthest(distance: NDArray[np.float64], left: NDArray[np.int64], live: int) -> int:
    """The first of the most distant tuples that have records left."""
    place = -1
    largest = -np.inf
    for i in range(live):
        if distance[i] > largest and left[i] > 0:
            largest = distance[i]
            place = i
    return place


@compiled()
def compact(
    columns: NDArray[np.float64], left: NDArray[np.int64], ids: NDArray[np.int64], live: int
) -> int:
    """Move the tuples that have records left to the front, in their order; how many they are."""
    count = 0
    for i in range(live):
        if left[i] > 0:
            ids[count] = ids[i]
            left[count] = left[i]
            for j in range(len(columns)):
                columns[j, count] = columns[j, i]
            count += 1
    return count


@compiled()
def _nearest(
    distance: NDArray[np.float64],
    left: NDArray[np.int64],
    live: int,
    k: int,
    nearest: NDArray[np.int64],
) -> int:
    """The nearest tuples that together have k records left, into `nearest`; how many they are."""
    count = 0
    records = 0
    for i in range(live):
        if left[i] == 0 or (records >= k and distance[i] >= distance[nearest[count - 1]]):
            continue
        place = count
        while place > 0 and distance[nearest[place - 1]] > distance[i]:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = i
        count += 1
        records += left[i]
        while records - left[nearest[count - 1]] >= k:
            count -= 1
            records -= left[nearest[count]]
    return count


@compiled()
def _centre(
    columns: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    sums: NDArray[np.float64],
    tally: NDArray[np.int64],
    offsets: NDArray[np.int64],
    records: int,
    out: NDArray[np.float64],
) -> None:
    """Mean of the numbers and the first of the most frequent categories."""
    for j in range(len(columns)):
        if numeric[j]:
            out[j] = sums[j] / records
        else:
            out[j] = np.argmax(tally[offsets[j] : offsets[j + 1]])


@compiled()
def mdav_groups(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    weights: NDArray[np.int64],
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Which tuple gives how many records to which group: three arrays (tuple, group, records).

    `offsets` are the starts of every column's categories in one tally (numeric columns have none).
    """
    n_tuples, n_columns = points.shape
    columns = points.T.copy()
    left = weights.copy()
    ids = np.arange(n_tuples)
    records = weights.sum()
    size = n_tuples + records // k + 2  # a group splits at most one tuple
    of_tuple = np.empty(size, np.int64)
    of_group = np.empty(size, np.int64)
    count = np.empty(size, np.int64)
    sums = np.zeros(n_columns, np.float64)
    tally = np.zeros(offsets[-1], np.int64)
    for j in range(n_columns):
        for t in range(n_tuples):
            if numeric[j]:
                sums[j] += weights[t] * points[t, j]
            else:
                tally[offsets[j] + np.int64(points[t, j])] += weights[t]
    centre = np.empty(n_columns, np.float64)
    distance = np.empty(n_tuples, np.float64)
    nearest = np.empty(k + 1, np.int64)
    live = n_tuples
    spent = 0
    n_entries = 0
    group = 0
    around_second = False
    start = -1
    while records >= 2 * k:
        if around_second:
            start = farthest(distance, left, live)  # from the first group's centre
        else:
            if spent * 8 > live:
                live = compact(columns, left, ids, live)
                spent = 0
            _centre(columns, numeric, sums, tally, offsets, records, centre)
            distances(columns, numeric, live, centre, distance)
            start = farthest(distance, left, live)
        for j in range(n_columns):
            centre[j] = columns[j, start]
        distances(columns, numeric, live, centre, distance)
        # pairs of groups while 3k records are left before the first of the two
        around_second = not around_second and records >= 3 * k
        open_places = k
        for i in nearest[: _nearest(distance, left, live, k, nearest)]:
            taken = min(open_places, left[i])
            open_places -= taken
            left[i] -= taken
            spent += left[i] == 0
            for j in range(n_columns):
                if numeric[j]:
                    sums[j] -= taken * columns[j, i]
                else:
                    tally[offsets[j] + np.int64(columns[j, i])] -= taken
            of_tuple[n_entries] = ids[i]
            of_group[n_entries] = group
            count[n_entries] = taken
            n_entries += 1
        records -= k
        group += 1
    for i in range(live):
        if left[i] > 0:
            of_tuple[n_entries] = ids[i]
            of_group[n_entries] = group
            count[n_entries] = left[i]
            n_entries += 1
    return of_tuple[:n_entries], of_group[:n_entries], count[:n_entries]
