"""Hierarchies whose values are listed: nested trees, tables of levels, plain data."""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_frames import AnyFrame, as_pandas, is_frame
from privmoo.errors import HierarchyError
from privmoo.hierarchy.canonical import canonical
from privmoo.hierarchy.definition import MAX_DEPTH, Definition, assemble, refuse_repeated

__all__ = ["from_json", "from_rows", "levels", "tree"]


class _Walk:
    """Collects the leaves of a nested specification, each with its nodes from the root down."""

    def __init__(self) -> None:
        self.leaves: list[str] = []
        self.paths: list[tuple[int, ...]] = []
        self.names: list[str] = []  # of the nodes, by number

    def visit(self, spec: object, above: tuple[int, ...]) -> None:
        """Collect the leaves of a part of the specification.

        Args:
            spec: A mapping, a list or a leaf.
            above: The nodes from the root down to this part.
        """
        if len(above) > MAX_DEPTH:
            raise HierarchyError(f"the tree is deeper than {MAX_DEPTH} levels; is it a cycle?")
        if isinstance(spec, Mapping):
            for label, children in spec.items():
                if children is None:
                    self.visit(label, above)
                else:
                    self.node(children, canonical(label), above)
        elif _is_list(spec):
            for child in sorted(spec, key=str) if isinstance(spec, set | frozenset) else spec:
                if _is_list(child):
                    self.node(child, None, above)
                else:
                    self.visit(child, above)
        else:
            self.leaves.append(canonical(spec))
            self.paths.append(above)

    def node(self, children: object, label: str | None, above: tuple[int, ...]) -> None:
        """Collect the leaves of a node.

        Args:
            children: What is below the node.
            label: Its label; None for a list without a name.
            above: The nodes from the root down to its parent.
        """
        if label == "":
            raise HierarchyError("a node of the tree has an empty label; name it")
        before, number = len(self.leaves), len(self.names)
        self.names.append(label or "")
        self.visit(children, (*above, number))
        under = self.leaves[before:]
        if not under:
            where = "an unnamed list" if label is None else f"node {label!r}"
            raise HierarchyError(f"{where} of the tree has no values; list its leaves")
        if label is None:
            self.names[number] = "{" + ", ".join(under) + "}"


def _is_list(spec: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(spec, Iterable) and not isinstance(spec, str | bytes | Mapping)


def tree(spec: object, *, root: str = "*") -> Definition:
    """Build a tree of nested mappings and lists; see `Hierarchy.tree`.

    Args:
        spec: The nested mappings and lists.
        root: The label of the root.
    """
    if isinstance(spec, Mapping) and list(spec) == [root] and spec[root] is not None:
        spec = spec[root]
    walk = _Walk()
    walk.visit(spec, ())
    leaves, paths = walk.leaves, walk.paths
    if not leaves:
        raise HierarchyError("the tree is empty; give at least one value")
    refuse_repeated(leaves, "the tree")
    names = walk.names + leaves  # a leaf above its own depth is a node of its own
    codes: list[NDArray[np.int64]] = []
    for depth in range(max(map(len, paths)), 0, -1):
        alone = len(walk.names)
        nodes = [
            path[depth - 1] if len(path) >= depth else alone + i for i, path in enumerate(paths)
        ]
        codes.append(np.array(nodes, dtype=np.int64))
    codes.append(np.zeros(len(leaves), dtype=np.int64))
    return assemble(leaves, codes, [*([names] * (len(codes) - 1)), [root]])


def levels(table: AnyFrame | Mapping[Any, Any]) -> Definition:
    """Build a tree of a table with one column per level; see `Hierarchy.levels`."""
    if not isinstance(table, Mapping):
        if not is_frame(table):
            raise HierarchyError(
                f"levels needs a DataFrame or a mapping from leaf to labels, got {type(table).__name__}"
            )
        frame = as_pandas(table, what="levels", error=HierarchyError)
        rows = [_cells(row) for row in frame.itertuples(index=False, name=None) if row]
        return from_rows(rows, lambda i: f"row {i} (counted from 0) of the hierarchy")
    level_values = [
        _cells((leaf, *above)) if _is_list(above) else _cells((leaf, above))
        for leaf, above in table.items()
    ]
    return from_rows(level_values, lambda i: f"value {level_values[i][0]!r} of the hierarchy")


def _cells(row: Sequence[object]) -> list[str | None]:
    return [
        canonical(row[0]),
        *(None if _is_missing(cell) else canonical(cell) for cell in row[1:]),
    ]


def _is_missing(cell: object) -> bool:
    return (
        cell is None
        or cell is pd.NA
        or cell is pd.NaT
        or (isinstance(cell, float) and cell != cell)
    )


def from_rows(
    rows: Sequence[Sequence[str | None]], where: Callable[[int], str], *, source: str = ""
) -> Definition:
    """Build a tree of rows of a leaf and its labels upwards.

    Messages do not quote the rows: files of hierarchies are often made from the data.

    Args:
        rows: The rows.
        where: What names a row in messages.
        source: The name of a file, for messages.

    >>> from_rows([["a", "x"], ["b", "x"]], lambda i: f"line {i + 1}").leaves
    ['a', 'b']
    """
    if not rows:
        raise HierarchyError(
            f"{f'hierarchy {source!r}' if source else 'the hierarchy'} has no values"
        )
    width = len(rows[0])
    first: dict[str, int] = {}
    # per level, the first row of every label
    first_rows: list[dict[str, int]] = [{} for _ in range(width)]
    for i, row in enumerate(rows):
        leaf = _check_row(row, i, width, where)
        if leaf in first:
            if list(rows[first[leaf]]) != list(row):
                raise HierarchyError(
                    f"{where(i)}: the same value has other parents in {where(first[leaf])}; keep one"
                )
            continue
        first[leaf] = i
        for level in range(1, width - 1):
            earlier = first_rows[level].setdefault(str(row[level]), i)
            if rows[earlier][level + 1] != row[level + 1]:
                raise HierarchyError(
                    f"{where(i)}: the label at level {level} has another parent in {where(earlier)}; this "
                    "is not a tree, give it one parent"
                )
    _check_order(rows, list(first.values()), where)
    codes: list[NDArray[np.int64]] = []
    names: list[list[str]] = []
    for level in range(1, width):
        column = np.array([rows[i][level] for i in first.values()], dtype=object)
        numbers, labels = pd.factorize(column)
        codes.append(numbers.astype(np.int64))
        names.append([str(label) for label in labels])
    return assemble(list(first), codes, names, source=source)


def _check_order(
    all_rows: Sequence[Sequence[str | None]], numbers: Sequence[int], where: Callable[[int], str]
) -> None:
    """Raise if labels are above each other, because what they stand for would be unclear.

    A label may have the name of one below it, as long as it stands for that one too.
    """
    rows = [all_rows[number] for number in numbers]
    labels = {cell for row in rows for cell in row[1:]}
    places: dict[str, dict[int, set[int]]] = {}  # label → level → its leaves
    for i, row in enumerate(rows):
        for level, cell in enumerate(row):
            if cell in labels:
                places.setdefault(str(cell), {}).setdefault(level, set()).add(i)
    unclear = {label for label, sets in places.items() if not _are_nested(list(sets.values()))}
    parents: dict[str, set[str]] = {}
    for row in rows if unclear else ():
        for cell, above in itertools.pairwise(row):
            if cell != above and cell in unclear and above in unclear:
                parents.setdefault(str(cell), set()).add(str(above))
    try:
        graphlib.TopologicalSorter(parents).prepare()
    except graphlib.CycleError as error:
        first = min(min(leaves) for leaves in places[error.args[1][0]].values())
        raise HierarchyError(
            f"{where(numbers[first])}: a label is above itself, with others in between, which is a "
            "cycle; give every label its own name"
        ) from None


def _are_nested(sets: list[set[int]]) -> bool:
    by_size = sorted(sets, key=len)
    return all(small <= large for small, large in itertools.pairwise(by_size))


def _check_row(
    row: Sequence[str | None], number: int, width: int, where: Callable[[int], str]
) -> str:
    if len(row) != width:
        raise HierarchyError(
            f"{where(number)} has {len(row)} levels, but {where(0)} has {width}; "
            "give every value the same number"
        )
    for level, cell in enumerate(row):
        # the empty text may be a value, and may stay itself for some levels
        if cell is None or (cell == "" and any(row[:level])):
            raise HierarchyError(
                f"{where(number)}: there is no parent at level {level}; fill the empty cell"
            )
    return str(row[0])


def from_json(data: Mapping[str, Any]) -> Definition:
    """Read what `Hierarchy.to_json` wrote."""
    try:
        leaves = [_text(leaf) for leaf in data["leaves"]]
        blocks = [np.arange(len(leaves))]
        for starts in data["levels"]:
            begins = np.zeros(len(leaves), dtype=np.int64)
            begins[np.array(starts, dtype=np.int64)] = 1
            blocks.append(np.cumsum(begins) - 1)
        names = [[_text(name) for name in level] for level in data["names"]]
        bounds, outside = data["bounds"], data["outside"]
        if bounds is not None:
            bounds = np.array(bounds, dtype=np.float64)
            low, high = bounds[:, ~np.isnan(bounds).any(axis=0)]
            if bounds.shape != (2, len(leaves)) or not np.isfinite([low, high]).all():
                raise ValueError("the bounds do not fit the leaves")
            if (low >= high).any() or (high[:-1] > low[1:]).any():
                raise ValueError("the bounds do not ascend")
        return Definition(
            leaves,
            np.array(blocks),
            names,
            constrained=bool(data["constrained"]),
            style=_text(data["style"]),
            bounds=bounds,
            integral=bool(data["integral"]),
            outside=None if outside is None else (float(outside[0]), float(outside[1])),
        )
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise HierarchyError(f"this is not a hierarchy written by to_json: {error}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text was expected, got {type(value).__name__}")
    return value
