"""The levels of a table divided into stages, as the sweep of the lattice takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.rolling import Stages
from privmoo.spaces.levels import LevelSpace

__all__ = ["Lattice", "Price"]

_COMBOS = 16
_NODES_PER_STEP = 20_000
_FIRST_COMBOS = 4096


class Price(NamedTuple):
    """The cost of a release: an additive objective, to be minimised.

    Attributes:
        of_blocks: Per quasi-identifier and level, what a record loses in every block.
        suppressed: What a suppressed record loses in every quasi-identifier; never less.
    """

    of_blocks: list[list[NDArray[np.float64]]]
    suppressed: list[float]


class Lattice:
    """All combinations of levels of some quasi-identifiers, ready for `privmoo.kernels.lattice.sweep`.

    The column that separates the most records comes first, so that the many combinations of the last stages
    work on few groups; the first stage is large enough that one of its combinations is a short step.

    Attributes:
        columns: The quasi-identifiers in the order of the stages.
        stages: What the kernel takes.
        price: The cost of a suppressed record in these quasi-identifiers.
    """

    def __init__(
        self, space: LevelSpace, price: Price, columns: Sequence[int] | None = None
    ) -> None:
        table = space.table
        places = range(table.n_qis) if columns is None else columns
        self.space = space
        self.groups = _group_columns(space, sorted(places, key=lambda j: -_entropy(space, j)))
        self.columns = [j for group in self.groups for j in group]
        self.price = math.fsum(price.suppressed[j] for j in self.columns)
        self.n_nodes = math.prod(int(space.n_levels[j]) for j in self.columns)
        self.stages = self._stages(price)

    def levels(self, node: int) -> NDArray[np.int64]:
        """Return the levels of a node by its number; other quasi-identifiers have their lowest."""
        result = self.space.lowest.copy()
        for group in reversed(self.groups):
            for j in reversed(group):
                node, step = divmod(node, int(self.space.n_levels[j]))
                result[j] += step
        return result

    def _stages(self, price: Price) -> Stages:
        table = self.space.table
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
            every.append(self._combinations(group, codes[first], price))
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

    def _combinations(
        self, group: Sequence[int], codes: NDArray[np.int64], price: Price
    ) -> list[tuple[NDArray[np.uint32], NDArray[np.float64]]]:
        """Return, per combination of levels, the block of every code and the cost of every block."""
        space, result = self.space, []
        for steps in product(*(range(int(space.n_levels[j])) for j in group)):
            key, cost = np.zeros(len(codes), np.int64), np.zeros(len(codes))
            for j, step in zip(group, steps, strict=True):
                level = int(space.lowest[j]) + step
                blocks = space.hierarchies[j].level_blocks[level][codes[:, j]]
                key = np.unique(key * (int(blocks.max()) + 1) + blocks, return_inverse=True)[1]
                cost += price.of_blocks[j][level][blocks]
            _, first, blocks_of_codes = np.unique(key, return_index=True, return_inverse=True)
            result.append((blocks_of_codes.astype(np.uint32), cost[first]))
        return result


def _entropy(space: LevelSpace, j: int) -> float:
    table = space.table
    counts = np.bincount(table.tuples[:, j], weights=table.weights)
    shares = counts[counts > 0] / table.n_records
    return float(-(shares * np.log2(shares)).sum())


def _group_columns(space: LevelSpace, columns: list[int]) -> list[list[int]]:
    """Group combinations into stages of a few each; the first is as large as short steps need."""
    sizes = space.n_levels
    first = 1
    while (
        first < len(columns)
        and math.prod(int(sizes[j]) for j in columns[first:]) > _NODES_PER_STEP
        and math.prod(int(sizes[j]) for j in columns[: first + 1]) <= _FIRST_COMBOS
    ):
        first += 1
    groups: list[list[int]] = []
    stage: list[int] = []
    for j in reversed(columns[first:]):
        if stage and math.prod(int(sizes[i]) for i in [*stage, j]) > _COMBOS:
            groups.append(stage[::-1])
            stage = []
        stage.append(j)
    if stage:
        groups.append(stage[::-1])
    head = columns[:first]
    if groups and math.prod(int(sizes[i]) for i in [*head, *groups[-1]]) <= _COMBOS:
        head += groups.pop()
    return [head, *reversed(groups)]


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
