"""How far the values of groups are from a reference distribution, the worst group of a candidate.

The reference is an array of counts per value; an empty array stands for the released records, whose
counts are then added up for every candidate. `records` are those behind the counts of a group; a group
without any has no distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.segments import Segments

__all__ = [
    "disclosure",
    "equal_distance",
    "hierarchical_distance",
    "largest_gain",
    "ordered_distance",
    "under_one_node",
    "with_gain_above",
]

_SHORT = 32


@compiled()
def _totals(
    start: int,
    stop: int,
    segments: Segments,
    reference: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> np.int64:
    """Counts of every value in the reference, into `totals`; returns the records behind them."""
    if len(reference):
        write_into(totals, reference)
    else:
        totals[:] = 0
        for g in range(start, stop):
            for i in range(segments.starts[g], segments.stops[g]):
                totals[segments.values[i]] += segments.counts[i]
    n = np.int64(0)
    for v in range(len(totals)):
        n += totals[v]
    return n


@compiled()
def equal_distance(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    n_values: int,
    reference: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Half the summed differences: the sum of the positive ones, so only a group's own values count."""
    totals = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, reference, totals)
        largest = 0.0
        for g in range(starts[c], stops[c]):
            distance = 0.0
            for i in range(segments.starts[g], segments.stops[g]):
                distance += max(
                    segments.counts[i] / records[g] - totals[segments.values[i]] / n, 0.0
                )
            largest = max(largest, distance)
        out[c] = largest


@compiled()
def hierarchical_distance(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    level_blocks: NDArray[np.int32],
    reference: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Mean, over the levels below the root, of the equal distance between a level's nodes.

    This is the sum over nodes of λ/H times what passes them: the extra that passes a node is the
    positive extra of its children less its own.
    """
    height, n_values = level_blocks.shape[0] - 1, level_blocks.shape[1]
    totals = np.empty(n_values, np.int64)
    node_totals = np.zeros((height, n_values), np.int64)
    node_counts = np.zeros(n_values, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, reference, totals)
        node_totals[:] = 0
        for level in range(height):
            for v in range(n_values):
                node_totals[level, level_blocks[level, v]] += totals[v]
        largest = 0.0
        for g in range(starts[c], stops[c]):
            low, high = segments.starts[g], segments.stops[g]
            distance = 0.0
            for level in range(height):
                for i in range(low, high):
                    node_counts[level_blocks[level, segments.values[i]]] += segments.counts[i]
                for i in range(low, high):
                    node = level_blocks[level, segments.values[i]]
                    if node_counts[node] > 0:
                        distance += max(
                            node_counts[node] / records[g] - node_totals[level, node] / n, 0.0
                        )
                        node_counts[node] = 0
            largest = max(largest, distance / height)
        out[c] = largest


@compiled()
def _sort_pairs(keys: NDArray[np.int64], values: NDArray[np.int64]) -> None:
    """Sort both by ascending keys, in place; most groups are short, and often in order already."""
    if len(keys) > _SHORT:
        order = np.argsort(keys)
        write_into(keys, keys[order])
        write_into(values, values[order])
        return
    for i in range(1, len(keys)):
        key, value = keys[i], values[i]
        place = i
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            values[place] = values[place - 1]
            place -= 1
        keys[place] = key
        values[place] = value


@compiled()
def _gap_sum(
    share: float, low: int, high: int, cumulative: NDArray[np.float64], area: NDArray[np.float64]
) -> Any:
    """Sum of |share - cumulative[i]| for i in low … high - 1; split where `cumulative` passes it."""
    left, right = low, high
    while left < right:
        middle = (left + right) // 2
        if cumulative[middle] < share:
            left = middle + 1
        else:
            right = middle
    below = share * (left - low) - (area[left] - area[low])
    above = (area[high] - area[left]) - share * (high - left)
    return below + above


@compiled()
def ordered_distance(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    order: NDArray[np.int64],
    reference: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Mean difference of the cumulative distributions over the reference's values but the last.

    `order` lists the values from the lowest to the highest. Between two of its values a group's
    cumulative share is constant, so the cost depends on a group's own values only.
    """
    n_values = len(order)
    totals = np.empty(n_values, np.int64)
    ranks = np.empty(n_values, np.int64)
    cumulative = np.empty(n_values, np.float64)
    area = np.empty(n_values + 1, np.float64)
    keys = np.empty(n_values, np.int64)
    shares = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, reference, totals)
        present = 0
        running = np.int64(0)
        area[0] = 0.0
        for i in range(n_values):
            if totals[order[i]] > 0:
                running += totals[order[i]]
                ranks[order[i]] = present
                cumulative[present] = running / n
                area[present + 1] = area[present] + cumulative[present]
                present += 1
        largest = 0.0
        for g in range(starts[c], stops[c] if present > 1 else starts[c]):
            low = segments.starts[g]
            length = segments.stops[g] - low
            if length == 0:
                continue
            for i in range(length):
                keys[i] = ranks[segments.values[low + i]]
                shares[i] = segments.counts[low + i]
            _sort_pairs(keys[:length], shares[:length])
            distance = area[keys[0]]
            running = np.int64(0)
            for i in range(length):
                running += shares[i]
                end = keys[i + 1] if i + 1 < length else present
                distance += _gap_sum(running / records[g], keys[i], end, cumulative, area)
            largest = max(largest, distance / (present - 1))
        out[c] = largest


@compiled()
def largest_gain(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    n_values: int,
    reference: NDArray[np.int64],
    enhanced: bool,
    out: NDArray[np.float64],
) -> None:
    """Largest (p - q)/q; if `enhanced`, the reference's records - 1 where one exceeds -ln q."""
    totals = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, reference, totals)
        largest = 0.0
        violated = False
        for g in range(starts[c], stops[c]):
            for i in range(segments.starts[g], segments.stops[g]):
                total = totals[segments.values[i]]
                # Whole numbers up to the one division, so that a gain equal to a bound stays so.
                gain = (segments.counts[i] * n - total * records[g]) / (total * records[g])
                largest = max(largest, gain)
                violated = violated or (enhanced and gain > 0 and gain > -np.log(total / n))
        out[c] = n - 1.0 if violated else largest


@compiled()
def disclosure(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    n_values: int,
    reference: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Largest |log2(p / q)| of the values a group has; one logarithm per candidate and side."""
    totals = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, reference, totals)
        high = 1.0
        low = 1.0
        for g in range(starts[c], stops[c]):
            for i in range(segments.starts[g], segments.stops[g]):
                ratio = (segments.counts[i] / records[g]) / (totals[segments.values[i]] / n)
                high = max(high, ratio)
                low = min(low, ratio)
        out[c] = max(np.log2(high), -np.log2(low))


@compiled()
def with_gain_above(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    present: NDArray[np.int64],
    segments: Segments,
    n_values: int,
    factor: float,
    out: NDArray[np.int64],
) -> None:
    """Records of groups with a value more than `factor` times as frequent as in all groups.

    `present` are the records behind the counts of a group.
    """
    totals = np.empty(n_values, np.int64)
    originals = np.empty(0, np.int64)
    for c in range(len(starts)):
        n = _totals(starts[c], stops[c], segments, originals, totals)
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            for i in range(segments.starts[g], segments.stops[g]):
                # whole numbers up to the one division: equal ratios compare as equal
                if (segments.counts[i] * n) / (present[g] * totals[segments.values[i]]) > factor:
                    total += records[g]
                    break
        out[c] = total


@compiled()
def under_one_node(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    nodes: NDArray[Any],
    out: NDArray[np.int64],
) -> None:
    """Records of groups whose values all have the same node."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            node = nodes[segments.values[segments.starts[g]]]
            same = True
            for i in range(segments.starts[g] + 1, segments.stops[g]):
                if nodes[segments.values[i]] != node:
                    same = False
                    break
            if same:
                total += records[g]
        out[c] = total
