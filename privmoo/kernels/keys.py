"""Keys of tuples under a candidate: equal where the released labels are equal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "Layout",
    "Scratch",
    "fill_combos",
    "hash_slot",
    "write_leaf_losses",
    "write_narrow_keys",
    "write_wide_keys",
]

_LARGEST_SPAN = 1 << 62
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Layout(NamedTuple):
    """The table as the kernels read it."""

    leaf_offsets: NDArray[np.int64]
    """Leaves of quasi-identifier j are `leaf_offsets[j]:leaf_offsets[j + 1]` of a block row."""
    loss_scale: NDArray[np.float64]
    """Loss of a cell of j per leaf that its block holds beyond the first."""
    slab: int
    slab_starts: NDArray[np.int64]
    """Tuples with leaf i of the slab attribute are `slab_starts[i]:slab_starts[i + 1]`."""
    super_codes: NDArray[Any]
    """Super-columns × tuples: which combination of its members' leaves a tuple has."""
    combo_offsets: NDArray[np.int64]
    member_offsets: NDArray[np.int64]
    member_qi: NDArray[np.int64]
    member_starts: NDArray[np.int64]
    member_codes: NDArray[Any]
    """Leaf of member a in combination i: `member_codes[member_starts[a] + i]`."""
    weights: NDArray[Any]


class Scratch(NamedTuple):
    """Working memory of one thread; `ranks` and `cells` are zero between candidates."""

    combo_keys: NDArray[np.uint32]
    combo_ranks: NDArray[np.uint32]
    combo_losses: NDArray[np.float64]
    leaf_losses: NDArray[np.float64]
    block_leaves: NDArray[np.int64]
    ranks: NDArray[np.uint32]
    keys: NDArray[np.uint32]
    wide_keys: NDArray[np.uint64]
    cells: NDArray[Any]
    hash_keys: NDArray[np.uint64]
    hash_groups: NDArray[np.int32]


@compiled()
def write_leaf_losses(
    blocks: NDArray[np.uint32],
    layout: Layout,
    block_leaves: NDArray[np.int64],
    leaf_losses: NDArray[np.float64],
) -> None:
    """Write what a cell with each leaf loses: the leaves of its block beyond the first, scaled."""
    for j in range(len(layout.leaf_offsets) - 1):
        low, high = layout.leaf_offsets[j], layout.leaf_offsets[j + 1]
        for leaf in range(low, high):
            block_leaves[blocks[leaf]] = 0
        for leaf in range(low, high):
            block_leaves[blocks[leaf]] += 1
        for leaf in range(low, high):
            leaf_losses[leaf] = (block_leaves[blocks[leaf]] - 1) * layout.loss_scale[j]


@compiled()
def fill_combos(s: int, blocks: NDArray[np.uint32], layout: Layout, scratch: Scratch) -> int:
    """Write the key and loss of every combination of super-column s; return how many keys there are."""
    low, high = layout.combo_offsets[s], layout.combo_offsets[s + 1]
    keys, losses = scratch.combo_keys[low:high], scratch.combo_losses[low:high]
    keys[:] = 0
    losses[:] = 0.0
    for a in range(layout.member_offsets[s], layout.member_offsets[s + 1]):
        j = layout.member_qi[a]
        first, last = layout.leaf_offsets[j], layout.leaf_offsets[j + 1]
        leaf_blocks, leaf_losses = blocks[first:last], scratch.leaf_losses[first:last]
        codes = layout.member_codes[layout.member_starts[a] : layout.member_starts[a + 1]]
        radix = np.uint32(leaf_blocks[-1] + np.uint32(1))
        for i in range(high - low):
            keys[i] = keys[i] * radix + leaf_blocks[codes[i]]
            losses[i] += leaf_losses[codes[i]]
    # Only combinations that occur need a key: ranks keep the counting array small.
    n_keys = 0
    ranks, combo_ranks = scratch.ranks, scratch.combo_ranks[low:high]
    for i in range(high - low):
        rank = ranks[keys[i]]
        if rank == 0:
            n_keys += 1
            rank = np.uint32(n_keys)
            ranks[keys[i]] = rank
        combo_ranks[i] = rank - np.uint32(1)
    for i in range(high - low):
        ranks[keys[i]] = 0
        keys[i] = combo_ranks[i]
    return n_keys


@compiled()
def write_narrow_keys(
    layout: Layout, combo_keys: NDArray[np.uint32], keys: NDArray[np.uint32]
) -> None:
    """Write keys of all tuples, two super-columns a pass; apart from the counting, the loops pipeline."""
    n_super = len(layout.combo_offsets) - 1
    if n_super == 0:
        keys[:] = 0
        return
    first = combo_keys[: layout.combo_offsets[1]]
    codes = layout.super_codes[0]
    if n_super == 1:
        for t in range(len(keys)):
            keys[t] = first[codes[t]]
        return
    second = combo_keys[layout.combo_offsets[1] : layout.combo_offsets[2]]
    second_codes = layout.super_codes[1]
    for t in range(len(keys)):
        keys[t] = first[codes[t]] + second[second_codes[t]]
    for s in range(2, n_super):
        column_keys = combo_keys[layout.combo_offsets[s] : layout.combo_offsets[s + 1]]
        codes = layout.super_codes[s]
        for t in range(len(keys)):
            keys[t] += column_keys[codes[t]]


@compiled()
def hash_slot(key: np.uint64, mask: int) -> int:
    """Return where to look for a key in a table of mask + 1 slots."""
    mixed = (key ^ (key >> np.uint64(32))) * _GOLDEN
    slot: int = np.int64(mixed >> np.uint64(33)) & mask  # type: ignore[assignment]
    return slot


@compiled()
def _rank_keys(
    keys: NDArray[np.uint64], hash_keys: NDArray[np.uint64], hash_groups: NDArray[np.int32]
) -> int:
    """Replace keys by ranks of first appearance; exact for any number of attributes."""
    capacity = 16
    while capacity < 2 * len(keys):
        capacity *= 2
    hash_groups[:capacity] = -1
    n_ranks = 0
    for t in range(len(keys)):
        slot = hash_slot(keys[t], capacity - 1)
        while hash_groups[slot] >= 0 and hash_keys[slot] != keys[t]:
            slot = (slot + 1) & (capacity - 1)
        if hash_groups[slot] < 0:
            hash_groups[slot] = n_ranks
            hash_keys[slot] = keys[t]
            n_ranks += 1
        keys[t] = np.uint64(hash_groups[slot])
    return n_ranks


@compiled()
def write_wide_keys(layout: Layout, radices: NDArray[np.int64], scratch: Scratch) -> None:
    """Write keys of all tuples in 64 bits, replaced by their ranks whenever they would overflow."""
    combo_keys, keys = scratch.combo_keys, scratch.wide_keys
    keys[:] = np.uint64(0)
    span = 1
    s = 0
    while s < len(radices):
        if span > _LARGEST_SPAN // radices[s]:
            span = _rank_keys(keys, scratch.hash_keys, scratch.hash_groups)
        column_keys = combo_keys[layout.combo_offsets[s] : layout.combo_offsets[s + 1]]
        codes, radix = layout.super_codes[s], np.uint64(radices[s])
        span *= radices[s]
        s += 1
        if s < len(radices) and span <= _LARGEST_SPAN // radices[s]:  # two in one pass
            next_keys = combo_keys[layout.combo_offsets[s] : layout.combo_offsets[s + 1]]
            next_codes, next_radix = layout.super_codes[s], np.uint64(radices[s])
            span *= radices[s]
            s += 1
            for t in range(len(keys)):
                key = keys[t] * radix + np.uint64(column_keys[codes[t]])
                keys[t] = key * next_radix + np.uint64(next_keys[next_codes[t]])
        else:
            for t in range(len(keys)):
                keys[t] = keys[t] * radix + np.uint64(column_keys[codes[t]])
