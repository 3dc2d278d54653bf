"""Greedy k-member clusters by width: similar in their quasi-identifiers, diverse in the sensitive values.

The same greedy idea with the spread around mean and mode as its price is in `growth_by_spread`, which
says why the two are not one loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into

__all__ = ["WidthKinds", "grow_members"]


class WidthKinds(NamedTuple):
    """Kinds of records that are alike in quasi-identifiers, and in sensitive values if these are split.

    Attributes:
        numbers: Kinds × numbers, each from 0 to 1 over the whole table.
        leaves: Kinds × categories: codes of leaves.
        blocks: For every level and leaf the node above it, levels of all categories one after another.
        places: Per category, where its levels begin in `blocks`.
        sizes: Per category, the number of its leaves.
        heights: Per category, its highest level.
        starts: Per kind, where its entries in `values` and `shares` begin; and their end.
        values: Sensitive values, numbered through over all attributes.
        shares: The share of the kind's records that have each value: 1 where all are alike.
        n_attributes: How many sensitive attributes there are.
        n_values: How many values there are.
        weights: Records of every kind.
    """

    numbers: NDArray[np.float64]
    leaves: NDArray[np.int64]
    blocks: NDArray[np.int64]
    places: NDArray[np.int64]
    sizes: NDArray[np.int64]
    heights: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: NDArray[np.int64]
    shares: NDArray[np.float64]
    n_attributes: int
    n_values: int
    weights: NDArray[np.int64]


@compiled()
def _common_level(kinds: WidthKinds, j: int, a: int, b: int, level: int) -> int:
    """The lowest level, from `level` on, at which two leaves of category j are under one node."""
    size = kinds.sizes[j]
    place = kinds.places[j] + level * size
    while kinds.blocks[place + a] != kinds.blocks[place + b]:
        place += size
        level += 1
    return level


@compiled()
def _width(
    kinds: WidthKinds,
    unit: int,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    member: int,
    levels: NDArray[np.int64],
    limit: float,
) -> float:
    """What a cluster with this unit would publish: widths of numbers, levels over height, summed.

    Byun, Kamra, Bertino, Li 2007: their information loss per record. Stops early above `limit`.
    """
    width = 0.0
    for j in range(kinds.numbers.shape[1]):
        value = kinds.numbers[unit, j]
        width += max(high[j], value) - min(low[j], value)
    if width > limit:
        return width
    for j in range(kinds.leaves.shape[1]):
        level = _common_level(kinds, j, kinds.leaves[member, j], kinds.leaves[unit, j], levels[j])
        width += level / max(kinds.heights[j], 1)
    return width


@compiled()
def _join(
    kinds: WidthKinds,
    unit: int,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    member: int,
    levels: NDArray[np.int64],
) -> None:
    for j in range(kinds.numbers.shape[1]):
        value = kinds.numbers[unit, j]
        low[j] = min(low[j], value)
        high[j] = max(high[j], value)
    for j in range(kinds.leaves.shape[1]):
        levels[j] = _common_level(
            kinds, j, kinds.leaves[member, j], kinds.leaves[unit, j], levels[j]
        )


@compiled()
def _add_values(kinds: WidthKinds, unit: int, records: int, tally: NDArray[np.float64]) -> None:
    """Add the sensitive values of some records of a kind."""
    for e in range(kinds.starts[unit], kinds.starts[unit + 1]):
        tally[kinds.values[e]] += kinds.shares[e] * records


class _Grown(NamedTuple):
    """Clusters: the ends of their numbers, a member, and the common levels of their categories."""

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    members: NDArray[np.int64]
    levels: NDArray[np.int64]


@compiled()
def _farthest(
    kinds: WidthKinds, units: NDArray[np.int64], active: NDArray[np.int64], last: int
) -> int:
    """The active unit farthest from another one, the first of equals; its place among the units."""
    best, farthest = active[0], -1.0
    nothing = np.zeros(kinds.leaves.shape[1], np.int64)
    numbers = kinds.numbers[last]
    for i in range(len(active)):
        far = _width(kinds, units[active[i]], numbers, numbers, last, nothing, np.inf)
        if far > farthest:
            best, farthest = active[i], far
    return int(best)


@compiled()
def _least_widened(kinds: WidthKinds, grown: _Grown, unit: int) -> int:
    """The cluster that a unit widens least, the first of equals."""
    lows, highs, members, levels = grown
    chosen, chosen_cost = 0, np.inf
    for cluster in range(len(members)):
        before = 0.0
        for j in range(lows.shape[1]):
            before += highs[cluster, j] - lows[cluster, j]
        for j in range(levels.shape[1]):
            before += levels[cluster, j] / max(kinds.heights[j], 1)
        widened = _width(
            kinds, unit, lows[cluster], highs[cluster], members[cluster], levels[cluster], np.inf
        ) - before  # fmt: skip
        if widened < chosen_cost:
            chosen, chosen_cost = cluster, widened
    return chosen


@compiled()
def grow_members(
    kinds: WidthKinds, units: NDArray[np.int64], k: int, diversity: float, whole: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which kind gives a record to which cluster, one entry per record of the units.

    A cluster starts with the kind farthest from the last record taken, and takes the record with the
    least `(1 - diversity) · width + diversity · excess`: width as above, in means over the
    quasi-identifiers, excess the share of its sensitive value in the cluster less that among all records.
    (By the share alone the first clusters would use up the rare values, and the last ones have none.)
    Fewer than k records are left at the end; each goes to the cluster that it widens least. Of equals
    the first. If kinds stay `whole`, all records of a kind are taken at once, with their mean excess, and
    there is one entry per kind.
    """
    n = len(units)
    p, c, s = kinds.numbers.shape[1], kinds.leaves.shape[1], kinds.n_attributes
    left = kinds.weights[units].copy()
    active = np.arange(n)
    n_active = n
    records = left.sum()
    room = n if whole else records
    n_clusters = max(min(records // k, room), 1)
    of_unit, of_cluster = np.empty(room, np.int64), np.empty(room, np.int64)
    lows, highs = np.empty((n_clusters, p)), np.empty((n_clusters, p))
    levels, members = np.zeros((n_clusters, c), np.int64), np.empty(n_clusters, np.int64)
    tally = np.zeros(kinds.n_values)
    usual = np.zeros(kinds.n_values)
    for i in range(n):
        for e in range(kinds.starts[units[i]], kinds.starts[units[i] + 1]):
            usual[kinds.values[e]] += kinds.shares[e] * (left[i] / records)
    scale = (1.0 - diversity) / max(p + c, 1)
    entry = 0
    last = units[0]
    cluster = 0
    while cluster == 0 or records >= k:
        best = _farthest(kinds, units, active[:n_active], last)
        low, high = lows[cluster], highs[cluster]
        first = units[best]
        write_into(low, kinds.numbers[first])
        write_into(high, kinds.numbers[first])
        members[cluster] = first
        size = 0
        begun = entry
        while True:
            unit = units[best]
            _join(kinds, unit, low, high, first, levels[cluster])
            of_unit[entry] = unit
            of_cluster[entry] = cluster
            entry += 1
            taken = left[best] if whole else 1
            _add_values(kinds, unit, taken, tally)
            size += taken
            left[best] -= taken
            if left[best] == 0:
                n_left = 0
                for i in range(n_active):
                    if active[i] != best:
                        active[n_left] = active[i]
                        n_left += 1
                n_active = n_left
            if size >= k or n_active == 0:
                break
            best_cost = np.inf
            for i in range(n_active):
                unit = units[active[i]]
                excess = 0.0
                for e in range(kinds.starts[unit], kinds.starts[unit + 1]):
                    value = kinds.values[e]
                    excess += kinds.shares[e] * (tally[value] / size - usual[value])
                cost = diversity * excess / max(s, 1)
                if cost < best_cost:
                    limit = (best_cost - cost) / scale if scale > 0 else np.inf
                    cost += scale * _width(kinds, unit, low, high, first, levels[cluster], limit)
                    if cost < best_cost:
                        best, best_cost = active[i], cost
        last = units[best]
        records -= size
        cluster += 1
        for e in range(begun, entry):
            for v in range(kinds.starts[of_unit[e]], kinds.starts[of_unit[e] + 1]):
                tally[kinds.values[v]] = 0.0
    grown = _Grown(lows[:cluster], highs[:cluster], members[:cluster], levels[:cluster])
    for i in range(n_active):
        unit = units[active[i]]
        for _ in range(1 if whole else left[active[i]]):
            chosen = _least_widened(kinds, grown, unit)
            _join(kinds, unit, lows[chosen], highs[chosen], members[chosen], levels[chosen])
            of_unit[entry] = unit
            of_cluster[entry] = chosen
            entry += 1
    return of_unit[:entry], of_cluster[:entry]
