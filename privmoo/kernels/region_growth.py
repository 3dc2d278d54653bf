"""Regions that grow tuple by tuple until they keep all limits, for limits that few splits keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.region_layout import (
    ALPHA,
    Layout,
    Limits,
    count_entries,
    span_cost,
    value_of,
)

__all__ = ["grow_regions"]

_NOTHING = 1e-9  # a shortfall that is less counts as none
_FREE, _SINGLE = -1, -2
_MOST_FAILURES = 5  # in a row, until a cell is given up: the rest of it cannot keep the limits


class Growing(NamedTuple):
    """Regions while they grow, with what they hold.

    Attributes:
        low: Regions × attributes, the least codes.
        high: The largest codes.
        sizes: The sizes of the regions.
        records: Their records.
        costs: What a record of them costs.
        histograms: Regions × sensitive values.
        cells: Their cells; -1 for a region that another one took over.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sizes: NDArray[np.int64]
    records: NDArray[np.int64]
    costs: NDArray[np.float64]
    histograms: NDArray[np.int64]
    cells: NDArray[np.int64]


@compiled()
def grow_regions(
    layout: Layout,
    limits: Limits,
    cells: NDArray[np.int64],
    k: int,
    order: NDArray[np.int64],
    labels: NDArray[np.int32],
) -> int:
    """Grow regions from one tuple each: they take what brings them nearer to the limits at the least loss.

    A tuple whose region cannot keep the limits joins the finished region that it costs least, if that still
    keeps them. What is left of a cell takes over finished regions until it keeps the limits.

    Args:
        layout: The table.
        limits: Limits beside k.
        cells: The cell of every tuple, which no region may leave.
        k: The least size of a region.
        order: Some tuples, in the order in which they begin a region.
        labels: Filled for these: their regions. The last region of a cell breaks a limit if the whole cell
            does.

    Returns:
        One more than the largest number of a region.
    """
    n = len(order)
    growing = _room_for(layout, limits, n + 1)
    members, number = np.empty(n, np.int64), 0
    failures = np.zeros(cells.max() + 1, np.int64)
    labels[order] = _FREE
    free = order.copy()
    for seed in order:
        if labels[seed] != _FREE or failures[cells[seed]] > _MOST_FAILURES:
            continue
        free = free[labels[free] == _FREE]
        _begin(growing, number, cells[seed])
        _take(layout, limits, growing, number, seed)
        labels[seed], members[0], count = number, seed, 1
        while _violation(limits, growing, number, k) > _NOTHING:
            t = _best_tuple(layout, limits, growing, number, k, cells, free, labels)
            if t < 0:
                labels[members[1:count]] = _FREE
                labels[seed] = _SINGLE
                failures[cells[seed]] += 1
                break
            _take(layout, limits, growing, number, t)
            labels[t], members[count] = number, t
            count += 1
        if labels[seed] == number:
            failures[cells[seed]] = 0
            number += 1
    _join_singles(layout, limits, cells, k, growing, number, order, labels)
    return _settle_rest(layout, limits, cells, k, growing, number, order, labels)


@compiled()
def _room_for(layout: Layout, limits: Limits, regions: int) -> Growing:
    """Return room for some regions."""
    d, values = layout.codes.shape[1], limits.offsets[-1] if len(limits.kinds) else 0
    return Growing(
        np.zeros((regions, d), np.int64),
        np.zeros((regions, d), np.int64),
        np.zeros(regions, np.int64),
        np.zeros(regions, np.int64),
        np.zeros(regions, np.float64),
        np.zeros((regions, values), np.int64),
        np.full(regions, -1, np.int64),
    )


@compiled()
def _begin(growing: Growing, r: int, cell: int) -> None:
    """Begin a region of a cell, without tuples."""
    growing.sizes[r] = growing.records[r] = 0
    growing.histograms[r] = 0
    growing.cells[r] = cell


@compiled()
def _take(layout: Layout, limits: Limits, growing: Growing, r: int, t: int) -> None:
    """Put a tuple into a region."""
    cost = 0.0
    for a in range(layout.codes.shape[1]):
        code = layout.codes[t, a]
        if growing.records[r] == 0 or code < growing.low[r, a]:
            growing.low[r, a] = code
        if growing.records[r] == 0 or code > growing.high[r, a]:
            growing.high[r, a] = code
        cost += span_cost(layout, a, growing.low[r, a], growing.high[r, a])
    growing.costs[r] = cost
    growing.sizes[r] += layout.sizes[t]
    growing.records[r] += layout.weights[t]
    if len(limits.kinds):
        count_entries(limits, t, 1, growing.histograms[r])


@compiled()
def _violation(limits: Limits, growing: Growing, r: int, k: int) -> float:
    """Return how far a region is from keeping its limits, as the sum of shares of the bounds."""
    return _shortfall(limits, growing.histograms[r], growing.sizes[r], growing.records[r], k)


@compiled()
def _shortfall(
    limits: Limits, histogram: NDArray[np.int64], size: int, records: int, k: int
) -> float:
    """Return how far a group is from keeping its limits."""
    total = max(0.0, (k - size) / k)
    for c in range(len(limits.kinds)):
        total += _lacking(limits, c, histogram, records)
    return total


@compiled()
def _lacking(limits: Limits, c: int, histogram: NDArray[np.int64], records: int) -> float:
    """Return how far a group is from keeping one limit, as a share of the bound."""
    value, bound = value_of(limits, c, histogram, records), limits.bounds[c]
    lacking = bound - value if limits.kinds[c] < ALPHA else value - bound
    return float(min(max(0.0, lacking) / max(abs(bound), _NOTHING), 1e9))


@compiled(inline=True)
def _price(layout: Layout, growing: Growing, r: int, t: int, limit: float) -> float:
    """Return the extra loss if a tuple joins a region, or a part of it that is above a limit."""
    records = growing.records[r]
    together = records + layout.weights[t]
    price = layout.weights[t] * growing.costs[r]
    for a in range(layout.codes.shape[1]):
        code, low, high = layout.codes[t, a], growing.low[r, a], growing.high[r, a]
        if code < low or code > high:
            wider = span_cost(layout, a, min(low, code), max(high, code))
            price += together * (wider - span_cost(layout, a, low, high))
            if price > limit:
                break
    return float(price)


@compiled()
def _best_tuple(
    layout: Layout,
    limits: Limits,
    growing: Growing,
    r: int,
    k: int,
    cells: NDArray[np.int64],
    free: NDArray[np.int64],
    labels: NDArray[np.int32],
) -> int:
    """Return the free tuple with the least extra loss for what it brings a region nearer to its limits.

    What several records bring is about the sum of what each of them brings.
    """
    room = max(0, k - growing.sizes[r])
    gains = np.full(growing.histograms.shape[1], np.nan)
    best, cheapest = -1, np.inf
    for t in free:
        if labels[t] != _FREE or cells[t] != growing.cells[r]:
            continue
        gain = min(layout.sizes[t], room) / k
        for e in range(limits.starts[t], limits.starts[t + 1]):
            value = limits.values[e]
            if np.isnan(gains[value]):
                gains[value] = _gain_of_value(limits, growing, r, value)
            gain += limits.counts[e] * gains[value]
        if gain <= _NOTHING:
            continue
        limit = cheapest * gain
        price = _price(layout, growing, r, t, limit) + _NOTHING
        if price < limit:
            best, cheapest = t, price / gain
    return int(best)


@compiled(inline=True)
def _gain_of_value(limits: Limits, growing: Growing, r: int, value: int) -> float:
    """Return how much nearer one more record with a sensitive value brings a region to its limits."""
    histogram, gain = growing.histograms[r], 0.0
    for c in range(len(limits.kinds)):
        attribute = limits.attributes[c]
        if limits.offsets[attribute] <= value < limits.offsets[attribute + 1]:
            gain += _lacking(limits, c, histogram, growing.records[r])
            histogram[value] += 1
            gain -= _lacking(limits, c, histogram, growing.records[r] + 1)
            histogram[value] -= 1
    return gain


@compiled()
def _join_singles(
    layout: Layout,
    limits: Limits,
    cells: NDArray[np.int64],
    k: int,
    growing: Growing,
    number: int,
    order: NDArray[np.int64],
    labels: NDArray[np.int32],
) -> None:
    """Let tuples without a region join the finished one that they cost least and that keeps the limits."""
    for t in order:
        if labels[t] >= 0:
            continue
        best, cheapest = -1, np.inf
        for r in range(number):
            if growing.cells[r] != cells[t]:
                continue
            price = _price(layout, growing, r, t, cheapest)
            if price < cheapest and _keeps_limits_with(layout, limits, growing, r, k, t):
                best, cheapest = r, price
        if best >= 0:
            _take(layout, limits, growing, best, t)
            labels[t] = best


@compiled()
def _keeps_limits_with(
    layout: Layout, limits: Limits, growing: Growing, r: int, k: int, t: int
) -> bool:
    """Return whether a region keeps its limits with one more tuple."""
    histogram = growing.histograms[r]
    size, records = growing.sizes[r] + layout.sizes[t], growing.records[r] + layout.weights[t]
    if len(limits.kinds):
        count_entries(limits, t, 1, histogram)
    lacking = _shortfall(limits, histogram, size, records, k)
    if len(limits.kinds):
        count_entries(limits, t, -1, histogram)
    return bool(lacking <= _NOTHING)


@compiled()
def _settle_rest(
    layout: Layout,
    limits: Limits,
    cells: NDArray[np.int64],
    k: int,
    growing: Growing,
    number: int,
    order: NDArray[np.int64],
    labels: NDArray[np.int32],
) -> int:
    """Make a region of what is left of every cell; it takes over others until it keeps the limits."""
    finished = number
    successors = np.arange(len(growing.sizes))
    rest = order[labels[order] < 0]
    for t in rest[np.argsort(cells[rest])]:
        if number == finished or growing.cells[number - 1] != cells[t]:
            _begin(growing, number, cells[t])
            number += 1
        _take(layout, limits, growing, number - 1, t)
        labels[t] = number - 1
    for r in range(finished, number):
        while _violation(limits, growing, r, k) > _NOTHING:
            q = _best_region(layout, limits, growing, r, k, finished)
            if q < 0:
                break
            _take_over(layout, growing, r, q)
            successors[q] = r
    for t in order:
        labels[t] = successors[labels[t]]
    return number


@compiled()
def _best_region(
    layout: Layout, limits: Limits, growing: Growing, r: int, k: int, finished: int
) -> int:
    """Return the finished region with the least extra loss for what it brings another nearer to its limits.

    If none brings it nearer, that is the first one; -1 if there is none in the cell.
    """
    lacking = _violation(limits, growing, r, k)
    best, cheapest = -1, np.inf
    for q in range(finished):
        if growing.cells[q] != growing.cells[r]:
            continue
        records, cost = growing.records[r] + growing.records[q], 0.0
        for a in range(layout.codes.shape[1]):
            low = min(growing.low[r, a], growing.low[q, a])
            cost += span_cost(layout, a, low, max(growing.high[r, a], growing.high[q, a]))
        price = records * cost - growing.records[r] * growing.costs[r]
        price -= growing.records[q] * growing.costs[q]
        together = growing.histograms[r] + growing.histograms[q]
        size = growing.sizes[r] + growing.sizes[q]
        gain = lacking - _shortfall(limits, together, size, records, k)
        relative = (price + _NOTHING) / gain if gain > _NOTHING else np.inf
        if best < 0 or relative < cheapest:
            best, cheapest = q, relative
    return int(best)


@compiled()
def _take_over(layout: Layout, growing: Growing, r: int, q: int) -> None:
    """Put all tuples of another region into a region."""
    growing.costs[r] = 0.0
    for a in range(layout.codes.shape[1]):
        growing.low[r, a] = min(growing.low[r, a], growing.low[q, a])
        growing.high[r, a] = max(growing.high[r, a], growing.high[q, a])
        growing.costs[r] += span_cost(layout, a, growing.low[r, a], growing.high[r, a])
    growing.sizes[r] += growing.sizes[q]
    growing.records[r] += growing.records[q]
    growing.histograms[r] += growing.histograms[q]
    growing.cells[q] = -1
