"""One number per candidate from the sizes of its groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.compiled import compiled

__all__ = [
    "at_risk",
    "population_risks",
    "records_of_flagged",
    "smallest",
    "squares",
    "weighted_sums",
]


@compiled()
def weighted_sums(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    weights: NDArray[np.int64],
    values: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Sum of a value of the groups times their weight."""
    for c in range(len(starts)):
        total = 0.0
        for g in range(starts[c], stops[c]):
            total += weights[g] * values[g]
        out[c] = total


@compiled()
def smallest(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """The smallest size; 0 without groups."""
    for c in range(len(starts)):
        minimum = np.int64(0)
        if stops[c] > starts[c]:
            minimum = sizes[starts[c]]
        for g in range(starts[c], stops[c]):
            minimum = min(minimum, sizes[g])
        out[c] = minimum


@compiled()
def squares(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Sum of the squared sizes, exact up to three billion records."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            total += sizes[g] * sizes[g]
        out[c] = total


@compiled()
def at_risk(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    records: NDArray[np.int64],
    tau: float,
    out: NDArray[np.int64],
) -> None:
    """Records in groups with 1/size > tau."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            if 1.0 / sizes[g] > tau:
                total += records[g]
        out[c] = total


@compiled()
def records_of_flagged(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    flags: NDArray[np.bool_],
    out: NDArray[np.int64],
) -> None:
    """Records in groups that are flagged."""
    for c in range(len(starts)):
        total = np.int64(0)
        for g in range(starts[c], stops[c]):
            if flags[g]:
                total += sizes[g]
        out[c] = total


@compiled()
def population_risks(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int32],
    own_tuple: NDArray[np.int32],
    population_labels: NDArray[np.int32],
    population_starts: NDArray[np.int64],
    population_sizes: NDArray[np.int64],
    minimum: NDArray[np.int64],
    total: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> None:
    """Smallest and summed size of the groups in the population, and the sum of size ratios.

    `own_tuple` is the place of each of the table's tuples among those of the population.
    """
    for c in range(len(starts)):
        minimum[c] = 0
        total[c] = 0
        shares[c] = 0.0
        for g in range(starts[c], stops[c]):
            label = population_labels[c, own_tuple[firsts[g]]]
            size = population_sizes[population_starts[c] + label]
            if minimum[c] == 0 or size < minimum[c]:
                minimum[c] = size
            total[c] += size
            shares[c] += sizes[g] / size
