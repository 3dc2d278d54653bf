"""Centres of clusters, and the distance of records to what their cluster releases."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "Columns",
    "centres_of_clusters",
    "merge_equal",
    "spread_of_clusters",
    "spread_to_centres",
]


class Columns(NamedTuple):
    """Quasi-identifiers of the distinct tuples, for distances."""

    tuples: NDArray[Any]
    """Tuples × columns, leaf codes."""
    leaf_offsets: NDArray[np.int64]
    leaf_numbers: NDArray[np.float64]
    """A number for every leaf of every column; 0 for a category."""
    numeric: NDArray[np.bool_]
    own_deviation: NDArray[np.float64]
    """Distance of every tuple to the table's mean and mode: what a suppressed record loses."""
    units: NDArray[np.float64]
    """What 1 is in the data's own numbers."""
    digits: NDArray[np.float64]
    """To which power of ten, in the data's own numbers, means are rounded."""


@compiled()
def spread_of_clusters(
    n_groups: NDArray[np.int64],
    labels: NDArray[np.int32],
    kept: NDArray[np.int64],
    weights: NDArray[np.int64],
    columns: Columns,
    out: NDArray[np.float64],
) -> None:
    """Squared distance to the cluster's mean, plus one per record that differs from its mode.

    A suppressed record counts its tuple's `own_deviation`. `kept` may have no rows: tuples of a
    group at or after the candidate's last are suppressed.
    """
    tuples, offsets, numbers = columns.tuples, columns.leaf_offsets, columns.leaf_numbers
    n_tuples, n_columns = tuples.shape
    places = np.empty(n_tuples + 2, np.int64)
    order = np.empty(n_tuples, np.int64)
    published = np.empty(n_tuples, np.int64)
    tally = np.zeros(len(numbers), np.int64)
    for c in range(len(labels)):
        total = 0.0
        places[:] = 0
        for t in range(n_tuples):
            published[t] = weights[t] if labels[c, t] < n_groups[c] else 0
            if len(kept):
                published[t] = kept[c, t]
            total += (weights[t] - published[t]) * columns.own_deviation[t]
            if published[t] > 0:
                places[labels[c, t] + 2] += 1
        for g in range(n_groups[c]):
            places[g + 2] += places[g + 1]
        for t in range(n_tuples):
            if published[t] > 0:
                order[places[labels[c, t] + 1]] = t
                places[labels[c, t] + 1] += 1
        for g in range(n_groups[c]):
            members = order[places[g] : places[g + 1]]
            for j in range(n_columns):
                if columns.numeric[j]:
                    size = 0.0
                    mean = 0.0
                    for t in members:
                        size += published[t]
                        mean += published[t] * numbers[offsets[j] + tuples[t, j]]
                    mean *= columns.units[j] / size
                    mean = np.rint(mean * columns.digits[j]) / columns.digits[j] / columns.units[j]
                    for t in members:
                        gap = numbers[offsets[j] + tuples[t, j]] - mean
                        total += published[t] * gap * gap
                else:
                    size_of_mode = np.int64(0)
                    members_records = np.int64(0)
                    for t in members:
                        leaf = offsets[j] + tuples[t, j]
                        tally[leaf] += published[t]
                        members_records += published[t]
                        size_of_mode = max(size_of_mode, tally[leaf])
                    for t in members:
                        tally[offsets[j] + tuples[t, j]] = 0
                    total += members_records - size_of_mode
        out[c] = total


@compiled()
def spread_to_centres(
    n_groups: NDArray[np.int64],
    labels: NDArray[np.int32],
    kept: NDArray[np.int64],
    weights: NDArray[np.int64],
    columns: Columns,
    clusters: NDArray[np.int32],
    centres: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The same to these centres: `centres[c, clusters[c, t]]` is what tuple t releases.

    Centres are numbers, in the data's own unit, and leaf codes.
    """
    tuples, offsets, numbers = columns.tuples, columns.leaf_offsets, columns.leaf_numbers
    units = columns.units
    for c in range(len(labels)):
        total = 0.0
        for t in range(len(tuples)):
            published = weights[t] if labels[c, t] < n_groups[c] else 0
            if len(kept):
                published = kept[c, t]
            total += (weights[t] - published) * columns.own_deviation[t]
            if published == 0:
                continue
            centre = centres[c, clusters[c, t]]
            distance = 0.0
            for j in range(len(units)):
                if columns.numeric[j]:
                    gap = numbers[offsets[j] + tuples[t, j]] - centre[j] / units[j]
                    distance += gap * gap
                elif tuples[t, j] != centre[j]:
                    distance += 1.0
            total += published * distance
        out[c] = total


@compiled()
def centres_of_clusters(
    labels: NDArray[np.int32],
    weights: NDArray[np.int64],
    tuples: NDArray[Any],
    leaf_offsets: NDArray[np.int64],
    leaf_numbers: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    digits: NDArray[np.float64],
    centres: NDArray[np.float64],
) -> None:
    """Mean of numbers, most frequent leaf (of equal ones the first) of categories, per cluster.

    Means are rounded to the `digits` of their column, a power of ten: two clusters whose means differ only
    by the order of a sum release the same value. A cluster without tuples keeps what is in `centres`.
    """
    n_clusters, n_columns = centres.shape
    records = np.zeros(n_clusters, np.int64)
    for t in range(len(labels)):
        records[labels[t]] += weights[t]
    sums = np.zeros(n_clusters)
    for j in range(n_columns):
        low = leaf_offsets[j]
        n_leaves = leaf_offsets[j + 1] - low
        if numeric[j]:
            sums[:] = 0.0
            for t in range(len(labels)):
                sums[labels[t]] += weights[t] * leaf_numbers[low + tuples[t, j]]
            for g in range(n_clusters):
                if records[g] > 0:
                    centres[g, j] = np.rint(sums[g] / records[g] * digits[j]) / digits[j]
            continue
        counts = np.zeros((n_clusters, n_leaves), np.int64)
        for t in range(len(labels)):
            counts[labels[t], tuples[t, j]] += weights[t]
        for g in range(n_clusters):
            if records[g] > 0:
                best = 0
                for leaf in range(1, n_leaves):
                    if counts[g, leaf] > counts[g, best]:
                        best = leaf
                centres[g, j] = best


@compiled()
def merge_equal(labels: NDArray[np.int32], centres: NDArray[np.float64]) -> None:
    """Give clusters with equal centres one label: in a release they are one class."""
    n_clusters = len(centres)
    order = np.argsort(centres[:, 0], kind="mergesort")
    owner = np.arange(n_clusters)
    for i in range(n_clusters):
        a = order[i]
        if owner[a] != a:
            continue
        for later in range(i + 1, n_clusters):
            b = order[later]
            if centres[b, 0] != centres[a, 0]:
                break
            if owner[b] == b and (centres[a] == centres[b]).all():
                owner[b] = a
    for t in range(len(labels)):
        labels[t] = owner[labels[t]]
