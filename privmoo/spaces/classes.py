"""ClassSpace: decision vectors that state the class of every record."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.class_parts import cheaper_parts
from privmoo.kernels.class_repair import repair_classes
from privmoo.kernels.class_state import Demands, Field, State, new_state, total_cost
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.kernels.local_search import anneal
from privmoo.operators import ClassCrossover, ClassSampling, ClassSearch, HashDuplicates
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.classes import PartitionRecoding, as_classes, cluster_recoding, mean_facts
from privmoo.recodings.means import Means
from privmoo.spaces.base import SearchSpace
from privmoo.spaces.orders import IntervalClasses
from privmoo.spaces.units import cut_up, field_of

__all__ = ["ClassSpace", "Published", "fitting_recoding", "rounding_of"]

Published = Literal["mean", "centroid"]

_COLD = 0.002  # of the temperature at the end of an annealing, as a share of that at its beginning


class ClassSpace(SearchSpace):
    """Decision vectors of classes: one whole number per unit, the class that its records are in.

    A unit is one record, or the records of a distinct tuple that stay together. Every partition of the
    units into at most `n_clusters` classes is a decision vector, so a search can start from any result
    of an operator or a baseline. Every class publishes its mean and mode.

    Args:
        table: The records.
        n_clusters: The largest number of classes.
        k: The smallest size of a class that operators make.
        scale: The scale of the distances that operators use.
        split: How many records of a distinct tuple can go to other classes one by one; the others of that
            tuple stay together.
        means: How means are published, such as `Means(step=5)`; exactly by default. Noise is refused.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 21, 60, 64]}), quasi_identifiers=["age"])
    >>> space = ClassSpace(table, 2, k=2)
    >>> space.recoding(np.array([0, 0, 1, 1])).apply(table, np.arange(4))["age"].tolist()
    [20.5, 20.5, 62.0, 62.0]
    """

    kinds: ClassVar[tuple[str, ...]] = ("classes",)
    aims: ClassVar[tuple[str, ...]] = ("k", "min_entropy")
    variable_type: ClassVar[type] = int
    release: ClassVar[Published] = "mean"

    def __init__(
        self,
        table: Table,
        n_clusters: int,
        *,
        k: int,
        scale: Scale = "raw",
        split: int = 8,
        means: Means | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(table)
        self.means = rounding_of(table, means, self.release)
        split = whole_number("split", split, at_least=0)
        if split > 0:
            table.need_records(
                "assignment='free'",
                "use assignment='nearest', or split=0, which keep equal records together",
            )
        self.n_clusters, self.k, self.scale, self.split = n_clusters, k, scale, split
        self.coordinates = Space.of(table, scale)
        self.view, self._units = cut_up(table, self.coordinates, split)

    @cached_property
    def field(self) -> Field:
        """What local searches walk on."""
        return field_of(self._units, self.coordinates)

    @cached_property
    def intervals(self) -> IntervalClasses:
        """Classes that are intervals of an order of the units."""
        return IntervalClasses(self.field)

    @property
    def n_units(self) -> int:
        """The number of units."""
        return self.view.n_tuples

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest number of a class."""
        return np.zeros(self.n_units), np.full(self.n_units, self.n_clusters - 1.0)

    def clean(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return rows whose classes are numbered in the order of their first units."""
        rows = np.clip(np.rint(np.atleast_2d(np.asarray(X, dtype=np.float64))), *self.bounds)
        return np.stack([in_order(row) for row in rows.astype(np.int64)])

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the classes of decision vectors as the engine groups them; equal means are one class."""
        rows = self.clean(X)
        labels = rows.astype(np.int32)
        if self.means is None:
            for row in labels:
                merge_equal(row, self._centres(row))
            return Candidates(labels=labels)
        centres = np.zeros((len(rows), int(rows.max()) + 1, self.table.n_qis))
        for row, published in zip(labels, centres, strict=True):
            exact = self._centres(row)
            merge_equal(row, exact)
            rounded = self.means.of(self.table, exact)
            merge_equal(row, rounded)
            published[: len(rounded)] = rounded
        return Candidates(labels=labels, centres=centres)

    def _centres(self, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Mean and mode of every class."""
        numbers, offsets, numeric, digits = mean_facts(self.table)
        centres = np.zeros((int(labels.max()) + 1, self.table.n_qis))
        view = self.view
        centres_of_clusters(
            labels, view.weights, view.tuples, offsets, numbers, numeric, digits, centres
        )
        return centres

    def recoding(self, x: NDArray[Any]) -> PartitionRecoding:
        """Return what a decision vector publishes of every record."""
        [labels] = self.clean(x)
        if self.view is self.table:
            return cluster_recoding(self.table, labels, by="tuples", means=self.means)
        return cluster_recoding(self.table, labels[self.view.row_tuple], means=self.means)

    def adopt(self, recoding: Recoding) -> PartitionRecoding:
        """Return classes found elsewhere as this space releases them: ranges become means."""
        return fitting_recoding(self.table, recoding, self.means)

    def encode(self, recoding: Recoding) -> NDArray[np.int64]:
        """Return the decision vector of classes found elsewhere; units whole, and classes few enough."""
        classes = self.adopt(recoding)
        class_of, by = classes.assignment(self.table)
        labels = np.empty(self.n_units, np.int64)
        labels[self.view.originals.tuples] = (
            class_of if by == "records" else class_of[self.table.originals.tuples]
        )
        return self.mended(labels, self.demands_of(labels))

    def demands_of(self, labels: NDArray[Any]) -> Demands:
        """Return what all classes of a partition have: records, sensitive values and entropies."""
        field, n_classes = self.field, int(labels.max()) + 1
        sizes = np.bincount(labels, weights=field.weights, minlength=n_classes)
        units = np.repeat(np.arange(self.n_units), np.diff(field.entry_starts))
        n_attributes = len(field.value_starts) - 1
        n_values = int(field.value_starts[-1])
        places = labels[units] * n_values + field.entry_values
        table = np.bincount(
            places, weights=field.entry_counts, minlength=n_classes * n_values
        ).reshape(n_classes, n_values)
        is_occupied = sizes > 0
        entropy, fewest = np.zeros(n_attributes), 1
        for s in range(n_attributes):
            counts = table[is_occupied, field.value_starts[s] : field.value_starts[s + 1]]
            shares = counts / counts.sum(axis=1, keepdims=True)
            entropies = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
            entropy[s] = entropies.min()
            least = int((counts > 0).sum(axis=1).min())
            fewest = least if s == 0 else min(fewest, least)
        return Demands(max(self.k, int(sizes[is_occupied].min())), fewest, entropy)

    def mended(self, labels: NDArray[Any], demands: Demands) -> NDArray[np.int64]:
        """Merge classes until all meet demands and there are at most `n_clusters`.

        Args:
            labels: The class of every unit.
            demands: What every class must have.
        """
        state = new_state(self.field, in_order(labels).astype(np.int32), int(labels.max()) + 1, 0)
        repair_classes(self.field, state, demands, self.n_clusters)
        return in_order(state.labels)

    def annealed(
        self,
        labels: NDArray[Any],
        demands: Demands,
        *,
        steps: int,
        heat: float,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Improve classes by a local search, wherever it finds cheaper ones.

        Args:
            labels: The class of every unit; every class meets the demands.
            demands: What every class has, before and after.
            steps: How many random steps are tried.
            heat: The temperature at the beginning, in costs of an average record.
            rng: The source of randomness.
        """
        before = new_state(
            self.field, labels.astype(np.int32), self.n_clusters, int(rng.integers(1 << 62))
        )
        state: State = before
        cost = total_cost(self.field, before)
        hot = heat * cost / self.table.n_records
        if hot <= 0.0:
            return in_order(labels)
        anneal(self.field, state, demands, np.arange(self.n_units), steps, hot, hot * _COLD)
        mixture = cheaper_parts(self.field, labels.astype(np.int32), state.labels)
        if int(mixture.max()) < self.n_clusters:
            return in_order(mixture)
        return in_order(state.labels if total_cost(self.field, state) <= cost else labels)

    def count_moves(self, number: int) -> None:
        """Add moves that local searches try to those of the present run."""
        self.moves += number
        self.passes += number / self.n_units

    def parameters(self) -> dict[str, Any]:
        """Return what makes classes."""
        return {
            "n_clusters": self.n_clusters,
            "k": self.k,
            "scale": self.scale,
            "release": self.release,
            "assignment": "free",
            "split": self.split,
            **({} if self.means is None else {"means": self.means.to_json()}),
        }

    def operators(self) -> dict[str, Any]:
        """Classes along orders of the data, exchange of classes, local search."""
        return {
            "sampling": ClassSampling(),
            "crossover": ClassCrossover(),
            "mutation": ClassSearch(),
            "eliminate_duplicates": HashDuplicates(),
        }


def in_order(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return classes numbered in the order in which they appear.

    >>> in_order(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def fitting_recoding(table: Table, classes: Recoding, means: Means | None) -> PartitionRecoding:
    """Return classes found elsewhere as a problem about classes releases them: ranges become means.

    If the problem rounds means, those of the classes are rounded too.

    Args:
        table: The table of the problem.
        classes: What was found.
        means: How the problem rounds means.

    Raises:
        ProblemError: It is not a partition of this table.
    """
    recoding = as_classes(classes, table)
    labels, by = recoding.assignment(table)
    if recoding.publishes == "ranges" or (means is not None and recoding.means != means):
        return cluster_recoding(table, labels, by=by, means=means)
    return recoding


def rounding_of(
    table: Table, means: Means | Mapping[str, Any] | None, release: Published
) -> Means | None:
    """Return how means are rounded.

    Args:
        table: The records.
        means: What was asked for.
        release: What classes publish.

    Raises:
        ProblemError: No means are published, or the means would have noise.
    """
    if means is None:
        return None
    if release != "mean":
        raise ProblemError("means: centroids are published as they are; use release='mean'")
    rounding = Means.from_json(means)
    rounding.check(table)
    if rounding.noise is not None:
        raise ProblemError(
            "means: a search would choose among the draws of the noise; give step= alone here, and add "
            "noise to one solution by cluster_recoding(table, labels, means=Means(noise=...))"
        )
    return rounding
