"""Recodings: what a release says instead of the original quasi-identifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.candidates import Candidates
from privmoo.columns import QIColumn
from privmoo.errors import HierarchyError, ReleaseError
from privmoo.hierarchy import Hierarchy
from privmoo.table import Table

__all__ = ["BlockRecoding", "Recoding", "cut_recoding", "identity_recoding", "level_recoding"]


class Recoding(ABC):
    """The contract that Front, Release and the audit rely on; a new formulation brings a new one."""

    @abstractmethod
    def candidate(self, table: Table) -> Candidates:
        """The recoding as the engine groups it."""

    @abstractmethod
    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The released quasi-identifiers of some rows of the table."""

    @abstractmethod
    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Per quasi-identifier and released label, the leaves it stands for."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """What happens to each quasi-identifier, in words."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data that `privmoo.recoding.from_json` reads back."""

    @abstractmethod
    def key(self) -> bytes:
        """Equal for equal recodings."""


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
        qi, blocks = self.qis[j], self.blocks[j]
        starts = np.flatnonzero(np.diff(blocks, prepend=blocks[0] + 1))
        stops = np.append(starts[1:], len(blocks))
        if qi.hierarchy is None:
            return [qi.leaves[a] for a in starts]
        if self.levels is not None:
            # A node of one leaf is called by its own name: "199*", not the only year under it.
            return list(qi.hierarchy.level_labels(self.levels[j]))
        return [qi.hierarchy.label(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]

    def _untouched(self, j: int) -> bool:
        return self.qis[j].exact and int(self.blocks[j][-1]) + 1 == self.qis[j].n_leaves

    def candidate(self, table: Table) -> Candidates:
        """One row of blocks."""
        return Candidates(blocks=np.concatenate(self.blocks)[None, :].astype(np.uint32))

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Labels of blocks; a column that is not generalised at all keeps its values and type."""
        columns = {}
        for j, qi in enumerate(self.qis):
            if self._untouched(j):
                columns[qi.name] = table.frame[qi.name].iloc[rows].reset_index(drop=True)
                continue
            labels = np.array(self.labels(j), dtype=object)
            codes = table.tuples[table.row_tuple[rows], j]
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
            blocks = self.blocks[j]
            starts = np.flatnonzero(np.diff(blocks, prepend=blocks[0] + 1))
            stops = np.append(starts[1:], len(blocks))
            height = 0 if qi.hierarchy is None else qi.hierarchy.height
            result[qi.name] = {
                label: qi.hierarchy.level_of(int(a), int(b)) / height
                if qi.hierarchy is not None and height
                else 0.0
                for label, a, b in zip(self.labels(j), starts, stops, strict=True)
            }
        return result

    def describe(self) -> dict[str, str]:
        """Blocks in words, e.g. `17–29 | 30–44 | 45–90`."""
        words = {}
        for j, qi in enumerate(self.qis):
            n_blocks = int(self.blocks[j][-1]) + 1
            if n_blocks == 1 and qi.n_leaves > 1:
                words[qi.name] = "* (nothing is told)"
            elif n_blocks == qi.n_leaves:
                words[qi.name] = f"as it is ({n_blocks} values)"
            else:
                words[qi.name] = " | ".join(self.labels(j))
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
        if not 0 <= level <= hierarchy.height:
            raise ReleaseError(
                f"levels: {qi.name!r} has levels 0 to {hierarchy.height}, got {level}"
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
    raise ReleaseError(f"recoding: unknown kind {kind!r}; known are 'cuts' and 'levels'")
