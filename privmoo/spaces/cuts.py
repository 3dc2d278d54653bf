"""CutSpace: every valid way to merge neighbouring leaves, as strings of bits."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.cuts import Switches, blocks_of, nearest_cuts, valid_cuts
from privmoo.operators import CutMutation, CutSampling, HashDuplicates, LunacekCrossover
from privmoo.recodings.blocks import BlockRecoding, need_hierarchy
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.base import Limits, SearchSpace
from privmoo.spaces.column_cuts import ColumnCuts

__all__ = ["CutSpace"]

_REACH = 3
"""The farthest that a boundary is shifted, in leaves."""
_MOVES_BEFORE = 2
"""The most moves before all columns get their best cuts."""


class CutSpace(SearchSpace):
    """The cuts of all quasi-identifiers of a table, side by side in one string of bits.

    The encoding is Iyengar's (Dewri et al. 2011, section 6.1): for each quasi-identifier one bit
    between neighbouring leaves; 1 keeps them apart. An unconstrained attribute may have any bits;
    for a constrained one every block must be a node of its tree. Bits that `fixed_cuts`,
    `min_level` or `max_level` of a quasi-identifier decide are the same in every valid cut.

    Args:
        table: The records; every quasi-identifier needs a hierarchy.

    Attributes:
        n_bits: Length of the string.
        offsets: Where the bits of each quasi-identifier begin, and `n_bits` at the end.
        constrained: Per quasi-identifier, whether it has a tree.
        fixed_one: Bits that are always 1.
        fixed_zero: Bits that are always 0.
        owner: The switch of every bit. A switch holds the bits between the children of one tree
            node, which are all 1 or all 0; a bit of an unconstrained attribute is its own.
        first: The first bit of every switch.
        parent: The switch that must be open (1) for this one to be open; -1 if there is none.
        begin: The first bit at or below every switch; switches are in pre-order.
        stop: One past the last bit at or below it.
        switch_offsets: Where the switches of each quasi-identifier begin, and their number.
        switches: All of these arrays together, for kernels.

    >>> import pandas as pd
    >>> from privmoo.hierarchy import Hierarchy
    >>> tree = Hierarchy.tree([["a", "b"], ["c", "d"]])
    >>> df = pd.DataFrame({"age": [1, 2, 3], "job": ["a", "b", "d"]})
    >>> space = CutSpace(Table(df, quasi_identifiers={"age": Hierarchy.ordered(), "job": tree}))
    >>> space
    CutSpace(age: 2 bits, job: 3 bits in a tree)
    >>> space.valid([[1, 0, 0, 1, 0], [1, 0, 0, 0, 1]]).tolist()
    [True, False]
    >>> space.blocks([[1, 0, 0, 1, 0]]).tolist()
    [[0, 1, 1, 0, 0, 1, 1]]
    """

    kinds: ClassVar[tuple[str, ...]] = ("cuts",)
    variable_type: ClassVar[type] = bool

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.names = tuple(table.qi_names)
        hierarchies = [need_hierarchy(qi) for qi in table.qis]
        n_bits = [qi.n_leaves - 1 for qi in table.qis]
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum(n_bits)]).astype(np.int64)
        self.n_bits = int(self.offsets[-1])
        self.constrained: NDArray[np.bool_] = np.array([h.constrained for h in hierarchies])
        parts = [_Part(qi) for qi in table.qis]
        switches = np.cumsum([0, *(len(part.parent) for part in parts)])
        for part, bit, switch in zip(parts, self.offsets, switches, strict=False):
            part.owner += switch
            part.parent[part.parent >= 0] += switch
            part.begin += bit
            part.stop += bit

        def join(name: str) -> NDArray[Any]:
            return _frozen(np.concatenate([getattr(part, name) for part in parts]))

        self.fixed_one: NDArray[np.bool_] = join("one")
        self.fixed_zero: NDArray[np.bool_] = join("zero")
        self.owner: NDArray[np.int64] = join("owner")
        self.parent: NDArray[np.int64] = join("parent")
        self.begin: NDArray[np.int64] = join("begin")
        self.stop: NDArray[np.int64] = join("stop")
        self.first: NDArray[np.int64] = _frozen(np.unique(self.owner, return_index=True)[1])
        self.switch_offsets: NDArray[np.int64] = _frozen(switches)
        _frozen(self.offsets)
        _frozen(self.constrained)
        self.switches = Switches(
            fixed_one=self.fixed_one,
            fixed_zero=self.fixed_zero,
            owner=self.owner,
            first=self.first,
            parent=self.parent,
            begin=self.begin,
            stop=self.stop,
            offsets=self.switch_offsets,
            bit_offsets=self.offsets,
        )

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """0 and 1 for every bit."""
        return np.zeros(self.n_bits), np.ones(self.n_bits)

    @property
    def n_attributes(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.names)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all quasi-identifiers together."""
        return self.n_bits + self.n_attributes

    def bits(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """Return rows as bits: booleans as they are, other numbers from one half up are 1.

        >>> import pandas as pd
        >>> from privmoo.hierarchy import Hierarchy
        >>> df = pd.DataFrame({"age": [1, 2, 3]})
        >>> space = CutSpace(Table(df, quasi_identifiers={"age": Hierarchy.ordered()}))
        >>> space.bits([[0.2, 0.7]]).tolist()
        [[False, True]]
        """
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_bits:
            raise ProblemError(
                f"X: one row of {self.n_bits} bits for each candidate, "
                f"got an array of shape {rows.shape}"
            )
        return np.ascontiguousarray(rows if rows.dtype == np.bool_ else rows >= 0.5)

    def blocks(self, X: npt.ArrayLike) -> NDArray[np.uint32]:
        """Return the block of every leaf of every quasi-identifier, numbered from 0 within each."""
        rows = self.bits(X)
        result = np.empty((len(rows), self.n_leaves), np.uint32)
        blocks_of(rows, self.offsets, result)
        return result

    def candidates(self, X: npt.ArrayLike) -> Candidates:
        """Return the blocks of leaves that the bits leave together."""
        return Candidates(blocks=self.blocks(X))

    def recoding(self, x: npt.ArrayLike) -> BlockRecoding:
        """Return the cut of every quasi-identifier."""
        blocks = self.blocks(np.asarray(x)[None, :])[0]
        offsets = np.cumsum([0, *(qi.n_leaves for qi in self.table.qis)])
        return BlockRecoding(self.table.qis, [blocks[a:b] for a, b in pairwise(offsets)])

    def keys(self, X: npt.ArrayLike) -> list[bytes]:
        """Return the bits themselves: different cuts are different recodings."""
        packed = np.packbits(self.bits(X), axis=1)
        return [row.tobytes() for row in packed]

    def operators(self) -> dict[str, Any]:
        """Return tree-aware sampling, Lunacek crossover, valid mutation, and duplicates by hash."""
        return {
            "sampling": CutSampling(),
            "crossover": LunacekCrossover(),
            "mutation": CutMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }

    def neighbours(self, x: npt.ArrayLike) -> NDArray[np.bool_]:
        """Return the cuts one move away: a node opened or closed, a bit flipped, a boundary shifted.

        >>> import pandas as pd
        >>> from privmoo.hierarchy import Hierarchy
        >>> df = pd.DataFrame({"age": [1, 2, 3]})
        >>> space = CutSpace(Table(df, quasi_identifiers={"age": Hierarchy.ordered()}))
        >>> space.neighbours([True, False]).astype(int).tolist()
        [[0, 0], [1, 1], [0, 1]]
        """
        [row] = self.bits(np.asarray(x)[None])
        fixed = self.fixed_one | self.fixed_zero
        is_open = row[self.first]
        reachable = is_open | (self.parent < 0) | is_open[self.parent]
        switches = np.flatnonzero(~fixed[self.first] & reachable)
        opened_or_closed = np.tile(row, (len(switches), 1))
        single = self.stop[switches] - self.begin[switches] == 1
        places = self.begin[switches[single]]
        opened_or_closed[np.flatnonzero(single), places] = ~row[places]
        for i in np.flatnonzero(~single):
            switch = switches[i]
            part = slice(self.begin[switch], self.stop[switch])
            if is_open[switch]:
                opened_or_closed[i, part] &= self.fixed_one[part]
            else:
                opened_or_closed[i, part] |= self.owner[part] == switch
        parts = [opened_or_closed]
        for a, b, tree in zip(self.offsets[:-1], self.offsets[1:], self.constrained, strict=True):
            if not tree:
                parts.append(self._shifted(row, int(a), int(b), ~fixed))
        return np.concatenate(parts)

    def _shifted(
        self, row: NDArray[np.bool_], begin: int, stop: int, is_free: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a cut with one boundary of an unconstrained attribute shifted, in all ways."""
        ends = begin + np.flatnonzero((row & is_free)[begin:stop])
        places = ends[:, None] + np.arange(-_REACH, _REACH + 1)
        inside = (places >= begin) & (places < stop)
        inside &= (~row & is_free)[np.clip(places, begin, stop - 1)]
        which, _ = np.nonzero(inside)
        rows = np.tile(row, (len(which), 1))
        numbers = np.arange(len(which))
        rows[numbers, ends[which]] = False
        rows[numbers, places[inside]] = True
        return rows

    @cached_property
    def columns(self) -> ColumnCuts:
        """What finds the best cut of one column."""
        return ColumnCuts(self)

    @property
    def settles(self) -> bool:
        """Whether any column has few enough leaves."""
        return bool(self.columns.chances.any())

    def settled(
        self, x: NDArray[Any], limits: Limits, rng: np.random.Generator
    ) -> NDArray[np.bool_] | None:
        """Return a cut near another one that no column can improve by itself.

        Up to two random moves come first, and then one column after the other gets its best cut.

        Args:
            x: The other one.
            limits: What groups must have to stay, and how many records may be left out.
            rng: Draws the moves, and the order of the columns.

        Returns:
            The cut; None if that met the limits nowhere.
        """
        [row] = self.bits(np.asarray(x)[None])
        for _ in range(rng.integers(_MOVES_BEFORE, endpoint=True)):
            rows = self.neighbours(row)
            if len(rows):
                row = rows[rng.integers(len(rows))]
        settled, passes = self.columns.settled(row, limits, rng)
        self.passes += passes
        return settled

    def valid(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """Return which rows are valid cuts and respect the fixed bits."""
        rows = self.bits(X)
        result = np.empty(len(rows), np.bool_)
        valid_cuts(rows, self.switches, result)
        return result

    def repair(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """Return the nearest valid cut of every row: the fewest changed bits; if equal, the coarser.

        >>> import pandas as pd
        >>> from privmoo.hierarchy import Hierarchy
        >>> tree = Hierarchy.tree([["a", "b"], ["c", "d"]])
        >>> df = pd.DataFrame({"job": ["a", "d"]})
        >>> space = CutSpace(Table(df, quasi_identifiers={"job": tree}))
        >>> space.repair([[1, 0, 1]]).astype(int).tolist()
        [[1, 1, 1]]
        """
        rows = self.bits(X)
        result = np.empty(rows.shape, np.bool_)
        nearest_cuts(rows, self.switches, result)
        return result

    def finest(self) -> NDArray[np.bool_]:
        """Return the cut that merges only what must be merged."""
        return ~self.fixed_zero

    def coarsest(self) -> NDArray[np.bool_]:
        """Return the cut that merges everything that may be merged."""
        return self.fixed_one.copy()

    def split(self, x: npt.ArrayLike) -> list[NDArray[np.bool_]]:
        """Return the bits of each quasi-identifier.

        >>> import pandas as pd
        >>> from privmoo.hierarchy import Hierarchy
        >>> df = pd.DataFrame({"age": [1, 2, 3], "sex": list("fmf")})
        >>> qis = {"age": Hierarchy.ordered(), "sex": Hierarchy.flat()}
        >>> [part.tolist() for part in CutSpace(Table(df, quasi_identifiers=qis)).split([1, 0, 1])]
        [[True, False], [True]]
        """
        row = self.bits(np.asarray(x)[None])[0]
        return np.split(row, self.offsets[1:-1])

    def __repr__(self) -> str:
        parts = [
            f"{name}: {n} bits{' in a tree' if tree else ''}"
            for name, n, tree in zip(
                self.names, np.diff(self.offsets).tolist(), self.constrained, strict=True
            )
        ]
        return f"CutSpace({', '.join(parts)})"


class _Part:
    """The bits and switches of one quasi-identifier, counted from its own first."""

    def __init__(self, qi: QIColumn) -> None:
        hierarchy = need_hierarchy(qi)
        n = qi.n_leaves - 1
        self.one: NDArray[np.bool_] = hierarchy.cut_of_level(qi.max_level)
        self.one[list(qi.fixed_cuts)] = True
        self.zero: NDArray[np.bool_] = ~hierarchy.cut_of_level(qi.min_level)
        if hierarchy.constrained:
            self._tree(hierarchy)
        else:
            self.owner: NDArray[np.int64] = np.arange(n)
            self.parent: NDArray[np.int64] = np.full(n, -1)
            self.begin: NDArray[np.int64] = np.arange(n)
            self.stop: NDArray[np.int64] = np.arange(1, n + 1)
        if (self.one & self.zero).any():
            raise ProblemError(
                f"quasi_identifiers: min_level={qi.min_level} of {qi.name!r} merges leaves that its "
                "fixed_cuts keep apart; lower the level or leave out that cut"
            )

    def _tree(self, hierarchy: Hierarchy) -> None:
        nodes = hierarchy.nodes
        inner = np.flatnonzero(nodes.stop - nodes.start > 1)
        inner = inner[np.lexsort((-nodes.stop[inner], nodes.start[inner]))]
        number = np.full(len(nodes.start) + 1, -1)  # the last entry answers for the root's parent
        number[inner] = np.arange(len(inner))
        self.parent = number[nodes.parent[inner]]
        self.begin = nodes.start[inner].astype(np.int64)
        self.stop = nodes.stop[inner].astype(np.int64) - 1
        self.owner = np.empty(len(self.one), np.int64)
        for switch, (begin, stop) in enumerate(zip(self.begin, self.stop, strict=True)):
            self.owner[begin:stop] = switch  # pre-order: what is deeper is written later
        # A switch with one fixed bit is open, and so is every switch above it.
        is_open = np.zeros(len(inner), np.bool_)
        is_open[self.owner[self.one]] = True
        for switch in range(len(inner) - 1, 0, -1):
            is_open[self.parent[switch]] |= is_open[switch]
        self.one = is_open[self.owner]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
