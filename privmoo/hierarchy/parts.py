"""The arithmetic under a hierarchy: nested ranges of leaves, their nodes, labels that differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from privmoo.errors import HierarchyError
from privmoo.hierarchy.canonical import MISSING, canonical

__all__ = [
    "Nodes",
    "checked_levels",
    "interval_label",
    "nodes_of",
    "parse_numbers",
    "read_only",
    "spans",
    "unique_names",
]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Nodes(NamedTuple):
    """The distinct nodes of a hierarchy, by level and then from left to right.

    Attributes:
        start: first leaf of each node.
        stop: one past its last leaf.
        parent: index of the lowest larger node above it; -1 for the root.
        level: lowest level at which the node appears.
    """

    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    parent: NDArray[np.int32]
    level: NDArray[np.int32]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, closed for writing."""
    array.setflags(write=False)
    return array


def spans(blocks: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Start and stop of each block of one level.

    >>> spans(np.array([0, 0, 1]))
    (array([0, 2], dtype=int32), array([2, 3], dtype=int32))
    """
    start = np.flatnonzero(np.diff(blocks, prepend=-1)).astype(np.int32)
    return start, np.append(start[1:], np.int32(len(blocks)))


def checked_levels(n_leaves: int, blocks: npt.ArrayLike, where: str) -> NDArray[np.int32]:
    """The levels as a read-only array, if they are nested ranges of leaves up to one root.

    >>> checked_levels(2, [[0, 1], [0, 0]], "the hierarchy").shape
    (2, 2)
    """
    if not n_leaves:
        raise HierarchyError(f"{where} is empty; give at least one value")
    found = np.array(blocks, dtype=np.int32)
    if found.ndim != 2 or found.shape[0] < 1 or found.shape[1] != n_leaves:
        raise HierarchyError(f"{where} has levels of the wrong shape {found.shape}")
    steps = np.diff(found, axis=1)
    nested = (
        not found[:, 0].any()
        and bool(((steps == 0) | (steps == 1)).all())
        and bool(steps[0].all())
        and not steps[-1].any()
        and not (steps[1:] > steps[:-1]).any()
    )
    if not nested:
        raise HierarchyError(
            f"{where} is not a tree: its levels must be nested ranges of leaves up to one root"
        )
    return read_only(found)


def nodes_of(level_blocks: NDArray[np.int32]) -> Nodes:
    """The distinct nodes of nested levels.

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
        added = int(new.sum())
        if not added:
            continue
        ids = np.where(new, count + np.cumsum(new) - 1, above[start])[level_blocks[level]]
        changed = ids != above
        known = np.concatenate(parent)
        known[above[changed]] = ids[changed]
        parent = [known, np.full(added, -1, dtype=np.int32)]
        parts.append((start[new], stop[new], np.full(added, level, dtype=np.int32)))
        size = (stop - start)[level_blocks[level]]
        above, count = ids, count + added
    starts, stops, levels = (np.concatenate([part[i] for part in parts]) for i in range(3))
    parents = np.concatenate(parent)
    return Nodes(*(read_only(part) for part in (starts, stops, parents, levels)))


def unique_names(
    leaves: Sequence[str],
    level_blocks: NDArray[np.int32],
    names: Sequence[Sequence[str]],
) -> tuple[tuple[str, ...], ...]:
    """Labels per level from 1 up, changed so that one label never stands for two sets of leaves.

    A label that is used twice gets the node's first and last leaf in parentheses, or a number if
    the node has one leaf only (the label of a node must not tell the value). Leaves and the root
    keep theirs.

    >>> blocks = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> unique_names(["a", "b", "c", "d"], blocks, [["Other", "Other"], ["*"]])
    (('Other (a–b)', 'Other (c–d)'), ('*',))
    """
    ranges = []
    for row in level_blocks[1:]:
        start, stop = spans(row)
        ranges.append(list(zip(start.tolist(), stop.tolist(), strict=True)))
    code = {leaf: i for i, leaf in enumerate(leaves)}
    first: dict[str, tuple[int, int]] = {}  # the leaves a label stands for
    clashing: set[str] = set()
    for level, level_ranges in zip(names, ranges, strict=True):
        for name, place in zip(level, level_ranges, strict=True):
            known = first.setdefault(name, place)
            if known != place or (name in code and place != (code[name], code[name] + 1)):
                clashing.add(name)
    if not clashing:
        return tuple(tuple(level) for level in names)
    root = (0, len(leaves))
    root_name = names[-1][0]
    used = {*first, *code}
    renamed: dict[tuple[str, tuple[int, int]], str] = {}

    def rename(name: str, place: tuple[int, int]) -> str:
        start, stop = place
        keeps = name not in clashing or (stop - start == 1 and leaves[start] == name)
        if keeps or (place == root and name == root_name and name not in code):
            return name
        if (name, place) not in renamed:
            number = 1
            alone = stop - start == 1
            new = f"{name} (1)" if alone else f"{name} ({leaves[start]}–{leaves[stop - 1]})"
            while new in used:
                number += 1
                new = f"{name} ({number})"
            used.add(new)
            renamed[name, place] = new
        return renamed[name, place]

    return tuple(
        tuple(rename(name, place) for name, place in zip(level, level_ranges, strict=True))
        for level, level_ranges in zip(names, ranges, strict=True)
    )


def interval_label(low: float, high: float, *, integral: bool) -> str:
    """The label of [low, high): "15–19" if it holds whole numbers only, else "[0.5, 1)".

    >>> interval_label(15, 20, integral=True), interval_label(0.5, 1, integral=False)
    ('15–19', '[0.5, 1)')
    """
    if not integral:
        return f"[{canonical(low)}, {canonical(high)})"
    return canonical(low) if high - low == 1 else f"{canonical(low)}–{canonical(high - 1)}"


def parse_numbers(
    leaves: Sequence[str], known: Mapping[str, float] | None = None
) -> NDArray[np.float64] | None:
    """The leaves as numbers, nan for the missing one; None if one is no finite number.

    >>> parse_numbers(["3", "0.5", "missing"]).tolist()
    [3.0, 0.5, nan]
    """
    found = np.full(len(leaves), np.nan)
    for code, leaf in enumerate(leaves):
        if leaf == MISSING:
            continue
        if known and leaf in known:
            found[code] = known[leaf]
        elif _NUMBER.fullmatch(leaf):
            found[code] = float(leaf)
        else:
            return None
    usable = not np.isinf(found).any() and not np.isnan(found).all()
    return read_only(found) if usable else None
