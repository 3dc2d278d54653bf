"""Removal: the groups of a chunk of candidates after suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.grouper import Grouper
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.groups.layout import Workspace
from privmoo.kernels.counts import recount
from privmoo.kernels.suppression import move_kept_to_front, relabel, take
from privmoo.recodings.candidates import Candidates

__all__ = ["keep_groups", "keep_records", "repeat_groups"]


def keep_groups(
    before: GroupBatch, kept: NDArray[np.bool_], memory: Workspace
) -> tuple[GroupBatch, GroupBatch]:
    """Leave out whole groups.

    Kept groups move to the front of their candidate, so that both stages share their arrays.

    Args:
        before: The groups before suppression; their labels are renumbered in place.
        kept: Whether each group stays, aligned with `before.sizes`.
        memory: Where the moved groups live.

    Returns:
        The groups before suppression, in the new order, and those after it.
    """
    order = memory.array("moves", len(kept), np.int64)
    kept_stops = np.empty(len(before), np.int64)
    starts, stops = before.starts, before.stops
    move_kept_to_front(starts, stops, kept, order, kept_stops)

    def move(name: str, source: NDArray[Any]) -> NDArray[Any]:
        result = memory.array(f"moved {name}", len(source), source.dtype)
        take(starts, stops, order, source, result)
        return result

    sizes = move("sizes", before.sizes)
    if before.labels is not None:
        places = memory.array("order", before.table.n_tuples + 1, np.int32)
        relabel(starts, stops, order, places, before.labels)
    groups = replace(
        before,
        sizes=sizes,
        records=sizes if before.records is before.sizes else move("records", before.records),
        losses=move("losses", before.losses),
        firsts=move("firsts", before.firsts),
        segments={
            name: Segments(move(f"starts {name}", s.starts), move(f"stops {name}", s.stops), *s[2:])
            for name, s in before.segments.items()
        },
    )
    return groups, replace(groups, stops=kept_stops, stage="after")


def repeat_groups(groups: GroupBatch, times: Sequence[int]) -> GroupBatch:
    """Return the groups of every candidate several times, each time as a candidate of its own.

    Args:
        groups: The groups before suppression.
        times: How often each candidate is repeated.
    """
    owners = np.repeat(np.arange(len(groups)), times)
    lengths = groups.n_groups[owners]
    stops = np.cumsum(lengths)
    starts = stops - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(groups.starts[owners] - starts, lengths)
    sizes = groups.sizes[places]
    rows: dict[str, Any] = {
        name: value[owners] if isinstance(value, np.ndarray) else [value[i] for i in owners]
        for name in ("labels", "blocks", "clusters", "centres", "spans", "cells")
        if (value := getattr(groups, name)) is not None
    }
    return replace(
        groups,
        starts=starts,
        stops=stops,
        sizes=sizes,
        records=sizes if groups.records is groups.sizes else groups.records[places],
        losses=groups.losses[places],
        firsts=groups.firsts[places],
        segments={
            name: Segments(s.starts[places], s.stops[places], *s[2:])
            for name, s in groups.segments.items()
        },
        **rows,
    )


def keep_records(
    before: GroupBatch, candidates: Candidates, grouper: Grouper, memory: Workspace
) -> GroupBatch:
    """Return the groups of the records that candidates publish one by one.

    Args:
        before: The groups before suppression, with labels.
        candidates: The candidates, with `published`.
        grouper: The grouper that formed the groups.
        memory: The working memory of `before`.
    """
    table = grouper.table
    mask = np.asarray(candidates.published, dtype=np.bool_)
    n, n_tuples = len(before), table.n_tuples
    labels = before.labels
    if labels is None:
        raise ProblemError("candidates: choosing records needs labels; use ExplicitRecords()")
    kept_records = np.empty((n, n_tuples), np.int64)
    records = np.zeros_like(before.records)
    for c in range(n):
        kept_records[c] = np.bincount(table.row_tuple[mask[c]], minlength=n_tuples)
        recount(labels[c], before.n_groups[c], kept_records[c], records[before.starts[c] :])
    losses = before.losses.copy()
    if candidates.losses is not None:
        for c in range(n):
            total = np.bincount(
                labels[c], candidates.losses[c] * kept_records[c], before.n_groups[c]
            )
            places = slice(before.starts[c], before.stops[c])
            losses[places] = total / np.maximum(records[places], 1)
    workspace = Workspace(memory.scratch)  # `before` still lives in the other
    remaining = replace(
        before,
        sizes=records if table.subjects is None else _persons(before, mask, records),
        records=records,
        losses=losses,
        segments=_counts(before, mask, grouper, workspace),
        labels=labels.copy(),
        kept=kept_records,
    )
    _, after = keep_groups(remaining, records >= 1, workspace)
    return after


def _persons(
    before: GroupBatch, published: NDArray[np.bool_], records: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the persons with a published record in every group."""
    table, labels = before.table, before.labels
    sizes = np.zeros_like(records)
    if labels is None or table.subjects is None:
        return sizes
    for c in range(len(before)):
        rows = np.flatnonzero(published[c])
        pairs = labels[c][table.row_tuple[rows]].astype(np.int64)
        pairs = pairs * table.n_persons + table.subjects.row_subject[rows]
        group = np.unique(pairs) // table.n_persons
        sizes[before.starts[c] : before.stops[c]] = np.bincount(group, minlength=before.n_groups[c])
    return sizes


def _counts(
    before: GroupBatch, published: NDArray[np.bool_], grouper: Grouper, memory: Workspace
) -> dict[str, Segments]:
    """Count the values of sensitive and target attributes among published records."""
    segments = {}
    row_tuple = before.table.row_tuple.astype(np.int64)
    for name, attribute in grouper.attributes.items():
        entries = grouper.entries[name]
        keys = entries.tuples.astype(np.int64) * attribute.n_values + attribute.codes
        entry = np.searchsorted(keys, row_tuple * attribute.n_values + attribute.row_codes)
        counts = np.stack([np.bincount(entry[p], minlength=len(keys)) for p in published])
        entries_published = entries._replace(counts=counts.astype(np.int32), shared=False)
        segments[name] = grouper.count(name, entries_published, before, memory)
    return segments
