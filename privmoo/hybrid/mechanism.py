"""HybridMechanism: from parameters of the hybrid scheme to what every record publishes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.hybrid.cautions import check_fine, of_grids, of_noise, of_texts
from privmoo.hybrid.checks import check_numbers, check_scheme_table
from privmoo.hybrid.clustering import MemberClusters, check_k, member_clusters
from privmoo.hybrid.noise import Noise, add_noise, expected_unchanged, laplace_draws
from privmoo.hybrid.splitting import Split
from privmoo.recodings.base import Caution
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import Intervals, Labels, Noised, PublishedColumn
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.recodings.noise import Laplace, unit_of
from privmoo.recodings.tuples import TupleRecoding

__all__ = ["HybridMechanism", "HybridParameters", "default_diversity", "default_levels"]

PARTITIONS = ("violating", "other")


@dataclass(frozen=True)
class HybridParameters:
    """The parameters that the scheme leaves open.

    Attributes:
        k: Fewest records of a cluster.
        epsilon_violating: ε of the noise in the violating partition.
        epsilon_other: ε of the noise in the other partition.
        diversity: The smallest entropy, in nats, of a cluster that is generalised least.
        least: Per categorical quasi-identifier, the level in clusters that are diverse enough.
        average: The level in the other clusters.
    """

    k: int
    epsilon_violating: float
    epsilon_other: float
    diversity: float
    least: tuple[int, ...]
    average: tuple[int, ...]


class HybridMechanism:
    """The mechanism that computes what the scheme's parameters publish of a table.

    Clusters depend on k alone and are computed once; so are the draws of a seed's noise, which another ε
    only scales: two parameter vectors are compared with common random numbers.

    For a scanned table, distinct tuples are clustered, and noise is drawn when records are written: use
    `tuples` instead of `noise` and `recoding`.

    Args:
        table: The records.
        split: Its violating and other records.
        strict: Whether every cluster publishes one label per quasi-identifier, in both partitions.
        sensitivity: Δf of the noise, for all numeric quasi-identifiers or by name.
        bounds: Smallest and largest number of a column; those of its hierarchy, or of the data, by default.
        weight: How much diversity counts against similarity in clusters.
        cautions: Further cautions for the certificate.

    Attributes:
        categorical: The places of the categorical quasi-identifiers.
        numeric: The places of the numeric ones.
    """

    def __init__(
        self,
        table: Table,
        split: Split,
        *,
        strict: bool = False,
        sensitivity: float | Mapping[str, float] = 1.0,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        weight: float = 0.5,
        cautions: Sequence[Caution] = (),
    ) -> None:
        check_scheme_table(table, records=strict)
        if split.n_records != table.n_records:
            raise ProblemError(
                f"split covers {split.n_records:,} records, but the table has {table.n_records:,}"
            )
        columns = numeric_columns(table)
        self.table, self.split, self.strict = table, split, bool(strict)
        self.categorical = [j for j, numbers in enumerate(columns) if numbers is None]
        self.numeric = [j for j, numbers in enumerate(columns) if numbers is not None]
        check_numbers(table, sensitivity, bounds, weight)
        check_fine(table, self.numeric)
        self._bounded = frozenset(bounds or ())
        self.sensitivity = self._sensitivities(sensitivity)
        self._steps = [unit_of(np.asarray(columns[j])) for j in self.numeric]
        self.bounds = [
            self._bounds(j, step, bounds or {})
            for j, step in zip(self.numeric, self._steps, strict=True)
        ]
        self.weight, self.cautions = weight, tuple(cautions)
        if strict:
            for j in self.categorical:
                qi = table.qis[j]
                if qi.max_level < node_cells(table)[j].height:
                    raise ProblemError(
                        f"strict: {qi.name!r} may not be generalised above level {qi.max_level}, but a "
                        "cluster may need its highest; leave its max_level out"
                    )
        self._rows = (np.flatnonzero(split.violating), np.flatnonzero(~split.violating))
        self._clusters: dict[tuple[int, int], MemberClusters] = {}
        self._levels: dict[tuple[int, int], NDArray[np.int64]] = {}
        self._draws: tuple[tuple[int, int], NDArray[np.float64]] | None = None

    def _sensitivities(self, sensitivity: float | Mapping[str, float]) -> list[float]:
        if not isinstance(sensitivity, Mapping):
            return [float(sensitivity)] * len(self.numeric)
        return [float(sensitivity.get(self.table.qi_names[j], 1.0)) for j in self.numeric]

    def _bounds(
        self, j: int, step: float, bounds: Mapping[str, tuple[float, float]]
    ) -> tuple[float, float]:
        """Return the domain with its ends on the grid of the noise: clipped numbers look like others."""
        qi = self.table.qis[j]
        numbers = np.asarray(numeric_columns(self.table)[j])
        low, high = float(numbers.min()), float(numbers.max())
        if qi.name in bounds:
            ends = bounds[qi.name]
            if not ends[0] <= low <= high <= ends[1]:
                raise ProblemError(
                    f"bounds: some numbers of {qi.name!r} lie outside {ends!r}; give bounds that cover the "
                    "data"
                )
            low, high = float(ends[0]), float(ends[1])
        elif qi.hierarchy is not None and qi.exact and qi.numbers is not None:
            low = min(low, float(np.nanmin(qi.numbers)))
            high = max(high, float(np.nanmax(qi.numbers)))
        digits = max(0, -math.floor(math.log10(step)))
        inner = math.ceil(low / step - 1e-9) * step, math.floor(high / step + 1e-9) * step
        return round(inner[0], digits), round(max(inner), digits)

    def check_k(self, k: int) -> None:
        """Raise unless every partition that is clustered has k records."""
        check_k(k, self.split.n_violating, "records in the violating partition")
        if self.strict:
            check_k(
                k, self.split.n_other, "records in the other partition, which strict clusters too"
            )

    def clusters(self, k: int, partition: int = 0) -> MemberClusters:
        """Return the clusters of a partition.

        Args:
            k: Fewest records of a cluster.
            partition: 0 for the violating one, 1 for the other.
        """
        if (partition, k) not in self._clusters:
            self.check_k(k)
            self._clusters[partition, k] = member_clusters(
                self.table, k, self._rows[partition], weight=self.weight
            )
        return self._clusters[partition, k]

    def draws(self, seed: int, repeat: int = 0) -> NDArray[np.float64]:
        """Return the draws of a seed's noise; the last ones are cached.

        Args:
            seed: The seed.
            repeat: Another number gives other draws of the same seed.
        """
        if self._draws is None or self._draws[0] != (seed, repeat):
            draws = laplace_draws(self.table, len(self.numeric), seed, repeat)
            self._draws = (seed, repeat), draws
        return self._draws[1]

    def noise(
        self, parameters: HybridParameters, seed: int, repeat: int = 0
    ) -> list[tuple[Noise, Noise]]:
        """Return the noised numbers of both partitions, for every numeric quasi-identifier.

        Args:
            parameters: The scheme's parameters.
            seed: The seed of the noise.
            repeat: Another number gives other noise of the same seed.
        """
        epsilons = parameters.epsilon_violating, parameters.epsilon_other
        draws = self.draws(seed, repeat)
        noise = []
        for i, j in enumerate(self.numeric):
            numbers = np.asarray(numeric_columns(self.table)[j])
            violating, others = (
                add_noise(
                    numbers[rows],
                    draws[rows, i],
                    epsilon=epsilon,
                    sensitivity=self.sensitivity[i],
                    step=self._steps[i],
                    bounds=self.bounds[i],
                )
                for rows, epsilon in zip(self._rows, epsilons, strict=True)
            )
            noise.append((violating, others))
        return noise

    def recoding(
        self,
        parameters: HybridParameters,
        seed: int,
        repeat: int = 0,
        cautions: Sequence[Caution] = (),
    ) -> CellRecoding:
        """Return what every record publishes.

        Args:
            parameters: The scheme's parameters.
            seed: The seed of the noise.
            repeat: Another number gives other noise of the same seed.
            cautions: Further cautions for the certificate.
        """
        noise = self.noise(parameters, seed, repeat)
        columns: dict[int, PublishedColumn] = {}
        levels = self._published_levels(parameters)
        parts = (~self.split.violating).astype(np.int8)
        for i, j in enumerate(self.categorical):
            leaves = self.table.tuples[self.table.row_tuple, j]
            codes = node_cells(self.table)[j].ids[levels[i], leaves]
            columns[j] = Labels.of_nodes(self.table, j, codes)
        owner = self._owners(parameters.k) if self.strict else None
        distributions = self._distributions(parameters, parts)
        for (violating, others), (j, laplace) in zip(noise, distributions.items(), strict=True):
            values = np.empty(self.table.n_records)
            values[self._rows[0]], values[self._rows[1]] = violating.values, others.values
            if owner is None:
                columns[j] = Noised.of_numbers(
                    self.table, j, values, step=laplace.step, noise=laplace
                )
                continue
            low = np.full(int(owner.max()) + 1, np.inf)
            high = -low
            np.minimum.at(low, owner, values)
            np.maximum.at(high, owner, values)
            columns[j] = Intervals.of_classes(self.table, j, (low, high), owner, noise=laplace)
        unchanged = [tuple(part.unchanged for part in parts_of) for parts_of in noise]
        return CellRecoding(
            self.table,
            [columns[j] for j in range(self.table.n_qis)],
            parts=parts,
            facts=self._facts(parameters, unchanged),
            cautions=[*self._cautions(parameters, measured=True), *cautions],
        )

    def tuples(
        self, parameters: HybridParameters, cautions: Sequence[Caution] = ()
    ) -> TupleRecoding:
        """Return what every distinct tuple publishes, and the noise that its records will get.

        Args:
            parameters: The scheme's parameters.
            cautions: Further cautions for the certificate.
        """
        parts = (~self.split.violating).astype(np.int8)
        return TupleRecoding(
            self.table,
            self._published_levels(parameters),
            self._distributions(parameters, parts),
            parts=parts,
            facts=self._facts(parameters),
            cautions=[*self._cautions(parameters, measured=False), *cautions],
        )

    def _distributions(
        self, parameters: HybridParameters, parts: NDArray[np.int8]
    ) -> dict[int, Laplace]:
        """Return the distribution of the noise on every numeric quasi-identifier, by place."""
        epsilons = parameters.epsilon_violating, parameters.epsilon_other
        return {
            j: Laplace(
                scales=tuple(delta / epsilon for epsilon in epsilons),
                parts=parts,
                step=step,
                low=low,
                high=high,
            )
            for j, delta, step, (low, high) in zip(
                self.numeric, self.sensitivity, self._steps, self.bounds, strict=True
            )
        }

    def _cautions(self, parameters: HybridParameters, *, measured: bool) -> list[Caution]:
        """Return what a reader must not conclude from the release, for the certificate."""
        cautions = of_texts(self.table, self.categorical)
        if self.numeric:
            epsilon = min(parameters.epsilon_violating, parameters.epsilon_other)
            scales = [delta / epsilon for delta in self.sensitivity]
            cautions += of_noise(measured=measured, intervals=self.strict)
            cautions += of_grids(self.table, self.numeric, self._steps, scales, self._bounded)
        return [*cautions, *self.cautions]

    def _published_levels(self, parameters: HybridParameters) -> NDArray[np.int64]:
        """Return the level of every categorical quasi-identifier and record."""
        lowest = np.array([self.table.qis[j].min_level for j in self.categorical], np.int64)
        levels = np.repeat(lowest[:, None], len(self.split.violating), axis=1)
        level_of_kind = np.array([parameters.average, parameters.least], np.int64)
        for partition, rows in enumerate(self._rows):
            if not len(rows) or (partition and not self.strict):
                continue
            clusters = self.clusters(parameters.k, partition)
            cluster_levels = np.repeat(lowest[:, None], len(clusters), axis=1)
            if partition == 0:
                diverse = (clusters.entropy >= parameters.diversity).astype(np.int64)
                cluster_levels = np.maximum(cluster_levels, level_of_kind[diverse].T)
            if self.strict:
                cluster_levels = np.maximum(
                    cluster_levels, self._common_levels(parameters.k, partition)
                )
            levels[:, rows] = cluster_levels[:, clusters.labels]
        return levels

    def _common_levels(self, k: int, partition: int) -> NDArray[np.int64]:
        """Return the level of the lowest common ancestor, per categorical quasi-identifier and cluster."""
        if (partition, k) not in self._levels:
            clusters = self.clusters(k, partition)
            common = np.empty((len(self.categorical), len(clusters)), np.int64)
            for i, j in enumerate(self.categorical):
                leaves = self.table.tuples[self.table.row_tuple[clusters.rows], j].astype(np.int64)
                low = np.full(len(clusters), np.iinfo(np.int64).max)
                high = np.zeros(len(clusters), np.int64)
                np.minimum.at(low, clusters.labels, leaves)
                np.maximum.at(high, clusters.labels, leaves)
                nodes = node_cells(self.table)[j]
                # A node is a range of leaves: it covers all where it covers both ends.
                apart = nodes.start[nodes.ids[:, low]] != nodes.start[nodes.ids[:, high]]
                common[i] = apart.sum(axis=0)
            self._levels[partition, k] = common
        return self._levels[partition, k]

    def _owners(self, k: int) -> NDArray[np.int64]:
        """Return the cluster of every record, numbered consecutively over both partitions."""
        owner = np.empty(self.table.n_records, np.int64)
        begin = 0
        for partition, rows in enumerate(self._rows):
            if len(rows):
                owner[rows] = self.clusters(k, partition).labels + begin
                begin += len(self.clusters(k, partition))
        return owner

    def _facts(
        self,
        parameters: HybridParameters,
        unchanged: Sequence[tuple[float, ...]] | None = None,
    ) -> dict[str, Any]:
        """Return what was done, for the certificate."""
        names = self.table.qi_names
        others = self.strict and self.split.n_other > 0
        entropy = self.clusters(parameters.k).entropy if self.split.n_violating else np.empty(0)
        return {
            "k_of_clusters": parameters.k,
            "one_label_per_cluster": self.strict,
            "records_violating": self.split.n_violating,
            "records_other": self.split.n_other,
            "split_by": list(self.split.values),
            "diversity_threshold_in_nats": parameters.diversity,
            "clusters_of_violating_records": len(entropy),
            "of_them_generalised_least": int((entropy >= parameters.diversity).sum()),
            **(
                {"clusters_of_other_records": len(self.clusters(parameters.k, 1))} if others else {}
            ),
            "levels": {
                names[j]: {"diverse": lowest, "others": average, "common": self.strict}
                for j, lowest, average in zip(
                    self.categorical, parameters.least, parameters.average, strict=True
                )
            },
            "noise": [
                {
                    "column": names[j],
                    "partition": PARTITIONS[part],
                    "distribution": "Laplace",
                    "scale": delta / epsilon,
                    "epsilon": epsilon,
                    "sensitivity": delta,
                    "rounded to": step,
                    "kept within": list(ends),
                    "share expected unchanged": expected_unchanged(epsilon, delta, step),
                    **({} if unchanged is None else {"share unchanged": unchanged[i][part]}),
                }
                for i, (j, delta, step, ends) in enumerate(
                    zip(self.numeric, self.sensitivity, self._steps, self.bounds, strict=True)
                )
                for part, epsilon in enumerate(
                    (parameters.epsilon_violating, parameters.epsilon_other)
                )
                if len(self._rows[part])
            ],
        }


def default_diversity(table: Table) -> float:
    """Return half the entropy, in nats, of the sensitive attribute in the whole table.

    The paper publishes no threshold. With several attributes the smallest entropy counts.
    """
    entropies = []
    for attribute in table.sensitive.values():
        share = attribute.totals[attribute.totals > 0] / table.n_records
        entropies.append(float(-(share * np.log(share)).sum()))
    return 0.5 * min(entropies)


def default_levels(table: Table) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return level 1 and the middle of the hierarchy for every categorical quasi-identifier."""
    lowest, average = [], []
    for j, numbers in enumerate(numeric_columns(table)):
        if numbers is None:
            qi, height = table.qis[j], node_cells(table)[j].height
            lowest.append(min(max(1, qi.min_level), qi.max_level, height))
            middle = math.ceil(height / 2)
            average.append(min(max(middle, lowest[-1]), qi.max_level))
    return tuple(lowest), tuple(average)
