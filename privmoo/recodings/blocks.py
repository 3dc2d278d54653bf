"""Recodings by blocks: neighbouring leaves share a label, the same for all records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.errors import HierarchyError, Hint, RecodingError
from privmoo.hierarchy import Hierarchy
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.columns import Labels

__all__ = [
    "BlockRecoding",
    "LevelRecoding",
    "cut_recoding",
    "identity_recoding",
    "level_recoding",
    "need_hierarchy",
]


class BlockRecoding(Recoding):
    """A recoding that publishes every leaf as its block: a cut of the domain.

    Made by `cut_recoding` or `identity_recoding`.

    Args:
        qis: The quasi-identifiers.
        blocks: The block of every leaf of every quasi-identifier, numbered from 0.

    >>> table = Table(pd.DataFrame({"age": [1, 2, 3]}), quasi_identifiers={"age": Hierarchy.ordered()})
    >>> recoding = cut_recoding(table, [[1, 0]])
    >>> recoding.describe()
    {'age': '1 | 2–3'}
    >>> recoding.apply(table, np.arange(3))["age"].tolist()
    ['1', '2–3', '2–3']
    """

    name: ClassVar[str] = "cuts"

    def __init__(self, qis: Sequence[QIColumn], blocks: Sequence[NDArray[Any]]) -> None:
        self.qis = tuple(qis)
        self.blocks = tuple(np.asarray(b, dtype=np.uint32) for b in blocks)
        for block in self.blocks:
            block.setflags(write=False)

    @cached_property
    def columns(self) -> tuple[Labels, ...]:
        """The labels of the blocks, in the order of the leaves."""
        return tuple(self._column(j) for j in range(len(self.qis)))

    def _column(self, j: int) -> Labels:
        qi, blocks = self.qis[j], self.blocks[j]
        start = np.flatnonzero(np.diff(blocks, prepend=blocks[0] + 1))
        stop = np.append(start[1:], len(blocks))
        spans = list(zip(start.tolist(), stop.tolist(), strict=True))
        shares = np.zeros(len(spans))
        if qi.hierarchy is not None and qi.hierarchy.height:
            levels = [qi.hierarchy.level_of(a, b) for a, b in spans]
            shares = np.array(levels) / qi.hierarchy.height
        return Labels(
            qi=qi,
            codes=blocks,
            scope="value",
            labels=[self._label(j, a, b) for a, b in spans],
            start=start,
            stop=stop,
            shares=shares,
        )

    def _label(self, j: int, start: int, stop: int) -> str:
        qi = self.qis[j]
        if qi.hierarchy is None:
            return qi.leaves[start]
        # A node that has the name of its only leaf would tell more than its level allows: "199*", not
        # the only year under it.
        level = self._lowest_level(j)
        if level > 0 and qi.hierarchy.constrained:
            level = max(level, qi.hierarchy.level_of(start, stop))
            return qi.hierarchy.level_labels(level)[int(qi.hierarchy.level_blocks[level, start])]
        return qi.hierarchy.label(start, stop)

    def _lowest_level(self, j: int) -> int:
        return self.qis[j].min_level

    def _is_original(self, j: int) -> bool:
        qi = self.qis[j]
        is_finest = int(self.blocks[j][-1]) + 1 == qi.n_leaves
        return qi.as_is and self._lowest_level(j) == 0 and is_finest

    @property
    def whole_tuples(self) -> bool:
        """Always true: a leaf has one block."""
        return True

    def candidate(self, table: Table) -> Candidates:
        """Return one row of blocks."""
        return Candidates(blocks=np.concatenate(self.blocks)[None, :].astype(np.uint32))

    def codes(self, table: Table, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Return the blocks of some rows.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        leaves = table.tuples[table.originals.tuples[rows]]
        return [blocks[leaves[:, j]] for j, blocks in enumerate(self.blocks)]

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Return the labels of some rows; a column that is not generalised keeps values and type.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        columns = {}
        for j, (column, codes) in enumerate(
            zip(self.columns, self.codes(table, rows), strict=True)
        ):
            if not self._is_original(j):
                columns[column.name] = column.series(codes)
                continue
            values = table.originals.frame[column.name].iloc[rows].reset_index(drop=True)
            if pd.api.types.is_float_dtype(values.dtype):
                values = values + 0.0  # -0.0 and 0.0 are one value and must look like one
            columns[column.name] = values
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        """Return the cuts by quasi-identifier."""
        cuts = {
            qi.name: np.flatnonzero(np.diff(self.blocks[j].astype(np.int64))).tolist()
            for j, qi in enumerate(self.qis)
        }
        return {"kind": self.name, "cuts": cuts}

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> BlockRecoding:
        """Read back what `to_json` wrote.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """
        bits = []
        for qi in table.qis:
            cut = np.zeros(max(qi.n_leaves - 1, 0), dtype=bool)
            places = data["cuts"][qi.name]
            if not isinstance(places, list):
                raise RecodingError(f"recoding: the cuts of {qi.name!r} are not a list")
            for place in places:
                _check_place(qi, place, len(cut))
                cut[place] = True
            bits.append(cut)
        return cut_recoding(table, bits)

    def key(self) -> bytes:
        """Return the blocks: the same partition is the same recoding, however it was computed."""
        return np.concatenate(self.blocks).astype(np.uint32).tobytes()


class LevelRecoding(BlockRecoding):
    """A recoding that publishes every quasi-identifier at one level of its hierarchy.

    Made by `level_recoding`.

    Args:
        qis: The quasi-identifiers.
        levels: The level of every quasi-identifier.
    """

    name: ClassVar[str] = "levels"

    def __init__(self, qis: Sequence[QIColumn], levels: Sequence[int]) -> None:
        self.levels = tuple(int(level) for level in levels)
        pairs = zip(qis, self.levels, strict=True)
        super().__init__(qis, [need_hierarchy(qi).level_blocks[level] for qi, level in pairs])

    def _label(self, j: int, start: int, stop: int) -> str:
        hierarchy, level = need_hierarchy(self.qis[j]), self.levels[j]
        if level == 0:
            return hierarchy.label(start, stop)
        return hierarchy.level_labels(level)[int(hierarchy.level_blocks[level, start])]

    def _lowest_level(self, j: int) -> int:
        return self.levels[j]

    def to_json(self) -> dict[str, Any]:
        """Return the levels by quasi-identifier."""
        names = [qi.name for qi in self.qis]
        return {"kind": self.name, "levels": dict(zip(names, self.levels, strict=True))}

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> LevelRecoding:
        """Read back what `to_json` wrote.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """
        levels = data["levels"]
        for qi in table.qis:
            _check_place(qi, levels[qi.name], qi.max_level + 1)
        return level_recoding(table, levels)


def _check_place(qi: QIColumn, place: object, stop: int) -> None:
    """Raise an error if a place is not below `stop`: numpy counts -1 from the end, and reads true as 1."""
    is_whole = isinstance(place, int) and not isinstance(place, bool)
    if not (is_whole and 0 <= place < stop):  # type: ignore[operator]
        raise RecodingError(
            f"recoding: {qi.name!r} has a cut or level that is not a whole number below {stop}"
        )


def identity_recoding(table: Table) -> BlockRecoding:
    """Return the recoding that generalises nothing.

    >>> table = Table(pd.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"])
    >>> identity_recoding(table).describe()
    {'age': 'as it is (2 values)'}
    """
    return BlockRecoding(table.qis, [np.arange(qi.n_leaves) for qi in table.qis])


def cut_recoding(table: Table, bits: Sequence[Sequence[int] | NDArray[Any]]) -> BlockRecoding:
    """Make a recoding from one bit string per quasi-identifier.

    Args:
        table: The records.
        bits: Per quasi-identifier a bit for every pair of neighbouring leaves: 1 keeps them apart.

    Raises:
        RecodingError: If the bits do not fit the leaves, the tree or the levels of a quasi-identifier.
    """
    if len(bits) != table.n_qis:
        raise RecodingError(f"bits: one string for each of {table.n_qis} QIs, got {len(bits)}")
    blocks = []
    for qi, string in zip(table.qis, bits, strict=True):
        cut = np.asarray(string).astype(bool)
        hierarchy = need_hierarchy(qi)
        if cut.shape != (qi.n_leaves - 1,):
            raise RecodingError(
                f"bits: {qi.name!r} has {qi.n_leaves} leaves and needs {qi.n_leaves - 1} bits, "
                f"got {cut.size}"
            )
        if not hierarchy.is_valid_cut(cut):
            raise RecodingError(
                f"bits: those of {qi.name!r} merge leaves that are not a node of its tree"
            )
        lowest, highest = hierarchy.cut_of_level(qi.min_level), hierarchy.cut_of_level(qi.max_level)
        if (cut & ~lowest).any() or (highest & ~cut).any() or not cut[list(qi.fixed_cuts)].all():
            raise RecodingError(
                f"bits: those of {qi.name!r} leave its levels {qi.min_level} to {qi.max_level} or its "
                "fixed cuts"
            )
        blocks.append(np.concatenate([[0], np.cumsum(cut)]))
    return BlockRecoding(table.qis, blocks)


def level_recoding(table: Table, levels: Sequence[int] | Mapping[str, int]) -> LevelRecoding:
    """Make a recoding from one generalization level per quasi-identifier.

    Args:
        table: The records.
        levels: The levels, in the order of the quasi-identifiers or by name.

    Raises:
        RecodingError: If a level is not one that the quasi-identifier may have.
    """
    if isinstance(levels, Mapping):
        levels = [levels[name] for name in table.qi_names]
    if len(levels) != table.n_qis:
        raise RecodingError(f"levels: one for each of {table.n_qis} QIs, got {len(levels)}")
    for qi, level in zip(table.qis, levels, strict=True):
        need_hierarchy(qi)
        if not qi.min_level <= level <= qi.max_level:
            raise RecodingError(
                f"levels: {qi.name!r} may have levels {qi.min_level} to {qi.max_level}, got {level}"
            )
    return LevelRecoding(table.qis, levels)


def need_hierarchy(qi: QIColumn) -> Hierarchy:
    """Return the hierarchy of a quasi-identifier.

    Raises:
        HierarchyError: If it has none.
    """
    if qi.hierarchy is None:
        raise HierarchyError(
            f"quasi_identifiers: {qi.name!r} has no hierarchy, and cuts and levels need one",
            hint=Hint(parameter="hierarchy", call="QuasiIdentifier"),
        )
    return qi.hierarchy
