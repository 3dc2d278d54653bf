"""ColumnCuts: the best cut of one column for limits, while the cuts of all other columns stay."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.distinct import number_rows
from privmoo.kernels.column_cuts import ColumnTuples, best_cut, block_costs
from privmoo.recodings.blocks import need_hierarchy
from privmoo.spaces.base import Limits

if TYPE_CHECKING:
    from privmoo.spaces.cuts import CutSpace

__all__ = ["ColumnCuts"]

_MOST_LEAVES = 256
_MOST_PASSES = 64.0
_MOST_COUNTS = 1 << 24
_LEAST_GAIN = 1e-9


class ColumnCuts:
    """Finds the best cut of a column by dynamic programming over its blocks.

    For fixed cuts of the other columns, a block of a column has the same groups whatever the other blocks
    of that column are. So loss and left-out records are sums over blocks, and the best of all cuts is
    found without evaluating any: blocks of an ordered column are intervals of leaves, those of a tree are
    its nodes. Loss is general loss, and a record that is left out loses everything.

    Args:
        space: The cuts.

    Attributes:
        chances: How likely each column is to be chosen: by the number of its bits, and 0 for columns with
            too many leaves.
        passes: How often finding the best cut of each column goes over the table.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [1, 1, 2, 3, 3, 3]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> columns = ColumnCuts(pm.problems.Cuts(table).space)
    >>> cut, loss = columns.best(np.array([False, False]), 0, Limits(2, 1.0, 0))
    >>> cut.tolist(), loss
    ([False, True], 1.5)
    """

    def __init__(self, space: CutSpace) -> None:
        self.space = space
        self._blocks = [self._blocks_of(j) for j in range(space.n_attributes)]
        self.passes: NDArray[np.float64] = np.array([blocks.passes for blocks in self._blocks])
        bits = np.diff(space.offsets) * (self.passes <= _MOST_PASSES)
        self.chances: NDArray[np.float64] = bits / max(1, bits.sum())

    def settled(
        self, x: NDArray[np.bool_], limits: Limits, rng: np.random.Generator
    ) -> tuple[NDArray[np.bool_] | None, float]:
        """Return a cut that no column can improve by itself, and how often that went over the table.

        One column after the other gets its best cut, again and again, until none lowers the loss. The cut
        is None if that met the limits nowhere.

        Args:
            x: The cuts of all columns to begin with.
            limits: What groups must have to stay, and how many records may be left out.
            rng: Draws the order of the columns.
        """
        columns = rng.permutation(np.flatnonzero(self.chances))
        row, lowest_loss, passes = x, np.inf, 0.0
        place = in_vain = 0
        while in_vain < len(columns):
            column = int(columns[place % len(columns)])
            passes += float(self.passes[column])
            best = self.best(row, column, limits)
            if best is not None and best[1] < lowest_loss - _LEAST_GAIN:
                row, lowest_loss = best
                in_vain = 0
            else:
                in_vain += 1
            place += 1
        return (row if np.isfinite(lowest_loss) else None), passes

    def best(
        self, x: NDArray[np.bool_], column: int, limits: Limits
    ) -> tuple[NDArray[np.bool_], float] | None:
        """Return a cut with the best cut of one column for limits, and its loss, summed over all records.

        Args:
            x: The cuts of all columns, of which that of the column does not matter.
            column: Its place among the quasi-identifiers.
            limits: What groups must have to stay, and how many records may be left out.

        Returns:
            Both, or None if no cut of that column meets the limits.
        """
        blocks = self._blocks[column]
        tuples = self._tuples(x, column, blocks)
        n_values = self._n_values if limits.diversity > 1.0 else 0
        if len(tuples.class_losses) * n_values > _MOST_COUNTS:
            return None
        costs = block_costs(
            tuples,
            blocks.last,
            float(self._leaf_losses[column]),
            limits.k,
            limits.diversity,
            n_values,
        )
        cut, loss = best_cut(*costs, blocks.allowed, limits.left_out)
        if np.isinf(loss):
            return None
        row = x.copy()
        row[self.space.offsets[column] : self.space.offsets[column + 1]] = cut
        return row, float(loss)

    def _tuples(self, x: NDArray[np.bool_], column: int, blocks: _Blocks) -> ColumnTuples:
        """Return the tuples in the order of a column, with their classes by the other columns."""
        table = self.space.table
        of_leaves = self.space.blocks(x[None])[0]
        losses, begin = np.zeros(table.n_tuples), 0
        codes, sizes = list[NDArray[np.integer]](), list[int]()
        for j, qi in enumerate(table.qis):
            if j != column:
                block_of_leaf = of_leaves[begin : begin + qi.n_leaves]
                widths = np.bincount(block_of_leaf)
                losses += ((widths[block_of_leaf] - 1) * self._leaf_losses[j])[table.tuples[:, j]]
                codes.append(block_of_leaf[table.tuples[:, j]])
                sizes.append(len(widths))
            begin += qi.n_leaves
        classes, first = number_rows(np.zeros(table.n_tuples, np.int64), codes, sizes)
        return ColumnTuples(
            order=blocks.order,
            leaf_starts=blocks.leaf_starts,
            classes=classes,
            class_losses=losses[first],
            weights=self._weights,
            entry_starts=self._entries[0],
            entry_values=self._entries[1],
            entry_counts=self._entries[2],
        )

    def _blocks_of(self, column: int) -> _Blocks:
        """Return the blocks that cuts of a column may have, and its order of the tuples."""
        space = self.space
        n_leaves, codes = space.table.qis[column].n_leaves, space.table.tuples[:, column]
        if not 1 < n_leaves <= _MOST_LEAVES:
            nothing = np.empty(0, np.int64)
            return _Blocks(np.empty((0, 0), np.bool_), nothing, nothing, nothing, np.inf)
        allowed = np.triu(np.ones((n_leaves, n_leaves), np.bool_))
        if space.constrained[column]:
            nodes = need_hierarchy(space.table.qis[column]).nodes
            allowed = np.eye(n_leaves, dtype=np.bool_)
            allowed[nodes.start, np.asarray(nodes.stop) - 1] = True
        bits = slice(space.offsets[column], space.offsets[column + 1])
        for bit in np.flatnonzero(space.fixed_one[bits]):
            allowed[: bit + 1, bit + 1 :] = False
        for bit in np.flatnonzero(space.fixed_zero[bits]):
            allowed[:, bit] = allowed[bit + 1] = False
        last = np.where(allowed.any(axis=1), n_leaves - 1 - allowed[:, ::-1].argmax(axis=1), -1)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        leaf_starts = np.searchsorted(codes[order], np.arange(n_leaves + 1)).astype(np.int64)
        firsts = np.arange(n_leaves)
        visits = (leaf_starts[np.maximum(last + 1, firsts)] - leaf_starts[firsts]).sum()
        return _Blocks(allowed, last.astype(np.int64), order, leaf_starts, visits / len(codes))

    @cached_property
    def _leaf_losses(self) -> NDArray[np.float64]:
        """What a record loses in each column for every leaf that its block has beyond one."""
        qis = self.space.table.qis
        weights = np.array([qi.weight for qi in qis], dtype=np.float64)
        beyond_one = np.array([max(1, qi.n_leaves - 1) for qi in qis])
        return np.asarray(weights / max(weights.sum(), 1e-300) / beyond_one)

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        return np.asarray(self.space.table.weights, dtype=np.int64)

    @cached_property
    def _n_values(self) -> int:
        return sum(attribute.n_values for attribute in self.space.table.sensitive.values())

    @cached_property
    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where the sensitive values of every tuple begin, the values, and their counts."""
        table = self.space.table
        tuples, values, counts, n_before = [], [], [], 0
        for attribute in table.sensitive.values():
            tuples.append(np.repeat(np.arange(table.n_tuples), np.diff(attribute.offsets)))
            values.append(attribute.codes.astype(np.int64) + n_before)
            counts.append(attribute.counts.astype(np.int64))
            n_before += attribute.n_values
        nothing = np.empty(0, np.int64)
        owners = np.concatenate([nothing, *tuples])
        order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[order], np.arange(table.n_tuples + 1)).astype(np.int64)
        return (
            starts,
            np.concatenate([nothing, *values])[order],
            np.concatenate([nothing, *counts])[order],
        )


class _Blocks(NamedTuple):
    """The blocks that a column may have, and its order of the tuples."""

    allowed: NDArray[np.bool_]
    last: NDArray[np.int64]
    order: NDArray[np.int64]
    leaf_starts: NDArray[np.int64]
    passes: float
