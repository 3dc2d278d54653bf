"""The arrays of a sweep of the lattice, and a sweep that Ctrl-C can stop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.lattice import sweep
from privmoo.kernels.rolling import DENSE, Cells
from privmoo.kernels.stairs import Best

__all__ = ["MOST_NODES", "STOP", "compact_entries", "interruptible", "new_best", "new_cells"]

STOP = 4
"""The counter that stops a sweep."""
MOST_NODES = 5
"""The number of visited nodes that stops a sweep; negative for none."""


def interruptible(
    pool: ThreadPoolExecutor, arguments: tuple[Any, ...], counters: NDArray[np.int64]
) -> int:
    """Sweep in another thread, so that Ctrl-C ends the sweep as if its time were up.

    Args:
        pool: The other thread.
        arguments: The arguments of `privmoo.kernels.lattice.sweep`.
        counters: The counters among these arguments; one of them stops the sweep.
    """
    future = pool.submit(sweep, *arguments)
    try:
        return int(future.result())
    except KeyboardInterrupt:
        counters[STOP] = 1
        return int(future.result())


def new_best(n_records: int, room: int) -> Best:
    """Return empty arrays for the best releases.

    Args:
        n_records: The number of records.
        room: How many entries fit.
    """
    return Best(
        heads=np.full(n_records + 1, -1, np.int64),
        nexts=np.full(room, -1, np.int64),
        costs=np.zeros(room),
        suppressed=np.zeros(room, np.int64),
        sizes=np.zeros(room, np.int64),
        nodes=np.zeros(room, np.int64),
        floor=np.full(n_records + 1, np.inf),
    )


def new_cells(n_tuples: int) -> Cells:
    """Return working memory for a sweep; untouched pages of its arrays cost nothing."""
    slots = 1 << (4 * n_tuples).bit_length()
    return Cells(
        cells=np.zeros(DENSE, np.int32),
        stamps=np.zeros(DENSE, np.int64),
        totals=np.zeros(DENSE, np.uint32),
        hash_cells=np.zeros(slots, np.int32),
        hash_stamps=np.zeros(slots, np.int64),
        hash_keys=np.zeros(slots, np.int64),
    )


def compact_entries(best: Best, room: int) -> tuple[Best, int]:
    """Return the same entries in new arrays, without those that were replaced.

    Args:
        best: The entries.
        room: How many entries fit.

    Returns:
        The entries, and how many there are.
    """
    fresh = new_best(len(best.heads) - 1, room)
    used = 0
    for k in np.flatnonzero(best.heads >= 0):
        entry = int(best.heads[k])
        while entry >= 0:
            fresh.costs[used], fresh.suppressed[used] = best.costs[entry], best.suppressed[entry]
            fresh.nodes[used], fresh.nexts[used] = best.nodes[entry], fresh.heads[k]
            fresh.sizes[used] = best.sizes[entry]
            fresh.heads[k] = used
            used, entry = used + 1, int(best.nexts[entry])
    fresh.floor[:] = best.floor
    return fresh, used
