"""Distance of records to the mean or mode of their cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = ["spread_of_clusters"]


@compiled()
def spread_of_clusters(
    n_groups: NDArray[np.int64],
    labels: NDArray[np.int32],
    kept: NDArray[np.int64],
    weights: NDArray[np.int64],
    tuples: NDArray[Any],
    leaf_offsets: NDArray[np.int64],
    leaf_numbers: NDArray[np.float64],
    numeric: NDArray[np.bool_],
    own_deviation: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Squared distance to the cluster's mean, plus one per record that differs from its mode.

    A suppressed record counts its tuple's `own_deviation`. `kept` may have no rows: tuples of a
    group at or after the candidate's last are suppressed.
    """
    n_tuples, n_columns = tuples.shape
    places = np.empty(n_tuples + 2, np.int64)
    order = np.empty(n_tuples, np.int64)
    own = np.empty(n_tuples, np.int64)
    tally = np.zeros(len(leaf_numbers), np.int64)
    for c in range(len(labels)):
        total = 0.0
        places[:] = 0
        for t in range(n_tuples):
            own[t] = weights[t] if labels[c, t] < n_groups[c] else 0
            if len(kept):
                own[t] = kept[c, t]
            total += (weights[t] - own[t]) * own_deviation[t]
            if own[t] > 0:
                places[labels[c, t] + 2] += 1
        for g in range(n_groups[c]):
            places[g + 2] += places[g + 1]
        for t in range(n_tuples):
            if own[t] > 0:
                order[places[labels[c, t] + 1]] = t
                places[labels[c, t] + 1] += 1
        for g in range(n_groups[c]):
            members = order[places[g] : places[g + 1]]
            for j in range(n_columns):
                if numeric[j]:
                    size = 0.0
                    mean = 0.0
                    for t in members:
                        size += own[t]
                        mean += own[t] * leaf_numbers[leaf_offsets[j] + tuples[t, j]]
                    mean /= size
                    for t in members:
                        gap = leaf_numbers[leaf_offsets[j] + tuples[t, j]] - mean
                        total += own[t] * gap * gap
                else:
                    size_of_mode = np.int64(0)
                    members_records = np.int64(0)
                    for t in members:
                        leaf = leaf_offsets[j] + tuples[t, j]
                        tally[leaf] += own[t]
                        members_records += own[t]
                        size_of_mode = max(size_of_mode, tally[leaf])
                    for t in members:
                        tally[leaf_offsets[j] + tuples[t, j]] = 0
                    total += members_records - size_of_mode
        out[c] = total
