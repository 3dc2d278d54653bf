"""Values of groups without the missing ones, which are left out or join the most frequent value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled
from privmoo.kernels.segments import Segments

__all__ = ["leave_out", "move_to_most_frequent"]


@compiled()
def leave_out(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segments: Segments,
    missing: int,
    present: NDArray[np.int64],
    result: Segments,
) -> None:
    """Copy all entries but those of a missing value; `present` counts the records behind the rest."""
    place = 0
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            result.starts[g] = place
            present[g] = 0
            for i in range(segments.starts[g], segments.stops[g]):
                if segments.values[i] != missing:
                    result.values[place] = segments.values[i]
                    result.counts[place] = segments.counts[i]
                    present[g] += segments.counts[i]
                    place += 1
            result.stops[g] = place


@compiled()
def move_to_most_frequent(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    segments: Segments,
    missing: int,
    result: Segments,
) -> None:
    """Copy all entries; the records of a missing value join the group's most frequent other value.

    A group of missing values alone has one entry, as if it had one value.
    """
    place = 0
    for c in range(len(starts)):
        for g in range(starts[c], stops[c]):
            first = place
            largest = place
            unknown = np.int64(0)
            for i in range(segments.starts[g], segments.stops[g]):
                if segments.values[i] == missing:
                    unknown = np.int64(segments.counts[i])
                    continue
                result.values[place] = segments.values[i]
                result.counts[place] = segments.counts[i]
                if result.counts[place] > result.counts[largest]:
                    largest = place
                place += 1
            if place > first:
                result.counts[largest] += unknown
            elif unknown > 0:
                result.values[place] = missing
                result.counts[place] = unknown
                place += 1
            result.starts[g] = first
            result.stops[g] = place
