"""The columns of a table divided into stages, as the sweep of the lattice takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.choices import Choices
from privmoo.kernels.rolling import Stages

__all__ = ["Lattice", "Price"]

_COMBOS = 16
_NODES_PER_STEP = 20_000
_FIRST_COMBOS = 4096

_Blocks = tuple[NDArray[np.uint32], NDArray[np.float64]]
"""The block of every code, and the cost of every block."""


class Price(NamedTuple):
    """The cost of a release: an additive objective, to be minimised.

    Attributes:
        of_blocks: Per quasi-identifier and partition, what a record loses in every block.
        suppressed: What a suppressed record loses in every quasi-identifier; never less.
    """

    of_blocks: list[list[NDArray[np.float64]]]
    suppressed: list[float]


class Lattice:
    """All combinations of partitions of some columns, ready for `privmoo.kernels.lattice.sweep`.

    The column that separates the most records comes first, so that the many combinations of the last stages
    work on few groups; the first stage is large enough that one of its combinations is a short step.

    Args:
        choices: The partitions that every quasi-identifier may have.
        price: What they cost.
        columns: The places of the quasi-identifiers; all by default.

    Attributes:
        groups: The quasi-identifiers of every stage.
        stages: What the kernel takes.
        price: The cost of a suppressed record in these quasi-identifiers.
        n_nodes: The number of combinations.
    """

    def __init__(
        self, choices: Choices, price: Price, columns: Sequence[int] | None = None
    ) -> None:
        places = range(choices.table.n_qis) if columns is None else columns
        order = sorted(places, key=lambda j: -_entropy(choices.table, j))
        self._set(choices, price, _group_columns(choices.sizes, order), {})

    def _set(
        self,
        choices: Choices,
        costs: Price,
        groups: list[list[int]],
        combinations: dict[tuple[int, ...], list[_Blocks]],
    ) -> None:
        self.choices, self.costs, self.groups = choices, costs, groups
        self._combinations = combinations
        columns = [j for group in groups for j in group]
        self.prices = [math.fsum(costs.suppressed[j] for j in group) for group in groups]
        self.price = math.fsum(self.prices)
        self.n_nodes = math.prod(choices.sizes[j] for j in columns)
        self.stages = self._stages()

    def without_first(self) -> Lattice:
        """Return the lattice of all stages but the first."""
        rest = object.__new__(Lattice)
        rest._set(self.choices, self.costs, self.groups[1:], self._combinations)
        return rest

    def places(self, node: int) -> NDArray[np.int64]:
        """Return the partition of every quasi-identifier of a node; others have their first."""
        result = np.zeros(len(self.choices.sizes), np.int64)
        for group in reversed(self.groups):
            for j in reversed(group):
                node, result[j] = divmod(node, self.choices.sizes[j])
        return result

    def _stages(self) -> Stages:
        table = self.choices.table
        codes = table.tuples.astype(np.int64)
        suffix, n_suffixes = np.zeros(table.n_tuples, np.int64), [1]
        own_codes, nexts, every = [], [], []
        for group in reversed(self.groups):
            key = np.zeros(table.n_tuples, np.int64)
            for j in group:
                key = np.unique(key * table.qis[j].n_leaves + codes[:, j], return_inverse=True)[1]
            _, first, code = np.unique(key, return_index=True, return_inverse=True)
            suffixes, suffix = np.unique(code * n_suffixes[-1] + suffix, return_inverse=True)
            own_codes.append((suffixes // n_suffixes[-1]).astype(np.uint32))
            nexts.append((suffixes % n_suffixes[-1]).astype(np.uint32))
            n_suffixes.append(len(suffixes))
            if tuple(group) not in self._combinations:
                self._combinations[tuple(group)] = self._combine(group, codes[first])
            every.append(self._combinations[tuple(group)])
        weights = np.bincount(suffix, weights=table.weights).astype(np.int64)
        own_codes, nexts, every = own_codes[::-1], nexts[::-1], every[::-1]
        combos = [combo for stage in every for combo in stage]
        return Stages(
            n_combos=np.array([len(stage) for stage in every], dtype=np.int64),
            combo_offsets=_starts([len(stage) for stage in every]),
            map_offsets=_starts([len(blocks) for blocks, _ in combos]),
            maps=np.concatenate([blocks for blocks, _ in combos]),
            block_offsets=_starts([len(costs) for _, costs in combos]),
            n_blocks=np.array([len(costs) for _, costs in combos], dtype=np.int64),
            costs=np.concatenate([costs for _, costs in combos]),
            suffix_offsets=_starts([len(c) for c in own_codes]),
            suffix_codes=np.concatenate(own_codes),
            suffix_nexts=np.concatenate(nexts),
            n_suffixes=np.array(n_suffixes[::-1], dtype=np.int64),
            weights=weights,
        )

    def _combine(self, group: Sequence[int], codes: NDArray[np.int64]) -> list[_Blocks]:
        """Return, per combination of partitions, the block of every code and the cost of every block."""
        result = []
        lists = [self.choices.blocks(j)[:, codes[:, j]] for j in group]
        for steps in product(*(range(self.choices.sizes[j]) for j in group)):
            if len(group) == 1:  # blocks of one column have small numbers already
                [step] = steps
                result.append((lists[0][step].astype(np.uint32), self.costs.of_blocks[group[0]][step]))
                continue
            key, cost = np.zeros(len(codes), np.int64), np.zeros(len(codes))
            for j, rows, step in zip(group, lists, steps, strict=True):
                blocks = rows[step]
                key = np.unique(key * (int(blocks.max()) + 1) + blocks, return_inverse=True)[1]
                cost += self.costs.of_blocks[j][step][blocks]
            _, first, blocks_of_codes = np.unique(key, return_index=True, return_inverse=True)
            result.append((blocks_of_codes.astype(np.uint32), cost[first]))
        return result


def _entropy(table: Table, j: int) -> float:
    counts = np.bincount(table.tuples[:, j], weights=table.weights)
    shares = counts[counts > 0] / table.n_records
    return float(-(shares * np.log2(shares)).sum())


def _group_columns(sizes: Sequence[int], columns: list[int]) -> list[list[int]]:
    """Group combinations into stages of a few each; the first is as large as short steps need."""
    first = 1
    while (
        first < len(columns)
        and math.prod(sizes[j] for j in columns[first:]) > _NODES_PER_STEP
        and math.prod(sizes[j] for j in columns[: first + 1]) <= _FIRST_COMBOS
    ):
        first += 1
    groups: list[list[int]] = []
    stage: list[int] = []
    for j in reversed(columns[first:]):
        if stage and math.prod(sizes[i] for i in [*stage, j]) > _COMBOS:
            groups.append(stage[::-1])
            stage = []
        stage.append(j)
    if stage:
        groups.append(stage[::-1])
    head = columns[:first]
    if groups and math.prod(sizes[i] for i in [*head, *groups[-1]]) <= _COMBOS:
        head += groups.pop()
    return [head, *reversed(groups)]


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
