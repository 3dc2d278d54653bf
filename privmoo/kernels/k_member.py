"""Clusters grown one record at a time, and the price of merging classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.mdav import compact, distances, farthest

__all__ = ["Classes", "absorb_leftovers", "grow_clusters", "increase", "merge"]


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
def _brings(
    values: NDArray[np.int64], seen: NDArray[np.bool_], found: NDArray[np.int64], diversity: int
) -> bool:
    """Whether a record has a new value of an attribute that lacks values."""
    brings = False
    for q in range(len(values)):
        brings |= found[q] < diversity and not seen[values[q]]
    return brings


@compiled()
def _cheapest(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    sensitive: NDArray[np.int64],
    order: NDArray[np.int64],
    keys: NDArray[np.float64],
    key: int,
    left_links: NDArray[np.int64],
    right_links: NDArray[np.int64],
    centre: NDArray[np.float64],
    size: int,
    tally: NDArray[np.int64],
    tops: NDArray[np.int64],
    seen: NDArray[np.bool_],
    found: NDArray[np.int64],
    diversity: int,
    by_increase: bool,
    restricted: bool,
) -> int:
    """The kind of record that a cluster gets cheapest, the first of equals.

    Kinds are visited away from the centre in the order of their sorted column, until even the next
    gap alone is dearer. Place p + 1 of the links is place p of the order, with a stop at either end.
    """
    n = len(order)
    factor = size / (size + 1.0) if by_increase else 1.0
    middle = centre[key] if key >= 0 else 0.0
    high = int(np.searchsorted(keys, middle)) + 1
    low = _skip(left_links, high - 1)
    high = _skip(right_links, high)
    best = -1
    least = np.inf
    while low > 0 or high <= n:
        gap_low = middle - keys[low - 1] if low > 0 else np.inf
        gap_high = keys[high - 1] - middle if high <= n else np.inf
        gap = min(gap_low, gap_high)
        if gap * gap * factor > least:
            break
        if gap_low <= gap_high:
            unit = order[low - 1]
            low = _skip(left_links, low - 1)
        else:
            unit = order[high - 1]
            high = _skip(right_links, high + 1)
        if restricted and not _brings(sensitive[unit], seen, found, diversity):
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
        if cost < least or (cost == least and unit < best):
            least = cost
            best = unit
    return best


@compiled()
def grow_clusters(
    points: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    sensitive: NDArray[np.int64],
    n_values: int,
    weights: NDArray[np.int64],
    key: int,
    k: int,
    diversity: int,
    by_increase: bool,
    near_start: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Which kind of record gives how many to which cluster: three arrays (kind, cluster, records).

    A cluster starts with the record farthest from the last one taken, and grows by the cheapest
    record: by the increase of spread, or by the distance to its first record. When only as many
    places are open as values are missing, a record must bring one. Records that are left when no
    further cluster is possible have cluster -1.

    Args:
        points: Coordinates of the kinds.
        numeric: Which columns are numbers.
        offsets: Starts of every column's categories in one tally.
        sensitive: The kinds' sensitive values, numbered through over all attributes.
        n_values: How many numbers of sensitive values there are.
        weights: Records of each kind.
        key: The column the search is sorted by, or -1.
        k: Fewest records of a cluster.
        diversity: Fewest values of each sensitive attribute.
        by_increase: The price of a record, see above.
        near_start: Start with the record nearest to the last one taken instead.
    """
    n, n_columns = points.shape
    n_sensitive = sensitive.shape[1]
    records = weights.sum()
    left = weights.copy()
    keys = points[:, key].copy() if key >= 0 else np.zeros(n, np.float64)
    order = np.argsort(keys, kind="mergesort")
    keys = keys[order]
    place_of = np.empty(n, np.int64)
    place_of[order] = np.arange(1, n + 1)
    left_links, right_links = np.arange(n + 2), np.arange(n + 2)
    columns = points.T.copy()
    far_left, ids = weights.copy(), np.arange(n)
    at = np.arange(n)  # where a kind is among the columns
    live, spent = n, 0
    distance = np.empty(n, np.float64)
    of_unit = np.empty(records, np.int64)
    of_cluster = np.empty(records, np.int64)
    n_entries = 0
    rest = np.zeros(n_values, np.int64)
    rest_found = np.zeros(n_sensitive, np.int64)
    for u in range(n):
        for q in range(n_sensitive):
            rest_found[q] += rest[sensitive[u, q]] == 0
            rest[sensitive[u, q]] += weights[u]
    tally = np.zeros(offsets[-1], np.int64)
    tops = np.zeros(n_columns, np.int64)
    centre = np.zeros(n_columns, np.float64)
    seen = np.zeros(n_values, np.bool_)
    found = np.zeros(n_sensitive, np.int64)
    last = points[0].copy()
    cluster = 0
    while records >= k and (n_sensitive == 0 or rest_found.min() >= diversity):
        if spent * 8 > live:
            live = compact(columns, far_left, ids, live)
            for i in range(live):
                at[ids[i]] = i
            spent = 0
        distances(columns, numeric, live, last, distance)
        if near_start:
            distance[:live] *= -1.0
        unit = ids[farthest(distance, far_left, live)]
        size = 0
        first_entry = n_entries
        seen[:] = False
        found[:] = 0
        tops[:] = 0
        while True:
            for j in range(n_columns):
                value = points[unit, j]
                if size == 0:
                    centre[j] = value
                elif numeric[j] and by_increase:
                    centre[j] = (centre[j] * size + value) / (size + 1)
                if not numeric[j]:
                    leaf = offsets[j] + np.int64(value)
                    tally[leaf] += 1
                    tops[j] = max(tops[j], tally[leaf])
            for q in range(n_sensitive):
                value_here = sensitive[unit, q]
                found[q] += not seen[value_here]
                seen[value_here] = True
                rest[value_here] -= 1
                rest_found[q] -= rest[value_here] == 0
            size += 1
            records -= 1
            left[unit] -= 1
            far_left[at[unit]] -= 1
            if left[unit] == 0:
                spent += 1
                place = place_of[unit]
                left_links[place] = place - 1
                right_links[place] = place + 1
            of_unit[n_entries] = unit
            of_cluster[n_entries] = cluster
            n_entries += 1
            missing = 0
            for q in range(n_sensitive):
                missing = max(missing, diversity - found[q])
            if size >= k and missing <= 0:
                break
            unit = _cheapest(
                points, numeric, offsets, sensitive, order, keys, key, left_links, right_links,
                centre, size, tally, tops, seen, found, diversity, by_increase,
                missing > 0 and k - size <= missing,
            )  # fmt: skip
        for e in range(first_entry, n_entries):
            for j in range(n_columns):
                if not numeric[j]:
                    tally[offsets[j] + np.int64(points[of_unit[e], j])] = 0
        last[:] = points[unit]
        cluster += 1
    for u in range(n):
        for _ in range(left[u]):
            of_unit[n_entries] = u
            of_cluster[n_entries] = -1
            n_entries += 1
    return of_unit, of_cluster, np.ones(n_entries, np.int64)


class Classes(NamedTuple):
    """Sizes, means and value counts of classes; the counts are sparse, in one shared pool.

    Column j of class a has the values `codes[start:start + n_values[a, j]]`, ascending, with as
    many `counts`, where `start = starts[a, j]`. The first `n_priced` columns are categorical
    quasi-identifiers, the others sensitive attributes. A pool of twice the entries it begins with
    is never full after tidying up, since a merge makes no new entries.
    """

    sizes: NDArray[np.int64]
    means: NDArray[np.float64]
    starts: NDArray[np.int64]
    n_values: NDArray[np.int64]
    modes: NDArray[np.int64]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    used: NDArray[np.int64]
    n_priced: int


@compiled()
def _joint_mode(classes: Classes, a: int, b: int, j: int) -> int:
    """Records that have the most frequent value of column j in both classes together."""
    codes, counts = classes.codes, classes.counts
    p, q = classes.starts[a, j], classes.starts[b, j]
    end_p, end_q = p + classes.n_values[a, j], q + classes.n_values[b, j]
    most = max(classes.modes[a, j], classes.modes[b, j])
    while p < end_p and q < end_q:
        if codes[p] == codes[q]:
            most = max(most, counts[p] + counts[q])
            p += 1
            q += 1
        elif codes[p] < codes[q]:
            p += 1
        else:
            q += 1
    return int(most)


@compiled()
def increase(classes: Classes, a: int, b: int, limit: float) -> float:
    """By how much the spread grows if two classes merge, or a lower bound above `limit`.

    Spread is squared distance to the mean plus the records that differ from the mode.
    """
    means = classes.means
    squares = 0.0
    for i in range(means.shape[1]):
        gap = means[a, i] - means[b, i]
        squares += gap * gap
    size_a, size_b = float(classes.sizes[a]), float(classes.sizes[b])
    cost = squares * (size_a * size_b / (size_a + size_b))
    if cost > limit:
        return cost
    for j in range(classes.n_priced):
        cost += classes.modes[a, j] + classes.modes[b, j] - _joint_mode(classes, a, b, j)
    return cost


@compiled()
def _tidy(classes: Classes) -> None:
    """Close the gaps that merged classes left in the pool."""
    old_codes, old_counts = classes.codes.copy(), classes.counts.copy()
    place = 0
    for a in range(len(classes.sizes)):
        for j in range(classes.starts.shape[1]):
            start = classes.starts[a, j]
            classes.starts[a, j] = place
            for p in range(start, start + classes.n_values[a, j]):
                classes.codes[place] = old_codes[p]
                classes.counts[place] = old_counts[p]
                place += 1
    classes.used[0] = place


@compiled()
def merge(classes: Classes, a: int, b: int) -> None:
    """Class b takes the records of class a, which is empty from then on."""
    size_a, size_b = float(classes.sizes[a]), float(classes.sizes[b])
    for i in range(classes.means.shape[1]):
        total = classes.means[a, i] * size_a + classes.means[b, i] * size_b
        classes.means[b, i] = total / (size_a + size_b)
    classes.sizes[b] += classes.sizes[a]
    classes.sizes[a] = 0
    codes, counts = classes.codes, classes.counts
    for j in range(classes.starts.shape[1]):
        length = classes.n_values[a, j] + classes.n_values[b, j]
        if classes.used[0] + length > len(codes):
            _tidy(classes)
        p, q = classes.starts[a, j], classes.starts[b, j]
        end_p, end_q = p + classes.n_values[a, j], q + classes.n_values[b, j]
        first = classes.used[0]
        place = first
        most = np.int64(0)
        while p < end_p or q < end_q:
            from_a = q == end_q or (p < end_p and codes[p] <= codes[q])
            from_b = p == end_p or (q < end_q and codes[q] <= codes[p])
            codes[place] = codes[p] if from_a else codes[q]
            counts[place] = (counts[p] if from_a else 0) + (counts[q] if from_b else 0)
            most = max(most, counts[place])
            p += from_a
            q += from_b
            place += 1
        classes.starts[b, j] = first
        classes.n_values[b, j] = place - first
        classes.n_values[a, j] = 0
        classes.modes[b, j] = most
        classes.used[0] = place


@compiled()
def absorb_leftovers(classes: Classes, n_classes: int) -> NDArray[np.int64]:
    """Merge every class from `n_classes` on, one after the other, where it costs least."""
    label = np.arange(len(classes.sizes))
    for a in range(n_classes, len(label)):
        least = np.inf
        for b in range(n_classes):
            cost = increase(classes, a, b, least)
            if cost < least:
                least = cost
                label[a] = b
        merge(classes, a, label[a])
    return label
