"""Diversity of one attribute's values within groups, the worst group of every candidate.

Values of group g are entries `segment_starts[g]:segment_stops[g]`, every count at least one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "fewest_values",
    "flag_single_values",
    "largest_share",
    "least_diversity",
    "least_entropy",
    "majorities",
    "recursive_diversity",
]

_SHORT = 32


@compiled()
def fewest_values(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Fewest distinct values."""
    for c in range(len(starts)):
        least = np.inf
        for g in range(starts[c], stops[c]):
            least = min(least, float(segment_stops[g] - segment_starts[g]))
        out[c] = least


@compiled()
def flag_single_values(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    flags: NDArray[np.bool_],
) -> None:
    """Flag the groups that have one single value; other flags stay."""
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            if segment_stops[g] - segment_starts[g] == 1:
                flags[g] = True


@compiled()
def least_entropy(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    counts: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Smallest entropy, in nats."""
    for c in range(len(starts)):
        least = np.inf
        for g in range(starts[c], stops[c]):
            entropy = 0.0
            for i in range(segment_starts[g], segment_stops[g]):
                share = counts[i] / records[g]
                entropy -= share * np.log(share)
            least = min(least, max(entropy, 0.0))
        out[c] = least


@compiled()
def _largest(counts: NDArray[np.int32], start: int, stop: int) -> np.int64:
    largest = np.int64(0)
    for i in range(start, stop):
        largest = max(largest, counts[i])
    return largest


@compiled()
def least_diversity(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    counts: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Smallest ratio of the records to the most frequent value's."""
    for c in range(len(starts)):
        least = np.inf
        for g in range(starts[c], stops[c]):
            least = min(least, records[g] / _largest(counts, segment_starts[g], segment_stops[g]))
        out[c] = least


@compiled()
def largest_share(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    counts: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Largest relative frequency of a value."""
    for c in range(len(starts)):
        most = 0.0
        for g in range(starts[c], stops[c]):
            most = max(most, _largest(counts, segment_starts[g], segment_stops[g]) / records[g])
        out[c] = most


@compiled()
def majorities(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    counts: NDArray[np.int32],
    out: NDArray[np.int64],
) -> None:
    """Records that have their group's most frequent value."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            total += _largest(counts, segment_starts[g], segment_stops[g])
        out[c] = total


@compiled()
def _sort(values: NDArray[np.int64]) -> None:
    """Ascending, in place; most groups are short."""
    if len(values) > _SHORT:
        values[:] = np.sort(values)
        return
    for i in range(1, len(values)):
        value = values[i]
        place = i
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@compiled()
def recursive_diversity(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segment_starts: NDArray[np.int64],
    segment_stops: NDArray[np.int64],
    counts: NDArray[np.int32],
    n_values: int,
    factor: float,
    out: NDArray[np.float64],
) -> None:
    """Smallest number of ℓ for which the largest count is below `factor` times the tail from ℓ on."""
    scratch = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        least = np.inf
        for g in range(starts[c], stops[c]):
            low, high = segment_starts[g], segment_stops[g]
            own = scratch[: high - low]
            own[:] = counts[low:high]
            _sort(own)
            largest = float(own[-1])
            tail = np.int64(0)
            holds = 0
            for i in range(len(own)):  # the tail of ℓ = len(own) - i
                tail += own[i]
                if largest < factor * tail:
                    holds = len(own) - i
                    break
            least = min(least, float(holds))
        out[c] = least
