"""CentroidSpace: decision vectors that are centroids, and the classes they make of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo.data.facts import value_numbers
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.balance import balance, improve
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.kernels.nearest import nearest_centroids
from privmoo.kernels.partition import Partition, fill, new_partition
from privmoo.operators import (
    CentroidMutation,
    CentroidSampling,
    ClusterExchange,
    HashDuplicates,
    LloydStep,
    OneOf,
    SplitMergeDrop,
)
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, mean_facts
from privmoo.recodings.means import Means
from privmoo.spaces.base import SearchSpace
from privmoo.spaces.classes import Published, fitting_recoding, rounding_of
from privmoo.spaces.units import cut_up

__all__ = ["Assignment", "CentroidSpace", "Classes", "Published", "check_clusters"]

Assignment = Literal["balanced", "nearest"]
_MOST_BYTES = 1 << 30
_PASSES = 4  # of moving records to better clusters; more gain little


class Classes(NamedTuple):
    """The classes that one decision vector makes of a table."""

    labels: NDArray[np.int32]
    """The class of every unit of the space's view."""
    centres: NDArray[np.float64]
    """Classes × quasi-identifiers: mean and mode, or the centroid; numbers and leaf codes."""


class CentroidSpace(SearchSpace):
    """Decision vectors of centroids: one row of numbers and category codes per cluster.

    With `assignment="nearest"` every record goes to its nearest centroid (Wei et al. 2025, Algorithm 1),
    and clusters can be too small. With `"balanced"` small clusters then take the records that cost least
    from larger ones or merge, and records may move to clusters where they cost less; three more variables
    say which size and how many different sensitive values a cluster must have, and how often records
    move. That is deterministic: a decision vector always means the same classes.

    Args:
        table: The records.
        n_clusters: The largest number of clusters.
        k: The smallest size of a cluster.
        scale: The scale of distances.
        assignment: `"balanced"` or `"nearest"`.
        split: With `"balanced"`, how many records of a distinct tuple can go to other clusters one by one;
            the others of that tuple stay together.
        release: `"mean"`: mean and mode of the cluster; `"centroid"`: the decision variables.
        means: How means are published, such as `Means(step=5)`; exactly by default. Noise is refused: a
            search would choose among its draws.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 21, 22, 60]}), quasi_identifiers=["age"])
    >>> space = CentroidSpace(table, 2, k=2)
    >>> [classes] = space.decode(space.from_centres(np.array([[21.0], [60.0]]), size=2)[None])
    >>> classes.centres.tolist()
    [[20.5], [41.0]]
    """

    kinds: ClassVar[tuple[str, ...]] = ("centroids",)

    def __init__(
        self,
        table: Table,
        n_clusters: int,
        *,
        k: int,
        scale: Scale = "raw",
        assignment: Assignment = "balanced",
        split: int = 8,
        release: Published = "mean",
        means: Means | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(table)
        choice("release", release, ("mean", "centroid"))
        self.means = rounding_of(table, means, release)
        choice("assignment", assignment, ("balanced", "nearest"))
        split = whole_number("split", split, at_least=0)
        if assignment == "balanced" and split > 0:
            table.need_records(
                "assignment='balanced'",
                "use assignment='nearest', or split=0, which keep equal records together",
            )
        self.n_clusters, self.k, self.scale, self.split = n_clusters, k, scale, split
        self.assignment: Assignment = assignment
        self.release: Published = release
        self.coordinates = Space.of(table, scale)
        self.numeric = self.coordinates.numeric
        spread = np.where(self.numeric, self.coordinates.points.var(axis=0), -1.0)
        self._lead = int(spread.argmax()) if self.numeric.any() else -1
        self._foresee_memory()
        self.view, self._units = cut_up(
            table, self.coordinates, split if assignment == "balanced" else 0
        )
        keys = self._units.points[:, max(self._lead, 0)] * (self._lead >= 0)
        self._by_lead = np.argsort(keys, kind="stable")
        self.low = self.coordinates.low * self.coordinates.units
        self.high = np.where(
            self.numeric,
            self.coordinates.high * self.coordinates.units,
            [qi.n_leaves - 1 for qi in table.qis],
        )
        self.low = np.where(self.numeric, self.low, 0.0)
        fewest = min(value_numbers(table), default=1)
        largest = max(k, min(max(4 * k, 40), table.n_records // 2))
        demands = [[k, largest], [1, fewest], [0, _PASSES]] if assignment == "balanced" else []
        self.demands = np.array(demands, dtype=np.float64).reshape(-1, 2)

    @property
    def n_centroid_variables(self) -> int:
        """Variables that are coordinates of centroids; the others say sizes."""
        return self.n_clusters * self.table.n_qis

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and largest value of every variable."""
        return (
            np.concatenate([np.tile(self.low, self.n_clusters), self.demands[:, 0]]),
            np.concatenate([np.tile(self.high, self.n_clusters), self.demands[:, 1]]),
        )

    def clean(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows within bounds, with rounded categories and sizes: rows that mean the same are equal.

        The order of a category's codes is arbitrary. A method that moves along it, such as a particle
        swarm, passes through unrelated categories.
        """
        low, high = self.bounds
        rows = np.clip(np.atleast_2d(np.asarray(X, dtype=np.float64)), low, high)
        whole = np.concatenate(
            [np.tile(~self.numeric, self.n_clusters), np.ones(len(self.demands), dtype=np.bool_)]
        )
        rows[:, whole] = np.rint(rows[:, whole])
        return rows + 0.0

    def matrices(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the centroids: rows × clusters × quasi-identifiers."""
        rows = self.clean(X)[:, : self.n_centroid_variables]
        return rows.reshape(len(rows), self.n_clusters, self.table.n_qis)

    def demands_of(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the least size, the least number of sensitive values and the passes of every row."""
        rows = self.clean(X)
        if not len(self.demands):
            return np.tile(np.array([self.k, 1, 0]), (len(rows), 1))
        return rows[:, self.n_centroid_variables :].astype(np.int64)

    def from_centres(
        self,
        centres: NDArray[Any],
        *,
        size: int | None = None,
        diversity: int = 1,
        passes: int = _PASSES,
    ) -> NDArray[np.float64]:
        """Return the decision vector of centroids; unused places repeat the first, which changes nothing.

        Args:
            centres: One row of numbers and leaf codes per centroid; the first `n_clusters` are taken.
            size: The least size of a cluster; k by default.
            diversity: The least number of different sensitive values in a cluster.
            passes: How often records move to better clusters.
        """
        rows = np.asarray(centres, dtype=np.float64)[: self.n_clusters]
        padding = np.repeat(rows[:1], self.n_clusters - len(rows), axis=0)
        demands = [self.k if size is None else size, diversity, passes][: len(self.demands)]
        flat = np.concatenate([rows.ravel(), padding.ravel(), np.array(demands, dtype=np.float64)])
        return np.asarray(self.clean(flat)[0])

    def draw(self, rng: np.random.Generator, shape: int) -> NDArray[np.float64]:
        """Return centroids at random distinct tuples of the data.

        Args:
            rng: The source of randomness.
            shape: The number of centroids.
        """
        rows = self.coordinates.points[rng.integers(self.table.n_tuples, size=shape)]
        return np.asarray(rows * self.coordinates.units)

    def draw_records(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the tuples of random records; if tuples stay whole, the order of records does not matter.

        Args:
            rng: The source of randomness.
            shape: The shape of the result.
        """
        records = rng.integers(self.table.n_records, size=shape)
        if self.view is not self.table:
            return self.table.row_tuple[records].astype(np.int64)
        return np.searchsorted(np.cumsum(self.table.weights), records, side="right")

    def is_unused(self, matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which places of a row's centroids repeat the first one."""
        is_duplicate = (matrix == matrix[0]).all(axis=1)
        is_duplicate[0] = False
        return np.asarray(is_duplicate)

    def vary_demands(self, X: NDArray[np.float64], rng: np.random.Generator, prob: float) -> None:
        """Change the demands of some rows, by a step or to any other value, in place.

        Args:
            X: Decision vectors.
            rng: The source of randomness.
            prob: How likely a demand changes.
        """
        for g, (low, high) in enumerate(self.demands):
            place = self.n_centroid_variables + g
            step = X[:, place] + rng.choice([-1, 1], len(X)) * rng.integers(1, 4, len(X))
            anew = rng.integers(int(low), int(high), len(X), endpoint=True)
            demands = np.clip(np.where(rng.random(len(X)) < 0.5, step, anew), low, high)
            X[:, place] = np.where(rng.random(len(X)) < prob, demands, X[:, place])

    def decode(self, X: NDArray[Any], *, release: Published | None = None) -> list[Classes]:
        """Return the classes of decision vectors.

        Args:
            X: One row per candidate.
            release: Whether classes release means and modes or centroids; by default what the space
                publishes, with means as it rounds them.
        """
        published = release or self.release
        matrices, demands = self.matrices(X), self.demands_of(X).tolist()

        def one(i: int) -> Classes:
            labels = self._assign(matrices[i], *demands[i])
            classes = self._classes(labels, matrices[i], published)
            if self.means is None or release is not None:
                return classes
            rounded = self.means.of(self.table, classes.centres)
            merge_equal(classes.labels, rounded)
            return Classes(classes.labels, rounded)

        return self.each(one, range(len(matrices)))

    def merge_small(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Merge clusters that are too small, and return the decision vector.

        Small clusters join others where that costs least, and centroids become means; since records
        then go to the nearest mean, a cluster can become small again, so this is repeated. A row whose
        clusters are large enough is returned as it is.
        """
        row = np.asarray(x, dtype=np.float64)
        size, diversity, _ = self.demands_of(row)[0].tolist()
        for _ in range(self.n_clusters):
            partition = self._nearest_partition(self.matrices(row)[0])
            is_occupied = partition.sizes > 0
            if (partition.sizes[is_occupied] >= size).all():
                return row
            balance(
                self._units, partition, self._lead_number, self._by_lead, size, diversity, False
            )
            classes = self._classes(partition.labels.copy(), self.matrices(row)[0], "mean")
            means = classes.centres[np.unique(classes.labels)]
            row = np.concatenate(
                [
                    self.from_centres(means)[: self.n_centroid_variables],
                    row[self.n_centroid_variables :],
                ]
            )
        return row

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the classes of decision vectors as the engine groups them."""
        decoded = self.decode(X)
        labels = np.stack([classes.labels for classes in decoded])
        if self.release == "mean" and self.means is None:
            return Candidates(labels=labels)
        return Candidates(labels=labels, centres=np.stack([c.centres for c in decoded]))

    def recoding(self, x: NDArray[Any]) -> PartitionRecoding:
        """Return what a decision vector publishes of every record."""
        [classes] = self.decode(np.asarray(x)[None])
        centres = None if self.release == "mean" else classes.centres
        if self.view is self.table:
            return cluster_recoding(
                self.table, classes.labels, by="tuples", centres=centres, means=self.means
            )
        labels = classes.labels[self.view.row_tuple]
        return cluster_recoding(self.table, labels, centres=centres, means=self.means)

    def adopt(self, recoding: Recoding) -> PartitionRecoding:
        """Return classes found elsewhere as this space releases them: ranges become means.

        If the space rounds means, those of the classes are rounded too.
        """
        return fitting_recoding(self.table, recoding, self.means)

    def encode(self, recoding: Recoding) -> NDArray[np.float64]:
        """Return the decision vector nearest to classes found elsewhere, such as a baseline's."""
        classes = self.adopt(recoding)
        first = np.arange(classes.n_classes)
        if self.view is not self.table:
            _, first = np.unique(classes.labels, return_index=True)
        order = np.lexsort((first, -classes.sizes))
        size = max(self.k, int(classes.sizes.min()))
        return self.from_centres(classes.centres[order], size=size)

    def parameters(self) -> dict[str, Any]:
        """Return what makes classes of centroids."""
        rounding = {} if self.means is None else {"means": self.means.to_json()}
        return {
            "n_clusters": self.n_clusters,
            "k": self.k,
            "scale": self.scale,
            "release": self.release,
            "assignment": self.assignment,
            "split": self.split,
            **rounding,
        }

    def operators(self) -> dict[str, Any]:
        """Return centroid sampling, cluster exchange, and mutation by Lloyd steps, splits and merges."""
        return {
            "sampling": CentroidSampling(),
            "crossover": ClusterExchange(),
            "mutation": OneOf([LloydStep(), SplitMergeDrop(), CentroidMutation()], [0.5, 0.3, 0.2]),
            "eliminate_duplicates": HashDuplicates(),
        }

    def _assign(
        self, matrix: NDArray[np.float64], size: int, diversity: int, passes: int
    ) -> NDArray[np.int32]:
        if self.assignment == "nearest":
            return self._nearest(matrix)
        partition = self._nearest_partition(matrix)
        lead = self._lead_number
        balance(self._units, partition, lead, self._by_lead, size, diversity, True)
        improve(self._units, partition, lead, self._by_lead, size, diversity, passes)
        return partition.labels

    def _nearest(self, matrix: NDArray[np.float64]) -> NDArray[np.int32]:
        places = np.flatnonzero(
            ~self.is_unused(matrix)
        )  # the others attract nothing, and cost time
        scaled = np.ascontiguousarray(matrix[places] / self.coordinates.units)
        labels = np.empty(self.table.n_tuples, np.int32)
        nearest_centroids(self.coordinates.points, self.numeric, self._lead, scaled, labels)
        return places.astype(np.int32)[labels]

    def _nearest_partition(self, matrix: NDArray[np.float64]) -> Partition:
        partition = new_partition(self._units, self.n_clusters)
        fill(self._units, partition, self._nearest(matrix))
        return partition

    @property
    def _lead_number(self) -> int:
        """The place of the leading column among the numbers."""
        return int(self.numeric[: self._lead].sum()) if self._lead >= 0 else -1

    def _classes(
        self, labels: NDArray[np.int32], matrix: NDArray[np.float64], release: Published
    ) -> Classes:
        numbers, offsets, numeric, digits = mean_facts(self.table)
        centres = np.rint(matrix * digits) / digits + 0.0
        if release == "mean":
            view = self.view
            centres_of_clusters(
                labels, view.weights, view.tuples, offsets, numbers, numeric, digits, centres
            )
        merge_equal(labels, centres)
        return Classes(labels, centres)

    def _foresee_memory(self) -> None:
        """Raise if the counts of values per cluster would not fit."""
        widths = {
            qi.name: qi.n_leaves
            for qi, numeric in zip(self.table.qis, self.numeric, strict=True)
            if not numeric
        }
        widths |= {name: a.n_values for name, a in self.table.sensitive.items()}
        size = 8 * self.n_clusters * sum(widths.values())
        if self.assignment == "balanced" and size > _MOST_BYTES:
            widest = max(widths, key=lambda name: widths[name])
            raise ProblemError(
                f"n_clusters: {self.n_clusters} clusters need {size >> 20:,} MB per thread to count "
                f"values, of which {widest!r} has {widths[widest]:,}; use fewer clusters, fewer values, or "
                "assignment='nearest'"
            )


def check_clusters(table: Table, n_clusters: Any, k: Any) -> int:
    """Return the largest possible number of clusters; raise if the number or k is impossible.

    Args:
        table: The records.
        n_clusters: A number of clusters.
        k: The least size of a cluster.
    """
    whole_number("n_clusters", n_clusters)
    whole_number("k", k, at_least=2)
    if k > table.n_records:
        raise ProblemError(
            f"k: {k} is more than the {table.n_records} records of the table; choose a smaller k"
        )
    return int(table.n_records // k)
