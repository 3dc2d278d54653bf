"""Demands on the sensitive values of groups, as the sweep of the lattice checks them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.closeness import (
    disclosure,
    equal_distance,
    hierarchical_distance,
    largest_gain,
    ordered_distance,
)
from privmoo.kernels.compiled import compiled
from privmoo.kernels.diversity import (
    fewest_values,
    largest_share,
    least_diversity,
    least_effective_number,
    recursive_diversity,
)
from privmoo.kernels.segments import Segments

__all__ = [
    "ALPHA",
    "BETA",
    "DELTA",
    "DISTINCT",
    "ENTROPY",
    "FREQUENCY",
    "RECURSIVE",
    "T_EQUAL",
    "T_HIERARCHICAL",
    "T_ORDERED",
    "ValueRules",
    "fewest_to_suppress",
    "largest_bad_group",
    "segment_values",
]

FREQUENCY, DISTINCT, ENTROPY, RECURSIVE = 0, 1, 2, 3
ALPHA, BETA, T_EQUAL, T_ORDERED, T_HIERARCHICAL, DELTA = 4, 5, 6, 7, 8, 9
_ROUNDING = 1e-9


class ValueRules(NamedTuple):
    """Demands on the values of one sensitive attribute in every published group.

    Attributes:
        kinds: The measure of every demand; kinds below `ALPHA` are bounded from below, others from above.
        bounds: The bound of every demand.
        factors: A parameter of the measure: c of recursive ℓ, 1 for enhanced β.
        released: Whether the released records are what groups are compared with.
        monotone: Whether merging groups that satisfy the demand gives a group that does.
        totals: How often every value occurs in the table; empty if there are no demands.
        order: The values from lowest to highest.
        level_blocks: The hierarchy of the values.
    """

    kinds: NDArray[np.int64]
    bounds: NDArray[np.float64]
    factors: NDArray[np.float64]
    released: NDArray[np.bool_]
    monotone: NDArray[np.bool_]
    totals: NDArray[np.int64]
    order: NDArray[np.int64]
    level_blocks: NDArray[np.int32]


@compiled()
def segment_values(
    owners: NDArray[np.int64],
    values: NDArray[Any],
    records: NDArray[Any],
    n_groups: int,
    n_values: int,
) -> Segments:
    """The values of every group with their counts, from entries that each belong to one group."""
    n = len(owners)
    starts, stops = np.zeros(n_groups + 1, np.int64), np.zeros(n_groups, np.int64)
    for i in range(n):
        starts[owners[i] + 1] += 1
    for group in range(n_groups):
        starts[group + 1] += starts[group]
        stops[group] = starts[group]
    entry_values, entry_counts = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        to = stops[owners[i]]
        entry_values[to], entry_counts[to] = values[i], records[i]
        stops[owners[i]] = to + 1
    place = np.full(n_values, -1, np.int64)
    for group in range(n_groups):
        low, high = starts[group], stops[group]
        end = low
        for i in range(low, high):
            value, count = entry_values[i], entry_counts[i]
            if place[value] >= 0:
                entry_counts[place[value]] += count
            else:
                place[value] = end
                entry_values[end], entry_counts[end] = value, count
                end += 1
        for i in range(low, end):
            place[entry_values[i]] = -1
        stops[group] = end
    return Segments(starts[:n_groups].copy(), stops, entry_values, entry_counts)


@compiled()
def _flag_bad_groups(
    rules: ValueRules,
    rule: int,
    groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
    segments: Segments,
    bad: NDArray[np.bool_],
) -> None:
    """Flag those of some groups that break a demand, in their order; other flags stay."""
    kind, bound, n_values = rules.kinds[rule], rules.bounds[rule], len(rules.totals)
    out = np.empty(len(groups))
    ends = groups + 1
    reference = rules.totals
    if rules.released[rule]:
        reference = np.zeros(n_values, np.int64)
        for group in groups:
            for i in range(segments.starts[group], segments.stops[group]):
                reference[segments.values[i]] += segments.counts[i]
    if kind == FREQUENCY:
        least_diversity(groups, ends, sizes, segments, out)
    elif kind == DISTINCT:
        fewest_values(groups, ends, segments, out)
    elif kind == ENTROPY:
        least_effective_number(groups, ends, sizes, segments, out)
    elif kind == RECURSIVE:
        recursive_diversity(groups, ends, segments, n_values, rules.factors[rule], out)
    elif kind == ALPHA:
        largest_share(groups, ends, sizes, segments, out)
    elif kind == BETA:
        enhanced = rules.factors[rule] > 0
        largest_gain(groups, ends, sizes, segments, n_values, reference, enhanced, out)
    elif kind == T_EQUAL:
        equal_distance(groups, ends, sizes, segments, n_values, reference, out)
    elif kind == T_ORDERED:
        ordered_distance(groups, ends, sizes, segments, rules.order, reference, out)
    elif kind == T_HIERARCHICAL:
        hierarchical_distance(groups, ends, sizes, segments, rules.level_blocks, reference, out)
    else:
        disclosure(groups, ends, sizes, segments, n_values, reference, out)
    for i in range(len(groups)):
        if (out[i] < bound) if kind < ALPHA else (out[i] > bound):
            bad[i] = True


@compiled()
def largest_bad_group(
    rules: ValueRules, sizes: NDArray[np.int64], segments: Segments, threshold: int
) -> Any:
    """The size of the largest published group that breaks a demand; 0 if none does.

    Groups of at least `threshold` records are published.
    """
    published = np.flatnonzero(sizes >= threshold)
    bad = np.zeros(len(published), np.bool_)
    for rule in range(len(rules.kinds)):
        _flag_bad_groups(rules, rule, published, sizes, segments, bad)
    largest = np.int64(0)
    for i in range(len(published)):
        if bad[i]:
            largest = max(largest, sizes[published[i]])
    return largest


@compiled()
def fewest_to_suppress(rules: ValueRules, sizes: NDArray[np.int64], segments: Segments) -> Any:
    """How many records any release leaves out whose groups, merged, are these, by monotone demands.

    If a group breaks a monotone demand, not all of its records can be published in groups that satisfy
    it: merged, these would satisfy it. So at least one record is left out. For frequency ℓ and α the
    published records of the group, merged, satisfy the demand too: with c of the most frequent value
    among m records, and x of them left out, c - x ≤ share·(m - x), so x ≥ (c - share·m) / (1 - share).
    """
    total = np.int64(0)
    groups = np.arange(len(sizes))
    needs = np.zeros(len(sizes), np.int64)
    for rule in range(len(rules.kinds)):
        if not rules.monotone[rule]:
            continue
        bad = np.zeros(len(sizes), np.bool_)
        _flag_bad_groups(rules, rule, groups, sizes, segments, bad)
        share = 0.0
        if rules.kinds[rule] == FREQUENCY:
            share = 1 / rules.bounds[rule]
        elif rules.kinds[rule] == ALPHA:
            share = rules.bounds[rule]
        for group in range(len(sizes)):
            if not bad[group]:
                continue
            need = np.int64(1)
            if 0 < share < 1:
                largest_count = np.int64(0)
                for i in range(segments.starts[group], segments.stops[group]):
                    largest_count = max(largest_count, np.int64(segments.counts[i]))
                excess = (largest_count - share * sizes[group]) / (1 - share)
                need = max(need, np.int64(np.ceil(excess - _ROUNDING)))
            needs[group] = max(needs[group], need)
    for group in range(len(sizes)):
        total += needs[group]
    return total
