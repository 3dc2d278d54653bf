"""Cells: releases in which every record is published with values of its own, such as noised numbers."""

from __future__ import annotations

from privmoo.cells.columns import CellColumn
from privmoo.cells.nodes import NodeCells, node_cells, numeric_columns
from privmoo.cells.noised import ColumnNoise, NoisedTuples
from privmoo.cells.recoding import CellRecoding

__all__ = [
    "CellColumn",
    "CellRecoding",
    "ColumnNoise",
    "NodeCells",
    "NoisedTuples",
    "node_cells",
    "numeric_columns",
]
