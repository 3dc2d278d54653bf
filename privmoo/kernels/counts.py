"""Sensitive values per QI-group as sparse segments, and persons per group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["ROW_CELLS", "count_values", "groups_of_labels", "persons_of_groups", "recount"]

ROW_CELLS = 1 << 18
"""Up to so many (group, value) cells are counted in dense rows: 1 MB, about a core's own cache."""


@compiled()
def count_values(
    labels: NDArray[np.int32],
    n_groups: int,
    entry_tuples: NDArray[np.int32],
    entry_offsets: NDArray[np.int64],
    entry_codes: NDArray[np.int32],
    entry_counts: NDArray[np.int64],
    n_values: int,
    rows: NDArray[np.int32],
    order: NDArray[np.int32],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    """Counts of one attribute's values in every group; `rows` is zero before and after.

    Group g's values and their counts are entries `segment_starts[g]:segment_stops[g]`. A label of
    -1 leaves a tuple out; `values` and `counts` need room for one entry more than there are.
    """
    if n_groups * n_values <= len(rows):
        return _count_rows(
            labels,
            n_groups,
            entry_tuples,
            entry_codes,
            entry_counts,
            n_values,
            rows,
            segment_starts,
            segment_stops,
            values,
            counts,
        )
    return _count_sorted(
        labels,
        n_groups,
        entry_offsets,
        entry_codes,
        entry_counts,
        rows,
        order,
        segment_starts,
        segment_stops,
        values,
        counts,
    )


@compiled()
def _count_rows(
    labels: NDArray[np.int32],
    n_groups: int,
    entry_tuples: NDArray[np.int32],
    entry_codes: NDArray[np.int32],
    entry_counts: NDArray[np.int64],
    n_values: int,
    rows: NDArray[np.int32],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    width = np.uint32(n_values)
    for e in range(len(entry_codes)):
        label = labels[entry_tuples[e]]
        if label >= 0:
            rows[np.uint32(label) * width + np.uint32(entry_codes[e])] += entry_counts[e]
    end = np.uint64(0)
    one, zero = np.uint64(1), np.uint64(0)
    cell = np.uint64(0)
    for g in range(n_groups):
        segment_starts[g] = end
        for v in range(n_values):
            count = rows[cell]
            rows[cell] = 0
            cell += one
            values[end] = v  # overwritten unless the count is positive: no branch to mispredict
            counts[end] = count
            end += one if count > 0 else zero
        segment_stops[g] = end
    return np.int64(end)


@compiled()
def _count_sorted(
    labels: NDArray[np.int32],
    n_groups: int,
    entry_offsets: NDArray[np.int64],
    entry_codes: NDArray[np.int32],
    entry_counts: NDArray[np.int64],
    row: NDArray[np.int32],
    order: NDArray[np.int32],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    """Group after group, tuples brought into group order first: one row of values is enough."""
    segment_stops[:n_groups] = 0
    for t in range(len(labels)):
        if labels[t] >= 0:
            segment_stops[labels[t]] += 1
    begin = 0
    for g in range(n_groups):
        segment_starts[g] = begin
        begin += segment_stops[g]
        segment_stops[g] = segment_starts[g]
    for t in range(len(labels)):
        label = labels[t]
        if label >= 0:
            order[segment_stops[label]] = t
            segment_stops[label] += 1
    end = 0
    for g in range(n_groups):
        low, high = segment_starts[g], segment_stops[g]
        segment_starts[g] = end
        for position in range(low, high):
            t = order[position]
            for e in range(entry_offsets[t], entry_offsets[t + 1]):
                code = entry_codes[e]
                if row[code] == 0:
                    values[end] = code
                    end += 1
                row[code] += entry_counts[e]
        for position in range(segment_starts[g], end):
            counts[position] = row[values[position]]
            row[values[position]] = 0
        segment_stops[g] = end
    return end


@compiled()
def persons_of_groups(
    labels: NDArray[np.int32],
    n_groups: int,
    tuple_persons: NDArray[np.int64],
    link_offsets: NDArray[np.int64],
    link_tuples: NDArray[np.int32],
    persons: NDArray[np.int64],
) -> None:
    """Distinct persons per group: sums, less those counted before in the same group."""
    persons[:n_groups] = 0
    for t in range(len(labels)):
        if labels[t] >= 0:
            persons[labels[t]] += tuple_persons[t]
    for s in range(len(link_offsets) - 1):
        for i in range(link_offsets[s], link_offsets[s + 1]):
            label = labels[link_tuples[i]]
            for before in range(link_offsets[s], i):
                if label >= 0 and labels[link_tuples[before]] == label:
                    persons[label] -= 1
                    break


@compiled()
def groups_of_labels(
    given: NDArray[np.int32],
    weights: NDArray[Any],
    numbers: NDArray[np.int32],
    labels: NDArray[np.int32],
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int32],
) -> int:
    """Groups of explicit labels, numbered by first appearance; `numbers` is -1 before and after."""
    n_groups = 0
    for t in range(len(given)):
        number = numbers[given[t]]
        if number < 0:
            number = n_groups
            numbers[given[t]] = number
            firsts[number] = t
            sizes[number] = 0
            n_groups += 1
        labels[t] = number
        sizes[number] += weights[t]
    for g in range(n_groups):
        numbers[given[firsts[g]]] = -1
    return n_groups


@compiled()
def recount(
    labels: NDArray[np.int32],
    n_groups: int,
    kept: NDArray[Any],
    sizes: NDArray[np.int64],
) -> None:
    """Sizes of groups when only `kept` records of every tuple stay."""
    sizes[:n_groups] = 0
    for t in range(len(labels)):
        sizes[labels[t]] += kept[t]
