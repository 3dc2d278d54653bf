"""The engine: whole populations of candidates through grouping, suppression and measures.

Candidates are taken in chunks, so that memory is bounded by threads and chunk, not by the population;
threads run whole chunks, every kernel without the GIL.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import Attribute, small_uint
from privmoo.data.table import Table
from privmoo.errors import Hint, ProblemError
from privmoo.groups.groups import GroupBatch, Grouping, Segments
from privmoo.groups.layout import Workspace, lay_out, working_memory
from privmoo.kernels.counts import (
    ROW_CELLS,
    Entries,
    GroupedTuples,
    count_values,
    groups_of_labels,
    persons_of_groups,
    recount,
)
from privmoo.kernels.grouping import group_candidates
from privmoo.kernels.suppression import move_kept_to_front, relabel, take
from privmoo.recodings.candidates import Candidates
from privmoo.suppression.base import Suppression
from privmoo.suppression.no_suppression import NoSuppression
from privmoo.suppression.ranks import above_thresholds

__all__ = ["Engine", "group", "thread_count"]

_CHUNK_BYTES = 16 << 20


def thread_count() -> int:
    """Threads to use: the environment's PRIVMOO_THREADS, or the cores this process may use."""
    given = os.environ.get("PRIVMOO_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Engine:
    """Groups candidates of one table under one suppression policy.

    Args:
        table: The records.
        suppression: Which groups are left out.
        needs: What the measures will read beyond sizes and losses: `"counts"` (of sensitive
            attributes), `"target"` (counts of the target), `"labels"`.
        threads: How many; all cores by default.
    """

    def __init__(
        self,
        table: Table,
        *,
        suppression: Suppression | None = None,
        needs: Iterable[str] = (),
        threads: int | None = None,
    ) -> None:
        self.table = table
        self.suppression = suppression or NoSuppression()
        self.needs = frozenset(needs) | self.suppression.required
        self.threads = threads or thread_count()
        self.layout = lay_out(table)
        self._attributes: dict[str, Attribute] = {}
        if "counts" in self.needs:
            if not table.sensitive:
                raise ProblemError(
                    "sensitive: the table has no sensitive attribute, but a measure or policy needs one",
                    hint=Hint(parameter="sensitive", call="Table"),
                )
            self._attributes.update(table.sensitive)
        if "target" in self.needs:
            if table.target is None:
                raise ProblemError(
                    "target: the table has no target, but a measure needs one",
                    hint=Hint(parameter="target", call="Table"),
                )
            self._attributes[table.target.name] = table.target
        self._needs_labels = bool(
            self._attributes or table.subjects is not None or "labels" in self.needs
        )
        self._entries = {name: _entries(a) for name, a in self._attributes.items()}
        self._idle: list[Workspace] = []
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "_idle": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    @property
    def chunk(self) -> int:
        """Candidates per chunk."""
        entries = sum(len(attribute.codes) for attribute in self._attributes.values())
        each = (
            self.table.n_tuples * (20 + 4 * self._needs_labels + 16 * len(self._entries))
            + 8 * entries
        )
        return int(np.clip(_CHUNK_BYTES // max(each, 1), 1, 64))

    def map(
        self, candidates: Candidates, function: Callable[[GroupBatch, GroupBatch], Any]
    ) -> list[Any]:
        """Call `function(before, after)` on every chunk, in threads; results in order.

        The groups live in memory that the next chunk overwrites: keep copies, not views.
        """
        # As few rounds as the chunk allows, and the same number of parts for every thread.
        rounds = -(-len(candidates) // (self.chunk * self.threads))
        size = max(1, -(-len(candidates) // (max(1, rounds) * self.threads)))
        parts = [slice(i, i + size) for i in range(0, len(candidates), size)]

        def run(part: slice) -> Any:
            with self._lock:
                workspace = self._idle.pop() if self._idle else self._workspace()
            result = function(*self.groups(candidates[part], workspace))
            with self._lock:
                self._idle.append(workspace)
            return result

        if self.threads == 1 or len(parts) == 1:
            return [run(part) for part in parts]
        with ThreadPoolExecutor(max_workers=min(self.threads, len(parts))) as pool:
            return list(pool.map(run, parts))

    def _workspace(self) -> Workspace:
        return Workspace(working_memory(self.layout))

    def groups(
        self, candidates: Candidates, workspace: Workspace | None = None
    ) -> tuple[GroupBatch, GroupBatch]:
        """The groups of a chunk, before and after suppression."""
        memory = workspace or self._workspace()
        before = self._group(candidates, memory)
        if candidates.published is not None:
            return before, self._choose_records(before, candidates, memory)
        kept = (
            self.suppression.keep(before)
            if candidates.thresholds is None
            else above_thresholds(before, candidates.thresholds)
        )
        if kept is None:
            return before, replace(before, stage="after")
        return self._suppress(before, kept, memory)

    def _group(self, candidates: Candidates, memory: Workspace) -> GroupBatch:
        n, room = len(candidates), self.table.n_tuples + 1
        wants_labels = (
            self._needs_labels or candidates.labels is not None or candidates.published is not None
        )
        n_groups = np.empty(n, np.int64)
        sizes = memory.array("sizes", n * room, np.int64)
        losses = memory.array("losses", n * room, np.float64)
        firsts = memory.array("firsts", n * room, np.int32)
        width = room - 1 if wants_labels else 0
        labels = memory.array("labels", n * width, np.int32).reshape(n, width)
        rows = (sizes.reshape(n, room), losses.reshape(n, room), firsts.reshape(n, room))
        if candidates.blocks is not None:
            group_candidates(
                candidates.blocks, self.layout, memory.scratch, n_groups, *rows, labels
            )
        else:
            self._group_labels(candidates, n_groups, *rows, labels)
        starts = np.arange(n, dtype=np.int64) * room
        persons = sizes
        if self.table.subjects is not None:
            persons = memory.array("persons", n * room, np.int64)
            stamps = memory.array("stamps", room, np.int64)
            links = self.table.subjects
            for c in range(n):
                persons_of_groups(
                    labels[c],
                    n_groups[c],
                    links.persons,
                    links.offsets,
                    links.tuples,
                    stamps,
                    persons[starts[c] : starts[c] + room],
                )
        segments = {
            name: self._count(name, entries, starts, n_groups, firsts, sizes, labels, memory)
            for name, entries in self._entries.items()
        }
        return GroupBatch(
            table=self.table,
            starts=starts,
            stops=starts + n_groups,
            sizes=persons,
            records=sizes,
            losses=losses,
            firsts=firsts,
            segments=segments,
            labels=labels if wants_labels else None,
            blocks=candidates.blocks,
            clusters=candidates.labels,
            centres=candidates.centres,
            cells=candidates.cells,
            has_losses=candidates.labels is None or candidates.losses is not None,
        )

    def _group_labels(
        self,
        candidates: Candidates,
        n_groups: NDArray[np.int64],
        sizes: NDArray[np.int64],
        losses: NDArray[np.float64],
        firsts: NDArray[np.int32],
        labels: NDArray[np.int32],
    ) -> None:
        given = candidates.labels
        if given is None:
            raise ProblemError("candidates: neither blocks nor labels were given")
        numbers = np.full(int(given.max(initial=0)) + 1, -1, np.int32)
        weights = self.table.weights
        for c in range(len(given)):
            n_groups[c] = groups_of_labels(
                given[c], weights, numbers, labels[c], sizes[c], firsts[c]
            )
            count = int(n_groups[c])
            losses[c, :count] = 0.0
            if candidates.losses is not None:
                total = np.bincount(
                    labels[c], weights=candidates.losses[c] * weights, minlength=count
                )
                losses[c, :count] = total / sizes[c, :count]

    def _count(
        self,
        name: str,
        entries: Entries,
        starts: NDArray[np.int64],
        n_groups: NDArray[np.int64],
        firsts: NDArray[np.int32],
        records: NDArray[np.int64],
        labels: NDArray[np.int32],
        memory: Workspace,
    ) -> Segments:
        n, room = len(starts), self.table.n_tuples + 1
        size = (n + 1) * (len(entries.codes) + 1)
        segments = Segments(
            memory.array(f"starts {name}", n * room, np.int64),
            memory.array(f"stops {name}", n * room, np.int64),
            memory.array(f"values {name}", size, np.int32),
            memory.array(f"counts {name}", size, np.int32),
        )
        count_values(
            labels,
            starts,
            n_groups,
            GroupedTuples(firsts, records, self.layout.weights),
            entries,
            memory.zeros("rows", max(ROW_CELLS, entries.n_values), np.int32),
            memory.array("order", room, np.int32),
            segments,
        )
        return segments

    def _suppress(
        self, before: GroupBatch, kept: NDArray[np.bool_], memory: Workspace
    ) -> tuple[GroupBatch, GroupBatch]:
        """Bring kept groups to the front: both stages then share their arrays."""
        order = memory.array("moves", len(kept), np.int64)
        kept_stops = np.empty(len(before), np.int64)
        starts, stops = before.starts, before.stops
        move_kept_to_front(starts, stops, kept, order, kept_stops)

        def moved(name: str, source: NDArray[Any]) -> NDArray[Any]:
            result = memory.array(f"moved {name}", len(source), source.dtype)
            take(starts, stops, order, source, result)
            return result

        sizes = moved("sizes", before.sizes)
        if before.labels is not None:
            places = memory.array("order", self.table.n_tuples + 1, np.int32)
            relabel(starts, stops, order, places, before.labels)
        both = replace(
            before,
            sizes=sizes,
            records=sizes if before.records is before.sizes else moved("records", before.records),
            losses=moved("losses", before.losses),
            firsts=moved("firsts", before.firsts),
            segments={
                name: Segments(
                    moved(f"starts {name}", s.starts), moved(f"stops {name}", s.stops), *s[2:]
                )
                for name, s in before.segments.items()
            },
        )
        return both, replace(both, stops=kept_stops, stage="after")

    def _choose_records(
        self, before: GroupBatch, candidates: Candidates, memory: Workspace
    ) -> GroupBatch:
        """The groups of the records that a candidate publishes."""
        published = np.asarray(candidates.published, dtype=np.bool_)
        n, n_tuples = len(before), self.table.n_tuples
        labels = before.labels
        if labels is None:
            raise ProblemError("candidates: choosing records needs labels; use ExplicitRecords()")
        kept = np.empty((n, n_tuples), np.int64)
        records = np.zeros_like(before.records)
        for c in range(n):
            kept[c] = np.bincount(self.table.row_tuple[published[c]], minlength=n_tuples)
            recount(labels[c], before.n_groups[c], kept[c], records[before.starts[c] :])
        sizes = records
        if self.table.subjects is not None:
            sizes = np.zeros_like(records)
            for c in range(n):
                rows = np.flatnonzero(published[c])
                pairs = labels[c][self.table.row_tuple[rows]].astype(np.int64)
                pairs = pairs * self.table.n_persons + self.table.subjects.row_subject[rows]
                owner = np.unique(pairs) // self.table.n_persons
                sizes[before.starts[c] : before.stops[c]] = np.bincount(
                    owner, minlength=before.n_groups[c]
                )
        segments = {}
        chosen = Workspace(memory.scratch)  # `before` still lives in the other
        for name, attribute in self._attributes.items():
            entries = self._entries[name]
            keys = entries.tuples.astype(np.int64) * attribute.n_values + attribute.codes
            of_row = self.table.row_tuple.astype(np.int64) * attribute.n_values
            entry = np.searchsorted(keys, of_row + attribute.row_codes)
            counts = np.stack([np.bincount(entry[p], minlength=len(keys)) for p in published])
            chosen_entries = entries._replace(counts=counts.astype(np.int32), shared=False)
            segments[name] = self._count(
                name,
                chosen_entries,
                before.starts,
                before.n_groups,
                before.firsts,
                before.records,
                labels,
                chosen,
            )
        losses = before.losses.copy()
        if candidates.losses is not None:
            for c in range(n):
                total = np.bincount(labels[c], candidates.losses[c] * kept[c], before.n_groups[c])
                own_records = records[before.starts[c] : before.stops[c]]
                losses[before.starts[c] : before.stops[c]] = total / np.maximum(own_records, 1)
        own = replace(
            before,
            sizes=sizes,
            records=records,
            losses=losses,
            segments=segments,
            labels=labels.copy(),
            kept=kept,
        )
        _, after = self._suppress(own, records >= 1, chosen)
        return after


def _entries(attribute: Attribute) -> Entries:
    """An attribute's sparse counts in the small types that the kernels like."""
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


def group(table: Table, candidates: Candidates | None = None, **options: Any) -> Grouping:
    """The QI-groups of a table, as it is or under one candidate, after suppression.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"a": [1, 1, 2]}), quasi_identifiers=["a"])
    >>> group(table).sizes.tolist()
    [2, 1]
    """
    if candidates is None:
        identity = [np.arange(qi.n_leaves, dtype=np.uint32) for qi in table.qis]
        candidates = Candidates(blocks=np.concatenate(identity)[None, :])
    needs = set(options.pop("needs", {"labels"}))
    needs |= {"counts"} if table.sensitive else set()
    needs |= {"target"} if table.target is not None else set()
    return Engine(table, needs=needs, **options).groups(candidates)[1][0]
