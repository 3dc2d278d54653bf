"""Which groups of a candidate are left out, and bringing the kept ones to the front."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.segments import Segments

__all__ = [
    "group_diversity",
    "keep_above",
    "keep_within_budget",
    "move_kept_to_front",
    "relabel",
    "take",
]

_HISTOGRAM_CELLS = 1 << 16


@compiled()
def _last_whole_class(
    keys: NDArray[np.int64], records: NDArray[np.int64], budget: int
) -> tuple[int, int]:
    """The largest key such that all groups up to it have at most `budget` records; and how many.

    A group's key never exceeds its records (sizes and diversities do not), so keys above the budget
    need no look, and a histogram up to it replaces sorting.
    """
    if budget < _HISTOGRAM_CELLS:
        histogram = np.zeros(budget + 1, np.int64)
        for g in range(len(keys)):
            if keys[g] <= budget:
                histogram[keys[g]] += records[g]
        spent = 0
        last = -1
        for key in range(budget + 1):
            if spent + histogram[key] > budget:
                break
            spent += histogram[key]
            last = key
        return last, spent
    order = np.argsort(keys, kind="mergesort")
    spent = 0
    last = -1
    begin = 0
    while begin < len(order):
        key = keys[order[begin]]
        need = 0
        end = begin
        while end < len(order) and keys[order[end]] == key:
            need += records[order[end]]
            end += 1
        if spent + need > budget:
            return last, spent
        spent += need
        last = key
        begin = end
    return last, spent


@compiled()
def keep_within_budget(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    primary: NDArray[np.int64],
    secondary: NDArray[np.int64],
    records: NDArray[np.int64],
    budget: int,
    kept: NDArray[np.bool_],
) -> None:
    """Leave out classes of equal (primary, secondary), lowest first and whole, up to `budget` records.

    `secondary` may be empty: classes of equal primary then.
    """
    for c in range(len(starts)):
        low, high = starts[c], stops[c]
        last, spent = _last_whole_class(primary[low:high], records[low:high], budget)
        following = np.int64(-1)
        for g in range(low, high):
            kept[g] = primary[g] > last
            if kept[g] and (following < 0 or primary[g] < following):
                following = primary[g]
        if len(secondary) == 0 or following < 0:
            continue
        chosen = np.empty(high - low, np.int64)
        n_chosen = 0
        for g in range(low, high):
            if primary[g] == following:
                chosen[n_chosen] = g
                n_chosen += 1
        chosen = chosen[:n_chosen]
        last, spent = _last_whole_class(secondary[chosen], records[chosen], budget - spent)
        for g in chosen:
            kept[g] = secondary[g] > last


@compiled()
def keep_above(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    ranks: NDArray[Any],
    thresholds: NDArray[np.float64],
    kept: NDArray[np.bool_],
) -> None:
    """Leave out every group whose rank is below its candidate's threshold."""
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            kept[g] = ranks[g] >= thresholds[c]


@compiled()
def group_diversity(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    diversity: NDArray[np.float64],
) -> None:
    """Lower each group's diversity to its records over the count of its most frequent value."""
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            largest = np.int64(1)
            for i in range(segments.starts[g], segments.stops[g]):
                largest = max(largest, segments.counts[i])
            diversity[g] = min(diversity[g], records[g] / largest)


@compiled()
def move_kept_to_front(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    kept: NDArray[np.bool_],
    order: NDArray[np.int64],
    kept_stops: NDArray[np.int64],
) -> None:
    """A stable order in which every candidate's kept groups come first."""
    for c in range(len(starts)):
        front = starts[c]
        for g in range(starts[c], stops[c]):
            if kept[g]:
                order[front] = g
                front += 1
        kept_stops[c] = front
        for g in range(starts[c], stops[c]):
            if not kept[g]:
                order[front] = g
                front += 1


@compiled()
def take(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    order: NDArray[np.int64],
    source: NDArray[Any],
    result: NDArray[Any],
) -> None:
    """Bring one array of the groups into the new order."""
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            result[g] = source[order[g]]


@compiled()
def relabel(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    order: NDArray[np.int64],
    places: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> None:
    """Labels of tuples after the groups have moved."""
    for c in range(len(starts)):
        low = starts[c]
        for g in range(low, stops[c]):
            places[order[g] - low] = g - low
        for t in range(labels.shape[1]):
            labels[c, t] = places[labels[c, t]]
