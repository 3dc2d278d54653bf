"""The best classes that are intervals of an order (Hansen and Mukherjee 2003), with demands on each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_state import Demands, Field
from privmoo.kernels.compiled import compiled

__all__ = ["Intervals", "best_intervals", "measure_intervals"]


class Intervals(NamedTuple):
    """All intervals of positions in an order: row i, column w is the interval of i to i + w."""

    costs: NDArray[np.float64]
    """Infinite where the interval is too long to be of use."""
    sizes: NDArray[np.int64]
    """Records."""
    entropies: NDArray[np.float64]
    """Sensitive attributes × positions × widths."""
    distinct: NDArray[np.int64]
    """Positions × widths: the fewest values of a sensitive attribute."""


@compiled()
def measure_intervals(
    field: Field, order: NDArray[np.int64], starts: NDArray[np.int64], widest: int, most: int
) -> Intervals:
    """Cost, size, entropies and diversity of every interval of up to `widest` positions and `most` records.

    Position i are the units `order[starts[i]:starts[i + 1]]`. What one more unit brings is added to what is
    known of the interval before it.
    """
    n_positions = len(starts) - 1
    n_attributes = len(field.value_starts) - 1
    widest = min(widest, n_positions)
    costs = np.full((n_positions, widest), np.inf)
    sizes = np.zeros((n_positions, widest), np.int64)
    entropies = np.zeros((n_attributes, n_positions, widest))
    distinct = np.zeros((n_positions, widest), np.int64)
    mean = np.zeros(field.numbers.shape[1])
    counts = np.zeros(field.code_starts[-1], np.int64)
    modes = np.zeros(field.codes.shape[1], np.int64)
    values = np.zeros(field.value_starts[-1], np.int64)
    weighted_logs = np.zeros(n_attributes)
    n_values = np.zeros(n_attributes, np.int64)
    for i in range(n_positions):
        mean[:] = 0.0
        counts[:] = 0
        modes[:] = 0
        values[:] = 0
        weighted_logs[:] = 0.0
        n_values[:] = 0
        size, squares = 0, 0.0
        for w in range(min(widest, n_positions - i)):
            for u in order[starts[i + w] : starts[i + w + 1]]:
                weight = field.weights[u]
                size += weight
                for j in range(len(mean)):
                    gap = field.numbers[u, j] - mean[j]
                    mean[j] += gap * weight / size
                    squares += weight * gap * (field.numbers[u, j] - mean[j])
                for j in range(len(modes)):
                    at = field.codes[u, j]
                    counts[at] += weight
                    modes[j] = max(modes[j], counts[at])
                s = 0
                for e in range(field.entry_starts[u], field.entry_starts[u + 1]):
                    at = field.entry_values[e]
                    while at >= field.value_starts[s + 1]:
                        s += 1
                    while at < field.value_starts[s]:
                        s -= 1
                    n_values[s] += values[at] == 0
                    before = field.entropy_terms[values[at]]
                    values[at] += field.entry_counts[e]
                    weighted_logs[s] += field.entropy_terms[values[at]] - before
            if size > most and w > 0:
                break
            costs[i, w] = squares + (len(modes) * size - modes.sum())
            sizes[i, w] = size
            fewest = np.int64(1) if n_attributes == 0 else n_values.min()
            distinct[i, w] = fewest
            for s in range(n_attributes):
                entropies[s, i, w] = (field.entropy_terms[size] - weighted_logs[s]) / size
    return Intervals(costs, sizes, entropies, distinct)


@compiled()
def best_intervals(intervals: Intervals, demands: Demands, price: float) -> NDArray[np.int64]:
    """The class of every position in the cheapest partition whose intervals meet the demands.

    Every class costs `price` in addition. Without any such partition, the result is empty.
    """
    n_positions, widest = intervals.costs.shape
    n_attributes = len(intervals.entropies)
    total = np.full(n_positions + 1, np.inf)
    origin = np.full(n_positions + 1, -1)
    total[0] = 0.0
    for i in range(n_positions):
        if total[i] == np.inf:
            continue
        for w in range(min(widest, n_positions - i)):
            cost = total[i] + intervals.costs[i, w] + price
            if cost >= total[i + w + 1] or intervals.sizes[i, w] < demands.k:
                continue
            fit = intervals.distinct[i, w] >= demands.diversity
            for s in range(n_attributes):
                fit = fit and intervals.entropies[s, i, w] >= demands.entropy[s] - 1e-12
            if fit:
                total[i + w + 1] = cost
                origin[i + w + 1] = i
    if total[n_positions] == np.inf:
        return np.empty(0, np.int64)
    labels = np.empty(n_positions, np.int64)
    end, label = n_positions, 0
    while end > 0:
        labels[origin[end] : end] = label
        end = origin[end]
        label += 1
    return label - 1 - labels
