"""Classes that are intervals of an order of the records: exact optima along a column or a direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.kernels.class_state import Demands, Field
from privmoo.kernels.intervals import Intervals, best_intervals, measure_intervals

__all__ = ["IntervalClasses", "directions"]

_MOST_POSITIONS = 600  # of an order whose intervals are all measured
_BISECTIONS = 24


class IntervalClasses:
    """The cheapest classes that are intervals along an order, for any demands.

    The dynamic programme of Hansen and Mukherjee (2003), over the cost of all columns. Without demands
    on sensitive values, no class needs 2k records, which bounds the intervals. With such demands, all
    intervals are measured; if there are many units, those with the same key are one position.

    Args:
        field: The units.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.directions = directions(field)

    def keys(self, direction: int) -> NDArray[np.float64]:
        """Return the place of every unit along a direction; 0 is the widest one.

        Without any number, units are in the order of their tuples.
        """
        if not len(self.directions):
            return self.field.owners.astype(np.float64)
        return np.asarray(self.field.numbers @ self.directions[direction])

    def positions(
        self, keys: NDArray[np.float64], rng: np.random.Generator, *, most: int = _MOST_POSITIONS
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return units in the order of their keys, equal ones shuffled, and where the positions begin.

        Args:
            keys: A number for every unit.
            rng: The source of randomness that shuffles units of equal keys.
            most: The largest number of positions; neighbours share one if there were more.
        """
        order = np.lexsort((rng.random(len(keys)), keys))
        starts = np.arange(len(keys) + 1)
        if len(keys) > most:
            new = np.flatnonzero(np.diff(keys[order]) > 0) + 1
            starts = np.concatenate([[0], new, [len(keys)]])
        if len(starts) - 1 > most:
            places = np.linspace(0, len(starts) - 1, most + 1).round().astype(np.int64)
            starts = starts[places]
        return order, starts

    def measure(
        self, order: NDArray[np.int64], starts: NDArray[np.int64], *, most: int | None = None
    ) -> Intervals:
        """Return cost, size and entropies of all intervals.

        Args:
            order: Units.
            starts: Where every position begins among them, and the end.
            most: The records of the largest interval that matters; any by default.
        """
        n_records = int(self.field.weights.sum())
        most = n_records if most is None else min(most, n_records)
        return measure_intervals(self.field, order, starts, min(len(starts) - 1, most), most)

    def best(
        self,
        order: NDArray[np.int64],
        starts: NDArray[np.int64],
        intervals: Intervals,
        demands: Demands,
        n_clusters: int,
    ) -> NDArray[np.int64] | None:
        """Return the class of every unit in the cheapest classes; None if the demands cannot be met.

        Where that would be more than `n_clusters` classes, a price per class makes them fewer.

        Args:
            order: Units.
            starts: Where every position begins among them, and the end.
            intervals: What `measure` returned for these.
            demands: What every class must have.
            n_clusters: The largest number of classes.
        """
        classes = best_intervals(intervals, demands, 0.0)
        if not len(classes):
            return None
        if classes[-1] >= n_clusters:
            low, high = 0.0, float(intervals.costs[np.isfinite(intervals.costs)].max()) + 1.0
            for _ in range(_BISECTIONS):
                price = np.sqrt(max(low, high * 1e-9) * high)
                fewer = best_intervals(intervals, demands, price)
                if fewer[-1] < n_clusters:
                    classes, high = fewer, price
                else:
                    low = price
        if classes[-1] >= n_clusters:
            return None
        labels = np.empty(len(order), np.int64)
        labels[order] = np.repeat(classes, np.diff(starts))
        return labels


def directions(field: Field) -> NDArray[np.float64]:
    """Return directions of the numbers: principal ones, widest first, then single columns.

    Args:
        field: The units.
    """
    numbers, weights = field.numbers, field.weights
    if numbers.shape[1] < 2:
        return np.eye(numbers.shape[1])
    mean = np.average(numbers, axis=0, weights=weights)
    covariance = np.cov(numbers - mean, rowvar=False, fweights=weights, ddof=0)
    values, vectors = np.linalg.eigh(covariance)
    vectors = vectors[:, np.argsort(-values)].T
    signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
    columns = np.eye(numbers.shape[1])[np.argsort(-np.diag(covariance), kind="stable")]
    return np.concatenate([vectors * signs[:, None], columns])
