"""Diversity of one attribute's values within groups, the worst group of every candidate.

Every count of the segments is at smallest one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.copying import write_into
from privmoo.kernels.segments import Segments

__all__ = [
    "fewest_values",
    "flag_single_values",
    "largest_share",
    "least_diversity",
    "least_effective_number",
    "least_entropy",
    "majorities",
    "recursive_diversity",
]

_SHORT = 32
_ROUNDING = 2.0**-46


@compiled()
def fewest_values(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.float64],
) -> None:
    """Fewest distinct values."""
    for c in range(len(starts)):
        smallest = np.inf
        for g in range(starts[c], stops[c]):
            smallest = min(smallest, float(segments.stops[g] - segments.starts[g]))
        out[c] = smallest


@compiled()
def flag_single_values(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segments: Segments,
    flags: NDArray[np.bool_],
) -> None:
    """Flag the groups that have one single value; other flags stay."""
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            if segments.stops[g] - segments.starts[g] == 1:
                flags[g] = True


@compiled()
def least_entropy(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.float64],
) -> None:
    """Smallest entropy, in nats."""
    for c in range(len(starts)):
        smallest = np.inf
        for g in range(starts[c], stops[c]):
            entropy = 0.0
            for i in range(segments.starts[g], segments.stops[g]):
                share = segments.counts[i] / records[g]
                entropy -= share * np.log(share)
            smallest = min(smallest, max(entropy, 0.0))
        out[c] = smallest


@compiled()
def least_effective_number(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.float64],
) -> None:
    """Smallest exponential of the entropy, `n / exp(Σ c ln c / n)`: m, exactly, for m values alike.

    Sums are compensated, so that the result is off by a few units in the last place at most; what is
    within these of a whole number is that number.
    """
    for c in range(len(starts)):
        smallest = np.inf
        for g in range(starts[c], stops[c]):
            total = 0.0
            lost = 0.0
            for i in range(segments.starts[g], segments.stops[g]):
                term = segments.counts[i] * np.log(segments.counts[i]) - lost
                longer = total + term
                lost = (longer - total) - term
                total = longer
            number = records[g] / np.exp(total / records[g])
            whole = np.rint(number)
            if abs(number - whole) <= _ROUNDING * whole:
                number = whole
            smallest = min(smallest, number)
        out[c] = smallest


@compiled()
def _largest_count(segments: Segments, g: int) -> np.int64:
    largest = np.int64(0)
    for i in range(segments.starts[g], segments.stops[g]):
        largest = max(largest, segments.counts[i])
    return largest


@compiled()
def least_diversity(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.float64],
) -> None:
    """Smallest ratio of the records to the most frequent value's."""
    for c in range(len(starts)):
        smallest = np.inf
        for g in range(starts[c], stops[c]):
            smallest = min(smallest, records[g] / _largest_count(segments, g))
        out[c] = smallest


@compiled()
def largest_share(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    records: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.float64],
) -> None:
    """Largest relative frequency of a value."""
    for c in range(len(starts)):
        largest = 0.0
        for g in range(starts[c], stops[c]):
            largest = max(largest, _largest_count(segments, g) / records[g])
        out[c] = largest


@compiled()
def majorities(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segments: Segments,
    out: NDArray[np.int64],
) -> None:
    """Records that have their group's most frequent value."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            total += _largest_count(segments, g)
        out[c] = total


@compiled()
def _sort(values: NDArray[np.int64]) -> None:
    """Ascending, in place; most groups are short."""
    if len(values) > _SHORT:
        write_into(values, np.sort(values))
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
    segments: Segments,
    n_values: int,
    factor: float,
    out: NDArray[np.float64],
) -> None:
    """Smallest number of ℓ for which the largest count is below `factor` times the tail from ℓ on."""
    scratch = np.empty(n_values, np.int64)
    for c in range(len(starts)):
        smallest = np.inf
        for g in range(starts[c], stops[c]):
            low, high = segments.starts[g], segments.stops[g]
            counts = scratch[: high - low]
            write_into(counts, segments.counts[low:high])
            _sort(counts)
            largest = float(counts[-1])
            tail = np.int64(0)
            holds = 0
            for i in range(len(counts)):  # the tail of ℓ = len(counts) - i
                tail += counts[i]
                if largest < factor * tail:
                    holds = len(counts) - i
                    break
            smallest = min(smallest, float(holds))
        out[c] = smallest
