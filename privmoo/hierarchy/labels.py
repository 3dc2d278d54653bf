"""Labels of nodes, of which each stands for one set of leaves; and the numbers that leaves spell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from privmoo.hierarchy.canonical import MISSING, canonical
from privmoo.hierarchy.nodes import read_only, spans

__all__ = ["interval_label", "parse_numbers", "unique_names"]

Range = tuple[int, int]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def unique_names(
    leaves: Sequence[str],
    level_blocks: NDArray[np.int32],
    names: Sequence[Sequence[str]],
) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each level from 1 up, changed so that each stands for one set of leaves.

    A label that is used twice gets the first and last leaf of its node in parentheses, or a number if the
    node has only one leaf (the label of a node must not disclose the value). Leaves and the root keep their
    labels.

    Args:
        leaves: The values, in order.
        level_blocks: For each level and leaf the number of the node above the leaf.
        names: The labels per level from 1 up.

    >>> blocks = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> unique_names(["a", "b", "c", "d"], blocks, [["Other", "Other"], ["*"]])
    (('Other (a–b)', 'Other (c–d)'), ('*',))
    """
    ranges: list[list[Range]] = []
    for row in level_blocks[1:]:
        start, stop = spans(row)
        ranges.append(list(zip(start.tolist(), stop.tolist(), strict=True)))
    code = {leaf: i for i, leaf in enumerate(leaves)}
    first: dict[str, Range] = {}  # the leaves a label stands for
    clashing: set[str] = set()
    for level, level_ranges in zip(names, ranges, strict=True):
        for name, place in zip(level, level_ranges, strict=True):
            first_place = first.setdefault(name, place)
            if first_place != place or (name in code and place != (code[name], code[name] + 1)):
                clashing.add(name)
    if not clashing:
        return tuple(tuple(level) for level in names)
    top = names[-1][0]
    root = None if top in code else (top, (0, len(leaves)))
    renaming = _Renaming(leaves, clashing, root, {*first, *code})
    return tuple(
        tuple(renaming.label(name, place) for name, place in zip(level, level_ranges, strict=True))
        for level, level_ranges in zip(names, ranges, strict=True)
    )


class _Renaming:
    """Gives every node with a clashing label a label that is not in use."""

    def __init__(
        self,
        leaves: Sequence[str],
        clashing: set[str],
        root: tuple[str, Range] | None,
        used: set[str],
    ) -> None:
        self.leaves, self.clashing, self.root, self.used = leaves, clashing, root, used
        self._renamed: dict[tuple[str, Range], str] = {}

    def label(self, name: str, place: Range) -> str:
        """Return the label of the node over a range of leaves.

        Args:
            name: The label it has.
            place: Its first leaf, and one past its last.
        """
        start, stop = place
        is_leaf = stop - start == 1
        if name not in self.clashing or (is_leaf and self.leaves[start] == name):
            return name
        if (name, place) == self.root:
            return name
        if (name, place) not in self._renamed:
            number = 1
            ends = "1" if is_leaf else f"{self.leaves[start]}–{self.leaves[stop - 1]}"
            new = f"{name} ({ends})"
            while new in self.used:
                number += 1
                new = f"{name} ({number})"
            self.used.add(new)
            self._renamed[name, place] = new
        return self._renamed[name, place]


def interval_label(low: float, high: float, *, integral: bool) -> str:
    """Return the label of [low, high): "15–19" if it holds whole numbers only, else "[0.5, 1)".

    Args:
        low: Where the interval begins.
        high: Where it ends; not part of it.
        integral: Whether it holds whole numbers only.

    >>> interval_label(15, 20, integral=True), interval_label(0.5, 1, integral=False)
    ('15–19', '[0.5, 1)')
    """
    if not integral:
        return f"[{canonical(low)}, {canonical(high)})"
    return canonical(low) if high - low == 1 else f"{canonical(low)}–{canonical(high - 1)}"


def parse_numbers(
    leaves: Sequence[str], ends: Mapping[str, float] | None = None
) -> NDArray[np.float64] | None:
    """Return the leaves as numbers, nan for the missing one; None if one is not a finite number.

    Args:
        leaves: The leaves, in canonical spelling.
        ends: The numbers of leaves that do not spell one, such as "<17".

    >>> parse_numbers(["3", "0.5", "missing"]).tolist()
    [3.0, 0.5, nan]
    """
    numbers = np.full(len(leaves), np.nan)
    for code, leaf in enumerate(leaves):
        if leaf == MISSING:
            continue
        if ends and leaf in ends:
            numbers[code] = ends[leaf]
        elif _NUMBER.fullmatch(leaf):
            numbers[code] = float(leaf)
        else:
            return None
    usable = not np.isinf(numbers).any() and not np.isnan(numbers).all()
    return read_only(numbers) if usable else None
