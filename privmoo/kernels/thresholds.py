"""Every threshold on the groups of a candidate that leaves out no more than a number of records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into

__all__ = ["COLUMNS", "RankedGroups", "steps_by_both", "steps_by_rank", "steps_by_size"]

COLUMNS = 7
"""Of a step: candidate, threshold on the size, on the rank, least size, least rank, records left out, loss.

The loss is summed over the records that stay.
"""

_HISTOGRAM_CELLS = 1 << 16
_BINS = 256


class RankedGroups(NamedTuple):
    """The groups of some candidates: those of candidate c are `starts[c]:stops[c]` of the other arrays."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ranks: NDArray[np.float64]
    """What thresholds may be about beside the size; empty if nothing is."""
    records: NDArray[np.int64]
    losses: NDArray[np.float64]


class _Groups(NamedTuple):
    """The groups of one candidate."""

    sizes: NDArray[np.int64]
    ranks: NDArray[np.float64]
    records: NDArray[np.int64]
    losses: NDArray[np.float64]


@compiled()
def _room(steps: NDArray[np.float64], used: int) -> NDArray[np.float64]:
    """Return the same array, or a larger copy where no row is free."""
    if used < len(steps):
        return steps
    larger = np.empty((2 * len(steps), COLUMNS))
    write_into(larger[:used], steps[:used])
    return larger


class _Step(NamedTuple):
    """A row of the steps; see `COLUMNS`."""

    candidate: int
    size: Any
    rank: float
    least_size: Any
    least_rank: float
    dropped: Any
    loss: float


@compiled()
def _write_step(row: NDArray[np.float64], step: _Step) -> None:
    """Write a row of the steps."""
    row[0], row[1], row[2], row[3] = step.candidate, step.size, step.rank, step.least_size
    row[4], row[5], row[6] = step.least_rank, step.dropped, step.loss


@compiled()
def _small_sizes(sizes: NDArray[np.int64], records: NDArray[np.int64], limit: int) -> int:
    """Return the largest size of which all smaller groups may be left out."""
    top = min(limit, _HISTOGRAM_CELLS - 1)
    histogram = np.zeros(top + 1, np.int64)
    for g in range(len(sizes)):
        if sizes[g] <= top:
            histogram[sizes[g]] += records[g]
    total = 0
    for size in range(top + 1):
        total += histogram[size]
        if total > limit:
            return size
    return top + 1


@compiled()
def _least_ranks(
    sizes: NDArray[np.int64], ranks: NDArray[np.float64], steps: NDArray[np.float64]
) -> None:
    """Enter the least rank of the groups that stay into the steps of one candidate, by size."""
    for g in range(len(sizes)):
        # The last step that keeps the group.
        step = np.searchsorted(steps[:, 1], sizes[g], side="right") - 1
        steps[step, 4] = min(steps[step, 4], ranks[g])
    for step in range(len(steps) - 2, -1, -1):
        steps[step, 4] = min(steps[step, 4], steps[step + 1, 4])


@compiled()
def steps_by_size(groups: RankedGroups, limit: int) -> NDArray[np.float64]:
    """Thresholds on the size of groups; a size never exceeds its records.

    `groups.ranks` may be empty: the least rank of every step is infinite then.
    """
    starts, stops, sizes, ranks, records, losses = groups
    steps = np.empty((max(16, 32 * len(starts)), COLUMNS))
    used = 0
    # Of groups larger than that at most the smallest size is a threshold.
    largest = limit + 1
    of_size = np.zeros(largest + 1, np.int64)
    loss_of_size = np.zeros(largest + 1)
    for c in range(len(starts)):
        low, high = starts[c], stops[c]
        if low == high:
            continue
        kept_loss, beyond, top = 0.0, np.int64(0), np.int64(0)
        for g in range(low, high):
            size, loss = sizes[g], records[g] * losses[g]
            kept_loss += loss
            if size <= largest:
                of_size[size] += records[g]
                loss_of_size[size] += loss
                top = max(top, size)
            elif beyond == 0 or size < beyond:
                beyond = size
        first, dropped = used, np.int64(0)
        for place in range(top + 2):
            size = np.int64(place) if place <= top else beyond
            if dropped > limit:
                break
            if size == 0 or (place <= top and of_size[place] == 0):
                continue
            steps = _room(steps, used)
            _write_step(steps[used], _Step(c, size, 0.0, size, np.inf, dropped, kept_loss))
            used += 1
            if place <= top:
                dropped += of_size[place]
                kept_loss -= loss_of_size[place]
        of_size[: top + 1] = 0
        loss_of_size[: top + 1] = 0.0
        if len(ranks):
            _least_ranks(sizes[low:high], ranks[low:high], steps[first:used])
    return steps[:used]


@compiled()
def _low_ranks(
    ranks: NDArray[np.float64], records: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """Return the groups that a threshold on the rank may leave out, and those of the next bin, in order."""
    lowest, highest = np.inf, -np.inf
    for g in range(len(ranks)):
        lowest, highest = min(lowest, ranks[g]), max(highest, ranks[g])
    scale = (_BINS - 2) / (highest - lowest) if highest > lowest else np.inf
    if not (0 < scale < np.inf):
        return np.argsort(ranks, kind="mergesort")
    # Many groups have the least rank, such as a single value; they are a bin of their own.
    bins = np.empty(len(ranks), np.uint8)
    counts, records_of = np.zeros(_BINS, np.int64), np.zeros(_BINS, np.int64)
    for g in range(len(ranks)):
        b = 0 if ranks[g] == lowest else 1 + int((ranks[g] - lowest) * scale)
        bins[g] = b
        counts[b] += 1
        records_of[b] += records[g]
    total, last = np.int64(0), _BINS - 1
    for b in range(_BINS):
        total += records_of[b]
        if total > limit:
            last = b
            break
    ends = np.cumsum(counts[: last + 1])
    places = ends - counts[: last + 1]
    order = np.empty(ends[last], np.int64)
    for g in range(len(ranks)):
        b = bins[g]
        if b <= last:
            order[places[b]] = g
            places[b] += 1
    for b in range(1, last + 1):
        if counts[b] > 1:
            of_bin = order[ends[b] - counts[b] : ends[b]]
            of_bin[:] = of_bin[np.argsort(ranks[of_bin], kind="mergesort")]
    return order


@compiled()
def steps_by_rank(groups: RankedGroups, limit: int) -> NDArray[np.float64]:
    """Thresholds on any rank of groups, such as their diversity."""
    starts, stops, sizes, ranks, records, losses = groups
    steps = np.empty((max(16, 16 * len(starts)), COLUMNS))
    used = 0
    for c in range(len(starts)):
        low, high = starts[c], stops[c]
        if low == high:
            continue
        order = _low_ranks(ranks[low:high], records[low:high], limit) + low
        listed = np.zeros(high - low, np.bool_)
        listed[order - low] = True
        kept_loss, least_size, least_rank = 0.0, np.int64(0), np.inf
        for g in range(low, high):
            kept_loss += records[g] * losses[g]
            if not listed[g - low]:
                least_rank = min(least_rank, ranks[g])
                if least_size == 0 or sizes[g] < least_size:
                    least_size = sizes[g]
        size_from = np.empty(len(order) + 1, np.int64)
        size_from[len(order)] = least_size
        for i in range(len(order) - 1, -1, -1):
            size = sizes[order[i]]
            after = size_from[i + 1]
            size_from[i] = size if after == 0 else min(size, after)
        dropped = np.int64(0)
        at = 0
        while at <= len(order) and dropped <= limit:
            rank = ranks[order[at]] if at < len(order) else least_rank
            if size_from[at] == 0:
                break
            steps = _room(steps, used)
            _write_step(steps[used], _Step(c, 0.0, rank, size_from[at], rank, dropped, kept_loss))
            used += 1
            if at == len(order):
                break
            while at < len(order) and ranks[order[at]] == rank:
                dropped += records[order[at]]
                kept_loss -= records[order[at]] * losses[order[at]]
                at += 1
    return steps[:used]


@compiled()
def steps_by_both(groups: RankedGroups, limit: int) -> NDArray[np.float64]:
    """Return pairs of thresholds: groups below the size or below the rank go.

    Each set of groups comes once.
    """
    starts, stops, sizes, ranks, records, losses = groups
    steps = np.empty((max(64, 64 * len(starts)), COLUMNS))
    used = 0
    for c in range(len(starts)):
        low, high = starts[c], stops[c]
        if low == high:
            continue
        of_candidate = _Groups(
            sizes[low:high], ranks[low:high], records[low:high], losses[low:high]
        )
        steps, used = _add_pairs(c, of_candidate, limit, steps, used)
    return steps[:used]


@compiled()
def _add_pairs(
    c: int, groups: _Groups, limit: int, steps: NDArray[np.float64], used: int
) -> tuple[NDArray[np.float64], int]:
    """Add the pairs of thresholds of one candidate; return the steps and how many there are."""
    sizes, ranks, records, losses = groups
    top = _small_sizes(sizes, records, limit)
    order = _low_ranks(ranks, records, limit)
    beyond_rank = _least_unlisted(ranks, order)
    of_size, loss_of_size = np.zeros(top + 2, np.int64), np.zeros(top + 2)
    kept_loss, beyond = 0.0, np.int64(0)
    for g in range(len(sizes)):
        loss = records[g] * losses[g]
        kept_loss += loss
        if sizes[g] <= top:
            of_size[sizes[g]] += records[g]
            loss_of_size[sizes[g]] += loss
        elif beyond == 0 or sizes[g] < beyond:
            beyond = sizes[g]
    dropped_by_size = np.int64(0)
    for place in range(top + 2):
        size = np.int64(place) if place <= top else beyond
        if (place <= top and of_size[place] == 0) or size == 0:
            continue
        if dropped_by_size > limit:
            break
        dropped, remaining = dropped_by_size, kept_loss
        at = 0
        while dropped <= limit:
            # The next rank of a group that is large enough.
            while at < len(order) and sizes[order[at]] < size:
                at += 1
            rank = ranks[order[at]] if at < len(order) else beyond_rank
            if at == len(order) and not np.isfinite(rank):
                break
            steps = _room(steps, used)
            _write_step(steps[used], _Step(c, size, rank, size, rank, dropped, remaining))
            used += 1
            if at == len(order):
                break
            while at < len(order) and ranks[order[at]] == rank:
                if sizes[order[at]] >= size:
                    dropped += records[order[at]]
                    remaining -= records[order[at]] * losses[order[at]]
                at += 1
        if place <= top:
            dropped_by_size += of_size[place]
            kept_loss -= loss_of_size[place]
    return steps, used


@compiled()
def _least_unlisted(ranks: NDArray[np.float64], order: NDArray[np.int64]) -> float:
    """Return the least rank of the groups that are not listed; infinite if all are."""
    is_listed = np.zeros(len(ranks), np.bool_)
    is_listed[order] = True
    lowest = np.inf
    for g in range(len(ranks)):
        if not is_listed[g]:
            lowest = min(lowest, ranks[g])
    return lowest
