"""CutSpace: every valid way to merge neighbouring leaves, as strings of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from privmoo.columns import QIColumn
from privmoo.errors import ProblemError
from privmoo.kernels.cuts import blocks_of, nearest_cuts, valid_cuts
from privmoo.recoding import need_hierarchy
from privmoo.table import Table

__all__ = ["CutSpace", "space_of"]


class CutSpace:
    """The cuts of all quasi-identifiers of a table, side by side in one string of bits.

    The encoding is Iyengar's (Dewri et al. 2011, section 6.1): for each quasi-identifier one bit
    between neighbouring leaves; 1 keeps them apart. An unconstrained attribute may have any bits;
    for a constrained one every block must be a node of its tree. Bits that `fixed_cuts`,
    `min_level` or `max_level` of a quasi-identifier decide are the same in every valid cut.

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
        end: One past the last switch below; switches are in pre-order.
        switch_offsets: Where the switches of each quasi-identifier begin, and their number.

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

    def __init__(self, table: Table) -> None:
        self.names = tuple(table.qi_names)
        hierarchies = [need_hierarchy(qi) for qi in table.qis]
        n_bits = [qi.n_leaves - 1 for qi in table.qis]
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum(n_bits)]).astype(np.int64)
        self.n_bits = int(self.offsets[-1])
        self.constrained: NDArray[np.bool_] = np.array([h.constrained for h in hierarchies])
        fixed_one, fixed_zero, owner, parent, switches = [], [], [], [], [0]
        for qi in table.qis:
            one, zero = _fixed(qi)
            if need_hierarchy(qi).constrained:
                own, above = _switches(qi)
                _open_upwards(one, own, above)
            else:
                own, above = np.arange(len(one)), np.full(len(one), -1)
            both = np.flatnonzero(one & zero)
            if both.size:
                raise ProblemError(
                    f"quasi_identifiers: min_level={qi.min_level} of {qi.name!r} merges leaves "
                    f"{qi.leaves[both[0]]!r} and {qi.leaves[both[0] + 1]!r}, which its fixed_cuts "
                    "keep apart; lower the level or leave out that cut"
                )
            fixed_one.append(one)
            fixed_zero.append(zero)
            owner.append(own + switches[-1])
            parent.append(np.where(above < 0, -1, above + switches[-1]))
            switches.append(switches[-1] + len(above))
        self.fixed_one: NDArray[np.bool_] = _frozen(np.concatenate(fixed_one))
        self.fixed_zero: NDArray[np.bool_] = _frozen(np.concatenate(fixed_zero))
        self.owner: NDArray[np.int64] = _frozen(np.concatenate(owner).astype(np.int64))
        self.parent: NDArray[np.int64] = _frozen(np.concatenate(parent).astype(np.int64))
        self.switch_offsets: NDArray[np.int64] = _frozen(np.array(switches, dtype=np.int64))
        self.first: NDArray[np.int64] = _frozen(np.unique(self.owner, return_index=True)[1])
        self.end: NDArray[np.int64] = _frozen(_subtree_ends(self.parent))
        _frozen(self.offsets)
        _frozen(self.constrained)

    @property
    def n_attributes(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.names)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all quasi-identifiers together."""
        return self.n_bits + self.n_attributes

    def bits(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """Rows as bits: booleans as they are, other numbers from one half up are 1.

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
        """The block of every leaf of every quasi-identifier, numbered from 0 within each."""
        rows = self.bits(X)
        result = np.empty((len(rows), self.n_leaves), np.uint32)
        blocks_of(rows, self.offsets, result)
        return result

    def valid(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """Which rows are valid cuts and respect the fixed bits."""
        rows = self.bits(X)
        result = np.empty(len(rows), np.bool_)
        valid_cuts(
            rows, self.fixed_one, self.fixed_zero, self.owner, self.first, self.parent, result
        )
        return result

    def repair(self, X: npt.ArrayLike) -> NDArray[np.bool_]:
        """The nearest valid cut of every row: the fewest changed bits; if equal, the coarser.

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
        nearest_cuts(
            rows, self.fixed_one, self.fixed_zero, self.owner, self.first, self.parent, result
        )
        return result

    def finest(self) -> NDArray[np.bool_]:
        """The cut that merges nothing it need not."""
        return ~self.fixed_zero

    def coarsest(self) -> NDArray[np.bool_]:
        """The cut that merges all it may."""
        return self.fixed_one.copy()

    def split(self, x: npt.ArrayLike) -> list[NDArray[np.bool_]]:
        """The bits of each quasi-identifier.

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


def space_of(problem: Any) -> CutSpace:
    """The space of a problem whose variables are cuts: its attribute `space`.

    >>> space_of(object())
    Traceback (most recent call last):
    ...
    privmoo.errors.ProblemError: problem: object has no cuts to work on; operators of cuts need a ...
    """
    space = getattr(problem, "space", None)
    if not isinstance(space, CutSpace):
        raise ProblemError(
            f"problem: {type(problem).__name__} has no cuts to work on; operators of cuts need a "
            "problem with an attribute space that is a CutSpace"
        )
    return space


def _fixed(qi: QIColumn) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Bits that the quasi-identifier's own bounds make 1, and those that they make 0."""
    hierarchy = need_hierarchy(qi)
    one = hierarchy.cut_of_level(qi.max_level)
    one[list(qi.fixed_cuts)] = True
    return one, ~hierarchy.cut_of_level(qi.min_level)


def _switches(qi: QIColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For a tree: the switch of every bit, and the parent of every switch, in pre-order."""
    nodes = need_hierarchy(qi).nodes
    inner = np.flatnonzero(nodes.stop - nodes.start > 1)
    inner = inner[np.lexsort((-nodes.stop[inner], nodes.start[inner]))]
    number = np.full(len(nodes.start) + 1, -1)  # the last entry answers for the root's parent
    number[inner] = np.arange(len(inner))
    owner = np.empty(qi.n_leaves - 1, np.int64)
    for switch, node in enumerate(inner):  # pre-order: what is deeper is written later
        owner[nodes.start[node] : nodes.stop[node] - 1] = switch
    return owner, number[nodes.parent[inner]]


def _open_upwards(
    one: NDArray[np.bool_], owner: NDArray[np.int64], parent: NDArray[np.int64]
) -> None:
    """Close the fixed ones under validity: a switch with one open bit is open, and so above it."""
    is_open = np.zeros(len(parent), np.bool_)
    is_open[owner[one]] = True
    for switch in range(len(parent) - 1, 0, -1):
        is_open[parent[switch]] |= is_open[switch]
    one[:] = is_open[owner]


def _subtree_ends(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    end = np.arange(1, len(parent) + 1)
    for switch in range(len(parent) - 1, -1, -1):
        if parent[switch] >= 0:
            end[parent[switch]] = max(end[parent[switch]], end[switch])
    return end


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
