"""Recodings: what a release says instead of the original quasi-identifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.errors import HierarchyError, ReleaseError
from privmoo.hierarchy import Hierarchy
from privmoo.recodings.candidates import Candidates

__all__ = ["BlockRecoding", "Recoding", "cut_recoding", "identity_recoding", "level_recoding"]


class Recoding(ABC):
    """The contract that Front, Release and the audit rely on; a new formulation brings a new one."""

    @abstractmethod
    def candidate(self, table: Table) -> Candidates:
        """The recoding as the engine groups it; `table` is the view, or finer."""

    def view(self, table: Table) -> Table:
        """The table as the engine must see it: split where equal records are published differently."""
        return table

    @property
    def whole_tuples(self) -> bool:
        """Whether equal records are always published alike: then a scanned table can be released."""
        return False

    @abstractmethod
    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The released quasi-identifiers of some rows of the table."""

    @abstractmethod
    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Per quasi-identifier and released label, the leaves it stands for."""

    @abstractmethod
    def describe(self, released: Mapping[str, Collection[str]] | None = None) -> dict[str, str]:
        """What happens to each quasi-identifier, in words.

        With the labels that are `released`, only these are told: a certificate must not name a value
        that only suppressed records have.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data that `privmoo.recodings.recoding.from_json` reads back."""

    @abstractmethod
    def key(self) -> bytes:
        """Equal for equal recodings."""

    def facts(self) -> dict[str, Any]:
        """What was done beyond `describe`, as plain data for the certificate."""
        return {}

    def cautions(self) -> tuple[str, ...]:
        """What does not follow from it, in sentences for the certificate."""
        return ()

    def noised(self) -> list[str]:
        """The quasi-identifiers that are published with noise, record by record."""
        return []


class BlockRecoding(Recoding):
    """Every leaf is published as its block: a cut of the domain, or one level for a whole column.

    Made by `cut_recoding`, `level_recoding` or `identity_recoding`.

    >>> table = Table(pd.DataFrame({"age": [1, 2, 3]}), quasi_identifiers={"age": Hierarchy.ordered()})
    >>> recoding = cut_recoding(table, [[1, 0]])
    >>> recoding.describe()
    {'age': '1 | 2–3'}
    >>> recoding.apply(table, np.arange(3))["age"].tolist()
    ['1', '2–3', '2–3']
    """

    def __init__(
        self,
        qis: Sequence[QIColumn],
        blocks: Sequence[NDArray[Any]],
        *,
        levels: Sequence[int] | None = None,
    ) -> None:
        self.qis = tuple(qis)
        self.blocks = tuple(np.asarray(b, dtype=np.uint32) for b in blocks)
        self.levels = None if levels is None else tuple(int(level) for level in levels)
        for block in self.blocks:
            block.setflags(write=False)

    def labels(self, j: int) -> list[str]:
        """Labels of the blocks of quasi-identifier j, in the order of the leaves."""
        qi = self.qis[j]
        return [self._label(qi, j, a, b) for a, b in self._bounds(j)]

    def _bounds(self, j: int) -> list[tuple[int, int]]:
        """First leaf and end of every block of quasi-identifier j."""
        blocks = self.blocks[j]
        starts = np.flatnonzero(np.diff(blocks, prepend=blocks[0] + 1))
        return list(zip(starts.tolist(), [*starts[1:].tolist(), len(blocks)], strict=True))

    def _label(self, qi: QIColumn, j: int, start: int, stop: int) -> str:
        if qi.hierarchy is None:
            return qi.leaves[start]
        # A node that has the name of its only leaf below would tell more than its level allows:
        # "199*", not the only year under it.
        level = qi.min_level
        if self.levels is not None:
            level = self.levels[j]
        elif level > 0:
            level = max(level, qi.hierarchy.level_of(start, stop))
        if level > 0 and (qi.hierarchy.constrained or self.levels is not None):
            return qi.hierarchy.level_labels(level)[int(qi.hierarchy.level_blocks[level, start])]
        return qi.hierarchy.label(start, stop)

    def _untouched(self, j: int) -> bool:
        qi = self.qis[j]
        level = qi.min_level if self.levels is None else self.levels[j]
        return qi.as_is and level == 0 and int(self.blocks[j][-1]) + 1 == qi.n_leaves

    @property
    def whole_tuples(self) -> bool:
        """Always: a leaf has one block."""
        return True

    def candidate(self, table: Table) -> Candidates:
        """One row of blocks."""
        return Candidates(blocks=np.concatenate(self.blocks)[None, :].astype(np.uint32))

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Labels of blocks; a column that is not generalised at all keeps its values and type."""
        columns = {}
        for j, qi in enumerate(self.qis):
            if self._untouched(j):
                own = table.originals.frame[qi.name].iloc[rows].reset_index(drop=True)
                if pd.api.types.is_float_dtype(own.dtype):
                    own = own + 0.0  # -0.0 and 0.0 are one value and must look like one
                columns[qi.name] = own
                continue
            labels = np.array(self.labels(j), dtype=object)
            codes = table.tuples[table.originals.tuples[rows], j]
            columns[qi.name] = pd.Series(labels[self.blocks[j][codes]], dtype="str")
        return pd.DataFrame(columns)

    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Leaves by label."""
        result = {}
        for j, qi in enumerate(self.qis):
            own: dict[str, list[str]] = {label: [] for label in self.labels(j)}
            names = list(own)
            for leaf, block in zip(qi.leaves, self.blocks[j], strict=True):
                own[names[block]].append(leaf)
            result[qi.name] = own
        return result

    def relative_levels(self) -> dict[str, dict[str, float]]:
        """Per quasi-identifier and label, the level of the label over the hierarchy's height."""
        result = {}
        for j, qi in enumerate(self.qis):
            height = 0 if qi.hierarchy is None else qi.hierarchy.height
            result[qi.name] = {
                self._label(qi, j, a, b): qi.hierarchy.level_of(a, b) / height
                if qi.hierarchy is not None and height
                else 0.0
                for a, b in self._bounds(j)
            }
        return result

    def describe(self, released: Mapping[str, Collection[str]] | None = None) -> dict[str, str]:
        """Blocks in words, e.g. `17–29 | 30–44 | 45–90`."""
        words = {}
        for j, qi in enumerate(self.qis):
            n_blocks = int(self.blocks[j][-1]) + 1
            labels = self.labels(j)
            if released is not None:
                labels = [label for label in labels if label in released[qi.name]]
            if n_blocks == 1 and qi.n_leaves > 1:
                words[qi.name] = "* (fully suppressed)"
            elif n_blocks == qi.n_leaves and qi.exact:
                words[qi.name] = f"as it is ({len(labels)} values)"
            elif n_blocks == qi.n_leaves:
                words[qi.name] = f"base intervals as they are ({len(labels)})"
            else:
                words[qi.name] = " | ".join(labels)
        return words

    def to_json(self) -> dict[str, Any]:
        """Starts of blocks, or levels, by quasi-identifier."""
        if self.levels is not None:
            names = [qi.name for qi in self.qis]
            return {"kind": "levels", "levels": dict(zip(names, self.levels, strict=True))}
        cuts = {
            qi.name: np.flatnonzero(np.diff(self.blocks[j].astype(np.int64))).tolist()
            for j, qi in enumerate(self.qis)
        }
        return {"kind": "cuts", "cuts": cuts}

    def key(self) -> bytes:
        """The blocks themselves: the same partition is the same recoding, however it was found."""
        return np.concatenate(self.blocks).astype(np.uint32).tobytes()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


def identity_recoding(table: Table) -> BlockRecoding:
    """Nothing is generalised.

    >>> table = Table(pd.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"])
    >>> identity_recoding(table).describe()
    {'age': 'as it is (2 values)'}
    """
    return BlockRecoding(table.qis, [np.arange(qi.n_leaves) for qi in table.qis])


def cut_recoding(table: Table, bits: Sequence[Sequence[int] | NDArray[Any]]) -> BlockRecoding:
    """A recoding from one bit string per quasi-identifier: 1 keeps neighbouring leaves apart."""
    if len(bits) != table.n_qis:
        raise ReleaseError(f"bits: one string for each of {table.n_qis} QIs, got {len(bits)}")
    blocks = []
    for qi, own in zip(table.qis, bits, strict=True):
        cut = np.asarray(own).astype(bool)
        hierarchy = need_hierarchy(qi)
        if cut.shape != (qi.n_leaves - 1,):
            raise ReleaseError(
                f"bits: {qi.name!r} has {qi.n_leaves} leaves and needs {qi.n_leaves - 1} bits, "
                f"got {cut.size}"
            )
        if not hierarchy.is_valid_cut(cut):
            raise ReleaseError(
                f"bits: those of {qi.name!r} merge leaves that are no node of its tree"
            )
        lowest, highest = hierarchy.cut_of_level(qi.min_level), hierarchy.cut_of_level(qi.max_level)
        if (cut & ~lowest).any() or (highest & ~cut).any() or not cut[list(qi.fixed_cuts)].all():
            raise ReleaseError(
                f"bits: those of {qi.name!r} leave its levels {qi.min_level} to {qi.max_level} or its "
                "fixed cuts"
            )
        blocks.append(np.concatenate([[0], np.cumsum(cut)]))
    return BlockRecoding(table.qis, blocks)


def level_recoding(table: Table, levels: Sequence[int] | Mapping[str, int]) -> BlockRecoding:
    """A recoding from one generalization level per quasi-identifier."""
    if isinstance(levels, Mapping):
        levels = [levels[name] for name in table.qi_names]
    if len(levels) != table.n_qis:
        raise ReleaseError(f"levels: one for each of {table.n_qis} QIs, got {len(levels)}")
    blocks = []
    for qi, level in zip(table.qis, levels, strict=True):
        hierarchy = need_hierarchy(qi)
        if not qi.min_level <= level <= qi.max_level:
            raise ReleaseError(
                f"levels: {qi.name!r} may have levels {qi.min_level} to {qi.max_level}, got {level}"
            )
        blocks.append(hierarchy.level_blocks[level])
    return BlockRecoding(table.qis, blocks, levels=levels)


def need_hierarchy(qi: QIColumn) -> Hierarchy:
    """The hierarchy of a quasi-identifier, or one sentence that it has none."""
    if qi.hierarchy is None:
        raise HierarchyError(
            f"quasi_identifiers: {qi.name!r} has no hierarchy, and cuts and levels need one; "
            "give it one, e.g. Hierarchy.ordered() or Hierarchy.flat()"
        )
    return qi.hierarchy


def from_json(table: Table, data: Mapping[str, Any]) -> Recoding:
    """Read back what `to_json` wrote, for the same table."""
    kind = data.get("kind")
    if kind == "levels":
        return level_recoding(table, data["levels"])
    if kind == "cuts":
        bits = []
        for qi in table.qis:
            own = np.zeros(max(qi.n_leaves - 1, 0), dtype=bool)
            own[np.asarray(data["cuts"][qi.name], dtype=np.int64)] = True
            bits.append(own)
        return cut_recoding(table, bits)
    if kind == "classes":
        from privmoo.recodings.classes import PartitionRecoding

        return PartitionRecoding.from_json(table, data)
    if kind == "cells":
        from privmoo.recodings.cells import CellRecoding

        return CellRecoding.from_json(table, data)
    raise ReleaseError(
        f"recoding: unknown kind {kind!r}; known are 'cuts', 'levels', 'classes' and 'cells'"
    )
