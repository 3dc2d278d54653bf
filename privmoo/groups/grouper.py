"""Grouper: candidates of one table become QI-groups, before suppression."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import Attribute, small_uint
from privmoo.data.table import Table
from privmoo.errors import Hint, ProblemError
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.groups.layout import Workspace, lay_out, working_memory
from privmoo.kernels.counts import (
    ROW_CELLS,
    Entries,
    GroupedTuples,
    count_values,
    groups_of_labels,
    persons_of_groups,
)
from privmoo.kernels.grouping import group_candidates
from privmoo.recodings.candidates import Candidates

__all__ = ["Grouper"]

_CHUNK_BYTES = 16 << 20


class Grouper:
    """Groups candidates of one table, a chunk at a time and in one thread.

    Args:
        table: The records.
        needs: What will be read beyond sizes and losses: `"counts"` (of sensitive attributes),
            `"target"` (counts of the target), `"labels"` (the group of every tuple).

    Attributes:
        attributes: The sensitive and target attributes whose values are counted, by name.
        entries: Their sparse counts as the kernels take them.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 1, 2]}), quasi_identifiers=["a"])
    >>> groups = Grouper(table).group(Candidates(blocks=np.array([[0, 1], [0, 0]], np.uint32)))
    >>> groups.n_groups.tolist(), groups[0].sizes.tolist()
    ([2, 1], [2, 1])
    """

    def __init__(self, table: Table, needs: Iterable[str] = ()) -> None:
        self.table = table
        self.needs = frozenset(needs)
        self.layout = lay_out(table)
        self.attributes = self._counted_attributes()
        self.entries = {name: _entries(a) for name, a in self.attributes.items()}
        self._needs_labels = bool(
            self.attributes or table.subjects is not None or "labels" in self.needs
        )

    def _counted_attributes(self) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        if "counts" in self.needs:
            if not self.table.sensitive:
                raise ProblemError(
                    "sensitive: the table has no sensitive attribute, but a measure or policy needs one",
                    hint=Hint(parameter="sensitive", call="Table"),
                )
            attributes.update(self.table.sensitive)
        if "target" in self.needs:
            if self.table.target is None:
                raise ProblemError(
                    "target: the table has no target, but a measure needs one",
                    hint=Hint(parameter="target", call="Table"),
                )
            attributes[self.table.target.name] = self.table.target
        return attributes

    @property
    def chunk(self) -> int:
        """The number of candidates to group at once, so that memory stays small."""
        entries = sum(len(attribute.codes) for attribute in self.attributes.values())
        bytes_per_candidate = (
            self.table.n_tuples * (20 + 4 * self._needs_labels + 16 * len(self.entries))
            + 8 * entries
        )
        return int(np.clip(_CHUNK_BYTES // max(bytes_per_candidate, 1), 1, 64))

    def workspace(self) -> Workspace:
        """Return new working memory, for one thread."""
        return Workspace(working_memory(self.layout))

    def group(self, candidates: Candidates, workspace: Workspace | None = None) -> GroupBatch:
        """Group a chunk of candidates.

        Args:
            candidates: The candidates; a population of more than `chunk` needs much memory.
            workspace: Memory to work in. The groups live in it until its next use.

        Returns:
            The groups of every candidate, before suppression.

        Raises:
            ProblemError: The candidates do not fit the table.
        """
        self._check(candidates)
        memory = self.workspace() if workspace is None else workspace
        n, room = len(candidates), self.table.n_tuples + 1
        wants_labels = (
            self._needs_labels or candidates.labels is not None or candidates.published is not None
        )
        n_groups = np.empty(n, np.int64)
        records = memory.array("sizes", n * room, np.int64)
        losses = memory.array("losses", n * room, np.float64)
        firsts = memory.array("firsts", n * room, np.int32)
        width = room - 1 if wants_labels else 0
        labels = memory.array("labels", n * width, np.int32).reshape(n, width)
        rows = (records.reshape(n, room), losses.reshape(n, room), firsts.reshape(n, room))
        if candidates.blocks is not None:
            group_candidates(
                candidates.blocks, self.layout, memory.scratch, n_groups, *rows, labels
            )
        else:
            self._group_labels(candidates, n_groups, *rows, labels)
        starts = np.arange(n, dtype=np.int64) * room
        groups = GroupBatch(
            table=self.table,
            starts=starts,
            stops=starts + n_groups,
            sizes=records,
            records=records,
            losses=losses,
            firsts=firsts,
            labels=labels if wants_labels else None,
            blocks=candidates.blocks,
            clusters=candidates.labels,
            centres=candidates.centres,
            spans=candidates.spans,
            cells=candidates.cells,
            has_losses=candidates.labels is None or candidates.losses is not None,
        )
        segments = {
            name: self.count(name, entries, groups, memory)
            for name, entries in self.entries.items()
        }
        return replace(groups, sizes=self._persons(groups, memory), segments=segments)

    def count(self, name: str, entries: Entries, groups: GroupBatch, memory: Workspace) -> Segments:
        """Count the values of one attribute in every group.

        Args:
            name: The name of the attribute, and of its buffers.
            entries: Its values, by tuple.
            groups: The groups, with labels.
            memory: Where the counts are kept.

        Returns:
            The values of every group with their counts.
        """
        n, room = len(groups), self.table.n_tuples + 1
        size = (n + 1) * (len(entries.codes) + 1)
        segments = Segments(
            memory.array(f"starts {name}", n * room, np.int64),
            memory.array(f"stops {name}", n * room, np.int64),
            memory.array(f"values {name}", size, np.int32),
            memory.array(f"counts {name}", size, np.int32),
        )
        count_values(
            groups.need_labels(name),
            groups.starts,
            groups.n_groups,
            GroupedTuples(groups.firsts, groups.records, self.layout.weights),
            entries,
            memory.zeros("rows", max(ROW_CELLS, entries.n_values), np.int32),
            memory.array("order", room, np.int32),
            segments,
        )
        return segments

    def _check(self, candidates: Candidates) -> None:
        """Raise unless candidates fit the table; the kernels read what they are given unchecked."""
        n_tuples, offsets = self.table.n_tuples, self.layout.leaf_offsets
        blocks, labels, losses = candidates.blocks, candidates.labels, candidates.losses
        if blocks is not None:
            self._check_shape("blocks", blocks, int(offsets[-1]), "leaves")
            wrong = np.maximum.reduceat(blocks.max(axis=0, initial=0), offsets[:-1]) >= np.diff(
                offsets
            )
            if blocks.dtype.kind != "u":
                wrong |= np.minimum.reduceat(blocks.min(axis=0, initial=0), offsets[:-1]) < 0
            if wrong.any():
                qi = self.table.qis[int(np.argmax(wrong))]
                raise ProblemError(
                    f"candidates: the blocks of {qi.name!r} must be numbered from 0 to at most "
                    f"{qi.n_leaves - 1:,}; was the recoding or the space made for another table?"
                )
        elif labels is not None:
            self._check_shape("labels", labels, n_tuples, "distinct tuples")
            if labels.min(initial=0) < 0:
                raise ProblemError("candidates: the labels of clusters must be numbered from 0")
            if losses is not None:
                self._check_shape("losses", losses, n_tuples, "distinct tuples")

    def _check_shape(self, name: str, rows: NDArray[Any], width: int, columns: str) -> None:
        if rows.ndim != 2 or rows.shape[1] != width:
            raise ProblemError(
                f"candidates: {name} must have one column for each of the table's {width:,} {columns}, "
                f"got the shape {rows.shape}; was the recoding or the space made for another table?"
            )

    def _persons(self, groups: GroupBatch, memory: Workspace) -> NDArray[np.int64]:
        """Return the persons in every group: its records, unless the table has a subject column."""
        links = self.table.subjects
        if links is None or groups.labels is None:
            return groups.records
        room = self.table.n_tuples + 1
        persons = memory.array("persons", len(groups) * room, np.int64)
        stamps = memory.array("stamps", room, np.int64)
        for c, start in enumerate(groups.starts):
            persons_of_groups(
                groups.labels[c],
                groups.n_groups[c],
                links.persons,
                links.offsets,
                links.tuples,
                stamps,
                persons[start : start + room],
            )
        return persons

    def _group_labels(
        self,
        candidates: Candidates,
        n_groups: NDArray[np.int64],
        sizes: NDArray[np.int64],
        losses: NDArray[np.float64],
        firsts: NDArray[np.int32],
        labels: NDArray[np.int32],
    ) -> None:
        clusters = candidates.labels
        if clusters is None:
            raise ProblemError("candidates: neither blocks nor labels were given")
        numbers = np.full(int(clusters.max(initial=0)) + 1, -1, np.int32)
        weights = self.table.weights
        for c in range(len(clusters)):
            n_groups[c] = groups_of_labels(
                clusters[c], weights, numbers, labels[c], sizes[c], firsts[c]
            )
            count = int(n_groups[c])
            losses[c, :count] = 0.0
            if candidates.losses is not None:
                total = np.bincount(
                    labels[c], weights=candidates.losses[c] * weights, minlength=count
                )
                losses[c, :count] = total / sizes[c, :count]


def _entries(attribute: Attribute) -> Entries:
    """Return an attribute's sparse counts in the small types that the kernels like."""
    n_tuples = len(attribute.offsets) - 1
    return Entries(
        tuples=np.repeat(np.arange(n_tuples, dtype=np.uint32), np.diff(attribute.offsets)),
        offsets=attribute.offsets,
        codes=attribute.codes.astype(small_uint(attribute.n_values)),
        counts=attribute.counts.astype(
            np.int32 if attribute.counts.max(initial=0) < 2**31 else np.int64
        )[None, :],
        n_values=attribute.n_values,
        shared=True,
    )
