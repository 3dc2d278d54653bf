"""The leaves that the published values of every QI-group may stand for, whatever their kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.groups import GroupBatch
from privmoo.measures.records import released_records
from privmoo.recodings.classes import class_means
from privmoo.recodings.columns import nearest_leaves

__all__ = ["published_leaves"]

IntArray = NDArray[np.int32]


def published_leaves(
    groups: GroupBatch, candidate: int
) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
    """Return ranges of leaves and numbers of records: of every group, or of every record if they differ.

    Args:
        groups: The groups of a chunk of candidates.
        candidate: The place of the candidate in the chunk.

    Returns:
        Per group and quasi-identifier the first leaf and one after the last one, and the records of every
        group. A number that is not a leaf stands for the nearest one.
    """
    places = slice(int(groups.starts[candidate]), int(groups.stops[candidate]))
    if groups.cells is not None:
        return _of_cells(groups, candidate)
    firsts, records = groups.firsts[places], groups.records[places]
    if groups.blocks is not None:
        return *_of_blocks(groups.table, groups.blocks[candidate], firsts), records
    if groups.clusters is None:
        raise MeasureError("query_error: what these groups publish is not known")
    clusters = groups.clusters[candidate]
    if groups.spans is not None:
        spans = groups.spans[candidate][clusters[firsts]].astype(np.int32)
        return spans[:, :, 0].copy(), spans[:, :, 1].copy(), records
    if groups.has_losses:
        raise MeasureError(
            "query_error: these candidates publish ranges but do not say which; give Candidates(spans=...)"
        )
    if groups.centres is None:
        numbers, classes = np.unique(clusters, return_inverse=True)
        centres = class_means(groups.table, classes, by="tuples")[
            np.searchsorted(numbers, clusters[firsts])
        ]
    else:
        centres = groups.centres[candidate][clusters[firsts]]
    leaves = _leaves_of_centres(groups.table, centres)
    return leaves, leaves + 1, records


def _of_blocks(
    table: Table, blocks: NDArray[np.uint32], firsts: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """Return the ends of the blocks that hold the first tuple of every group."""
    offsets = leaf_offsets(table)
    low = np.empty((len(firsts), table.n_qis), np.int32)
    high = np.empty_like(low)
    for j in range(table.n_qis):
        of_column = blocks[offsets[j] : offsets[j + 1]]
        block = of_column[table.tuples[firsts, j]]
        low[:, j] = np.searchsorted(of_column, block, side="left")
        high[:, j] = np.searchsorted(of_column, block, side="right")
    return low, high


def _leaves_of_centres(table: Table, centres: NDArray[np.float64]) -> IntArray:
    """Return the leaf that is nearest to every published number, or the published category."""
    leaves = np.empty(centres.shape, np.int32)
    for j, qi in enumerate(table.qis):
        column = centres[:, j]
        leaves[:, j] = column if qi.numbers is None else nearest_leaves(qi.numbers, column)
    return leaves


def _of_cells(groups: GroupBatch, candidate: int) -> tuple[IntArray, IntArray, NDArray[np.int64]]:
    """Return the leaves of the cells of every released record."""
    rows = released_records(groups, "query_error")[candidate]
    low = np.empty((len(rows), groups.table.n_qis), np.int32)
    high = np.empty_like(low)
    for j, column in enumerate((groups.cells or ())[candidate].columns):
        start, stop = column.leaf_ranges()
        low[:, j], high[:, j] = start[column.codes[rows]], stop[column.codes[rows]]
    return low, high, np.ones(len(rows), np.int64)
