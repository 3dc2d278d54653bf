"""CentroidSpace: decision vectors that are centroids, and the classes they make of a table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo._util.threads import thread_count
from privmoo.data.facts import value_numbers
from privmoo.data.points import Scale, Space
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.kernels.balance import balance, improve
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.kernels.nearest import nearest_centroids
from privmoo.kernels.partition import Partition, Units, fill, new_partition
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
from privmoo.spaces.base import SearchSpace

__all__ = ["Assignment", "CentroidSpace", "Classes", "Published", "check_clusters"]

Assignment = Literal["balanced", "nearest"]
Published = Literal["mean", "centroid"]
_MOST_BYTES = 1 << 30
_PASSES = 4  # of moving records to better clusters; more gain little


class Classes(NamedTuple):
    """What one decision vector makes of a table."""

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
        scale: Of the distance.
        assignment: `"balanced"` or `"nearest"`.
        split: With `"balanced"`, how many records of a distinct tuple can go to other clusters one by one;
            the others of that tuple stay together.
        release: `"mean"`: mean and mode of the cluster; `"centroid"`: the decision variables.
        threads: The number of threads that assign records; all cores by default.

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
        threads: int | None = None,
    ) -> None:
        super().__init__(table)
        choice("release", release, ("mean", "centroid"))
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
        self.threads = threads or thread_count()
        self.coordinates = Space.of(table, scale)
        self.numeric = self.coordinates.numeric
        spread = np.where(self.numeric, self.coordinates.points.var(axis=0), -1.0)
        self._lead = int(spread.argmax()) if self.numeric.any() else -1
        self._foresee_memory()
        self.view, self._units, self._by_lead = self._cut_up()
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
        """Return rows within bounds, categories and sizes rounded: rows that mean the same look the same.

        The order of a category's codes is arbitrary; a method that moves along it, as a particle swarm
        does, passes through categories that have nothing to do with either end.
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
        """Return the tuples of random records; whatever the order of records, where tuples stay whole.

        Args:
            rng: The source of randomness.
            shape: The shape of the result.
        """
        drawn = rng.integers(self.table.n_records, size=shape)
        if self.view is not self.table:
            return self.table.row_tuple[drawn].astype(np.int64)
        return np.searchsorted(np.cumsum(self.table.weights), drawn, side="right")

    def unused(self, matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which places of a row's centroids repeat the first one."""
        same = (matrix == matrix[0]).all(axis=1)
        same[0] = False
        return np.asarray(same)

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
            chosen = np.clip(np.where(rng.random(len(X)) < 0.5, step, anew), low, high)
            X[:, place] = np.where(rng.random(len(X)) < prob, chosen, X[:, place])

    def decode(self, X: NDArray[Any], *, release: Published | None = None) -> list[Classes]:
        """Return the classes of decision vectors.

        Args:
            X: One row per candidate.
            release: Whether classes release means and modes or centroids; as the space by default.
        """
        published = release or self.release
        matrices, demands = self.matrices(X), self.demands_of(X).tolist()

        def one(i: int) -> Classes:
            labels = self._assign(matrices[i], *demands[i])
            return self._classes(labels, matrices[i], published)

        if self.threads == 1 or len(matrices) == 1:
            return [one(i) for i in range(len(matrices))]
        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            return list(pool.map(one, range(len(matrices))))

    def merged(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Return a decision vector whose clusters are large enough, made by merging those that are not.

        Small clusters join others where that costs least, and centroids become means; since records
        then go to the nearest mean, a cluster can become small again, so this is repeated. A row whose
        clusters are large enough is returned as it is.
        """
        row = np.asarray(x, dtype=np.float64)
        size, diversity, _ = self.demands_of(row)[0].tolist()
        for _ in range(self.n_clusters):
            partition = self._nearest_partition(self.matrices(row)[0])
            used = partition.sizes > 0
            if (partition.sizes[used] >= size).all():
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
        if self.release == "mean":
            return Candidates(labels=labels)
        return Candidates(labels=labels, centres=np.stack([c.centres for c in decoded]))

    def recoding(self, x: NDArray[Any]) -> PartitionRecoding:
        """Return what a decision vector publishes of every record."""
        [classes] = self.decode(np.asarray(x)[None])
        centres = None if self.release == "mean" else classes.centres
        if self.view is self.table:
            return cluster_recoding(self.table, classes.labels, by="tuples", centres=centres)
        labels = classes.labels[self.view.row_tuple]
        return cluster_recoding(self.table, labels, centres=centres)

    def adopt(self, recoding: Recoding) -> PartitionRecoding:
        """Return classes found elsewhere as this space releases them: ranges become means."""
        if not isinstance(recoding, PartitionRecoding):
            raise ProblemError(
                f"start: expected classes such as baselines give, got {type(recoding).__name__}"
            )
        if recoding.n_records != self.table.n_records:
            raise ProblemError(
                f"start: the classes cover {recoding.n_records:,} records, but the table has "
                f"{self.table.n_records:,}"
            )
        if not self.table.has_records:
            tuple_labels = recoding.labels_for(self.table)
            if recoding.publishes == "ranges":
                return cluster_recoding(self.table, tuple_labels, by="tuples")
        elif recoding.publishes == "ranges":
            return cluster_recoding(self.table, recoding.labels)
        return recoding

    def encode(self, recoding: Recoding) -> NDArray[np.float64]:
        """Return the decision vector nearest to classes found elsewhere, such as a baseline's."""
        classes = self.adopt(recoding)
        first = np.arange(classes.n_classes)
        if self.view is not self.table:
            _, first = np.unique(classes.labels, return_index=True)
        order = np.lexsort((first, -classes.sizes))
        size = max(self.k, int(classes.sizes.min()))
        return self.from_centres(classes.centres[order], size=size)

    def limit_threads(self, threads: int) -> None:
        """Assign records with this many threads."""
        self.threads = threads

    def parameters(self) -> dict[str, Any]:
        """Return what makes classes of centroids."""
        return {
            "n_clusters": self.n_clusters,
            "k": self.k,
            "scale": self.scale,
            "release": self.release,
            "assignment": self.assignment,
            "split": self.split,
        }

    def operators(self) -> dict[str, Any]:
        """Centroids from the data, exchange of clusters, Lloyd steps, splits and merges."""
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
        places = np.flatnonzero(~self.unused(matrix))  # the others attract nothing, and cost time
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

    def _cut_up(self) -> tuple[Table, Units, NDArray[np.int64]]:
        """The table in units, and the units in the order of the leading number."""
        table = self.table
        view, owners = table, np.arange(table.n_tuples)
        if self.assignment == "balanced" and self.split > 0:
            order = np.argsort(table.row_tuple, kind="stable")
            starts = np.cumsum(table.weights) - table.weights
            rank = np.empty(table.n_records, np.int64)
            rank[order] = np.arange(table.n_records) - np.repeat(starts, table.weights)
            view = table.split(np.minimum(rank, self.split))
            owners = np.empty(view.n_tuples, np.int64)
            owners[view.row_tuple] = table.row_tuple
        points = self.coordinates.points[owners]
        numbers, categories = np.flatnonzero(self.numeric), np.flatnonzero(~self.numeric)
        leaves = [table.qis[j].n_leaves for j in categories]
        attributes = list(view.sensitive.values())
        n_values = np.array([a.n_values for a in attributes], dtype=np.int64)
        entries = []
        for s, a in enumerate(attributes):
            owner = np.repeat(np.arange(view.n_tuples), np.diff(a.offsets))
            value = a.codes + n_values[:s].sum()
            entries.append(np.column_stack([owner, np.full(len(owner), s), value, a.counts]))
        joined = np.concatenate([np.empty((0, 4), np.int64), *entries]).astype(np.int64)
        joined = joined[np.argsort(joined[:, 0], kind="stable")]
        units = Units(
            points=points,
            weights=view.weights.astype(np.int64),
            owners=owners,
            numbers=numbers,
            categories=categories,
            category_starts=_starts(leaves),
            n_values=n_values,
            entry_starts=_starts(np.bincount(joined[:, 0], minlength=view.n_tuples).tolist()),
            entry_attributes=np.ascontiguousarray(joined[:, 1]),
            entry_values=np.ascontiguousarray(joined[:, 2]),
            entry_counts=np.ascontiguousarray(joined[:, 3]),
        )
        keys = points[:, self._lead] if self._lead >= 0 else np.zeros(len(points))
        return view, units, np.argsort(keys, kind="stable")


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


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
