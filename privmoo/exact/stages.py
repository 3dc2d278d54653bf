"""The columns of a table divided into stages, as the sweep of the lattice takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.choices import PartitionChoices
from privmoo.exact.nested import blocks_of_bits, nested_sets
from privmoo.exact.prices import Price, cost_of_block
from privmoo.kernels.rolling import Stages

__all__ = ["Lattice"]

_COMBOS = 16
_NODES_PER_STEP = 20_000
_FIRST_COMBOS = 4096


class _Entry(NamedTuple):
    """A combination of partitions, or a set of them; see `privmoo.kernels.rolling.Stages`."""

    skip: int
    place: int
    blocks: NDArray[np.uint32]
    n_blocks: int
    costs: NDArray[np.float64]


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
        self, choices: PartitionChoices, price: Price, columns: Sequence[int] | None = None
    ) -> None:
        places = range(choices.table.n_qis) if columns is None else columns
        order = sorted(places, key=lambda j: -_entropy(choices.table, j))
        self._set(choices, price, _group_columns(choices.sizes, order), {})

    def _set(
        self,
        choices: PartitionChoices,
        costs: Price,
        groups: list[list[int]],
        combinations: dict[tuple[int, ...], list[_Entry]],
    ) -> None:
        self.choices, self.costs, self.groups = choices, costs, groups
        self._combinations = combinations
        columns = [j for group in groups for j in group]
        self.prices = [math.fsum(costs.suppressed[j] for j in group) for group in groups]
        self.price = math.fsum(self.prices)
        self.n_nodes = math.prod(choices.sizes[j] for j in columns)
        self.stages = self._stages()

    def part(self, stages: Sequence[int]) -> Lattice:
        """Return the lattice of some of the stages."""
        part = object.__new__(Lattice)
        groups = [self.groups[stage] for stage in stages]
        part._set(self.choices, self.costs, groups, self._combinations)
        return part

    def units(self, n: int) -> list[tuple[int, int]]:
        """Divide the entries of the first stage into about `n` stretches; no set is torn apart."""
        skips = self.stages.skips[: int(self.stages.n_combos[0])]
        largest = max(1, len(skips) // n)
        units: list[tuple[int, int]] = []
        entry = 0
        while entry < len(skips):
            stop = entry + 1 + int(skips[entry])
            if stop - entry > largest and skips[entry]:
                entry += 1  # its members are units
                continue
            if units and units[-1][1] == entry and stop - units[-1][0] <= largest:
                units[-1] = units[-1][0], stop
            else:
                units.append((entry, stop))
            entry = stop
        return units

    def n_lists(self, begin: int, stop: int) -> int:
        """Return how many nodes are below some entries of the first stage.

        Args:
            begin: The first entry.
            stop: One after the last.
        """
        n = int((self.stages.skips[begin:stop] == 0).sum())
        return self.n_nodes // int(self.stages.n_lists[0]) * n

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
        entries = [entry for stage in every for entry in stage]
        return Stages(
            n_combos=np.array([len(stage) for stage in every], dtype=np.int64),
            n_lists=np.array([sum(e.skip == 0 for e in stage) for stage in every], dtype=np.int64),
            skips=np.array([e.skip for e in entries], dtype=np.int64),
            lists=np.array([e.place for e in entries], dtype=np.int64),
            combo_offsets=_starts([len(stage) for stage in every]),
            map_offsets=_starts([len(e.blocks) for e in entries]),
            maps=np.concatenate([e.blocks for e in entries]),
            block_offsets=_starts([len(e.costs) for e in entries]),
            n_blocks=np.array([e.n_blocks for e in entries], dtype=np.int64),
            costs=np.concatenate([e.costs for e in entries]),
            suffix_offsets=_starts([len(c) for c in own_codes]),
            suffix_codes=np.concatenate(own_codes),
            suffix_nexts=np.concatenate(nexts),
            n_suffixes=np.array(n_suffixes[::-1], dtype=np.int64),
            weights=weights,
        )

    def _combine(self, group: Sequence[int], codes: NDArray[np.int64]) -> list[_Entry]:
        """Return the entries of a stage: combinations of partitions, and sets of them."""
        lists = [self.choices.blocks(j)[:, codes[:, j]].astype(np.uint32) for j in group]
        if len(group) == 1:
            return self._entries(group[0], codes[:, group[0]], lists[0])
        entries: list[_Entry] = []
        for steps in product(*(range(self.choices.sizes[j]) for j in group)):
            key, cost = np.zeros(len(codes), np.int64), np.zeros(len(codes))
            for j, rows, step in zip(group, lists, steps, strict=True):
                blocks = rows[step]
                key = np.unique(key * (int(blocks.max()) + 1) + blocks, return_inverse=True)[1]
                cost += self.costs.of_blocks[j][step][blocks]
            _, first, block = np.unique(key, return_index=True, return_inverse=True)
            entries.append(
                _Entry(0, len(entries), block.astype(np.uint32), len(first), cost[first])
            )
        return entries

    def _entries(
        self, j: int, codes: NDArray[np.int64], blocks: NDArray[np.uint32]
    ) -> list[_Entry]:
        """Return the partitions of one column, and sets of them by their bits."""
        entries = []
        qi = self.choices.table.qis[j]
        if self.choices.sizes[j] <= _COMBOS:
            listed = zip(blocks, self.costs.of_blocks[j], strict=True)
            return [_Entry(0, i, row, len(cost), cost) for i, (row, cost) in enumerate(listed)]
        for members in nested_sets(self.choices.bits(j), _weights_before(self.choices.table, j)):
            place = int(members.rows[0])
            if members.skip == 0:
                costs = self.costs.of_blocks[j][place]
                entries.append(_Entry(0, place, blocks[place], len(costs), costs))
                continue
            coarse, fine = (blocks_of_bits(bits) for bits in (members.common, members.any))
            leaves = np.bincount(fine)[fine]
            costs = cost_of_block(leaves, qi.n_leaves, self.costs.suppressed[j], self.costs.kind)
            n_blocks = int(coarse[-1]) + 1
            entries.append(
                _Entry(
                    members.skip,
                    -len(members.rows),
                    coarse[codes].astype(np.uint32),
                    n_blocks,
                    costs[codes],
                )
            )
        return entries


def _weights_before(table: Table, j: int) -> NDArray[np.float64]:
    """Return, for every bit of a column, how many records lie before it."""
    counts = np.bincount(table.tuples[:, j], weights=table.weights, minlength=table.qis[j].n_leaves)
    return np.asarray(np.cumsum(counts)[:-1])


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
        and max(sizes[j] for j in columns[: first + 1]) <= _COMBOS
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
