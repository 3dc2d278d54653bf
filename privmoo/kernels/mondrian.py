"""Mondrian: cut the records in two or more until no cut is allowed.

Every part has a region, a range of leaves in every column, which follows from the cuts alone. A cut of an
order lies at the roundest place between the last value on its left and the first on its right; where equal
values are on both sides, both regions reach beyond that value, up to such places. The parts of a tree are
nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.round_cuts import round_cut

__all__ = [
    "BY_CATEGORIES",
    "BY_MEDIAN",
    "BY_TREE",
    "Columns",
    "SensitiveValues",
    "mondrian_cuts",
]

BY_MEDIAN, BY_TREE, BY_CATEGORIES = 0, 1, 2
"""How a column is cut: at the median of its order, into the children of a node, or in half."""


class Columns(NamedTuple):
    """The quasi-identifiers of entries, and how they are cut.

    Attributes:
        values: Entries × columns: numbers, or codes of leaves.
        codes: Entries × columns: codes of leaves; they ascend with the values.
        n_leaves: The leaves of each column.
        origins: The number that the first leaf of each column stands for.
        weights: Records of every entry, all 1 unless equal values stay together.
        kinds: How each column is cut.
        trees: The nodes above leaves, of all columns one after the other, level by level.
        tree_starts: Where each column's nodes begin.
        tree_levels: How many levels it has.
        spans: The width of each column in the whole table.
    """

    values: NDArray[np.float64]
    codes: NDArray[Any]
    n_leaves: NDArray[np.int64]
    origins: NDArray[np.int64]
    weights: NDArray[np.int64]
    kinds: NDArray[np.int64]
    trees: NDArray[np.int64]
    tree_starts: NDArray[np.int64]
    tree_levels: NDArray[np.int64]
    spans: NDArray[np.float64]


class SensitiveValues(NamedTuple):
    """The sensitive values of entries.

    Attributes:
        starts: Per sensitive attribute, where the values of each entry begin in `codes`.
        codes: Sensitive values.
        offsets: Where each attribute's values begin, numbered consecutively.
    """

    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    offsets: NDArray[np.int64]


class _Seen(NamedTuple):
    """Stamps of the values that occur in a part; a new stamp forgets them all."""

    stamps: NDArray[np.int64]
    latest: NDArray[np.int64]


@compiled()
def _is_allowed(
    members: NDArray[np.int64],
    parts: NDArray[np.int64],
    n_parts: int,
    weights: NDArray[np.int64],
    sensitive: SensitiveValues,
    seen: _Seen,
    k: int,
    diversity: int,
) -> bool:
    """Whether every part has k records and enough values of every sensitive attribute."""
    sizes = np.zeros(n_parts, np.int64)
    for i in range(len(members)):
        sizes[parts[i]] += weights[members[i]]
    for part in range(n_parts):
        if sizes[part] < k:
            return False
    if diversity < 2:
        return True
    starts, codes, offsets = sensitive
    stamps, latest = seen
    n_sensitive = len(offsets) - 1
    for part in range(n_parts):
        latest[0] += 1
        n_seen = np.zeros(n_sensitive, np.int64)
        for i in range(len(members)):
            if parts[i] != part:
                continue
            for q in range(n_sensitive):
                for e in range(starts[q, members[i]], starts[q, members[i] + 1]):
                    if stamps[offsets[q] + codes[e]] != latest[0]:
                        stamps[offsets[q] + codes[e]] = latest[0]
                        n_seen[q] += 1
        if n_seen.min() < diversity:
            return False
    return True


@compiled()
def _median(values: NDArray[np.float64], weights: NDArray[np.int64]) -> tuple[float, int, int, int]:
    """The lower median of the records, and how many are below, at and above it."""
    order = np.argsort(values, kind="mergesort")
    total = weights.sum()
    below = 0
    i = 0
    while True:
        value = values[order[i]]
        equal = 0
        while i < len(order) and values[order[i]] == value:
            equal += weights[order[i]]
            i += 1
        if 2 * (below + equal) >= total:
            return value, below, equal, total - below - equal
        below += equal


@compiled()
def _halve_order(
    values: NDArray[np.float64],
    weights: NDArray[np.int64],
    strict: bool,
    attempt: int,
    parts: NDArray[np.int64],
) -> int:
    """Cut at the median; in the second attempt, on the other side of it. The number of parts."""
    median, below, equal, above = _median(values, weights)
    if strict:
        median_goes_left = (below <= above) != (attempt == 1)
        for i in range(len(values)):
            right = values[i] > median or (values[i] == median and not median_goes_left)
            parts[i] = 1 if right else 0
        n_left = below + equal if median_goes_left else below
        return 2 if 0 < n_left < below + equal + above else 1
    if attempt == 1:
        return 1
    places = (below + equal + above) // 2 - below  # of the left half, for records at the median
    for i in range(len(values)):
        parts[i] = 1 if values[i] > median else 0
        if values[i] == median:
            parts[i] = 0 if places > 0 else 1
            places -= 1
    return 2


@compiled()
def _number_parts(keys: NDArray[np.int64], parts: NDArray[np.int64]) -> int:
    """Number the distinct keys in ascending order."""
    distinct = np.unique(keys)
    for i in range(len(keys)):
        parts[i] = np.searchsorted(distinct, keys[i])
    return len(distinct)


@compiled()
def _cut(
    values: NDArray[np.float64],
    weights: NDArray[np.int64],
    kind: int,
    tree: NDArray[np.int64],
    strict: bool,
    attempt: int,
    parts: NDArray[np.int64],
) -> int:
    """Divide entries by one column into `parts`; one part means that there is no cut."""
    if values.min() == values.max() or (attempt == 1 and kind == BY_TREE):
        return 1
    if kind == BY_MEDIAN:
        return _halve_order(values, weights, strict, attempt, parts)
    codes = values.astype(np.int64)
    if kind == BY_TREE:
        low, high = codes.min(), codes.max()
        level = 0
        while tree[level, low] != tree[level, high]:
            level += 1
        return _number_parts(tree[level - 1][codes], parts)
    n_categories = _number_parts(codes, parts)
    for i in range(len(parts)):
        parts[i] = 1 if 2 * parts[i] >= n_categories - attempt else 0
    return 2


@compiled()
def _by_width(columns: Columns, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Columns by their width among some entries as a share of their span, the widest first."""
    n_columns = columns.values.shape[1]
    widths = np.empty(n_columns, np.float64)
    for j in range(n_columns):
        column = columns.values[:, j][members]
        widths[j] = (column.max() - column.min()) / columns.spans[j]
        if columns.kinds[j] != BY_MEDIAN:
            widths[j] = (len(np.unique(column)) - 1) / columns.spans[j]
    return np.argsort(-widths, kind="mergesort")


@compiled()
def _ends(codes: NDArray[Any], parts: NDArray[np.int64], part: int) -> tuple[int, int]:
    """The first and the last leaf of a part."""
    first, last = -1, -1
    for i in range(len(codes)):
        if parts[i] == part:
            code = int(codes[i])
            first = code if first < 0 else min(first, code)
            last = max(last, code)
    return first, last


@compiled()
def _region(
    codes: NDArray[Any],
    parts: NDArray[np.int64],
    part: int,
    kind: int,
    tree: NDArray[np.int64],
    origin: int,
    start: int,
    stop: int,
) -> tuple[int, int]:
    """The leaves of one part of the leaves from `start` to before `stop`, after a cut."""
    first, last = _ends(codes, parts, part)
    if kind == BY_TREE:
        low, high = int(codes.min()), int(codes.max())
        level = 0
        while tree[level, low] != tree[level, high]:
            level += 1
        nodes = tree[level - 1]
        begin, end = first, last + 1
        while begin > 0 and nodes[begin - 1] == nodes[first]:
            begin -= 1
        while end < len(nodes) and nodes[end] == nodes[first]:
            end += 1
        return begin, end
    if part == 0:
        following = stop  # the next leaf that somebody has
        for code in codes:
            if last < code < following:
                following = int(code)
        return start, stop if following == stop else round_cut(last, following, origin)
    previous = start - 1
    for code in codes:
        if previous < code < first:
            previous = int(code)
    return start if previous < start else round_cut(previous, first, origin), stop


@compiled()
def mondrian_cuts(
    columns: Columns, sensitive: SensitiveValues, k: int, diversity: int, strict: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The class of every entry, and the first leaf and the leaf after the last of every class's region.

    Args:
        columns: The quasi-identifiers.
        sensitive: The sensitive values.
        k: Fewest records of a class.
        diversity: Fewest values of each sensitive attribute.
        strict: Equal values stay together.
    """
    values, weights, trees = columns.values, columns.weights, columns.trees
    n, n_columns = values.shape
    order = np.arange(n)
    label = np.zeros(n, np.int64)
    stack = [(0, n, np.zeros(n_columns, np.int64), columns.n_leaves.copy())]
    regions = [(stack[0][2], stack[0][3])]
    regions.pop()
    seen = _Seen(np.zeros(max(sensitive.offsets[-1], 1), np.int64), np.zeros(1, np.int64))
    all_parts = np.empty(n, np.int64)
    while len(stack) > 0:
        start, stop, low, high = stack.pop()
        members = order[start:stop].copy()
        member_weights = weights[members]
        parts = all_parts[: len(members)]
        n_parts, cut = 1, 0
        if member_weights.sum() >= 2 * k:
            by_width = _by_width(columns, members)
            for c in range(2 * n_columns):
                cut = by_width[c // 2]
                begin, end = columns.tree_starts[cut], columns.tree_starts[cut + 1]
                tree = trees[begin:end].reshape((columns.tree_levels[cut], -1))
                column = values[:, cut][members]
                n_parts = _cut(
                    column, member_weights, columns.kinds[cut], tree, strict, c % 2, parts
                )
                if n_parts > 1 and _is_allowed(
                    members, parts, n_parts, weights, sensitive, seen, k, diversity
                ):
                    break
                n_parts = 1
        if n_parts == 1:
            label[members] = len(regions)
            regions.append((low, high))
            continue
        begin, end = columns.tree_starts[cut], columns.tree_starts[cut + 1]
        tree = trees[begin:end].reshape((columns.tree_levels[cut], -1))
        codes = columns.codes[:, cut][members]
        place = start
        for part in range(n_parts):
            first = place
            for i in range(len(members)):
                if parts[i] == part:
                    order[place] = members[i]
                    place += 1
            part_low, part_high = low.copy(), high.copy()
            part_low[cut], part_high[cut] = _region(
                codes,
                parts,
                part,
                columns.kinds[cut],
                tree,
                columns.origins[cut],
                low[cut],
                high[cut],
            )
            stack.append((first, place, part_low, part_high))
    lows = np.empty((len(regions), n_columns), np.int64)
    highs = np.empty((len(regions), n_columns), np.int64)
    for r in range(len(regions)):
        lows[r], highs[r] = regions[r]
    return label, lows, highs
