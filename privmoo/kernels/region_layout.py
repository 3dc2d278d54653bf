"""What the kernels of regions read: codes, costs of ranges and nodes, limits on groups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "ALPHA",
    "BETA",
    "DELTA",
    "DISTINCT",
    "ENHANCED_BETA",
    "ENTROPY",
    "EQUAL_T",
    "FREQUENCY",
    "HIERARCHICAL_T",
    "ORDERED_T",
    "RECURSIVE",
    "Layout",
    "Limits",
    "Outliers",
    "adapt_price",
    "allowed",
    "box_cost",
    "count_entries",
    "may_split",
    "span_cost",
    "value_of",
]

# At least a bound, up to the recursive diversity; at most a bound, from α on.
DISTINCT, FREQUENCY, ENTROPY, RECURSIVE = 0, 1, 2, 3
ALPHA, EQUAL_T, ORDERED_T, BETA, ENHANCED_BETA, DELTA, HIERARCHICAL_T = 4, 5, 6, 7, 8, 9, 10
_SLACK = 1e-12


class Layout(NamedTuple):
    """The quasi-identifiers of distinct tuples, and what it costs to publish ranges or nodes of them.

    A cost is the general loss of one record: 1 / attributes, if everything of an attribute is published
    as one value and all weights are equal. Codes number the leaves, or the nodes of the lowest level
    that may be published.

    Attributes:
        codes: Tuples × attributes.
        weights: Records of every tuple.
        sizes: What every tuple adds to the size of a region, which is compared with k: its records, or its
            persons in parts of a person.
        counts_persons: Whether sizes are something else than records.
        n_codes: Codes of every attribute.
        offsets: Where the codes of an attribute begin in `first` and `last`.
        first: The first leaf of every code.
        last: Its last leaf.
        origins: The number that the first code of an attribute stands for; see `round_cut`.
        scales: Cost of one more leaf.
        is_tree: Whether an attribute publishes nodes of a tree, and not any range.
        pair_starts: Where the costs of all pairs of codes begin in `pairs`; -1 if there are too many.
        pairs: Cost of the narrowest range or lowest node over two codes.
        level_starts: Where the levels of a tree begin in `blocks` and `level_costs`.
        n_levels: Levels of a tree.
        blocks: Levels × codes of every tree, the node above a code.
        level_costs: Cost of these nodes.
        node_starts: Where the nodes of a tree begin in the arrays of nodes; the root is the last one.
        node_first: The first code under a node.
        node_stop: One past the last one.
        node_cost: Cost of a node.
        node_parent: The node above it, counted within its tree; -1 for the root.
        node_rank: The place of a node among its siblings.
        child_starts: Where the children of a node begin in `children`; one more at the end.
        children: Nodes, counted within their tree, from left to right.
        split_starts: Where the numbers of an attribute's splits begin: positions of a range, or nodes.
    """

    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts_persons: bool
    n_codes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    origins: NDArray[np.int64]
    scales: NDArray[np.float64]
    is_tree: NDArray[np.bool_]
    pair_starts: NDArray[np.int64]
    pairs: NDArray[np.float64]
    level_starts: NDArray[np.int64]
    n_levels: NDArray[np.int64]
    blocks: NDArray[np.int32]
    level_costs: NDArray[np.float64]
    node_starts: NDArray[np.int64]
    node_first: NDArray[np.int64]
    node_stop: NDArray[np.int64]
    node_cost: NDArray[np.float64]
    node_parent: NDArray[np.int64]
    node_rank: NDArray[np.int64]
    child_starts: NDArray[np.int64]
    children: NDArray[np.int64]
    split_starts: NDArray[np.int64]


class Outliers(NamedTuple):
    """Who may be left out: regions that are too small, as long as they have few records together.

    Attributes:
        most: The largest number of records that may be left out.
        below: Regions smaller than this are left out.
        spare: One number: how many more records may be left out.
        price: One number: the cost of a record that is left out, as a search counts it. That is 1, or more
            where others gain more by leaving the last few.
    """

    most: int
    below: int
    spare: NDArray[np.int64]
    price: NDArray[np.float64]


class Limits(NamedTuple):
    """Limits on the sensitive values of a group, beside its size, and who may be left out.

    Attributes:
        starts: Where the entries of every tuple begin; one more at the end.
        values: The value of every entry; values are numbered over all attributes.
        counts: Records of every entry.
        offsets: Where the values of an attribute begin; one more at the end.
        unknown: Per attribute, the value that could be any value, counted within it; -1 if there is none.
        kinds: Per limit, what is limited.
        attributes: Per limit, the attribute.
        bounds: Per limit, the bound.
        parameters: Per limit, what else defines it: c of recursive (c, ℓ)-diversity.
        shares: The share of every value in the table, among those that are known.
        order: The values of an attribute in their order, by place.
        heights: Per attribute, the levels of its tree below the root; 0 without a tree.
        tree_starts: Where the levels of an attribute begin in `nodes`.
        nodes: Levels × values of every tree, the node above a value.
        outliers: Who may be left out.
    """

    starts: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    unknown: NDArray[np.int64]
    kinds: NDArray[np.int64]
    attributes: NDArray[np.int64]
    bounds: NDArray[np.float64]
    parameters: NDArray[np.float64]
    shares: NDArray[np.float64]
    order: NDArray[np.int64]
    heights: NDArray[np.int64]
    tree_starts: NDArray[np.int64]
    nodes: NDArray[np.int64]
    outliers: Outliers


@compiled()
def may_split(limits: Limits, size: int, k: int) -> bool:
    """Return whether a region is large enough to be split: into two, or into one and outliers."""
    return size >= 2 * k or (limits.outliers.spare[0] > 0 and size > k)


@compiled()
def adapt_price(outliers: Outliers) -> None:
    """Raise the price of leaving a record out where there is no room for more; lower it where there is.

    The price ends at the least size of a region: whoever leaves it saves the others no more than that, and
    a price that rises for ever would drown the losses beside it.
    """
    if outliers.most > 0:
        is_full = outliers.spare[0] <= outliers.most // 100
        factor = 1.01 if is_full else 0.99
        outliers.price[0] = min(max(1.0, outliers.price[0] * factor), max(1.0, outliers.below))


@compiled()
def span_cost(layout: Layout, j: int, low: int, high: int) -> float:
    """Return the cost of publishing the codes from low to high of an attribute."""
    start = layout.pair_starts[j]
    if start >= 0:
        return float(layout.pairs[start + low * layout.n_codes[j] + high])
    if not layout.is_tree[j]:
        place = layout.offsets[j]
        return float(layout.scales[j] * (layout.last[place + high] - layout.first[place + low]))
    width = layout.n_codes[j]
    row = layout.level_starts[j]
    for _ in range(layout.n_levels[j] - 1):
        if layout.blocks[row + low] == layout.blocks[row + high]:
            break
        row += width
    return float(layout.level_costs[row + low])


@compiled()
def box_cost(layout: Layout, low: NDArray[Any], high: NDArray[Any]) -> float:
    """Return the cost of publishing a range or node of every attribute."""
    total = 0.0
    for j in range(len(low)):
        total += span_cost(layout, j, low[j], high[j])
    return total


@compiled()
def count_entries(limits: Limits, t: int, sign: int, histogram: NDArray[np.int64]) -> None:
    """Add the sensitive values of a tuple to a histogram, or take them away."""
    for e in range(limits.starts[t], limits.starts[t + 1]):
        histogram[limits.values[e]] += sign * limits.counts[e]


@compiled()
def value_of(limits: Limits, c: int, histogram: NDArray[np.int64], size: int) -> float:
    """Return what a limit compares with its bound, for a group with these sensitive values."""
    kind = limits.kinds[c]
    attribute = limits.attributes[c]
    begin, end = limits.offsets[attribute], limits.offsets[attribute + 1]
    counts, shares = histogram[begin:end], limits.shares[begin:end]
    unknown = limits.unknown[attribute]
    if unknown >= 0 and counts[unknown] > 0:
        counts, size = _without_unknown(counts, unknown, kind, size)
    if size == 0:
        return 0.0
    if kind == RECURSIVE:
        return _recursive(counts, limits.parameters[c])
    if kind == HIERARCHICAL_T:
        return _hierarchical(limits, attribute, counts / size - shares)
    most, values, value, flow, present = 0, 0, 0.0, 0.0, 0
    for place in range(end - begin):
        v = limits.order[begin + place] if kind == ORDERED_T else place
        count, reference = counts[v], shares[v]
        share = count / size
        if count > 0:
            values += 1
            most = max(most, count)
        if kind == ENTROPY and count > 0:
            value -= share * np.log(share)
        elif kind == EQUAL_T:
            value += abs(share - reference) / 2
        elif kind == ORDERED_T and reference > 0:
            flow += share - reference
            value += abs(flow)
            present += 1
        elif (kind in (BETA, ENHANCED_BETA)) and reference > 0:
            gain = share / reference - 1
            value = max(value, gain)
            if kind == ENHANCED_BETA and gain > -np.log(reference):
                return np.inf
        elif kind == DELTA and count > 0:
            value = max(value, abs(np.log2(share / reference)))
    if kind == DISTINCT:
        return float(values)
    if kind == FREQUENCY:
        return size / most
    if kind == ALPHA:
        return most / size
    if kind == ENTROPY:
        return float(np.exp(value))
    return value / max(present - 1, 1) if kind == ORDERED_T else value


@compiled()
def _hierarchical(limits: Limits, attribute: int, differences: NDArray[np.float64]) -> float:
    """Return the mean, over the levels of a tree below its root, of the distance between their nodes."""
    n, height = len(differences), limits.heights[attribute]
    total = 0.0
    for level in range(height):
        start = limits.tree_starts[attribute] + level * n
        sums = np.zeros(n)
        for v in range(n):
            sums[limits.nodes[start + v]] += differences[v]
        for node in range(n):
            total += max(sums[node], 0.0)
    return float(total / max(height, 1))


@compiled()
def _without_unknown(
    counts: NDArray[np.int64], unknown: int, kind: int, size: int
) -> tuple[NDArray[np.int64], int]:
    """Return counts without the unknown value, and how many records they are of.

    As in `privmoo.groups.missing`: for diversity it counts as the most frequent value, and a comparison
    with the table leaves it out.
    """
    known = counts.copy()
    lacking = known[unknown]
    known[unknown] = 0
    if kind > ALPHA:
        return known, size - lacking
    top = int(np.argmax(known))
    if known[top] == 0:
        top = unknown
    known[top] += lacking
    return known, size


@compiled()
def allowed(limits: Limits, histogram: NDArray[np.int64], size: int) -> bool:
    """Return whether a group with these sensitive values keeps all limits."""
    for c in range(len(limits.kinds)):
        value = value_of(limits, c, histogram, size)
        if limits.kinds[c] < ALPHA:
            if value < limits.bounds[c] * (1 - _SLACK):
                return False
        elif value > limits.bounds[c] * (1 + _SLACK) + _SLACK:
            return False
    return True


@compiled()
def _recursive(counts: NDArray[np.int64], c: float) -> float:
    """Return the largest ℓ such that the most frequent value is rarer than c times all from the ℓ-th on."""
    ordered = np.sort(counts)[::-1]
    rest = 0
    diversity = 0.0
    for i in range(len(ordered) - 1, -1, -1):
        rest += ordered[i]
        if ordered[i] > 0 and ordered[0] < c * rest:
            diversity = i + 1.0
            break
    return diversity
