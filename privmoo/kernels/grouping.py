"""From generalised leaves to QI-groups: sizes, losses, first tuples and labels of every group.

A candidate arrives as one block number per leaf. Attributes are pre-combined into a few
super-columns, so that the key of a tuple is a few look-ups in small tables that are filled once per
candidate. Tuples are sorted by one attribute, the slab attribute, whose blocks are therefore runs of
tuples: groups never cross a run, and counting reuses the same small array for every run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.keys import (
    Layout,
    Scratch,
    fill_combos,
    hash_slot,
    write_leaf_losses,
    write_narrow_keys,
    write_wide_keys,
)

__all__ = ["DENSE_CELLS", "group_candidates"]

DENSE_CELLS = 1 << 22
"""Keys below this are counted in an array with one cell per key, others in a hash table."""


@compiled()
def _count_dense(
    low: int,
    high: int,
    n_groups: int,
    weights: NDArray[Any],
    scratch: Scratch,
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> int:
    """Count the tuples of one run; unsigned indices spare a check for negative ones."""
    keys, cells = scratch.keys, scratch.cells
    end = np.uint64(n_groups)
    step, zero = np.uint64(1), np.uint64(0)
    for t in range(low, high):
        key = keys[t]
        count = cells[key]
        cells[key] = count + weights[t]
        firsts[end] = t  # overwritten unless this tuple opens a group: no branch to mispredict
        end += step if count == 0 else zero
    wants_labels = len(labels) > 0
    for g in range(n_groups, np.int64(end)):
        key = keys[firsts[g]]
        sizes[g] = cells[key]
        cells[key] = g if wants_labels else 0
    if wants_labels:
        for t in range(low, high):
            labels[t] = cells[keys[t]]
        for g in range(n_groups, np.int64(end)):
            cells[keys[firsts[g]]] = 0
    return np.int64(end)  # type: ignore[return-value]  # int() would stay unsigned


@compiled()
def _count_hashed(
    low: int,
    high: int,
    n_groups: int,
    weights: NDArray[Any],
    scratch: Scratch,
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int32],
) -> int:
    """Count the tuples of one run by hashing their wide keys."""
    keys, hash_keys, hash_groups = scratch.wide_keys, scratch.hash_keys, scratch.hash_groups
    capacity = 16
    while capacity < 2 * (high - low):
        capacity *= 2
    hash_groups[:capacity] = -1
    for t in range(low, high):
        slot = hash_slot(keys[t], capacity - 1)
        while hash_groups[slot] >= 0 and hash_keys[slot] != keys[t]:
            slot = (slot + 1) & (capacity - 1)
        group = hash_groups[slot]
        if group < 0:
            hash_groups[slot] = n_groups
            hash_keys[slot] = keys[t]
            sizes[n_groups] = weights[t]
            firsts[n_groups] = t
            n_groups += 1
        else:
            sizes[group] += weights[t]
    return n_groups


@compiled()
def _label_hashed(low: int, high: int, scratch: Scratch, labels: NDArray[np.int32]) -> None:
    """Label the tuples of the run that was counted last."""
    keys, hash_keys, hash_groups = scratch.wide_keys, scratch.hash_keys, scratch.hash_groups
    capacity = 16
    while capacity < 2 * (high - low):
        capacity *= 2
    for t in range(low, high):
        slot = hash_slot(keys[t], capacity - 1)
        while hash_keys[slot] != keys[t] or hash_groups[slot] < 0:
            slot = (slot + 1) & (capacity - 1)
        labels[t] = hash_groups[slot]


@compiled()
def _group_losses(
    begin: int,
    end: int,
    slab_loss: float,
    layout: Layout,
    combo_losses: NDArray[np.float64],
    firsts: NDArray[np.int32],
    losses: NDArray[np.float64],
) -> None:
    """Loss of the groups of one run: all records of a group lose the same, so one tuple tells it."""
    n_super = len(layout.combo_offsets) - 1
    if n_super == 2:  # the usual case in one pass
        first, second = layout.super_codes[0], layout.super_codes[1]
        middle = layout.combo_offsets[1]
        for g in range(begin, end):
            t = firsts[g]
            losses[g] = slab_loss + combo_losses[first[t]] + combo_losses[middle + second[t]]
        return
    losses[begin:end] = slab_loss
    s = 0
    while s + 1 < n_super:  # two at a time; the order of the additions stays the same
        low, middle = layout.combo_offsets[s], layout.combo_offsets[s + 1]
        high = layout.combo_offsets[s + 2]
        first_losses, second_losses = combo_losses[low:middle], combo_losses[middle:high]
        first, second = layout.super_codes[s], layout.super_codes[s + 1]
        for g in range(begin, end):
            t = firsts[g]
            losses[g] = losses[g] + first_losses[first[t]] + second_losses[second[t]]
        s += 2
    if s < n_super:
        column_losses = combo_losses[layout.combo_offsets[s] : layout.combo_offsets[s + 1]]
        codes = layout.super_codes[s]
        for g in range(begin, end):
            losses[g] += column_losses[codes[firsts[g]]]


@compiled()
def _group_one(
    blocks: NDArray[np.uint32],
    layout: Layout,
    scratch: Scratch,
    sizes: NDArray[np.int64],
    losses: NDArray[np.float64],
    firsts: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> int:
    """Group the tuples of one candidate; return the number of groups. Empty `labels` are not filled."""
    n_super = len(layout.combo_offsets) - 1
    combo_keys, combo_losses = scratch.combo_keys, scratch.combo_losses
    leaf_losses = scratch.leaf_losses
    write_leaf_losses(blocks, layout, scratch.block_leaves, leaf_losses)
    radices = np.empty(n_super, np.int64)
    cells_needed = 1.0
    for s in range(n_super):
        radices[s] = fill_combos(s, blocks, layout, scratch)
        cells_needed *= radices[s]
    dense = cells_needed <= len(scratch.cells)
    if dense:
        stride = np.uint32(1)
        for s in range(n_super):
            column_keys = combo_keys[layout.combo_offsets[s] : layout.combo_offsets[s + 1]]
            for i in range(len(column_keys)):
                column_keys[i] *= stride
            stride *= np.uint32(radices[s])
        write_narrow_keys(layout, combo_keys, scratch.keys)
    else:
        write_wide_keys(layout, radices, scratch)
    slab_offset = layout.leaf_offsets[layout.slab]
    n_leaves = len(layout.slab_starts) - 1
    # A plain 0 is a type of its own, for which numba compiles anew.
    n_groups: int = np.int64(0)  # type: ignore[assignment]
    leaf = 0
    while leaf < n_leaves:
        block = blocks[slab_offset + leaf]
        loss = leaf_losses[slab_offset + leaf]
        after = leaf + 1
        while after < n_leaves and blocks[slab_offset + after] == block:
            after += 1
        low, high = layout.slab_starts[leaf], layout.slab_starts[after]
        leaf = after
        if low == high:
            continue
        begin = n_groups
        if dense:
            n_groups = _count_dense(
                low, high, begin, layout.weights, scratch, sizes, firsts, labels
            )
        else:
            n_groups = _count_hashed(low, high, begin, layout.weights, scratch, sizes, firsts)
            if len(labels):
                _label_hashed(low, high, scratch, labels)
        _group_losses(begin, n_groups, loss, layout, combo_losses, firsts, losses)
    return n_groups


@compiled()
def group_candidates(
    blocks: NDArray[np.uint32],
    layout: Layout,
    scratch: Scratch,
    n_groups: NDArray[np.int64],
    sizes: NDArray[np.int64],
    losses: NDArray[np.float64],
    firsts: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> None:
    """Group a chunk of candidates, a row each; `labels` without columns are not filled."""
    for c in range(len(blocks)):
        n_groups[c] = _group_one(
            blocks[c], layout, scratch, sizes[c], losses[c], firsts[c], labels[c]
        )
