"""Utility of generalised values, cell by cell: levels, leaves under a label, bits."""

from __future__ import annotations

import math
import sys
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privmoo.data.cache import per_table
from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.groups.groups import GroupBatch
from privmoo.kernels.cells import block_maxima, recoding_bits, sum_products
from privmoo.measures.base import FloatArray
from privmoo.measures.records import released_records
from privmoo.measures.staged import Staged
from privmoo.measures.utility import (
    count_suppressed,
    leaf_sums,
    leaves_per_block,
    shares_of_weight,
    weighted_sum,
)

__all__ = ["Ambiguity", "Distortion", "NonUniformEntropy", "Precision", "Transparency"]

_OF_BLOCKS = frozenset({"sizes", "blocks"})


class Precision(Staged):
    """Precision as ARX reports it: mean of level / height over all cells. Less is better.

    Sweeney 2002, whose Prec is 1 minus this. A suppressed cell counts 1; a label counts the lowest level at
    which one node covers its leaves. The columns are weighted by the weights of the quasi-identifiers.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), quasi_identifiers=["a", "b"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 1, 0, 0]], np.uint32))
    >>> Precision()(pm.group(table, merged))
    0.5
    """

    name = "precision"
    sense = "min"
    needs: ClassVar[frozenset[str]] = _OF_BLOCKS
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean level of every candidate."""
        return weighted_sum(_levels(groups, self.name), shares_of_weight(groups.table))

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to nothing released."""
        return 0.0, 1.0


class Distortion(Staged):
    """Distortion: mean over records of the weighted sum of level / height. Less is better.

    Majeed & Hwang 2023, Eq. 4, per record: `Σ_j w_j P_j` with P_j the mean level / height of
    quasi-identifier j; a suppressed cell counts 1, a number with noise 0.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), quasi_identifiers=["a", "b"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 1, 0, 0]], np.uint32))
    >>> Distortion()(pm.group(table, merged))
    1.0
    """

    name = "distortion"
    sense = "min"
    needs: ClassVar[frozenset[str]] = _OF_BLOCKS
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the weighted sum of every candidate."""
        weights = np.array([qi.weight for qi in groups.table.qis])
        levels = _levels if groups.cells is None else _levels_of_cells
        return weighted_sum(levels(groups, self.name), weights)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to nothing released."""
        return 0.0, float(sum(qi.weight for qi in table.qis))


class Transparency(Staged):
    """Transparency degree: the sum over released cells of 1 / leaves under the label. More is better.

    TD of Jahan et al. 2025, as a raw sum: the number of cells if untouched.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 1, 2, 3]}), quasi_identifiers=["a"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 0, 1]], np.uint32))
    >>> Transparency()(pm.group(table, merged))
    2.5
    """

    name = "transparency"
    sense = "max"
    needs: ClassVar[frozenset[str]] = _OF_BLOCKS
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the sum of every candidate."""
        return np.asarray(leaf_sums(groups, 1 / leaves_per_block(groups, self.name)).sum(axis=1))

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to untouched values."""
        return 0.0, float(table.n_records * table.n_qis)


class Ambiguity(Staged):
    """Ambiguity: the sum over records of the number of leaf combinations that a row may stand for.

    Goldberger & Tassa 2010, as in ARX: `Σ Π_j b_j`, and all combinations for a suppressed record.
    Less is better.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), quasi_identifiers=["a", "b"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 1, 0, 0]], np.uint32))
    >>> Ambiguity()(pm.group(table, merged))
    4.0
    """

    name = "ambiguity"
    sense = "min"
    needs: ClassVar[frozenset[str]] = _OF_BLOCKS
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the sum of every candidate."""
        total = np.empty(len(groups))
        sum_products(
            groups.starts,
            groups.stops,
            groups.records,
            groups.firsts,
            groups.table.tuples,
            leaf_offsets(groups.table),
            leaves_per_block(groups, self.name),
            total,
        )
        n_suppressed = count_suppressed(groups)
        return np.where(n_suppressed > 0, total + n_suppressed * _combinations(groups.table), total)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to nothing released, below the largest float."""
        largest = table.n_records * _combinations(table)
        return float(table.n_records), min(largest, sys.float_info.max)


class NonUniformEntropy(Staged):
    """Non-uniform entropy: the bits needed to recover the original values of all cells.

    De Waal & Willenborg 1999; Gionis & Tassa 2009, as in ARX. A cell costs
    `-log₂(count of its leaf / count of its label)`, with the counts of the whole table; a suppressed cell
    also costs the bits that single out its label among the suppressed records. Less is better.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"a": [1, 2, 3, 3]}), quasi_identifiers=["a"])
    >>> merged = pm.recodings.Candidates(blocks=np.array([[0, 0, 1]], np.uint32))
    >>> NonUniformEntropy()(pm.group(table, merged))
    2.0
    """

    name = "nonuniform_entropy"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "blocks", "labels"})
    coarser = "worse"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the bits of every candidate."""
        table = groups.table
        out = np.empty(len(groups))
        recoding_bits(
            groups.n_groups,
            groups.need_blocks(self.name),
            groups.need_labels(self.name),
            np.zeros((0, 0), np.int64) if groups.kept is None else groups.kept,
            table.weights,
            table.tuples,
            leaf_offsets(table),
            leaf_totals(table),
            out,
        )
        return out

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from untouched values to twice the bits that tell every record apart."""
        n = table.n_records
        return 0.0, 2 * table.n_qis * n * math.log2(n)


@per_table
def leaf_totals(table: Table) -> NDArray[np.int64]:
    """Return the number of records with each leaf of every quasi-identifier."""
    totals = [
        np.bincount(table.tuples[:, j], weights=table.weights, minlength=qi.n_leaves)
        for j, qi in enumerate(table.qis)
    ]
    return np.concatenate(totals).astype(np.int64)


def _combinations(table: Table) -> float:
    return math.prod(float(qi.n_leaves) for qi in table.qis)


def _levels_of_cells(groups: GroupBatch, measure: str) -> FloatArray:
    """Return the mean level / height per candidate and quasi-identifier, for recodings of single cells."""
    n = groups.table.n_records
    means = np.empty((len(groups), groups.table.n_qis))
    for c, rows in enumerate(released_records(groups, measure)):
        cells = (groups.cells or ())[c]
        for j, column in enumerate(cells.columns):
            shares = column.level_shares()
            if shares is None:
                shares = np.zeros(column.n_cells)
            records = np.bincount(column.codes[rows], minlength=len(shares))
            means[c, j] = (shares @ records + n - len(rows)) / n
    return means


def _levels(groups: GroupBatch, measure: str) -> FloatArray:
    """Return, per candidate and quasi-identifier, the mean of level / height, 1 where suppressed."""
    blocks = groups.need_blocks(measure)
    levels = np.empty(blocks.shape)
    block_maxima(blocks, leaf_offsets(groups.table), _joins(groups.table), levels)
    total = leaf_sums(groups, levels) + count_suppressed(groups)[:, None]
    return np.asarray(total / groups.table.n_records)


@per_table
def _joins(table: Table) -> FloatArray:
    """Return, for every leaf and the next, the lowest level with a node of both, over height.

    Nodes are ranges, so a block's level is the largest of its neighbours'.
    """
    joins = []
    for qi in table.qis:
        levels = np.zeros(qi.n_leaves)
        if qi.hierarchy is None:
            levels[:-1] = 1.0
        elif qi.n_leaves > 1:
            apart = np.diff(qi.hierarchy.level_blocks, axis=1) != 0
            levels[:-1] = apart.sum(axis=0) / qi.hierarchy.height
        joins.append(levels)
    return np.concatenate(joins)
