"""Nodes of hierarchies as cells with labels, and columns of numbers: what a table offers to publish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.cache import per_table
from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.hierarchy import Hierarchy

__all__ = ["NodeCells", "node_cells", "numeric_columns", "whole_columns"]

_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float", "decimal"})


@dataclass(frozen=True)
class NodeCells:
    """The nodes of one hierarchy as cells of a release: one for every label that can be published.

    Attributes:
        ids: Levels × leaves: the cell that a leaf is published as at a level.
        labels: What each cell says.
        start: The first leaf below each cell.
        stop: One after its last leaf.
        level: The lowest level that has the cell.
        height: The highest level.
    """

    ids: NDArray[np.int32]
    labels: tuple[str, ...]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    level: NDArray[np.int64]
    height: int

    @classmethod
    def of(cls, qi: QIColumn) -> NodeCells:
        """Return the cells of a quasi-identifier; without a hierarchy, a value or `*`."""
        hierarchy = qi.hierarchy or Hierarchy.flat(qi.leaves)
        ids = np.empty((hierarchy.n_levels, qi.n_leaves), np.int32)
        cells: dict[str, int] = {}
        spans: list[tuple[int, int]] = []
        levels: list[int] = []
        for level, blocks in enumerate(hierarchy.level_blocks):
            starts = np.flatnonzero(np.diff(blocks, prepend=-1))
            stops = np.append(starts[1:], qi.n_leaves)
            names = hierarchy.level_labels(level)
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                label = names[int(blocks[start])]
                # A label has one meaning: another node of the same name is marked.
                while label in cells and spans[cells[label]] != (start, stop):
                    label += "·"
                cell = cells.setdefault(label, len(spans))
                if cell == len(spans):
                    spans.append((start, stop))
                    levels.append(level)
                ids[level, start:stop] = cell
        bounds = np.array(spans, np.int64)
        return cls(
            ids, tuple(cells), bounds[:, 0], bounds[:, 1], np.array(levels), hierarchy.height
        )


@per_table
def node_cells(table: Table) -> tuple[NodeCells, ...]:
    """Return the nodes of every quasi-identifier as cells.

    >>> table = Table(pd.DataFrame({"sex": ["f", "m"]}), quasi_identifiers=["sex"])
    >>> node_cells(table)[0].labels
    ('f', 'm', '*')
    """
    return tuple(NodeCells.of(qi) for qi in table.qis)


@per_table
def numeric_columns(table: Table) -> tuple[NDArray[np.float64] | None, ...]:
    """Return the numbers of every quasi-identifier by row of `Table.originals`; None for categories.

    Text is a category even if it consists of digits: a ZIP code has no noise and no mean. Numbers
    are numbers in columns of any type, as long as all values are.

    >>> df = pd.DataFrame({"age": [20, 30], "zip": ["123", "124"]})
    >>> [c is None for c in numeric_columns(Table(df, quasi_identifiers=["age", "zip"]))]
    [False, True]
    """
    columns: list[NDArray[np.float64] | None] = []
    for qi in table.qis:
        values = table.originals.frame[qi.name]
        if qi.numbers is None or pd.api.types.infer_dtype(values, skipna=True) not in _NUMBERS:
            columns.append(None)
            continue
        if values.dtype == np.float32:  # 0.1 is meant where 0.10000000149 is stored
            distinct, place = np.unique(values.to_numpy(), return_inverse=True)
            values = pd.Series(distinct.astype(str).astype(np.float64)[place])
        numbers = pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
        numbers.setflags(write=False)
        columns.append(numbers)
    return tuple(columns)


@per_table
def whole_columns(table: Table) -> tuple[bool, ...]:
    """Return for every quasi-identifier whether its original values are whole numbers.

    >>> df = pd.DataFrame({"age": [20, 30], "pay": [1.5, 2.5]})
    >>> whole_columns(Table(df, quasi_identifiers=["age", "pay"]))
    (True, False)
    """
    originals = table.originals.frame
    return tuple(
        pd.api.types.infer_dtype(originals[qi.name], skipna=True) == "integer" for qi in table.qis
    )
