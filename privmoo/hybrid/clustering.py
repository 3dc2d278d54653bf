"""k-member clusters that are similar in quasi-identifiers and diverse in sensitive values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import fraction, whole_number
from privmoo.baselines.common import labels_of_rows
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.hybrid.units import SchemeUnits, units_of
from privmoo.kernels.growth_by_width import WidthKinds, grow_members
from privmoo.recodings.nodes import node_cells, numeric_columns

__all__ = ["MemberClusters", "check_k", "member_clusters"]

_BLOCK = 4096
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class MemberClusters:
    """Clusters of records of a table, or of distinct tuples of a scanned one.

    Attributes:
        rows: The records, by their place in the table; or the tuples.
        labels: The cluster of each of them, from 0.
        entropy: Per cluster the entropy of its sensitive values in nats; with several sensitive
            attributes the smallest.
        weights: How many records each of `rows` stands for.
    """

    rows: IntArray
    labels: IntArray
    entropy: NDArray[np.float64]
    weights: IntArray

    def __len__(self) -> int:
        return len(self.entropy)

    @property
    def sizes(self) -> IntArray:
        """The records of every cluster."""
        return np.bincount(self.labels, self.weights, minlength=len(self)).astype(np.int64)

    def to_frame(self) -> pd.DataFrame:
        """Return the size and entropy of every cluster."""
        return pd.DataFrame(
            {"records": self.sizes, "entropy": self.entropy},
            index=pd.RangeIndex(len(self), name="cluster"),
        )

    def __repr__(self) -> str:
        if not len(self):
            return "no clusters"
        low, high = self.entropy.min(), self.entropy.max()
        return (
            f"{len(self):,} clusters of {self.sizes.min():,} to {self.sizes.max():,} of "
            f"{self.sizes.sum():,} records, entropy {low:.3g} to {high:.3g}"
        )


def member_clusters(
    table: Table, k: int, rows: IntArray | None = None, *, weight: float = 0.5
) -> MemberClusters:
    """Cluster records greedily: at least k in each, similar, with different sensitive values.

    This is the greedy k-member algorithm of Byun et al. 2007, in which a record costs the width of what
    the cluster would have to publish. Majeed and Hwang 2023 add the diversity of sensitive values,
    without a formula. Here the price is `(1 - weight) · width + weight · excess`, where excess is the
    share of the record's sensitive value in the cluster minus its share among all records: clusters
    come to mirror the table.

    `pm.baselines.k_member` is the same greedy algorithm with another price, the spread around mean and
    mode, which fits clusters that publish these. Here clusters publish common ancestors and intervals.

    Records that are alike are one kind with a weight. More than 4,096 kinds are halved repeatedly along
    the quasi-identifier with the largest spread, and each part is clustered by itself: time grows with
    the number of records, not with its square.

    For a scanned table, distinct tuples are clustered and stay whole: a tuple of at least k records is
    a cluster by itself, unless others are left over.

    Args:
        table: The records.
        k: Fewest records of a cluster.
        rows: The records, or tuples of a scanned table, to cluster; all by default.
        weight: How much diversity counts against similarity, from 0 to 1.

    >>> df = pd.DataFrame({"age": [20, 50, 22, 54, 21], "ill": list("xxyxy")})
    >>> table = Table(df, quasi_identifiers=["age"], sensitive="ill")
    >>> member_clusters(table, 2).labels.tolist()
    [1, 0, 1, 0, 1]
    """
    fraction("weight", weight)
    units = units_of(table)
    rows = np.arange(len(units.weights)) if rows is None else np.asarray(rows, np.int64)
    weights = units.weights[rows]
    check_k(k, int(weights.sum()), "the records to cluster")
    if not len(rows):
        return MemberClusters(rows, np.empty(0, np.int64), np.empty(0), weights)
    of_row, kinds = _kinds(table, units, rows)
    labels = np.empty(len(rows), np.int64)
    n_clusters = 0
    order = np.argsort(of_row, kind="stable")
    starts = np.searchsorted(of_row[order], np.arange(len(kinds.weights) + 1))
    for block in _blocks(kinds, 2 * k):
        kind_of_entry, clusters = grow_members(kinds, block, k, float(weight), units.whole)
        places = np.concatenate([order[starts[u] : starts[u + 1]] for u in block])
        counts = np.ones(len(kind_of_entry), np.int64)
        new_labels = labels_of_rows(of_row[places], kind_of_entry, clusters, counts)
        labels[places] = new_labels + n_clusters
        n_clusters += int(clusters.max()) + 1
    result = MemberClusters(rows, labels, np.empty(n_clusters), weights)
    return replace(result, entropy=_entropy(table, units, result))


def check_k(k: object, n_records: int, what: str) -> None:
    """Raise unless the records make at least one cluster.

    Args:
        k: Fewest records of a cluster.
        n_records: How many records there are.
        what: What the records are, for the error.
    """
    whole_number("k", k, at_least=2)
    if 0 < n_records < k:  # type: ignore[operator]  # it is a number
        raise ProblemError(f"k: must be at most {n_records:,}, the number of {what}, got {k}")


def _kinds(table: Table, units: SchemeUnits, rows: IntArray) -> tuple[IntArray, WidthKinds]:
    """Return the kind of every unit in rows, and the kinds as the kernel reads them.

    A kind has the values of its first unit; its numbers are from 0 to 1 over the whole table.
    """
    kinds, of_row = np.unique(units.kinds()[rows], return_inverse=True)
    first = np.empty(len(kinds), np.int64)
    first[of_row[::-1]] = rows[::-1]
    place = np.full(len(units.weights), -1)
    place[first] = np.arange(len(kinds))
    owner, values, shares, n_values = [], [], [], 0
    for attribute in table.sensitive.values():
        entries = units.entries(attribute)
        rows_in_units = np.flatnonzero(place[entries.unit] >= 0)
        owner.append(place[entries.unit[rows_in_units]])
        values.append(entries.codes[rows_in_units] + n_values)
        shares.append(entries.counts[rows_in_units] / units.weights[entries.unit[rows_in_units]])
        n_values += attribute.n_values
    owners = np.concatenate([np.empty(0, np.int64), *owner])
    order = np.argsort(owners, kind="stable")
    numbers, leaves, levels, heights = _coordinates(table, units, first)
    return of_row, WidthKinds(
        numbers,
        leaves,
        np.concatenate([np.empty(0, np.int64), *(level.ravel() for level in levels)]),
        np.cumsum([0, *(level.size for level in levels)])[:-1].astype(np.int64),
        np.array([level.shape[1] for level in levels], np.int64),
        np.array(heights, np.int64),
        np.searchsorted(owners[order], np.arange(len(kinds) + 1)).astype(np.int64),
        np.concatenate([np.empty(0, np.int64), *values])[order],
        np.concatenate([np.empty(0), *shares])[order],
        len(table.sensitive),
        n_values,
        np.bincount(of_row, units.weights[rows]).astype(np.int64),
    )


def _coordinates(
    table: Table, units: SchemeUnits, first: IntArray
) -> tuple[NDArray[np.float64], IntArray, list[IntArray], list[int]]:
    """Return numbers from 0 to 1 and leaves of some units, and per category its levels and height."""
    scaled, leaves, blocks = [], [], []
    tuples = units.tuples[first]
    for j, (column, all_rows) in enumerate(
        zip(units.numbers(), numeric_columns(table), strict=True)
    ):
        if column is None or all_rows is None:
            leaves.append(table.tuples[tuples, j].astype(np.int64))
            blocks.append(node_cells(table)[j])
        else:
            scaled.append((column[first] - all_rows.min()) / (float(np.ptp(all_rows)) or 1.0))
    return (
        _columns(scaled, len(tuples), np.float64),
        _columns(leaves, len(tuples), np.int64),
        [nodes.start[nodes.ids] for nodes in blocks],
        [nodes.height for nodes in blocks],
    )


def _columns(columns: list[Any], n: int, kind: type) -> NDArray[Any]:
    return np.column_stack(columns).astype(kind) if columns else np.empty((n, 0), kind)


def _blocks(kinds: WidthKinds, fewest: int) -> list[IntArray]:
    """Return kinds in blocks of at most 4,096, unless a half would have fewer than `fewest` records."""
    blocks, waiting = [], [np.arange(len(kinds.weights))]
    while waiting:
        units = waiting.pop()
        halves = _halve_block(kinds, units, fewest) if len(units) > _BLOCK else None
        if halves is None:
            blocks.append(units)
        else:
            waiting += halves
    return blocks


def _halve_block(kinds: WidthKinds, units: IntArray, fewest: int) -> list[IntArray] | None:
    spread = [
        *(float(np.ptp(column)) for column in kinds.numbers[units].T),
        *(len(np.unique(c)) / n for c, n in zip(kinds.leaves[units].T, kinds.sizes, strict=True)),
    ]
    columns = [*kinds.numbers.T, *kinds.leaves.T]
    for j in np.argsort(spread)[::-1]:
        column = columns[int(j)][units]
        order = np.argsort(column, kind="stable")
        records = np.cumsum(kinds.weights[units][order])
        # Between two different values, as near to the middle as possible.
        cuts = np.flatnonzero(np.diff(column[order])) + 1
        cuts = cuts[(records[cuts - 1] >= fewest) & (records[-1] - records[cuts - 1] >= fewest)]
        if len(cuts):
            cut = cuts[np.argmin(np.abs(cuts - len(units) // 2))]
            return [np.sort(units[order[:cut]]), np.sort(units[order[cut:]])]
    return None


def _entropy(table: Table, units: SchemeUnits, clusters: MemberClusters) -> NDArray[np.float64]:
    """Return the smallest entropy of the sensitive attributes in every cluster, in nats."""
    n, sizes = len(clusters), clusters.sizes
    smallest = np.full(n, np.inf if table.sensitive else 0.0)
    label = np.full(len(units.weights), -1)
    label[clusters.rows] = clusters.labels
    for attribute in table.sensitive.values():
        entries = units.entries(attribute)
        rows_in_clusters = np.flatnonzero(label[entries.unit] >= 0)
        owner, codes = label[entries.unit[rows_in_clusters]], entries.codes[rows_in_clusters]
        pairs, place = np.unique(owner * attribute.n_values + codes, return_inverse=True)
        owner = pairs // attribute.n_values
        share = np.bincount(place, entries.counts[rows_in_clusters]) / sizes[owner]
        smallest = np.minimum(smallest, np.bincount(owner, -share * np.log(share), minlength=n))
    return smallest
