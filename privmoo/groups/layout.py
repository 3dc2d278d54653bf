"""How a table lies in memory for the kernels: super-columns, the slab attribute, working memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.cache import per_table
from privmoo.data.columns import small_uint
from privmoo.data.table import Table
from privmoo.data.tuples import distinct_tuples
from privmoo.kernels.grouping import DENSE_CELLS
from privmoo.kernels.keys import Layout, Scratch

__all__ = ["Workspace", "lay_out", "working_memory"]

_LARGEST_RANK_TABLE = 1 << 20
_SAMPLE = 20_000


@per_table
def lay_out(table: Table) -> Layout:
    """Arrange a table for `privmoo.kernels.grouping`, once.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 2, 3], "b": [0, 0, 1]}), quasi_identifiers=["a", "b"])
    >>> lay_out(table).slab_starts.tolist()
    [0, 1, 2, 3]
    """
    sizes = [qi.n_leaves for qi in table.qis]
    slab = table.sort_order[0]
    total_weight = sum(qi.weight for qi in table.qis)
    scale = [
        qi.weight / total_weight / (qi.n_leaves - 1) if qi.n_leaves > 1 and total_weight else 0.0
        for qi in table.qis
    ]
    groups = _super_columns(table.tuples, sizes, [j for j in table.sort_order if j != slab])
    super_codes = np.zeros((len(groups), table.n_tuples), dtype=np.uint32)
    combo_offsets, member_offsets, member_starts = [0], [0], [0]
    members: list[int] = []
    codes: list[NDArray[Any]] = []
    for s, group in enumerate(groups):
        columns = [table.tuples[:, j] for j in group]
        combos, owner, _ = distinct_tuples(columns, [sizes[j] for j in group], range(len(group)))
        super_codes[s] = owner
        combo_offsets.append(combo_offsets[-1] + len(combos))
        member_offsets.append(member_offsets[-1] + len(group))
        for position, j in enumerate(group):
            members.append(j)
            codes.append(combos[:, position])
            member_starts.append(member_starts[-1] + len(combos))
    widest = int(max(np.diff(combo_offsets), default=1))
    fits = int(table.weights.sum()) < 2**31
    return Layout(
        leaf_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        loss_scale=np.asarray(scale, dtype=np.float64),
        slab=int(slab),
        slab_starts=np.searchsorted(table.tuples[:, slab], np.arange(sizes[slab] + 1)).astype(
            np.int64
        ),
        super_codes=super_codes.astype(np.uint16 if widest <= 2**16 else np.uint32),
        combo_offsets=np.asarray(combo_offsets, dtype=np.int64),
        member_offsets=np.asarray(member_offsets, dtype=np.int64),
        member_qi=np.asarray(members, dtype=np.int64),
        member_starts=np.asarray(member_starts, dtype=np.int64),
        member_codes=np.concatenate(codes).astype(small_uint(max(sizes)))
        if codes
        else np.zeros(0, np.uint8),
        weights=table.weights.astype(np.int32 if fits else np.int64),
    )


def _super_columns(tuples: NDArray[Any], sizes: list[int], order: list[int]) -> list[list[int]]:
    """Pack attributes by first fit, widest first: few groups, each with few combinations that occur.

    A combination costs a look-up per member and candidate, a super-column one per tuple: the limit
    balances the two. Large tables are judged by evenly spaced tuples.
    """
    sample = tuples[:: max(1, len(tuples) // _SAMPLE)]
    limit = min(max(64, len(tuples) // 16), 8192)
    groups: list[list[int]] = []
    for j in order:
        for group in groups:
            wider = [*group, j]
            if prod(sizes[i] for i in wider) > _LARGEST_RANK_TABLE:
                continue
            columns = [sample[:, i] for i in wider]
            combinations = distinct_tuples(columns, [sizes[i] for i in wider], range(len(wider)))[0]
            if len(combinations) <= limit:
                group.append(j)
                break
        else:
            groups.append([j])
    return groups


def working_memory(layout: Layout) -> Scratch:
    """Return memory for one thread; untouched pages of the large zeroed arrays cost nothing."""
    n_tuples = len(layout.weights)
    n_combos = int(layout.combo_offsets[-1])
    widths = np.diff(layout.leaf_offsets)
    spans = [
        prod(int(widths[j]) for j in layout.member_qi[low:high])
        for low, high in zip(layout.member_offsets[:-1], layout.member_offsets[1:], strict=True)
    ]
    most_cells = min(DENSE_CELLS, prod(int(n) for n in np.diff(layout.combo_offsets)))
    slots = 16
    while slots < 2 * n_tuples:
        slots *= 2
    return Scratch(
        combo_keys=np.zeros(n_combos, np.uint32),
        combo_ranks=np.zeros(n_combos, np.uint32),
        combo_losses=np.zeros(n_combos, np.float64),
        leaf_losses=np.zeros(int(layout.leaf_offsets[-1]), np.float64),
        block_leaves=np.zeros(int(widths.max()), np.int64),
        ranks=np.zeros(max(spans, default=1), np.uint32),
        keys=np.zeros(n_tuples, np.uint32),
        wide_keys=np.zeros(n_tuples, np.uint64),
        cells=np.zeros(most_cells, layout.weights.dtype),
        hash_keys=np.zeros(slots, np.uint64),
        hash_groups=np.zeros(slots, np.int32),
    )


class Workspace:
    """Memory of one thread, used again for every chunk: fresh pages would cost more than the work."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self._buffers: dict[str, NDArray[Any]] = {}

    def array(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """Return a named buffer, uninitialised.

        Args:
            name: The name of the buffer.
            size: The number of its elements.
            dtype: Their type.
        """
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.empty(size, dtype)
        return buffer[:size]

    def zeros(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """Return a named buffer of zeros, which its users leave zeroed.

        Args:
            name: The name of the buffer.
            size: The number of its elements.
            dtype: Their type.
        """
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.zeros(size, dtype)
        return buffer[:size]
