"""The nodes of a hierarchy: nested ranges of leaves, checked and numbered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from privmoo.errors import HierarchyError

__all__ = ["Nodes", "checked_levels", "nodes_of", "read_only", "spans"]


class Nodes(NamedTuple):
    """The distinct nodes of a hierarchy, by level and then from left to right.

    Attributes:
        start: The first leaf of each node.
        stop: One past its last leaf.
        parent: The index of the lowest larger node above it; -1 for the root.
        level: The lowest level at which the node appears.
    """

    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    parent: NDArray[np.int32]
    level: NDArray[np.int32]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, read-only."""
    array.setflags(write=False)
    return array


def spans(blocks: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each block of one level starts and stops.

    >>> spans(np.array([0, 0, 1]))
    (array([0, 2], dtype=int32), array([2, 3], dtype=int32))
    """
    start = np.flatnonzero(np.diff(blocks, prepend=-1)).astype(np.int32)
    return start, np.append(start[1:], np.int32(len(blocks)))


def checked_levels(n_leaves: int, blocks: npt.ArrayLike, where: str) -> NDArray[np.int32]:
    """Return the levels as a read-only array; raise unless they are nested ranges up to one root.

    Args:
        n_leaves: The number of leaves.
        blocks: For each level and leaf the number of the node above the leaf.
        where: What the error calls the hierarchy.

    >>> checked_levels(2, [[0, 1], [0, 0]], "the hierarchy").shape
    (2, 2)
    """
    if not n_leaves:
        raise HierarchyError(f"{where} is empty; give at least one value")
    levels = np.array(blocks, dtype=np.int32)
    if levels.ndim != 2 or levels.shape[0] < 1 or levels.shape[1] != n_leaves:
        raise HierarchyError(f"{where} has levels of the wrong shape {levels.shape}")
    steps = np.diff(levels, axis=1)
    is_nested = (
        not levels[:, 0].any()
        and bool(((steps == 0) | (steps == 1)).all())
        and bool(steps[0].all())
        and not steps[-1].any()
        and not (steps[1:] > steps[:-1]).any()
    )
    if not is_nested:
        raise HierarchyError(
            f"{where} is not a tree: its levels must be nested ranges of leaves up to one root"
        )
    return read_only(levels)


def nodes_of(level_blocks: NDArray[np.int32]) -> Nodes:
    """Return the distinct nodes of nested levels.

    >>> nodes_of(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]])).parent.tolist()
    [3, 3, 4, 4, -1]
    """
    n_levels, n_leaves = level_blocks.shape
    start, stop = spans(level_blocks[0])
    parts = [(start, stop, np.zeros(n_leaves, dtype=np.int32))]
    parent = [np.full(n_leaves, -1, dtype=np.int32)]
    above = np.arange(n_leaves)  # the highest node so far over each leaf
    size = np.ones(n_leaves, dtype=np.int32)  # and its number of leaves
    count = n_leaves
    for level in range(1, n_levels):
        start, stop = spans(level_blocks[level])
        new = stop - start > size[start]
        n_new = int(new.sum())
        if not n_new:
            continue
        ids = np.where(new, count + np.cumsum(new) - 1, above[start])[level_blocks[level]]
        is_new = ids != above
        parents_so_far = np.concatenate(parent)
        parents_so_far[above[is_new]] = ids[is_new]
        parent = [parents_so_far, np.full(n_new, -1, dtype=np.int32)]
        parts.append((start[new], stop[new], np.full(n_new, level, dtype=np.int32)))
        size = (stop - start)[level_blocks[level]]
        above, count = ids, count + n_new
    starts, stops, levels = (np.concatenate([part[i] for part in parts]) for i in range(3))
    parents = np.concatenate(parent)
    return Nodes(*(read_only(part) for part in (starts, stops, parents, levels)))
