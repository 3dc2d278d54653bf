"""The builders of hierarchies that know their values: trees, tables of levels, plain data."""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import HierarchyError
from privmoo.hierarchy.canonical import canonical
from privmoo.hierarchy.hierarchy import Hierarchy
from privmoo.hierarchy.parts import parse_numbers, spans

__all__ = ["assemble", "from_json", "from_rows", "levels", "no_leaf_twice", "tree"]

MAX_DEPTH = 100


def assemble(
    leaves: Sequence[str],
    codes: Sequence[NDArray[np.int64]],
    names: Sequence[Sequence[str]],
    *,
    outside: tuple[float, float] | None = None,
    source: str = "",
) -> Hierarchy:
    """A hierarchy from the node of every leaf at every level above it, leaves in any order.

    Leaves are put into numeric order if they are numbers and that keeps every node together, else
    into the order of first appearance within each node. A root "*" is added if the last level is
    not one node.

    Args:
        leaves: the values.
        codes: per level from 1, the number of each leaf's node.
        names: per level from 1, the label of each node.
        outside: see `Hierarchy`.
        source: file name, for messages.

    >>> assemble(["c", "a", "b"], [np.array([0, 1, 0])], [["x", "y"]]).leaves
    ('c', 'b', 'a')
    """
    n = len(leaves)
    codes, names = list(codes), list(names)
    if (codes and len(np.unique(codes[-1])) > 1) or (not codes and n > 1):
        codes.append(np.zeros(n, dtype=np.int64))
        names.append(["*"])
    order = _leaf_order(leaves, codes)
    placed = [leaves[i] for i in order]
    blocks = [np.arange(n)]
    labels: list[list[str]] = []
    for level_codes, level_names in zip(codes, names, strict=True):
        here = level_codes[order]
        start, _ = spans(here)
        blocks.append(np.cumsum(np.diff(here, prepend=here[:1]) != 0))
        labels.append([str(level_names[node]) for node in here[start]])
    return Hierarchy(placed, np.array(blocks), labels, outside=outside, source=source)


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


class _Walk:
    """Collects the leaves of a nested specification, each with its nodes from the root down."""

    def __init__(self) -> None:
        self.leaves: list[str] = []
        self.paths: list[tuple[int, ...]] = []
        self.names: list[str] = []  # of the nodes, by number

    def visit(self, spec: object, above: tuple[int, ...]) -> None:
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


def tree(spec: object, *, root: str = "*") -> Hierarchy:
    """See `Hierarchy.tree`."""
    if isinstance(spec, Mapping) and list(spec) == [root] and spec[root] is not None:
        spec = spec[root]
    walk = _Walk()
    walk.visit(spec, ())
    leaves, paths = walk.leaves, walk.paths
    if not leaves:
        raise HierarchyError("the tree is empty; give at least one value")
    no_leaf_twice(leaves, "the tree")
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


def no_leaf_twice(leaves: Sequence[str], where: str) -> None:
    """Refuse a value that is given twice."""
    seen: set[str] = set()
    for leaf in leaves:
        if leaf in seen:
            raise HierarchyError(f"value {leaf!r} is twice in {where}; keep one of them")
        seen.add(leaf)


def levels(table: pd.DataFrame | Mapping[Any, Any]) -> Hierarchy:
    """See `Hierarchy.levels`."""
    if isinstance(table, pd.DataFrame):
        rows = [_cells(row) for row in table.itertuples(index=False, name=None) if row]
        return from_rows(rows, lambda i: f"row {i} (counted from 0) of the hierarchy")
    if not isinstance(table, Mapping):
        raise HierarchyError(
            f"levels needs a DataFrame or a mapping from leaf to labels, got {type(table).__name__}"
        )
    listed = [
        _cells((leaf, *above)) if _is_list(above) else _cells((leaf, above))
        for leaf, above in table.items()
    ]
    return from_rows(listed, lambda i: f"value {listed[i][0]!r} of the hierarchy")


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
) -> Hierarchy:
    """A hierarchy from rows of a leaf and its labels upwards; `where` names a row in messages.

    Messages do not quote the rows: files of hierarchies are often made from the data.

    >>> from_rows([["a", "x"], ["b", "x"]], lambda i: f"line {i + 1}").leaves
    ('a', 'b')
    """
    if not rows:
        raise HierarchyError(
            f"{f'hierarchy {source!r}' if source else 'the hierarchy'} has no values"
        )
    width = len(rows[0])
    first: dict[str, int] = {}
    seen: list[dict[str, int]] = [{} for _ in range(width)]  # label → the first row that has it
    for i, row in enumerate(rows):
        leaf = _checked_row(row, i, width, where)
        if leaf in first:
            if list(rows[first[leaf]]) != list(row):
                raise HierarchyError(
                    f"{where(i)}: the same value has other parents in {where(first[leaf])}; keep one"
                )
            continue
        first[leaf] = i
        for level in range(1, width - 1):
            other = seen[level].setdefault(str(row[level]), i)
            if rows[other][level + 1] != row[level + 1]:
                raise HierarchyError(
                    f"{where(i)}: the label at level {level} has another parent in {where(other)}; this "
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
    every: Sequence[Sequence[str | None]], numbers: Sequence[int], where: Callable[[int], str]
) -> None:
    """Raise where labels are above each other: what they stand for could not be told.

    A label may have the name of one below it, as long as it stands for that one too.
    """
    rows = [every[number] for number in numbers]
    labels = {cell for row in rows for cell in row[1:]}
    places: dict[str, dict[int, set[int]]] = {}  # label → level → its leaves
    for i, row in enumerate(rows):
        for level, cell in enumerate(row):
            if cell in labels:
                places.setdefault(str(cell), {}).setdefault(level, set()).add(i)
    unclear = {label for label, own in places.items() if not _nested(list(own.values()))}
    parents: dict[str, set[str]] = {}
    for row in rows if unclear else ():
        for cell, above in itertools.pairwise(row):
            if cell != above and cell in unclear and above in unclear:
                parents.setdefault(str(cell), set()).add(str(above))
    try:
        graphlib.TopologicalSorter(parents).prepare()
    except graphlib.CycleError as error:
        first = min(min(own) for own in places[error.args[1][0]].values())
        raise HierarchyError(
            f"{where(numbers[first])}: a label is above itself by way of others, which is a cycle; give "
            "every label its own name"
        ) from None


def _nested(sets: list[set[int]]) -> bool:
    by_size = sorted(sets, key=len)
    return all(small <= large for small, large in itertools.pairwise(by_size))


def _checked_row(
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


def from_json(data: Mapping[str, Any]) -> Hierarchy:
    """See `Hierarchy.from_json`."""
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
            known = bounds[:, ~np.isnan(bounds).any(axis=0)]
            if bounds.shape != (2, len(leaves)) or not np.isfinite(known).all():
                raise ValueError("the bounds do not fit the leaves")
            if (known[0] >= known[1]).any() or (known[1, :-1] > known[0, 1:]).any():
                raise ValueError("the bounds do not ascend")
        return Hierarchy(
            leaves,
            np.array(blocks),
            names,
            constrained=bool(data["constrained"]),
            style=_text(data["style"]),
            bounds=bounds,
            integral=bool(data["integral"]),
            outside=None if outside is None else (float(outside[0]), float(outside[1])),
        )
    except HierarchyError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise HierarchyError(f"this is no hierarchy written by to_json: {error}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text was expected, got {type(value).__name__}")
    return value
