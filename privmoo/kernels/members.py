"""The members of classes as doubly linked lists: joining, leaving and changing places takes no search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["exchange_links", "link", "unlink"]


@compiled(inline=True)
def link(
    heads: NDArray[np.int64], nexts: NDArray[np.int64], backs: NDArray[np.int64], c: int, u: int
) -> None:
    """Put unit u first among the members of class c."""
    first = heads[c]
    nexts[u], backs[u] = first, -1
    if first >= 0:
        backs[first] = u
    heads[c] = u


@compiled(inline=True)
def unlink(
    heads: NDArray[np.int64], nexts: NDArray[np.int64], backs: NDArray[np.int64], c: int, u: int
) -> None:
    """Remove unit u from the members of class c."""
    before, after = backs[u], nexts[u]
    if before >= 0:
        nexts[before] = after
    else:
        heads[c] = after
    if after >= 0:
        backs[after] = before


@compiled(inline=True)
def exchange_links(
    labels: NDArray[np.int32],
    heads: NDArray[np.int64],
    nexts: NDArray[np.int64],
    backs: NDArray[np.int64],
    u: int,
    v: int,
) -> None:
    """Let two units of different classes change places."""
    labels[u], labels[v] = labels[v], labels[u]
    nexts[u], nexts[v] = nexts[v], nexts[u]
    backs[u], backs[v] = backs[v], backs[u]
    for w in (u, v):
        if nexts[w] >= 0:
            backs[nexts[w]] = w
        if backs[w] >= 0:
            nexts[backs[w]] = w
        else:
            heads[labels[w]] = w
