"""Ground: the table as regions divide it, and the cells that they may not leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.distinct import number_rows
from privmoo.data.table import Table
from privmoo.hierarchy.nodes import nodes_of
from privmoo.kernels.region_layout import Layout, Limits
from privmoo.kernels.region_splits import new_members
from privmoo.kernels.region_trees import Forest
from privmoo.spaces.region_columns import Coarsened, lay_out

__all__ = ["Ground"]


@dataclass(frozen=True)
class Ground:
    """The table as regions divide it, once the columns that are recoded alike everywhere are fixed.

    Attributes:
        columns: The quasi-identifiers, with the lowest values that may be published.
        layout: What the kernels read of them.
        cells: The cell of every tuple, which no region may leave.
        order: The tuples, by cell.
        segments: Where the cells begin in that order; one more at the end.
        boxes: The bounds of the cells, as the kernels of trees read them.
    """

    columns: tuple[Coarsened, ...]
    layout: Layout
    cells: NDArray[np.int64]
    order: NDArray[np.int64]
    segments: NDArray[np.int64]
    boxes: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, columns: Sequence[Coarsened]) -> Ground:
        """Return the table with these columns.

        Args:
            table: The records.
            columns: Its quasi-identifiers.
        """
        layout = lay_out(table, columns)
        divided = [j for j, column in enumerate(columns) if column.cells[-1] > 0]
        cells, first = number_rows(
            np.zeros(table.n_tuples, np.int64),
            [columns[j].cells[table.tuples[:, j]] for j in divided],
            [int(columns[j].cells[-1]) + 1 for j in divided],
        )
        order = np.argsort(cells, kind="stable")
        segments = np.searchsorted(cells[order], np.arange(len(first) + 1))
        boxes = np.stack([_box(columns, table.tuples[t]) for t in first])
        return cls(tuple(columns), layout, cells, order, segments, boxes)

    def forest(self, limits: Limits) -> Forest:
        """Return the cells as the kernels of trees read them.

        Args:
            limits: Limits on regions, beside k.
        """
        members = new_members(self.layout, self.order)
        return Forest(self.layout, limits, members, self.segments, self.boxes)


def _box(columns: Sequence[Coarsened], leaves_of_one: NDArray[Any]) -> NDArray[np.int64]:
    """Return the bounds of a tuple's cell: a range of codes, or a node with all of its children."""
    box = np.zeros((len(columns), 3), np.int64)
    for j, column in enumerate(columns):
        leaves = np.flatnonzero(column.cells == column.cells[leaves_of_one[j]])
        low, high = column.blocks[leaves[0]], column.blocks[leaves[-1]]
        if not column.is_tree:
            box[j, :2] = low, high
            continue
        nodes = nodes_of(column.levels())
        node = int(np.flatnonzero((nodes.start <= low) & (nodes.stop > high))[0])
        children = int((nodes.parent == node).sum())
        box[j] = node, children, children * (children - 1) // 2
    return box
