"""The columns of a table for regions: codes and costs as the kernels read them, cells, global steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.hierarchy.nodes import nodes_of
from privmoo.kernels.region_layout import Layout
from privmoo.kernels.region_levels import LevelVectors
from privmoo.kernels.round_cuts import round_cut

__all__ = ["PART", "Coarsened", "lay_out", "level_vectors", "sizes_of", "steps_of"]

PART = 27_720
"""Parts of a person, who is shared by all tuples with records of that person; divisible by 1 to 12."""

_MOST_PAIRS = 1 << 16
_MOST_VECTORS = 20_000
_DRAWN_VECTORS = 4_000


@dataclass(frozen=True)
class Coarsened:
    """One quasi-identifier with the lowest values that may be published.

    Attributes:
        qi: The column.
        blocks: For every leaf, the code of the lowest value that may be published; codes count from 0 in
            the order of the leaves.
        cells: For every leaf, the cell that no region may leave.
    """

    qi: QIColumn
    blocks: NDArray[np.int64]
    cells: NDArray[np.int64]

    @classmethod
    def of(cls, qi: QIColumn, blocks: NDArray[Any] | None = None) -> Coarsened:
        """Return a column as its levels and fixed cuts allow, or with blocks that are fixed everywhere.

        Args:
            qi: The column.
            blocks: The block of every leaf, where the column is recoded the same way everywhere.
        """
        if blocks is not None:
            fixed = np.asarray(blocks, np.int64)
            return cls(qi, fixed, fixed)
        lowest, cells = np.arange(qi.n_leaves), np.zeros(qi.n_leaves, np.int64)
        if qi.hierarchy is not None:
            lowest = qi.hierarchy.level_blocks[qi.min_level].astype(np.int64)
            cells = qi.hierarchy.level_blocks[qi.max_level].astype(np.int64)
        if qi.fixed_cuts:
            # A cut inside the lowest value that may be published has no effect.
            steps = np.zeros(qi.n_leaves, np.int64)
            steps[[i + 1 for i in qi.fixed_cuts if lowest[i] != lowest[i + 1]]] = 1
            cells = np.unique(np.stack([cells, np.cumsum(steps)]), axis=1, return_inverse=True)[1]
        return cls(qi, lowest, cells.ravel())

    @property
    def first(self) -> NDArray[np.int64]:
        """The first leaf of every code."""
        return np.searchsorted(self.blocks, np.arange(self.n_codes), side="left")

    @property
    def last(self) -> NDArray[np.int64]:
        """The last leaf of every code."""
        return np.searchsorted(self.blocks, np.arange(self.n_codes), side="right") - 1

    @property
    def n_codes(self) -> int:
        """The number of codes."""
        return int(self.blocks[-1]) + 1

    @property
    def origin(self) -> int:
        """The number that the first code stands for; 0 where a code is more than one leaf."""
        return self.qi.origin if self.n_codes == self.qi.n_leaves else 0

    @property
    def is_tree(self) -> bool:
        """Whether nodes of a tree are published, and not any range."""
        return self.qi.hierarchy is not None and self.qi.hierarchy.constrained

    def levels(self) -> NDArray[np.int32]:
        """Return the levels above the codes, the codes included: levels × codes."""
        if not self.is_tree or self.qi.hierarchy is None:
            return np.zeros((1, self.n_codes), np.int32)
        rows = [np.arange(self.n_codes, dtype=np.int32)]
        for level in self.qi.hierarchy.level_blocks:
            above = level[self.first]
            # The codes are below this level, and it is not the one before once more.
            if (above == level[self.last]).all() and above[-1] < rows[-1][-1]:
                rows.append(above.astype(np.int32))
        if rows[-1].any():
            rows.append(np.zeros(self.n_codes, np.int32))
        return np.stack(rows)

    def node_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first leaf, and one past the last, of every node above the codes."""
        nodes = nodes_of(self.levels())
        return self.first[nodes.start], self.last[nodes.stop - 1] + 1


def sizes_of(table: Table) -> tuple[NDArray[np.int64], int]:
    """Return what every tuple adds to the size of a region, and how much makes one person of it.

    These are records. Where a table has persons with several records, a person counts in equal parts for
    each of that person's tuples, so that no region has fewer persons than its parts add up to; it may have
    more.

    Args:
        table: The records.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 20, 30], "who": ["a", "b", "b"]})
    >>> sizes_of(Table(frame, quasi_identifiers=["age"], subject="who"))
    (array([41580, 13860]), 27720)
    """
    links = table.subjects
    if links is None:
        return table.weights.astype(np.int64), 1
    lengths = np.diff(links.offsets)
    lacking = np.repeat(PART - PART // np.maximum(lengths, 1), lengths)
    sizes = links.persons.astype(np.int64) * PART
    np.subtract.at(sizes, links.tuples, lacking)
    return sizes, PART


def lay_out(table: Table, columns: Sequence[Coarsened]) -> Layout:
    """Return the codes of a table, and what ranges and nodes of them cost.

    Args:
        table: The records.
        columns: Its quasi-identifiers.
    """
    codes = np.empty((table.n_tuples, len(columns)), np.int32)
    for j, column in enumerate(columns):  # one by one: there may be millions of tuples
        codes[:, j] = column.blocks.astype(np.int32)[table.tuples[:, j]]
    weights = np.array([c.qi.weight for c in columns])
    weights = weights / (weights.sum() or 1.0)
    scales = [w / max(c.qi.n_leaves - 1, 1) for c, w in zip(columns, weights, strict=True)]
    levels = [column.levels() for column in columns]
    costs = [
        [_level_costs(level, c.first, c.last, scale) for level in rows]
        for c, rows, scale in zip(columns, levels, scales, strict=True)
    ]
    pair_starts, pairs = _all_pairs(columns, levels, costs, scales)
    sizes, part = sizes_of(table)
    return Layout(
        codes=codes,
        weights=table.weights.astype(np.int64),
        sizes=sizes,
        counts_persons=part > 1,
        n_codes=np.array([c.n_codes for c in columns], np.int64),
        offsets=_starts([c.n_codes for c in columns]),
        first=np.concatenate([c.first for c in columns]).astype(np.int64),
        last=np.concatenate([c.last for c in columns]).astype(np.int64),
        origins=np.array([c.origin for c in columns], np.int64),
        scales=np.array(scales, np.float64),
        is_tree=np.array([c.is_tree for c in columns], np.bool_),
        pair_starts=pair_starts,
        pairs=pairs,
        level_starts=_starts([rows.size for rows in levels])[:-1],
        n_levels=np.array([len(rows) for rows in levels], np.int64),
        blocks=np.concatenate([rows.ravel() for rows in levels]).astype(np.int32),
        level_costs=np.concatenate([cost for rows in costs for cost in rows]).astype(np.float64),
        **_node_arrays(columns, levels, scales),
    )


def _node_arrays(
    columns: Sequence[Coarsened], levels: Sequence[NDArray[np.int32]], scales: Sequence[float]
) -> dict[str, NDArray[Any]]:
    """Return the nodes of all trees, as `Layout` names them; an order has one node without meaning."""
    nodes = [
        nodes_of(rows if column.is_tree else np.zeros((1, 1), np.int32))
        for column, rows in zip(columns, levels, strict=True)
    ]
    costs = [
        scale * (c.last[n.stop - 1] - c.first[n.start]) if c.is_tree else np.zeros(1)
        for c, n, scale in zip(columns, nodes, scales, strict=True)
    ]
    children = [_children(n.parent, n.start) for n in nodes]
    offsets = _starts([len(places) for places, _, _ in children])
    child_starts = [
        starts[:-1] + offset for (_, starts, _), offset in zip(children, offsets, strict=False)
    ]
    joined: dict[str, list[NDArray[Any]]] = {
        "node_first": [n.start for n in nodes],
        "node_stop": [n.stop for n in nodes],
        "node_parent": [n.parent for n in nodes],
        "node_rank": [rank for _, _, rank in children],
        "child_starts": [*child_starts, offsets[-1:]],
        "children": [places for places, _, _ in children],
    }
    return {
        **{name: np.concatenate(arrays).astype(np.int64) for name, arrays in joined.items()},
        "node_starts": _starts([len(n.start) for n in nodes]),
        "node_cost": np.concatenate(costs).astype(np.float64),
        "split_starts": _starts(
            [max(c.n_codes, len(n.start)) for c, n in zip(columns, nodes, strict=True)]
        ),
    }


def _all_pairs(
    columns: Sequence[Coarsened],
    levels: Sequence[NDArray[np.int32]],
    level_costs: Sequence[Sequence[NDArray[np.float64]]],
    scales: Sequence[float],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return where the costs of the pairs of an attribute begin, -1 for too many, and these costs."""
    starts, parts, used = [], [np.empty(0)], 0
    for column, rows, costs, scale in zip(columns, levels, level_costs, scales, strict=True):
        if column.n_codes**2 > _MOST_PAIRS:
            starts.append(-1)
            continue
        starts.append(used)
        parts.append(_pairs(column, rows, costs, scale))
        used += len(parts[-1])
    return np.array(starts, np.int64), np.concatenate(parts).astype(np.float64)


def _level_costs(
    level: NDArray[np.int32], first: NDArray[np.int64], last: NDArray[np.int64], scale: float
) -> NDArray[np.float64]:
    """Return the cost of the node above every code."""
    begin = first[np.searchsorted(level, level, side="left")]
    end = last[np.searchsorted(level, level, side="right") - 1]
    return np.asarray(scale * (end - begin))


def _pairs(
    column: Coarsened,
    levels: NDArray[np.int32],
    level_costs: Sequence[NDArray[np.float64]],
    scale: float,
) -> NDArray[np.float64]:
    """Return the cost of the narrowest range or lowest node over each two codes, in their order."""
    if not column.is_tree:
        return np.asarray(scale * (column.last[None, :] - column.first[:, None])).ravel()
    costs = np.full((column.n_codes, column.n_codes), np.inf)
    for level, prices in zip(levels[::-1], level_costs[::-1], strict=True):
        costs = np.where(level[:, None] == level[None, :], prices[:, None], costs)
    return costs.ravel()


def _children(
    parents: NDArray[np.int32], first: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the children of all nodes, where those of each begin, and every node's place among them."""
    order = np.lexsort((first, parents))
    order = order[parents[order] >= 0]
    starts = np.searchsorted(parents[order], np.arange(len(parents) + 1), side="left")
    rank = np.zeros(len(parents), np.int64)
    rank[order] = np.arange(len(order)) - starts[parents[order]]
    return order.astype(np.int64), starts.astype(np.int64), rank


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def steps_of(table: Table, j: int) -> list[NDArray[np.int64]]:
    """Return ways to recode a column the same way everywhere, from the finest to the coarsest.

    These are the levels of a tree, or blocks of about equally many records of an order, in numbers that
    grow by about half.

    Args:
        table: The records.
        j: The place of the quasi-identifier.
    """
    qi = table.qis[j]
    column = Coarsened.of(qi)
    if column.is_tree and qi.hierarchy is not None:
        levels = [
            qi.hierarchy.level_blocks[level] for level in range(qi.min_level, qi.max_level + 1)
        ]
        return _distinct(levels, column.cells)
    records = np.bincount(table.tuples[:, j], weights=table.weights, minlength=qi.n_leaves)
    below = np.cumsum(records) - records / 2  # the middle of every leaf, in records
    rows = [column.blocks]
    number = 1
    numbers = []
    while number < column.n_codes:
        numbers.append(number)
        number = max(number + 1, number * 3 // 2)
    for number in reversed(numbers):
        shares = np.floor(below * number / max(table.n_records, 1)).astype(np.int64)
        rows.append(_at_round_numbers(column, shares[column.first], records)[column.blocks])
    return _distinct(rows, column.cells)


def _at_round_numbers(
    column: Coarsened, blocks: NDArray[np.int64], records: NDArray[Any]
) -> NDArray[np.int64]:
    """Return blocks of codes whose borders lie at round numbers, with the same records in every block.

    Args:
        column: The quasi-identifier.
        blocks: The block of every code.
        records: How many records have each leaf.
    """
    codes = np.unique(column.blocks[records > 0])
    moved = np.zeros(len(blocks), np.int64)
    for last, first in pairwise(codes.tolist()):
        if blocks[last] != blocks[first]:
            moved[round_cut(last, first, column.origin)] = 1
    return np.cumsum(moved)


def _distinct(rows: Sequence[NDArray[Any]], cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return different blocks, numbered from 0, that no cell border crosses."""
    steps: dict[bytes, NDArray[np.int64]] = {}
    for row in rows:
        borders = (np.diff(row) != 0) | (np.diff(cells) != 0)
        blocks = np.concatenate([[0], np.cumsum(borders)]).astype(np.int64)
        steps.setdefault(blocks.tobytes(), blocks)
    return list(steps.values())


def level_vectors(columns: Sequence[Coarsened], layout: Layout, *, seed: int) -> LevelVectors:
    """Return the vectors of levels from the least to the most general one, and the levels themselves.

    An order has levels of 1, 2, 4, ... neighbouring codes. Of very many vectors some are drawn.

    Args:
        columns: The quasi-identifiers.
        layout: Their codes.
        seed: Of the draw.
    """
    rows, prices, starts = [], [], []
    used = 0
    for j, column in enumerate(columns):
        levels = column.levels() if column.is_tree else _dyadic(column.n_codes)
        records = np.bincount(layout.codes[:, j], weights=layout.weights, minlength=column.n_codes)
        costs = [
            _level_costs(level, column.first, column.last, float(layout.scales[j])) @ records
            for level in levels
        ]
        starts.append(used + np.arange(len(levels)) * column.n_codes)
        used += levels.size
        rows.append(levels.ravel())
        prices.append(np.array(costs))
    heights = [len(p) for p in prices]
    if np.prod(np.array(heights, np.float64)) <= _MOST_VECTORS:
        vectors = np.stack(np.unravel_index(np.arange(int(np.prod(heights))), heights), axis=1)
    else:
        rng = np.random.default_rng(seed)
        share = rng.random((_DRAWN_VECTORS, 1))
        drawn = np.floor((rng.random((_DRAWN_VECTORS, len(heights))) + share) / 2 * heights)
        vectors = np.concatenate([drawn, np.array([heights]) - 1]).astype(np.int64)
    totals = np.sum([p[vectors[:, j]] for j, p in enumerate(prices)], axis=0)
    table = np.zeros((len(columns), max(heights)), np.int64)
    for j, places in enumerate(starts):
        table[j, : len(places)] = places
    order = np.argsort(totals, kind="stable")
    blocks = np.concatenate(rows).astype(np.int32)
    return LevelVectors(table, blocks, vectors[order].astype(np.int64), totals[order])


def _dyadic(n_codes: int) -> NDArray[np.int32]:
    """Return levels of 1, 2, 4, ... neighbouring codes, up to one node of all."""
    height = max(n_codes - 1, 0).bit_length()
    return np.stack([np.arange(n_codes, dtype=np.int32) >> i for i in range(height + 1)])
