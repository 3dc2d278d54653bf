"""HybridSpace: parameters of the hybrid scheme become what every record publishes."""

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
from privmoo.hybrid.checks import check_numbers, check_table
from privmoo.hybrid.clustering import MemberClusters, check_k, member_clusters
from privmoo.hybrid.noise import Noise, add_noise, expected_unchanged, laplace_draws
from privmoo.hybrid.splitting import Split
from privmoo.recodings.base import Caution
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import (
    Intervals,
    Labels,
    Laplace,
    Noised,
    PublishedColumn,
    RoundedLaplace,
)
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.recodings.tuples import TupleRecoding

__all__ = ["HybridParameters", "HybridSpace", "default_diversity", "default_levels"]

PARTITIONS = ("violating", "other")


@dataclass(frozen=True)
class HybridParameters:
    """What the scheme leaves open.

    Attributes:
        k: Fewest records of a cluster.
        epsilon_violating: Of the noise in the violating partition.
        epsilon_other: Of the noise in the other one.
        diversity: The least entropy, in nats, of a cluster that is generalised least.
        least: Per categorical quasi-identifier, the level in clusters that are diverse enough.
        average: The level in the other clusters.
    """

    k: int
    epsilon_violating: float
    epsilon_other: float
    diversity: float
    least: tuple[int, ...]
    average: tuple[int, ...]


class HybridSpace:
    """Everything that the scheme's parameters give on one table.

    Clusters depend on k alone and are made once; so are the draws of a seed's noise, which other ε only
    scale: two parameter vectors are compared with common random numbers.

    Of a scanned table distinct tuples are clustered, and noise is drawn when records are written: it has
    `tuples` in the place of `noise` and `recoding`.

    Args:
        table: The records.
        split: Its violating and other records.
        strict: Whether every cluster publishes one label per quasi-identifier, in both partitions.
        sensitivity: Δf of the noise, for all numeric quasi-identifiers or by name.
        bounds: Smallest and largest number of a column; those of its hierarchy, or of the data, by default.
        weight: How much diversity counts against similarity in clusters.
        cautions: Further cautions for the certificate.

    Attributes:
        categorical: Places of the categorical quasi-identifiers.
        numeric: Places of the numeric ones.
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
        check_table(table, records=strict)
        if split.n_records != table.n_records:
            raise ProblemError(
                f"split: is of {split.n_records:,} records, the table has {table.n_records:,}"
            )
        columns = numeric_columns(table)
        self.table, self.split, self.strict = table, split, bool(strict)
        self.categorical = [j for j, own in enumerate(columns) if own is None]
        self.numeric = [j for j, own in enumerate(columns) if own is not None]
        check_numbers(table, sensitivity, bounds, weight)
        check_fine(table, self.numeric)
        self._bounded = frozenset(bounds or ())
        self.sensitivity = self._sensitivities(sensitivity)
        self._steps = [_step(np.asarray(columns[j])) for j in self.numeric]
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

    def _sensitivities(self, given: float | Mapping[str, float]) -> list[float]:
        if not isinstance(given, Mapping):
            return [float(given)] * len(self.numeric)
        return [float(given.get(self.table.qi_names[j], 1.0)) for j in self.numeric]

    def _bounds(
        self, j: int, step: float, given: Mapping[str, tuple[float, float]]
    ) -> tuple[float, float]:
        """The domain, with both ends on the grid of the noise: a clipped number looks like any other."""
        qi = self.table.qis[j]
        own = np.asarray(numeric_columns(self.table)[j])
        low, high = float(own.min()), float(own.max())
        if qi.name in given:
            ends = given[qi.name]
            if not ends[0] <= low <= high <= ends[1]:
                raise ProblemError(
                    f"bounds: those of {qi.name!r}, {ends!r}, leave out numbers of the data, which go "
                    "further"
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
        """The clusters of a partition: 0 is the violating one."""
        if (partition, k) not in self._clusters:
            self.check_k(k)
            self._clusters[partition, k] = member_clusters(
                self.table, k, self._rows[partition], weight=self.weight
            )
        return self._clusters[partition, k]

    def draws(self, seed: int, repeat: int = 0) -> NDArray[np.float64]:
        """The draws of a seed's noise; the last ones asked for are kept."""
        if self._draws is None or self._draws[0] != (seed, repeat):
            found = laplace_draws(self.table, len(self.numeric), seed, repeat)
            self._draws = (seed, repeat), found
        return self._draws[1]

    def noise(
        self, parameters: HybridParameters, seed: int, repeat: int = 0
    ) -> list[tuple[Noise, Noise]]:
        """The noised numbers of both partitions, for every numeric quasi-identifier."""
        epsilons = parameters.epsilon_violating, parameters.epsilon_other
        draws = self.draws(seed, repeat)
        found = []
        for i, j in enumerate(self.numeric):
            own = np.asarray(numeric_columns(self.table)[j])
            violating, other = (
                add_noise(
                    own[rows],
                    draws[rows, i],
                    epsilon=epsilon,
                    sensitivity=self.sensitivity[i],
                    step=self._steps[i],
                    bounds=self.bounds[i],
                )
                for rows, epsilon in zip(self._rows, epsilons, strict=True)
            )
            found.append((violating, other))
        return found

    def recoding(self, parameters: HybridParameters, seed: int, repeat: int = 0) -> CellRecoding:
        """What every record publishes; another seed or repeat has other noise."""
        noise = self.noise(parameters, seed, repeat)
        columns: dict[int, PublishedColumn] = {}
        levels = self._published_levels(parameters)
        parts = (~self.split.violating).astype(np.int8)
        for i, j in enumerate(self.categorical):
            leaves = self.table.tuples[self.table.row_tuple, j]
            codes = node_cells(self.table)[j].ids[levels[i], leaves]
            columns[j] = Labels.of_nodes(self.table, j, codes)
        owner = self._owners(parameters.k) if self.strict else None
        for (violating, other), j, step in zip(noise, self.numeric, self._steps, strict=True):
            values = np.empty(self.table.n_records)
            values[self._rows[0]], values[self._rows[1]] = violating.values, other.values
            laplace = Laplace(scales=(violating.scale, other.scale), parts=parts)
            if owner is None:
                columns[j] = Noised.of_numbers(self.table, j, values, step=step, noise=laplace)
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
            cautions=self._cautions(parameters, measured=True),
        )

    def tuples(self, parameters: HybridParameters) -> TupleRecoding:
        """Return what every distinct tuple publishes, and the noise that its records will get."""
        epsilons = parameters.epsilon_violating, parameters.epsilon_other
        parts = (~self.split.violating).astype(np.int8)
        noise = {
            j: RoundedLaplace(
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
        return TupleRecoding(
            self.table,
            self._published_levels(parameters),
            noise,
            parts=parts,
            facts=self._facts(parameters),
            cautions=self._cautions(parameters, measured=False),
        )

    def _cautions(self, parameters: HybridParameters, *, measured: bool) -> list[Caution]:
        """What does not follow, for the certificate."""
        cautions = of_texts(self.table, self.categorical)
        if self.numeric:
            epsilon = min(parameters.epsilon_violating, parameters.epsilon_other)
            scales = [delta / epsilon for delta in self.sensitivity]
            cautions += of_noise(measured=measured, intervals=self.strict)
            cautions += of_grids(self.table, self.numeric, self._steps, scales, self._bounded)
        return [*cautions, *self.cautions]

    def _published_levels(self, parameters: HybridParameters) -> NDArray[np.int64]:
        """The level of every categorical quasi-identifier and record."""
        lowest = np.array([self.table.qis[j].min_level for j in self.categorical], np.int64)
        levels = np.repeat(lowest[:, None], len(self.split.violating), axis=1)
        chosen = np.array([parameters.average, parameters.least], np.int64)
        for partition, rows in enumerate(self._rows):
            if not len(rows) or (partition and not self.strict):
                continue
            clusters = self.clusters(parameters.k, partition)
            own = np.repeat(lowest[:, None], len(clusters), axis=1)
            if partition == 0:
                diverse = (clusters.entropy >= parameters.diversity).astype(np.int64)
                own = np.maximum(own, chosen[diverse].T)
            if self.strict:
                own = np.maximum(own, self._common_levels(parameters.k, partition))
            levels[:, rows] = own[:, clusters.labels]
        return levels

    def _common_levels(self, k: int, partition: int) -> NDArray[np.int64]:
        """Per categorical quasi-identifier and cluster, the level of the lowest common ancestor."""
        if (partition, k) not in self._levels:
            clusters = self.clusters(k, partition)
            found = np.empty((len(self.categorical), len(clusters)), np.int64)
            for i, j in enumerate(self.categorical):
                leaves = self.table.tuples[self.table.row_tuple[clusters.rows], j].astype(np.int64)
                low = np.full(len(clusters), np.iinfo(np.int64).max)
                high = np.zeros(len(clusters), np.int64)
                np.minimum.at(low, clusters.labels, leaves)
                np.maximum.at(high, clusters.labels, leaves)
                nodes = node_cells(self.table)[j]
                # A node is a range of leaves: it covers all where it covers both ends.
                apart = nodes.start[nodes.ids[:, low]] != nodes.start[nodes.ids[:, high]]
                found[i] = apart.sum(axis=0)
            self._levels[partition, k] = found
        return self._levels[partition, k]

    def _owners(self, k: int) -> NDArray[np.int64]:
        """The cluster of every record, numbered through over both partitions."""
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
        """What was done, for the certificate."""
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
                names[j]: {"diverse": least, "others": average, "common": self.strict}
                for j, least, average in zip(
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
    """Half the entropy, in nats, that the sensitive attribute has in the whole table.

    The paper publishes no threshold. Of several attributes the least entropy counts.
    """
    entropies = []
    for attribute in table.sensitive.values():
        share = attribute.totals[attribute.totals > 0] / table.n_records
        entropies.append(float(-(share * np.log(share)).sum()))
    return 0.5 * min(entropies)


def default_levels(table: Table) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Level 1, and the middle of the hierarchy, of every categorical quasi-identifier."""
    least, average = [], []
    for j, own in enumerate(numeric_columns(table)):
        if own is None:
            qi, height = table.qis[j], node_cells(table)[j].height
            least.append(min(max(1, qi.min_level), qi.max_level, height))
            middle = math.ceil(height / 2)
            average.append(min(max(middle, least[-1]), qi.max_level))
    return tuple(least), tuple(average)


def _step(values: NDArray[np.float64]) -> float:
    """What numbers of a column are multiples of: 1, or a power of ten down to a millionth."""
    for digits in range(7):
        if np.array_equal(np.round(values, digits), values):
            return float(10.0**-digits)
    return 1e-6
