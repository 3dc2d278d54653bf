"""QI-groups as an attacker sees them who knows only some of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import MeasureError, nearest
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.kernels.counts import persons_of_groups
from privmoo.recodings.classes import class_means

__all__ = ["labels_of_groups", "merge_groups", "on_columns", "places_of_columns"]

IntArray = NDArray[np.int64]


def places_of_columns(table: Table, columns: Sequence[str]) -> tuple[int, ...]:
    """Return where the quasi-identifiers with these names are, in ascending order.

    Args:
        table: The records.
        columns: The names.

    Raises:
        MeasureError: There is no such quasi-identifier.
    """
    names = table.qi_names
    for name in columns:
        if name not in names:
            raise MeasureError(
                f"columns: {name!r} is not a quasi-identifier of the table{nearest(name, names)}"
            )
    return tuple(sorted({names.index(name) for name in columns}))


def on_columns(groups: GroupBatch, columns: Sequence[str]) -> GroupBatch:
    """Return the groups of records that publish the same in some of the quasi-identifiers.

    Labels that overlap, as those of regions may, are different labels.

    Args:
        groups: The groups of a chunk of candidates.
        columns: The quasi-identifiers that the attacker knows.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [1, 1, 1, 2], "sex": list("mffm")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["age", "sex"])).batch
    >>> on_columns(groups, ["age"])[0].sizes.tolist()
    [3, 1]
    """
    places = places_of_columns(groups.table, columns)
    if len(places) == groups.table.n_qis:
        return groups
    key = ("on columns", *columns)
    if key not in groups.derived:
        numbers = [
            _number(labels[:, list(places)])
            for labels in (labels_of_groups(groups, c) for c in range(len(groups)))
        ]
        groups.derived[key] = merge_groups(groups, numbers)
    merged: GroupBatch = groups.derived[key]
    return merged


def labels_of_groups(groups: GroupBatch, candidate: int) -> IntArray:
    """Return what every group of a candidate publishes: groups × quasi-identifiers, as codes.

    Args:
        groups: The groups of a chunk of candidates.
        candidate: The place of the candidate in the chunk.
    """
    table = groups.table
    firsts = groups.firsts[int(groups.starts[candidate]) : int(groups.stops[candidate])]
    if groups.cells is not None:
        rows = np.zeros(table.n_tuples, np.int64)
        rows[table.row_tuple] = np.arange(table.n_records)
        columns = [column.codes[rows[firsts]] for column in groups.cells[candidate].columns]
        return np.column_stack(columns).astype(np.int64)
    if groups.blocks is not None:
        leaves = table.tuples[firsts].astype(np.int64) + leaf_offsets(table)[:-1]
        return np.asarray(groups.blocks[candidate][leaves], np.int64)
    return _labels_of_clusters(groups, candidate, firsts)


def _labels_of_clusters(groups: GroupBatch, candidate: int, firsts: NDArray[np.int32]) -> IntArray:
    """Return the codes of ranges, or of means, of the clusters that hold some tuples."""
    if groups.clusters is None:
        raise MeasureError("columns: what these groups publish is not known")
    clusters = groups.clusters[candidate]
    if groups.spans is not None:
        spans = groups.spans[candidate][clusters[firsts]].astype(np.int64)
        return np.asarray(spans[:, :, 0] * (int(spans.max(initial=0)) + 1) + spans[:, :, 1])
    if groups.has_losses:
        raise MeasureError(
            "columns: these candidates publish ranges but do not say which; give Candidates(spans=...)"
        )
    if groups.centres is not None:
        centres = groups.centres[candidate][clusters[firsts]]
    else:
        numbers, classes = np.unique(clusters, return_inverse=True)
        means = class_means(groups.table, classes, by="tuples")
        centres = means[np.searchsorted(numbers, clusters[firsts])]
    codes = [np.unique(column, return_inverse=True)[1] for column in (centres + 0.0).T]
    return np.column_stack(codes).astype(np.int64)


def _number(labels: IntArray) -> IntArray:
    """Return one number for every row, equal where the rows are equal."""
    numbers = np.zeros(len(labels), np.int64)
    for column in labels.T:
        codes = np.unique(column, return_inverse=True)[1]
        numbers = np.unique(numbers * (len(labels) + 1) + codes, return_inverse=True)[1]
    return numbers.astype(np.int64)


def merge_groups(groups: GroupBatch, numbers: Sequence[IntArray]) -> GroupBatch:
    """Return groups of groups.

    Args:
        groups: The groups of a chunk of candidates.
        numbers: Per candidate the new group of each of its groups, numbered from 0 without gaps.

    Returns:
        The new groups with sizes, records, first tuples, and counts of values.
    """
    lengths = [int(n.max(initial=-1)) + 1 for n in numbers]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    n_groups = sum(lengths)
    place = np.concatenate([n + start for n, start in zip(numbers, starts, strict=True)])
    at = np.concatenate([np.arange(a, b) for a, b in zip(groups.starts, groups.stops, strict=True)])
    records = np.bincount(place, groups.records[at], n_groups).astype(np.int64)
    firsts = np.zeros(n_groups, np.int32)
    firsts[place[::-1]] = groups.firsts[at[::-1]]
    weights = groups.losses[at] * groups.records[at]
    merged = replace(
        groups,
        starts=starts,
        stops=starts + lengths,
        sizes=records,
        records=records,
        losses=np.bincount(place, weights, n_groups) / np.maximum(records, 1),
        firsts=firsts,
        labels=_merged_labels(groups, numbers),
        segments={
            name: _merged_segments(segments, at, place, n_groups, _n_values(groups.table, name))
            for name, segments in groups.segments.items()
        },
    )
    return merged if groups.table.subjects is None else replace(merged, sizes=_persons(merged))


def _merged_labels(groups: GroupBatch, numbers: Sequence[IntArray]) -> NDArray[np.int32] | None:
    """Return the new group of every tuple; one after the last for suppressed tuples."""
    if groups.labels is None:
        return None
    labels = np.empty_like(groups.labels)
    for c, of_groups in enumerate(numbers):
        suppressed = int(of_groups.max(initial=-1)) + 1
        with_suppressed = np.append(of_groups, suppressed)
        labels[c] = with_suppressed[np.minimum(groups.labels[c], len(of_groups))]
    return labels


def _n_values(table: Table, name: str) -> int:
    if name in table.sensitive:
        return table.sensitive[name].n_values
    assert table.target is not None  # noqa: S101, nothing else is counted
    return table.target.n_values


def _merged_segments(
    segments: Segments, at: IntArray, place: IntArray, n_groups: int, n_values: int
) -> Segments:
    """Return the counts of values in merged groups."""
    lengths = segments.stops[at] - segments.starts[at]
    entries = np.repeat(segments.starts[at] - np.cumsum(lengths) + lengths, lengths)
    entries += np.arange(len(entries))
    keys = np.repeat(place, lengths) * n_values + segments.values[entries]
    keys, position = np.unique(keys, return_inverse=True)
    counts = np.bincount(position, segments.counts[entries], len(keys))
    ends = np.searchsorted(keys, np.arange(n_groups + 1) * n_values)
    return Segments(
        ends[:-1].astype(np.int64),
        ends[1:].astype(np.int64),
        (keys % n_values).astype(np.int32),
        counts.astype(segments.counts.dtype),
    )


def _persons(merged: GroupBatch) -> IntArray:
    """Return the persons in every merged group, each counted once."""
    table, labels = merged.table, merged.labels
    links = table.subjects
    if merged.kept is not None or labels is None or links is None:
        raise MeasureError(
            "columns: persons cannot be counted if candidates choose single records; use a policy such "
            "as BelowThreshold()"
        )
    persons = np.zeros(len(merged.records), np.int64)
    for c, (start, count) in enumerate(zip(merged.starts, merged.n_groups, strict=True)):
        room = np.zeros(count + 1, np.int64)  # the last one for suppressed tuples
        persons_of_groups(
            labels[c],
            count + 1,
            links.persons,
            links.offsets,
            links.tuples,
            np.empty(count + 1, np.int64),
            room,
        )
        persons[start : start + count] = room[:count]
    return persons
