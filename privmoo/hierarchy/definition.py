"""The parts of a hierarchy, which builders and rules make, and `Structure` checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import HierarchyError
from privmoo.hierarchy.labels import parse_numbers
from privmoo.hierarchy.nodes import spans

__all__ = ["MAX_DEPTH", "Definition", "assemble", "flat", "refuse_repeated"]

MAX_DEPTH = 100


@dataclass(frozen=True)
class Definition:
    """The parts of a hierarchy before they are checked.

    Attributes:
        leaves: The values, in order.
        level_blocks: Levels × leaves: the number of the node above each leaf, counted from the left.
        names: For each level above the leaves the labels of its nodes.
        constrained: Whether the blocks of a cut must be nodes.
        style: "range" or "set", for the labels of blocks of an order.
        bounds: For leaves that are intervals of numbers, low and (exclusive) high of each.
        integral: Whether those intervals hold whole numbers only.
        outside: Numbers below the first and above the second of these belong to the leaves
            "<first" and ">second".
        source: The name of the file it came from, for messages.
    """

    leaves: Sequence[str]
    level_blocks: npt.ArrayLike
    names: Sequence[Sequence[str]]
    constrained: bool = True
    style: str = "range"
    bounds: npt.ArrayLike | None = None
    integral: bool = False
    outside: tuple[float, float] | None = None
    source: str = ""


def assemble(
    leaves: Sequence[str],
    codes: Sequence[NDArray[np.int64]],
    names: Sequence[Sequence[str]],
    *,
    outside: tuple[float, float] | None = None,
    source: str = "",
) -> Definition:
    """Put together a tree from the node of every leaf at every level, leaves in any order.

    Leaves are put into numeric order if they are numbers and that keeps every node together, else
    into the order of first appearance within each node. A root "*" is added if the last level is
    not one node.

    Args:
        leaves: The values.
        codes: Per level from 1, the number of each leaf's node.
        names: Per level from 1, the label of each node.
        outside: See `Definition`.
        source: The name of a file, for messages.

    >>> assemble(["c", "a", "b"], [np.array([0, 1, 0])], [["x", "y"]]).leaves
    ['c', 'b', 'a']
    """
    n = len(leaves)
    codes, names = list(codes), list(names)
    if (codes and len(np.unique(codes[-1])) > 1) or (not codes and n > 1):
        codes.append(np.zeros(n, dtype=np.int64))
        names.append(["*"])
    order = _leaf_order(leaves, codes)
    blocks = [np.arange(n)]
    labels: list[list[str]] = []
    for level_codes, level_names in zip(codes, names, strict=True):
        here = level_codes[order]
        start, _ = spans(here)
        blocks.append(np.cumsum(np.diff(here, prepend=here[:1]) != 0))
        labels.append([str(level_names[node]) for node in here[start]])
    leaves_in_order = [leaves[i] for i in order]
    return Definition(leaves_in_order, np.array(blocks), labels, outside=outside, source=source)


def _leaf_order(leaves: Sequence[str], codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    numbers = parse_numbers(leaves)
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")
        if all(
            np.count_nonzero(np.diff(level[order])) == len(np.unique(level)) - 1 for level in codes
        ):
            return order
    firsts = [pd.factorize(level)[0] for level in codes]
    return np.asarray(np.lexsort([np.arange(len(leaves)), *firsts]), dtype=np.int64)


def flat(leaves: Sequence[str]) -> Definition:
    """Put all leaves directly under the root "*", in the order in which they are listed.

    >>> flat(["f", "m"]).level_blocks.tolist()
    [[0, 1], [0, 0]]
    """
    blocks = np.zeros((2, len(leaves)), dtype=np.int64)
    blocks[0] = np.arange(len(leaves))
    return Definition(list(leaves), blocks, [["*"]])


def refuse_repeated(leaves: Sequence[str], where: str) -> None:
    """Raise if a value is listed twice.

    Args:
        leaves: The values.
        where: What lists them, for the error.
    """
    leaves_so_far: set[str] = set()
    for leaf in leaves:
        if leaf in leaves_so_far:
            raise HierarchyError(f"value {leaf!r} is twice in {where}; keep one of them")
        leaves_so_far.add(leaf)
