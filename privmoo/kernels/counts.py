"""Sensitive values per QI-group as sparse segments, and persons per group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.segments import Segments

__all__ = [
    "ROW_CELLS",
    "Entries",
    "GroupedTuples",
    "count_values",
    "groups_of_labels",
    "persons_of_groups",
    "recount",
]

ROW_CELLS = 1 << 18
"""Up to so many (group, value) cells are counted in dense rows: 1 MB, about a core's own cache."""


class Entries(NamedTuple):
    """The values of one attribute in every distinct tuple: entry e says tuple, value and count."""

    tuples: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    codes: NDArray[Any]
    counts: NDArray[Any]
    """One row for all candidates, or one row per candidate."""
    n_values: int
    shared: bool
    """Whether the one row serves all candidates: the records of every tuple are all there."""


class GroupedTuples(NamedTuple):
    """One tuple and the records of every group, and the weights of all tuples."""

    firsts: NDArray[np.int32]
    records: NDArray[np.int64]
    weights: NDArray[Any]


@compiled()
def count_values(
    labels: NDArray[np.int32],
    starts: NDArray[np.int64],
    n_groups: NDArray[np.int64],
    groups: GroupedTuples,
    entries: Entries,
    rows: NDArray[np.int32],
    order: NDArray[np.int32],
    segments: Segments,
) -> None:
    """Count one attribute's values in every group of a chunk; `rows` is zero before and after.

    In `values` and `counts` of the segments the table's entries come first, then as many and one more
    for every candidate.
    """
    room = len(entries.codes) + 1
    values, counts = segments.values, segments.counts
    write_into(values[: room - 1], entries.codes)
    write_into(counts[: room - 1], entries.counts[0])
    for c in range(len(starts)):
        entry_counts = entries.counts[0 if entries.shared else c]
        low, high = starts[c], starts[c] + n_groups[c]
        part = Segments(segments.starts[low:high], segments.stops[low:high], values, counts)
        begin = (c + 1) * room
        if n_groups[c] * entries.n_values <= len(rows):
            here = GroupedTuples(groups.firsts[low:high], groups.records[low:high], groups.weights)
            _count_rows(labels[c], here, entries, entry_counts, rows, order, begin, part)
        else:
            _count_sorted(labels[c], entries, entry_counts, rows, order, begin, part)


@compiled()
def _count_rows(
    labels: NDArray[np.int32],
    groups: GroupedTuples,
    entries: Entries,
    entry_counts: NDArray[Any],
    rows: NDArray[np.int32],
    order: NDArray[np.int32],
    begin: int,
    segments: Segments,
) -> None:
    """A row of cells per group, then its positive cells."""
    starts, stops, values, counts = segments
    width = np.uint32(entries.n_values)
    for e in range(len(entries.codes)):
        label = np.uint32(labels[entries.tuples[e]])
        rows[label * width + np.uint32(entries.codes[e])] += entry_counts[e]
    # A group of one tuple has that tuple's entries, which lie ready at the front of `values`: more than
    # half of the groups of a typical candidate. Only the others are merged from their rows.
    step, zero = np.uint64(1), np.uint64(0)
    n_merged = np.uint64(0)
    for g in range(len(starts)):
        first = groups.firsts[g]
        starts[g] = entries.offsets[first]
        stops[g] = entries.offsets[first + 1]
        order[n_merged] = g
        n_merged += zero if entries.shared and groups.records[g] == groups.weights[first] else step
    end = np.uint64(begin)
    for i in range(np.int64(n_merged)):
        g = order[i]
        starts[g] = end
        row = rows[g * entries.n_values : (g + 1) * entries.n_values]
        for v in range(len(row)):
            values[end] = v  # overwritten unless the count is positive: no branch to mispredict
            counts[end] = row[v]
            end += step if row[v] > 0 else zero
        stops[g] = end
    rows[: len(starts) * entries.n_values] = 0


@compiled()
def _count_sorted(
    labels: NDArray[np.int32],
    entries: Entries,
    entry_counts: NDArray[Any],
    row: NDArray[np.int32],
    order: NDArray[np.int32],
    begin: int,
    segments: Segments,
) -> None:
    """Group after group, tuples brought into group order first: one row of values is enough."""
    starts, stops, values, counts = segments
    stops[:] = 0
    for t in range(len(labels)):
        stops[labels[t]] += 1
    place = 0
    for g in range(len(starts)):
        starts[g] = place
        place += stops[g]
        stops[g] = starts[g]
    for t in range(len(labels)):
        order[stops[labels[t]]] = t
        stops[labels[t]] += 1
    end = begin
    for g in range(len(starts)):
        low, high = starts[g], stops[g]
        starts[g] = end
        for position in range(low, high):
            t = order[position]
            for e in range(entries.offsets[t], entries.offsets[t + 1]):
                code = entries.codes[e]
                if entry_counts[e] > 0:
                    if row[code] == 0:
                        values[end] = code
                        end += 1
                    row[code] += entry_counts[e]
        for position in range(starts[g], end):
            counts[position] = row[values[position]]
            row[values[position]] = 0
        stops[g] = end


@compiled()
def persons_of_groups(
    labels: NDArray[np.int32],
    n_groups: int,
    tuple_persons: NDArray[np.int64],
    link_offsets: NDArray[np.int64],
    link_tuples: NDArray[np.int32],
    stamps: NDArray[np.int64],
    persons: NDArray[np.int64],
) -> None:
    """Distinct persons per group: sums, less those counted before in the same group.

    `stamps` is room for the last person seen in every group.
    """
    persons[:n_groups] = 0
    stamps[:n_groups] = -1
    for t in range(len(labels)):
        if labels[t] >= 0:
            persons[labels[t]] += tuple_persons[t]
    for s in range(len(link_offsets) - 1):
        for i in range(link_offsets[s], link_offsets[s + 1]):
            label = labels[link_tuples[i]]
            if label >= 0:
                if stamps[label] == s:
                    persons[label] -= 1
                stamps[label] = s


@compiled()
def groups_of_labels(
    classes: NDArray[np.int32],
    weights: NDArray[Any],
    numbers: NDArray[np.int32],
    labels: NDArray[np.int32],
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int32],
) -> int:
    """Groups of explicit labels, numbered by first appearance; `numbers` is -1 before and after."""
    n_groups = 0
    for t in range(len(classes)):
        number = numbers[classes[t]]
        if number < 0:
            number = n_groups
            numbers[classes[t]] = number
            firsts[number] = t
            sizes[number] = 0
            n_groups += 1
        labels[t] = number
        sizes[number] += weights[t]
    for g in range(n_groups):
        numbers[classes[firsts[g]]] = -1
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
