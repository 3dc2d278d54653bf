"""RegionSpace: partitions of the table into regions, each published with its own ranges or nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo._util.distinct import number_by_appearance, number_equal
from privmoo.data.table import Table
from privmoo.errors import ColumnError, ProblemError, nearest
from privmoo.kernels.region_growth import grow_regions
from privmoo.kernels.region_layout import Limits
from privmoo.kernels.region_levels import group_by_levels
from privmoo.kernels.region_moves import adopt, dissolve, improve
from privmoo.kernels.region_parts import better_parts
from privmoo.kernels.region_splits import new_members, split_tight
from privmoo.kernels.region_tree_search import better_tree, improve_tree
from privmoo.kernels.region_trees import grow_trees, read_tree
from privmoo.kernels.region_values import tight_bounds, worst_values
from privmoo.measures import Constraint, Measure
from privmoo.operators import HashDuplicates, RegionExchange, RegionMutation, RegionSampling
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.classes import PartitionRecoding, as_classes, range_recoding
from privmoo.spaces.base import SearchSpace, row_keys
from privmoo.spaces.region_columns import Coarsened, level_vectors, steps_of
from privmoo.spaces.region_ground import Ground
from privmoo.spaces.region_limits import Demands, Target
from privmoo.spaces.region_targets import Targets
from privmoo.suppression import BelowThreshold, Suppression

__all__ = ["RegionSpace", "Regions"]

Publish = Literal["region", "tight"]
_LARGEST_POOL = 2_000
_LARGEST_PART = 3_000
_LARGEST_GROWTH = 30_000  # tuples; the time grows with their square
_TREE_EFFORT = 4.0  # a tuple costs less in a tree
_MOST_USUAL = 5


class Regions(NamedTuple):
    """What one decision vector makes of a table.

    Attributes:
        labels: The region of every distinct tuple, numbered from 0.
        start: Regions × quasi-identifiers, the first leaf that is published.
        stop: One past the last one.
    """

    labels: NDArray[np.int32]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


class RegionSpace(SearchSpace):
    """Decision vectors of regions: the space of the quasi-identifiers is divided, region by region.

    With `publish="region"` a decision vector is a tree of splits in preorder: 0 is a leaf, any other number
    a position of an ordered quasi-identifier, or a node of one with a tree. A position says who is on
    which side; the split lies at the roundest number between them. Every region publishes its bounds,
    which follow from the splits. With `publish="tight"` a decision vector has the number of
    the region of every distinct tuple, and every region publishes the smallest ranges, or lowest nodes,
    around its members. Regions that publish the same are one.

    Where a policy lets groups be left out because they are small, the search makes small regions of those
    whom it is worth leaving out. If the policy leaves open what is small, the number before the regions
    says it: the least size of a region that is published, as far as the budget allows.

    Args:
        table: The records.
        publish: `"region"` or `"tight"`.
        constraints: Bounds that every region must keep: k, and limits on its sensitive values.
        objectives: Measures; the bounds of those that are privacy models are varied.
        consistent: Quasi-identifiers that are recoded the same way everywhere.
        suppression: Which records are left out; none by default.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 22, 40, 44]}), quasi_identifiers=["age"])
    >>> space = RegionSpace(table, publish="tight")
    >>> space.decode(np.array([0, 0, 1, 1])).start.tolist()
    [[0], [2]]
    """

    kinds: ClassVar[tuple[str, ...]] = ("regions",)
    aims: ClassVar[tuple[str, ...]] = ("k",)
    variable_type: ClassVar[type] = int

    def __init__(
        self,
        table: Table,
        *,
        publish: Publish = "region",
        constraints: Sequence[Constraint] = (),
        objectives: Sequence[Measure] = (),
        consistent: Sequence[str] = (),
        suppression: Suppression | None = None,
    ) -> None:
        super().__init__(table)
        choice("publish", publish, ("region", "tight"))
        self.publish: Publish = publish
        self.demands = Demands(table, constraints, objectives, suppression)
        if self.demands.k > table.n_persons:
            who = "records" if table.subjects is None else "persons"
            raise ProblemError(
                f"k: {self.demands.k} is more than the {table.n_persons} {who} of the table; choose a "
                "smaller k"
            )
        self.consistent = _checked(table, consistent)
        rule = self.demands.left_out
        self.has_threshold = rule.most > 0 and rule.below is None
        self.head = len(self.consistent) + self.has_threshold
        self._elite: dict[int, tuple[float, NDArray[np.int32]]] = {}
        self._steps = [steps_of(table, j) for j in self.consistent]
        self._ground = lru_cache(maxsize=64)(self._new_ground)
        self.chunk = max(1, min(64, (64 << 20) // (24 * max(table.n_tuples, 1))))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ground": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._ground = lru_cache(maxsize=64)(self._new_ground)

    # Variables

    @property
    def n_steps(self) -> NDArray[np.int64]:
        """How many ways there are to recode each consistent column."""
        return np.array([len(steps) for steps in self._steps], np.int64)

    @property
    def n_places(self) -> int:
        """Variables that describe the regions.

        Those before them choose how columns are recoded, and which regions are left out.
        """
        if self.publish == "tight":
            return self.table.n_tuples
        most = self.table.n_persons // self.demands.k + self.demands.left_out.most
        return 2 * min(self.table.n_tuples, most) - 1

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest of a step, of a threshold, and of the number of a region or split."""
        largest = self.table.n_tuples - 1
        if self.publish == "region":
            layout = self.ground(np.zeros(len(self.consistent), np.int64)).layout
            largest = int(layout.split_starts[-1])
        thresholds = [self.table.n_persons] * self.has_threshold
        high = np.concatenate([self.n_steps - 1, thresholds, np.full(self.n_places, largest)])
        low = np.zeros(len(high))
        low[len(self.consistent) : self.head] = 1.0
        return low, high.astype(np.float64)

    def clean(self, X: NDArray[Any]) -> NDArray[np.int32]:
        """Return whole numbers within bounds; regions are numbered by their first tuples."""
        low, high = self.bounds
        rows = np.atleast_2d(np.asarray(X))
        if rows.dtype.kind == "f":
            rows = np.rint(np.nan_to_num(rows))
        rows = np.clip(rows, low.astype(np.int64), high.astype(np.int64))
        rows = np.asarray(rows, np.int32)
        if self.publish == "tight":
            for row in rows:
                row[self.head :] = number_by_appearance(row[self.head :])[0]
        return rows

    def ground(self, steps: NDArray[Any]) -> Ground:
        """Return the table with the consistent columns recoded by these steps."""
        return self._ground(tuple(int(s) for s in steps))

    def _new_ground(self, steps: tuple[int, ...]) -> Ground:
        fixed = {j: self._steps[i][steps[i]] for i, j in enumerate(self.consistent)}
        columns = [Coarsened.of(qi, fixed.get(j)) for j, qi in enumerate(self.table.qis)]
        return Ground.of(self.table, columns)

    # Meaning

    def decode(self, x: NDArray[Any]) -> Regions:
        """Return the regions of one decision vector."""
        return self._decode(self.clean(x)[0])

    def _decode(self, row: NDArray[np.int32]) -> Regions:
        ground = self.ground(row[: len(self.consistent)])
        codes = np.ascontiguousarray(row[self.head :])
        if self.publish == "region":
            labels, boxes = self._read(ground, codes)
            start, stop = _leaves_of_boxes(ground.columns, boxes)
        else:
            together = codes.astype(np.int64) * (int(ground.cells.max()) + 1) + ground.cells
            labels = number_by_appearance(together)[0]
            low = np.empty((int(labels.max()) + 1, self.table.n_qis), np.int64)
            high = np.empty_like(low)
            tight_bounds(ground.layout, labels, low, high)
            start, stop = _leaves_of_codes(ground.columns, low, high)
        return _merged(labels, start, stop)

    def _read(
        self, ground: Ground, codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        labels = np.empty(self.table.n_tuples, np.int32)
        room = min(len(codes) + len(ground.segments), self.table.n_tuples)
        boxes = np.empty((room, self.table.n_qis, 3), np.int64)
        n = read_tree(ground.forest(self.demands.limits), codes, labels, boxes)
        return labels, boxes[:n]

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return the regions of decision vectors as the engine groups them."""
        rows = list(self.clean(X))
        decoded = self.each(self._decode, rows)
        thresholds = None
        if self.has_threshold:
            thresholds = np.array(
                [self._threshold(*pair) for pair in zip(rows, decoded, strict=True)]
            )
        prices = [self._prices(regions) for regions in decoded]
        return Candidates(
            labels=np.stack([regions.labels for regions in decoded]),
            losses=np.stack([p[r.labels] for p, r in zip(prices, decoded, strict=True)]),
            spans=[np.stack([r.start, r.stop], axis=2) for r in decoded],
            thresholds=thresholds,
        )

    def _threshold(self, row: NDArray[np.int32], regions: Regions) -> float:
        """Return the least size of a region that is published, as far as the budget allows."""
        rule = self.demands.left_out
        if not self.has_threshold:
            return rule.below if rule.below is not None and rule.most else 0.0
        layout = self.ground(row[: len(self.consistent)]).layout
        sizes = np.bincount(regions.labels, weights=layout.sizes) / self.demands.part
        records = np.bincount(regions.labels, weights=layout.weights)
        threshold = float(row[self.head - 1])
        if records[sizes < threshold].sum() <= rule.most:
            return threshold
        order = np.argsort(sizes, kind="stable")
        below = np.cumsum(records[order]) - records[order]
        # Of equal sizes the first one has the fewest records before it.
        steps, first = np.unique(sizes[order], return_index=True)
        return max(1.0, float(np.floor(steps[below[first] <= rule.most].max())))

    def policy(self, x: NDArray[Any]) -> Suppression | None:
        """Return the threshold that a decision vector chooses; None if it chooses none."""
        if not self.has_threshold:
            return None
        [row] = self.clean(x)
        return BelowThreshold(int(self._threshold(row, self._decode(row))))

    def stair_keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the regions are the same."""
        rows = self.clean(X)
        rows[:, len(self.consistent) : self.head] = 0
        return row_keys(rows)

    def _prices(self, regions: Regions) -> NDArray[np.float64]:
        """Return the general loss of a record of every region."""
        weights = np.array([qi.weight for qi in self.table.qis])
        sizes = np.array([max(qi.n_leaves - 1, 1) for qi in self.table.qis])
        widths = regions.stop - regions.start.astype(np.float64) - 1
        return np.asarray((widths / sizes) @ (weights / weights.sum()))

    def recoding(self, x: NDArray[Any]) -> PartitionRecoding:
        """Return what a decision vector publishes of every record."""
        regions = self.decode(x)
        return range_recoding(
            self.table,
            regions.labels,
            by="tuples",
            bounds=(regions.start, regions.stop) if self._needs_bounds else None,
            publish=self.publish,
        )

    @property
    def _needs_bounds(self) -> bool:
        """Whether what is published does not follow from the members of the regions."""
        lowest = any(qi.min_level > 0 for qi in self.table.qis)
        return self.publish == "region" or lowest or bool(self.consistent)

    def encode(self, recoding: Recoding) -> NDArray[np.int32]:
        """Return the decision vector of classes that were found elsewhere."""
        if self.publish == "tight":
            head = np.zeros(self.head, np.int32)
            labels = as_classes(recoding, self.table).labels_for(self.table)
            return np.asarray(self.clean(np.concatenate([head, labels]))[0])
        return np.asarray(super().encode(recoding))

    # Search

    def grow(
        self,
        targets: Sequence[Target],
        steps: NDArray[Any],
        *,
        noise: float = 0.0,
        seed: int = 0,
    ) -> NDArray[np.int32]:
        """Return decision vectors of regions that are split greedily, as far as each target allows.

        Nobody is left out.

        Args:
            targets: What every region must have. Targets that differ in k only share their splits.
            steps: How the consistent columns are recoded.
            noise: How much gains are distorted; 0 for not at all.
            seed: Of the noise.
        """
        ground = self.ground(steps)
        rows = np.zeros((len(targets), self.head + self.n_places), np.int32)
        rows[:, : self.head] = [self._head(steps, target) for target in targets]
        groups: dict[bytes, list[int]] = {}
        for i, target in enumerate(targets):
            groups.setdefault(target.bounds.tobytes(), []).append(i)
        for places in groups.values():
            ks, rows_of_ks = np.unique([targets[i].k for i in places], return_inverse=True)
            limits = self.demands.limits_for(targets[places[0]], below=0)
            ks = ks.astype(np.int64) * self.demands.part
            state = np.array([seed], np.uint64)
            if self.publish == "tight":
                members = new_members(ground.layout, ground.order)
                grown = np.zeros((len(ks), self.table.n_tuples), np.int32)
                split_tight(
                    ground.layout, limits, members, ground.segments, ks, noise, state, grown
                )
            else:
                grown = np.zeros((len(ks), 2 * self.table.n_tuples), np.int32)
                grow_trees(ground.forest(limits), ks, noise, state, grown)
            rows[places, self.head :] = grown[rows_of_ks, : self.n_places]
        return rows

    def _head(self, steps: NDArray[Any], target: Target) -> list[int]:
        """Return the variables before the regions."""
        return [*map(int, steps), *[target.k] * self.has_threshold]

    @property
    def groups_by_levels(self) -> bool:
        """Whether levels make good regions to start from: ranges are tight, and most columns have trees."""
        trees = sum(qi.hierarchy is not None and qi.hierarchy.constrained for qi in self.table.qis)
        return self.publish == "tight" and 2 * trees > self.table.n_qis

    def by_levels(self, target: Target, steps: NDArray[Any], *, seed: int = 0) -> NDArray[np.int32]:
        """Return a decision vector of tight regions that are alike at the least general levels.

        The vectors of levels are tried from the least general one on: what forms a region that meets the
        target becomes one, and the others go on with the rest. What is left joins the regions that it
        costs least, or is left out.

        Args:
            target: What every region must have.
            steps: How the consistent columns are recoded.
            seed: Draws some vectors where there are too many.
        """
        ground = self.ground(steps)
        limits, k = self.demands.limits_for(target), target.k * self.demands.part
        levels = level_vectors(ground.columns, ground.layout, seed=seed)
        labels = np.empty(self.table.n_tuples, np.int32)
        n = group_by_levels(ground.layout, limits, ground.cells, k, levels, labels)
        if limits.outliers.most:
            is_left = np.bincount(labels, weights=ground.layout.sizes, minlength=n)[labels] < k
            labels[is_left] = n + np.arange(is_left.sum())
            labels = number_by_appearance(labels)[0]
        dissolve(ground.layout, limits, labels, ground.cells, k)
        head = np.array(self._head(steps, target), np.int32)
        return np.concatenate([head, number_by_appearance(labels)[0]])

    def can_grow(self, target: Target) -> bool:
        """Return whether regions that grow are a good start: few splits of tight ranges keep a limit.

        That holds where a region must resemble the table, by t, β, δ or α.

        Args:
            target: What every region must have.
        """
        is_small = self.table.n_tuples <= _LARGEST_GROWTH
        return self.publish == "tight" and is_small and self.demands.bound_differences(target)

    def by_growth(self, target: Target, steps: NDArray[Any], *, seed: int = 0) -> NDArray[np.int32]:
        """Return a decision vector of tight regions that grow tuple by tuple until they meet the target.

        Nobody is left out.

        Args:
            target: What every region must have.
            steps: How the consistent columns are recoded.
            seed: Draws the tuples that regions begin with.
        """
        ground = self.ground(steps)
        limits, k = self.demands.limits_for(target, below=0), target.k * self.demands.part
        order = np.random.default_rng(seed).permutation(self.table.n_tuples)
        labels = np.empty(self.table.n_tuples, np.int32)
        grow_regions(ground.layout, limits, ground.cells, k, order, labels)
        head = np.array(self._head(steps, target), np.int32)
        return np.concatenate([head, number_by_appearance(labels)[0]])

    @property
    def targets(self) -> Targets:
        """The targets that are worth searching for."""
        return Targets(self.demands, self.table.n_persons, self.focus.get("k"))

    def target_of(self, row: NDArray[Any]) -> Target:
        """Return the strictest target that a decision vector meets, within the constraints."""
        regions = self._decode(np.asarray(row))
        layout = self.ground(row[: len(self.consistent)]).layout
        demands = self.demands
        limits = demands.limits_for(demands.loosest, below=self._threshold(row, regions))
        size, worst = worst_values(layout, limits, regions.labels, len(regions.start))
        return Target(max(size // demands.part, demands.k), demands.stricter(worst))

    def draw_targets(self, rng: np.random.Generator, number: int) -> list[Target]:
        """Return targets from the smallest size of a region to the largest.

        Args:
            rng: The source of randomness.
            number: How many.
        """
        one_region = np.zeros(self.table.n_tuples, np.int32)
        layout = self.ground(np.zeros(len(self.consistent), np.int64)).layout
        reach = worst_values(layout, self.demands.limits, one_region, 1)[1]
        return self.targets.draw(rng, number, reach)

    def begin_run(self) -> None:
        """Forget the best regions of an earlier run."""
        self._elite = {}

    def notice(self, X: NDArray[Any]) -> None:
        """Remember the regions that lose least, for every size that people publish.

        They count where k is the only bound that varies.
        """
        if not self.demands.varies_k or self.demands.goals:
            return
        for row in self.clean(X):
            regions = self._decode(row)
            layout = self.ground(row[: len(self.consistent)]).layout
            sizes = np.bincount(regions.labels, weights=layout.sizes) / self.demands.part
            records = np.bincount(regions.labels, weights=layout.weights)
            is_published = sizes >= self._threshold(row, regions)
            if not is_published.any():
                continue
            loss = float(records @ np.where(is_published, self._prices(regions), 1.0))
            for k in self.targets.usual_sizes:
                if k <= sizes[is_published].min() and loss < self._elite.get(k, (np.inf,))[0]:
                    self._elite[k] = loss, row

    def best_remembered(
        self, rng: np.random.Generator, number: int
    ) -> list[tuple[NDArray[np.int32], Target]]:
        """Return the best regions for sizes that people publish, three of four for the most usual ones.

        Args:
            rng: The source of randomness.
            number: How many.

        Returns:
            Decision vectors and their targets; none if nothing is remembered.
        """
        ks = [k for k in self.targets.usual_sizes if k in self._elite]
        if not ks or not number:
            return []
        most_usual, others = ks[:_MOST_USUAL], ks[_MOST_USUAL:] or ks
        first = np.resize(rng.permutation(most_usual), -(-3 * number // 4)).tolist()
        drawn = [*first, *np.resize(rng.permutation(others), number - len(first)).tolist()]
        return [(self._elite[k][1], Target(k, self.demands.loosest.bounds)) for k in drawn]

    def other_steps(
        self, row: NDArray[np.int32], target: Target, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Return a decision vector, sometimes one whose consistent columns are recoded by other steps.

        Args:
            row: The decision vector.
            target: What every region must have.
            rng: The source of randomness.
        """
        begin = len(self.consistent)
        if not begin or rng.random() < 0.5:
            return row
        steps = row[:begin].copy()
        i = int(rng.integers(begin))
        steps[i] = np.clip(steps[i] + rng.choice([-1, 1]), 0, self.n_steps[i] - 1)
        if steps[i] == row[i]:
            return row
        return np.asarray(self.grow([target], steps)[0])

    def passes_of(self, effort: float) -> float:
        """Return how often a local search with some effort goes over the table."""
        factor = _TREE_EFFORT if self.publish == "region" else 1.0
        return factor * effort / self.table.n_tuples

    def draw_share(self, rng: np.random.Generator) -> float:
        """Return how much of the budget for leaving out a local search may use: all of it, some or none.

        A budget is an offer: regions that leave nobody out are searched beside the others.

        Args:
            rng: The source of randomness.
        """
        if self.demands.left_out.most == 0:
            return 1.0
        return float(np.clip(2.0 * rng.random() - 0.5, 0.0, 1.0))

    def improved(
        self, row: NDArray[Any], target: Target, effort: float, seed: int, *, share: float = 1.0
    ) -> NDArray[np.int32]:
        """Return a decision vector that meets a target and loses less, by local search.

        Args:
            row: The decision vector to start from.
            target: What every region must have.
            effort: How much is tried, counted in tuples.
            seed: Of the search.
            share: How much of the budget for leaving out may be used.
        """
        result = np.array(row, np.int32)
        steps = result[: len(self.consistent)]
        ground = self.ground(steps)
        limits, k = self.demands.limits_for(target, share=share), target.k * self.demands.part
        state = np.array([seed], np.uint64)
        regions = self._decode(result)
        if self.publish == "region":
            codes = np.zeros(2 * self.table.n_tuples, np.int32)
            codes[: self.n_places] = result[self.head :]
            forest = ground.forest(limits)
            below = math.ceil(self._threshold(result, regions)) * self.demands.part
            improve_tree(forest, codes, k, _TREE_EFFORT * effort, _LARGEST_PART, state, below)
            result[self.head :] = codes[: self.n_places]
        else:
            labels = regions.labels.copy()
            dissolve(ground.layout, limits, labels, ground.cells, k)
            labels = self._split_further(ground, labels, limits, k)
            improve(ground.layout, limits, labels, ground.cells, k, effort, _LARGEST_POOL, state)
            result[self.head :] = number_by_appearance(labels)[0]
        result[: self.head] = self._head(steps, target)
        return result

    def _split_further(
        self, ground: Ground, labels: NDArray[np.int32], limits: Limits, k: int
    ) -> NDArray[np.int32]:
        """Return regions that are split as far as limits allow."""
        order = np.argsort(labels, kind="stable")
        segments = np.flatnonzero(np.diff(labels[order], prepend=-1))
        members = new_members(ground.layout, order)
        split_labels = np.empty((1, len(labels)), np.int32)
        split_tight(
            ground.layout,
            limits,
            members,
            np.append(segments, len(labels)),
            np.array([k]),
            0.0,
            np.zeros(1, np.uint64),
            split_labels,
        )
        return np.asarray(split_labels[0])

    def crossed(
        self, first: NDArray[Any], second: NDArray[Any], target: Target
    ) -> NDArray[np.int32]:
        """Return the first decision vector with those parts of the second that lose less.

        Args:
            first: A decision vector.
            second: Another one.
            target: What regions of the second must have.
        """
        steps, begin = first[: len(self.consistent)], self.head
        child = np.array(first, np.int32)
        if not np.array_equal(steps, second[: len(self.consistent)]):
            return child
        ground = self.ground(steps)
        limits, k = self.demands.limits_for(target), target.k * self.demands.part
        if self.publish == "region":
            codes = better_tree(
                ground.forest(limits),
                np.ascontiguousarray(first[begin:], np.int32),
                np.ascontiguousarray(second[begin:], np.int32),
                k,
            )
            child[begin:] = 0
            child[begin : begin + len(codes)] = codes[: self.n_places]
            return child
        labels = np.empty(self.table.n_tuples, np.int32)
        others = self._decode(np.array(second, np.int32)).labels
        better_parts(ground.layout, limits, self._decode(child).labels, others, k, labels)
        labels = number_by_appearance(labels)[0]
        usual_size = np.median(np.bincount(others, weights=ground.layout.sizes))
        # Regions of quite another size have nothing to offer. Those that must resemble the table hardly
        # ever can give up what lies inside a box, and finding that out takes very long.
        if k <= 2 * usual_size <= 4 * k and not self.demands.bound_differences(target):
            adopt(ground.layout, limits, labels, ground.cells, k, others)
        child[begin:] = number_by_appearance(labels)[0]
        return child

    def parameters(self) -> dict[str, Any]:
        """Return what makes regions of decision vectors."""
        names = [self.table.qi_names[j] for j in self.consistent]
        return {"publish": self.publish, "consistent": names}

    def operators(self) -> dict[str, Any]:
        """Greedy splits for many k, the better parts of two parents, local search."""
        return {
            "sampling": RegionSampling(),
            "crossover": RegionExchange(),
            "mutation": RegionMutation(),
            "eliminate_duplicates": HashDuplicates(),
        }


def _checked(table: Table, names: Sequence[str]) -> tuple[int, ...]:
    if isinstance(names, str):
        names = [names]
    for name in names:
        if name not in table.qi_names:
            raise ColumnError(
                f"consistent: {name!r} is not a quasi-identifier{nearest(name, table.qi_names)}"
            )
    return tuple(sorted({table.qi_names.index(name) for name in names}))


def _merged(
    labels: NDArray[np.int32], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> Regions:
    """Return regions that publish the same as one, numbered by their first tuples."""
    number, one_region = number_equal(np.hstack([start, stop]))
    final, numbers = number_by_appearance(number[labels])
    regions = one_region[numbers]
    return Regions(final, start[regions], stop[regions])


def _leaves_of_boxes(
    columns: Sequence[Coarsened], boxes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, stop = np.empty(boxes.shape[:2], np.int64), np.empty(boxes.shape[:2], np.int64)
    for j, column in enumerate(columns):
        if column.is_tree:
            first, end = column.node_ends()
            start[:, j], stop[:, j] = first[boxes[:, j, 0]], end[boxes[:, j, 0]]
        else:
            start[:, j] = column.first[boxes[:, j, 0]]
            stop[:, j] = column.last[boxes[:, j, 1]] + 1
    return start, stop


def _leaves_of_codes(
    columns: Sequence[Coarsened], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves of the narrowest range, or lowest node, over codes."""
    start, stop = np.empty_like(low), np.empty_like(high)
    for j, column in enumerate(columns):
        start[:, j], stop[:, j] = column.first[low[:, j]], column.last[high[:, j]] + 1
        if not column.is_tree:
            continue
        is_covered = np.zeros(len(low), np.bool_)
        for level in column.levels():
            node = level[low[:, j]]
            inside = ~is_covered & (node == level[high[:, j]])
            first = np.searchsorted(level, node[inside], side="left")
            last = np.searchsorted(level, node[inside], side="right") - 1
            start[inside, j], stop[inside, j] = column.first[first], column.last[last] + 1
            is_covered |= inside
    return start, stop
