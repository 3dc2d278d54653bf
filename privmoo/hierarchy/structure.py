"""The structure of a hierarchy: ordered leaves, nested levels above them, valid cuts and labels."""

from __future__ import annotations

import hashlib
import html
import json
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from privmoo.errors import HierarchyError
from privmoo.hierarchy.canonical import MISSING, canonical
from privmoo.hierarchy.definition import Definition
from privmoo.hierarchy.labels import interval_label, parse_numbers, unique_names
from privmoo.hierarchy.nodes import Nodes, checked_levels, nodes_of, read_only, spans

__all__ = ["Structure"]


class Structure:
    """Ordered leaves and the nested levels above them; `privmoo.Hierarchy` adds builders and data.

    Attributes:
        leaves: The values in canonical spelling, ordered so that every node is a range of them.
        level_blocks: For each level and leaf the number of the node above the leaf, counted from
            the left; level 0 are the leaves, the last level is one node.
        constrained: True if a block of a cut must be a node, False if any neighbours may merge.
        source: The file it came from, for messages.

    >>> blocks = [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    >>> Structure(Definition(["a", "b", "c"], blocks, [["x", "y"], ["*"]])).label(0, 2)
    'x'
    """

    def __init__(self, definition: Definition) -> None:
        """Check and store the parts of a hierarchy; users call the builders instead.

        Args:
            definition: The leaves, levels and labels.

        Raises:
            HierarchyError: If the levels are not nested, or leaves or labels do not fit them.
        """
        self.leaves = tuple(definition.leaves)
        self.source = definition.source
        self.constrained = bool(definition.constrained)
        self.level_blocks = checked_levels(len(self.leaves), definition.level_blocks, self._title())
        self._index = {leaf: code for code, leaf in enumerate(self.leaves)}
        if len(self._index) != len(self.leaves):
            raise HierarchyError(f"{self._title()} has the same leaf twice; name every value once")
        widths = [int(row[-1]) + 1 for row in self.level_blocks[1:]]
        if [len(level) for level in definition.names] != widths:
            raise HierarchyError(f"{self._title()} needs one label for every node of every level")
        self._names = unique_names(self.leaves, self.level_blocks, definition.names)
        if definition.style not in ("range", "set"):
            raise HierarchyError(f"labels must be 'range' or 'set', got {definition.style!r}")
        self._style = definition.style
        bounds = definition.bounds
        self._bounds = None if bounds is None else np.array(bounds, dtype=np.float64)
        self._integral = bool(definition.integral)
        self._outside = definition.outside

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaves)

    @property
    def n_levels(self) -> int:
        """The number of levels, leaves and root included."""
        return int(self.level_blocks.shape[0])

    @property
    def height(self) -> int:
        """The highest level: `n_levels` - 1."""
        return self.n_levels - 1

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The number each leaf stands for; None if a leaf is not a number.

        An interval stands for its middle, an open end for its bound, the missing leaf is nan.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.ordered(step=5).bind([15, 23, None]).numbers.tolist()
        [17.0, 22.0, nan]
        """
        if self._bounds is not None:
            low, high = self._bounds
            return read_only((low + high - self._integral) / 2)
        ends: dict[str, float] = {}
        if self._outside is not None:
            low, high = self._outside
            ends = {f"<{canonical(low)}": low, f">{canonical(high)}": high}
        return parse_numbers(self.leaves, ends)

    @cached_property
    def nodes(self) -> Nodes:
        """The distinct nodes: ranges of leaves, parents, lowest levels.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree([["a", "b"], "c"]).nodes.parent.tolist()
        [3, 3, 4, 4, -1]
        """
        return nodes_of(self.level_blocks)

    def level_of(self, start: int, stop: int) -> int:
        """Return the lowest level at which leaves [start, stop) are one node.

        In an order without a tree this is 0 for a single leaf and `height` for any other block.

        Args:
            start: The first leaf.
            stop: One past the last leaf.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree([["a", "b"], "c"]).level_of(0, 2)
        1
        """
        self._check_block(start, stop)
        if not self.constrained:
            return 0 if stop - start == 1 else self.height
        level = self._node_levels.get((int(start), int(stop)))
        if level is None:
            raise self._not_a_node(start, stop)
        return level

    def label(self, start: int, stop: int) -> str:
        """Return the label of the block of leaves [start, stop) of a cut; no two blocks share a label.

        A single leaf has its own name; `level_labels` has its names at higher levels.

        Args:
            start: The first leaf.
            stop: One past the last leaf.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> age = Hierarchy.ordered(range(17, 91))
        >>> age.label(0, 13), age.label(3, 4), age.label(0, 74)
        ('17–29', '20', '*')
        """
        self._check_block(start, stop)
        if stop - start == 1:
            return self.leaves[start]
        label = self._node_labels.get((int(start), int(stop)))
        if label is not None:
            return label
        if self.constrained:
            raise self._not_a_node(start, stop)
        return self._order_label(start, stop)

    def level_labels(self, level: int) -> tuple[str, ...]:
        """Return the labels of the nodes of one level, from left to right, in a release at that level.

        Unlike `label`, it gives a node of one leaf the name of the node: "Married", not the only value
        under it.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree({"Married": ["civil"], "Single": ["never", "divorced"]}).level_labels(1)
        ('Married', 'Single')
        """
        self._check_level(level)
        return self._names[level - 1] if level else self.leaves

    def leaves_under(self, label: str) -> tuple[str, ...]:
        """Return the leaves below the node with this label.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree({"Married": ["civil", "church"], "Other": ["x"]}).leaves_under("Married")
        ('civil', 'church')
        """
        place = self._places.get(label)
        if place is None:
            raise HierarchyError(f"{self._title()} has no node {label!r}; see level_labels")
        return self.leaves[place[0] : place[1]]

    def is_valid_cut(self, bits: npt.ArrayLike) -> bool:
        """Return whether every block of the cut is a node; bits[i] keeps leaves i and i + 1 apart.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree([["a", "b"], ["c", "d"]]).is_valid_cut([1, 1, 0])
        True
        """
        apart = np.asarray(bits)
        if apart.shape != (self.n_leaves - 1,):
            raise HierarchyError(
                f"a cut of {self.n_leaves} leaves has {self.n_leaves - 1} bits, "
                f"got an array of shape {apart.shape}"
            )
        if not self.constrained:
            return True
        inner = np.flatnonzero(apart) + 1
        start = np.concatenate(([0], inner))
        stop = np.concatenate((inner, [self.n_leaves]))
        return bool(np.isin(start * (self.n_leaves + 1) + stop, self._node_keys).all())

    def cut_of_level(self, level: int) -> NDArray[np.bool_]:
        """Return the cut that generalises every leaf to this level.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree([["a", "b"], ["c", "d"]]).cut_of_level(1).tolist()
        [False, True, False]
        """
        self._check_level(level)
        return np.asarray(np.diff(self.level_blocks[level]) != 0)

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `Hierarchy.from_json` reads back; a level says where its nodes begin.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> h = Hierarchy.flat(["f", "m"])
        >>> Hierarchy.from_json(h.to_json()) == h
        True
        """
        bounds = None
        if self._bounds is not None:
            bounds = [[None if np.isnan(v) else v for v in row] for row in self._bounds.tolist()]
        return {
            "leaves": list(self.leaves),
            "levels": [spans(row)[0].tolist() for row in self.level_blocks[1:]],
            "names": [list(level) for level in self._names],
            "constrained": self.constrained,
            "style": self._style,
            "bounds": bounds,
            "integral": self._integral,
            "outside": None if self._outside is None else list(self._outside),
        }

    @cached_property
    def fingerprint(self) -> bytes:
        """A hash of everything but the source.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.flat(["f"]).fingerprint == Hierarchy.flat(["f"]).fingerprint
        True
        """
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).digest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        kind = "tree" if self.constrained else "order"
        ends = self.leaves[0] if self.n_leaves == 1 else f"{self.leaves[0]} … {self.leaves[-1]}"
        source = f", from {self.source}" if self.source else ""
        return f"Hierarchy({self.n_leaves} leaves, {self.n_levels} levels, {kind}: {ends}{source})"

    def _repr_html_(self) -> str:
        n_rows = min(self.n_leaves, 20)
        head = "".join(f"<th>level {level}</th>" for level in range(self.n_levels))
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows(n_rows)
        )
        n_more = self.n_leaves - n_rows
        remark = f"<p>… and {n_more} more leaves</p>" if n_more else ""
        return (
            f"<p>{html.escape(repr(self))}</p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table>{remark}"
        )

    def rows(self, count: int | None = None) -> list[list[str]]:
        """Return the leaves, each with its labels upwards, as in a file.

        >>> from privmoo.hierarchy.hierarchy import Hierarchy
        >>> Hierarchy.tree([["a", "b"], "c"]).rows(1)
        [['a', '{a, b}', '*']]
        """
        count = self.n_leaves if count is None else count
        columns = [self.leaves[:count]]
        for names, blocks in zip(self._names, self.level_blocks[1:], strict=True):
            columns.append(tuple(names[block] for block in blocks[:count]))
        return [list(row) for row in zip(*columns, strict=True)]

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """The leaves each label stands for."""
        places = {leaf: (code, code + 1) for leaf, code in self._index.items()}
        for names, row in zip(self._names, self.level_blocks[1:], strict=True):
            start, stop = spans(row)
            for name, first, end in zip(names, start.tolist(), stop.tolist(), strict=True):
                places[name] = (first, end)
        return places

    @cached_property
    def _node_labels(self) -> dict[tuple[int, int], str]:
        """The lowest name of each node of two leaves or more; for the root its highest."""
        labels: dict[tuple[int, int], str] = {}
        for names, row in zip(self._names, self.level_blocks[1:], strict=True):
            start, stop = spans(row)
            for name, first, end in zip(names, start.tolist(), stop.tolist(), strict=True):
                labels.setdefault((first, end), name)
        if self._names:
            labels[0, self.n_leaves] = self._names[-1][0]
        return labels

    @cached_property
    def _node_levels(self) -> dict[tuple[int, int], int]:
        nodes = self.nodes
        keys = zip(nodes.start.tolist(), nodes.stop.tolist(), strict=True)
        return dict(zip(keys, nodes.level.tolist(), strict=True))

    @cached_property
    def _node_keys(self) -> NDArray[np.int64]:
        return np.sort(self.nodes.start.astype(np.int64) * (self.n_leaves + 1) + self.nodes.stop)

    def _title(self) -> str:
        return f"hierarchy {self.source!r}" if self.source else "the hierarchy"

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.n_levels:
            raise HierarchyError(f"{self._title()} has levels 0 to {self.height}, got {level}")

    def _check_block(self, start: int, stop: int) -> None:
        if not 0 <= start < stop <= self.n_leaves:
            raise HierarchyError(
                f"a block of {self.n_leaves} leaves needs 0 <= start < stop <= {self.n_leaves}, "
                f"got {start} and {stop}"
            )

    def _not_a_node(self, start: int, stop: int) -> HierarchyError:
        return HierarchyError(
            f"leaves {start} to {stop - 1} are not a node of {self._title()}; take a valid cut"
        )

    def _order_label(self, start: int, stop: int) -> str:
        leaves, missing = self.leaves[start:stop], ""
        if leaves[-1] == MISSING and stop == self.n_leaves:
            leaves, stop, missing = leaves[:-1], stop - 1, f" or {MISSING}"
        if len(leaves) == 1:
            text = leaves[0]
        elif self._bounds is not None:
            low, high = float(self._bounds[0, start]), float(self._bounds[1, stop - 1])
            text = interval_label(low, high, integral=self._integral)
        elif self._style == "set":
            text = "{" + ", ".join(map(self._quote, leaves)) + "}"
        else:
            text = f"{self._quote(leaves[0])}–{self._quote(leaves[-1])}"
        text += missing
        while text in self._index:  # a value of the data may look like the label of a block
            text += "·"
        return text

    @cached_property
    def _quotes(self) -> bool:
        special = ",{}" if self._style == "set" else "–"
        return any(not set(special).isdisjoint(leaf) for leaf in self.leaves)

    def _quote(self, leaf: str) -> str:
        return json.dumps(leaf, ensure_ascii=False) if self._quotes else leaf
