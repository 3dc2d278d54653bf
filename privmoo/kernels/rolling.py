"""Groups of coarser levels made from groups of finer ones, stage by stage."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "DENSE",
    "Cells",
    "Combination",
    "Prefix",
    "RolledGroups",
    "Stages",
    "enter",
    "number_of",
    "roll",
    "room_for",
]

DENSE = 1 << 22
"""Up to so many possible keys are counted in a table of cells; more are hashed."""


class Stages(NamedTuple):
    """The stages, flat: entries of stage s begin at `*_offsets[s]`.

    The entries of a stage are its combinations of partitions, and sets of them: a set stands before its
    members, which may be sets again. The map of a set leads to the blocks of its coarsest common
    refinement from above: what is apart in all members; and its costs are, by code instead of block,
    those of what is apart in some member.
    """

    n_combos: NDArray[np.int64]
    """Entries, by stage."""
    n_lists: NDArray[np.int64]
    """Combinations of partitions, by stage."""
    skips: NDArray[np.int64]
    """By entry: how many entries after it are its members; 0 for a combination."""
    lists: NDArray[np.int64]
    """By entry: the number of a combination; of a set, minus the number of its combinations."""
    combo_offsets: NDArray[np.int64]
    map_offsets: NDArray[np.int64]
    """By entry (of all stages in a row): where its map from codes to blocks begins."""
    maps: NDArray[np.uint32]
    block_offsets: NDArray[np.int64]
    """By entry: where the costs of its blocks begin."""
    n_blocks: NDArray[np.int64]
    costs: NDArray[np.float64]
    """What a record of a block loses."""
    suffix_offsets: NDArray[np.int64]
    suffix_codes: NDArray[np.uint32]
    """The stage's own code of every distinct suffix (this stage's and later columns)."""
    suffix_nexts: NDArray[np.uint32]
    """The suffix that remains for the next stage; after the last stage, the sensitive value."""
    suffix_values: NDArray[np.uint32]
    """The sensitive value of every suffix; 0 if none is looked at."""
    n_suffixes: NDArray[np.int64]
    weights: NDArray[np.int64]
    """Records of every suffix of the first stage: the distinct tuples."""
    first_columns: NDArray[np.int64]
    """The number of the first column of every stage, and of all columns."""
    column_offsets: NDArray[np.int64]
    """By entry: where the costs of its blocks by column begin, blocks × columns of the stage."""
    column_costs: NDArray[np.float64]
    """What a record of a block loses in every column of the stage; empty if only the sum counts."""


class RolledGroups(NamedTuple):
    """Groups on the way, by stage: what is fixed, the code of this stage, what remains, records."""

    fixed: NDArray[np.uint32]
    codes: NDArray[np.uint32]
    rests: NDArray[np.uint32]
    records: NDArray[np.uint32]


class Prefix(NamedTuple):
    """A stage that was entered: its number, its groups, and the distinct fixed parts among them."""

    stage: int
    n_groups: int
    n_fixed: int


class Combination(NamedTuple):
    """One combination of levels of a stage: the block of every code, and what blocks cost a record."""

    to_block: NDArray[np.uint32]
    costs: NDArray[np.float64]
    n_blocks: int
    column_costs: NDArray[np.float64]
    """What blocks cost in every column of the stage: blocks × columns, flat."""
    n_columns: int
    """The columns of the stage; 0 if only the sum of their costs counts."""


class Cells(NamedTuple):
    """Which number a key has got: in a table of cells, or hashed where keys are too many."""

    cells: NDArray[np.int32]
    stamps: NDArray[np.int64]
    totals: NDArray[np.uint32]
    """Zero between uses."""
    hash_cells: NDArray[np.int32]
    hash_stamps: NDArray[np.int64]
    hash_keys: NDArray[np.int64]


@compiled()
def room_for(n_stages: int, n_tuples: int) -> RolledGroups:
    """Groups of every stage, uninitialised."""
    shape = (n_stages, n_tuples)
    return RolledGroups(
        np.empty(shape, np.uint32),
        np.empty(shape, np.uint32),
        np.empty(shape, np.uint32),
        np.empty(shape, np.uint32),
    )


@compiled()
def number_of(key: Any, cells: Cells, mark: int, fresh: int) -> Any:
    """The number of a key; a new key gets the number `fresh`."""
    last = len(cells.hash_keys) - 1
    place = (key * np.int64(-7046029254386353131) >> 17) & last
    while cells.hash_stamps[place] == mark:
        if cells.hash_keys[place] == key:
            return cells.hash_cells[place]
        place = (place + 1) & last
    cells.hash_stamps[place], cells.hash_keys[place], cells.hash_cells[place] = mark, key, fresh
    return fresh


@compiled()
def roll(
    entry: RolledGroups,
    prefix: Prefix,
    combination: Combination,
    n_rests: int,
    cells: Cells,
    mark: int,
    keys: NDArray[np.uint32],
    rolled: RolledGroups,
) -> int:
    """Generalise the stage's columns and merge what became equal. Returns the number of groups."""
    s, n, n_fixed = prefix.stage, prefix.n_groups, prefix.n_fixed
    to_block, n_blocks = combination.to_block, combination.n_blocks
    fixed, codes, rests, group_records = (
        entry.fixed[s],
        entry.codes[s],
        entry.rests[s],
        entry.records[s],
    )
    out_fixed, out_codes, out_rests = rolled.fixed[0], rolled.codes[0], rolled.rests[0]
    out_records = rolled.records[0]
    count = 0
    if n_fixed * n_blocks * n_rests <= DENSE:
        totals = cells.totals
        width, depth = np.uint32(n_blocks), np.uint32(n_rests)
        for i in range(n):
            key = (fixed[i] * width + to_block[codes[i]]) * depth + rests[i]
            keys[i] = key
            totals[key] += group_records[i]
        for i in range(n):
            size = totals[keys[i]]
            totals[keys[i]] = np.uint32(0)
            out_fixed[count], out_rests[count] = fixed[i], rests[i]
            out_codes[count] = to_block[codes[i]]
            out_records[count] = size
            count += size > 0  # the next overwrites a group that another has taken
        return count
    for i in range(n):
        block = to_block[codes[i]]
        key = (np.int64(fixed[i]) * n_blocks + block) * n_rests + rests[i]
        cell = number_of(key, cells, mark, count)
        if cell < count:
            out_records[cell] += group_records[i]
        else:
            out_fixed[count], out_codes[count], out_rests[count] = fixed[i], block, rests[i]
            out_records[count] = group_records[i]
            count += 1
    return count


@compiled()
def enter(
    rolled: RolledGroups,
    n: int,
    prefix: Prefix,
    fixed_costs: NDArray[np.float64],
    fixed_columns: NDArray[np.float64],
    combination: Combination,
    cells: Cells,
    mark: int,
    stages: Stages,
    entry: RolledGroups,
    coarse: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> int:
    """Begin the next stage: what is fixed gets small numbers again, and groups are sorted by them.

    `coarse` gets the records of every fixed part: the groups if all later columns are generalised
    completely. Returns how many there are. `fixed_columns` gets their costs by column, if they matter.
    """
    s, n_fixed = prefix.stage, prefix.n_fixed
    block_costs, n_blocks = combination.costs, combination.n_blocks
    fixed, codes, rests = rolled.fixed[0], rolled.codes[0], rolled.rests[0]
    group_records = rolled.records[0]
    dense = n_fixed * n_blocks <= DENSE
    stamps, places = cells.stamps, cells.cells
    column_costs, width = combination.column_costs, combination.n_columns
    low = stages.first_columns[s] if width else 0
    n_new = 0
    for i in range(n):
        key = np.int64(fixed[i]) * n_blocks + codes[i]
        if dense:
            cell = n_new
            if stamps[key] == mark:
                cell = places[key]
            else:
                stamps[key], places[key] = mark, n_new
        else:
            cell = number_of(key, cells, mark, n_new)
        if cell == n_new:
            coarse[cell], starts[cell] = 0, 0
            fixed_costs[s + 1, cell] = fixed_costs[s, fixed[i]] + block_costs[codes[i]]
            for j in range(low):
                fixed_columns[s + 1, cell, j] = fixed_columns[s, fixed[i], j]
            for j in range(width):
                fixed_columns[s + 1, cell, low + j] = column_costs[np.int64(codes[i]) * width + j]
            n_new += 1
        coarse[cell] += group_records[i]
        starts[cell] += 1
        fixed[i] = cell
    total = 0
    for cell in range(n_new):
        total, starts[cell] = total + starts[cell], total
    offset = stages.suffix_offsets[s + 1]
    for i in range(n):
        to = starts[fixed[i]]
        starts[fixed[i]] += 1
        suffix = offset + rests[i]
        entry.fixed[s + 1, to] = fixed[i]
        entry.records[s + 1, to] = group_records[i]
        entry.codes[s + 1, to] = stages.suffix_codes[suffix]
        entry.rests[s + 1, to] = stages.suffix_nexts[suffix]
    return n_new
