"""Recodings by classes: all records of a class are published with the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.text_arrays import packed, unpacked
from privmoo.data.cache import per_table
from privmoo.data.columns import no_records
from privmoo.data.facts import leaf_offsets, mean_digits, no_distance
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.class_labels import (
    By,
    checked_centres,
    checked_labels,
    codes_of,
    labels_of_tuples,
)
from privmoo.recodings.recoding import Recoding

__all__ = ["PartitionRecoding", "class_means", "cluster_recoding", "mean_facts", "range_recoding"]

Kind = Literal["means", "centroids", "ranges"]


class PartitionRecoding(Recoding):
    """Every record is published as its class: mean and mode, a centroid, or a range.

    Made by `cluster_recoding` or `range_recoding`. Classes with the same published values are one class.
    Equal records may be in different classes; where they are not, classes are of distinct tuples, and a
    scanned table can have them.

    Attributes:
        labels_of_tuples: The class of every distinct tuple, numbered by first appearance; None where some
            equal records are in different classes.
        sizes: Records of every class.
        n_records: Records of the table.
        centres: Classes × quasi-identifiers: a number or the code of a leaf; for ranges, of the first
            leaf of the range.
        ends: For ranges, one after the code of the last leaf.
        kind: `"means"`, `"centroids"` or `"ranges"`.

    >>> df = pd.DataFrame({"age": [20, 22, 40, 44], "sex": list("ffmf")})
    >>> table = Table(df, quasi_identifiers=["age", "sex"])
    >>> recoding = cluster_recoding(table, [0, 0, 1, 1])
    >>> recoding.apply(table, np.arange(4)).to_numpy().tolist()
    [[21.0, 'f'], [21.0, 'f'], [42.0, 'f'], [42.0, 'f']]
    >>> recoding
    age: mean of each class (2 different)
    sex: mode of each class (f)
    """

    def __init__(
        self,
        table: Table,
        labels: NDArray[np.int32],
        centres: NDArray[np.float64],
        *,
        by: By,
        kind: Kind,
        ends: NDArray[np.int64] | None = None,
    ) -> None:
        self.qis, self.n_records = table.qis, table.n_records
        self.kind: Kind = kind
        self.centres, self.ends = centres, ends
        self._numeric = np.array([qi.numbers is not None for qi in table.qis])
        self.splits = by == "records"
        """Whether some equal records are in different classes."""
        self._own = labels
        self.labels_of_tuples = None if self.splits else labels
        self._of_records: NDArray[np.int32] | None = labels if self.splits else None
        if not self.splits and table.has_records:
            self._of_records = labels[table.row_tuple]
        self.sizes = np.zeros(len(centres), np.int64)
        np.add.at(self.sizes, labels, 1 if self.splits else table.weights)
        for array in (labels, self._of_records, centres, ends, self.sizes):
            if array is not None:
                array.setflags(write=False)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The class of every record."""
        if self._of_records is None:
            raise no_records("labels")
        return self._of_records

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.centres)

    @property
    def whole_tuples(self) -> bool:
        """Whether no equal records are in different classes."""
        return not self.splits

    def view(self, table: Table) -> Table:
        """The table, with the tuples split whose records are in different classes."""
        return table.split(self.labels) if self.splits else table

    def candidate(self, table: Table) -> Candidates:
        """One row of labels."""
        labels = self.labels_for(table)
        if self.kind == "means":
            return Candidates(labels=labels[None])
        if self.kind == "centroids":
            return Candidates(labels=labels[None], centres=self.centres[None])
        return Candidates(labels=labels[None], losses=self._losses(table)[labels][None])

    def labels_for(self, table: Table) -> NDArray[np.int32]:
        """The class of every tuple of the table or of a finer view, if all its records are in one."""
        if table.has_records:
            found = labels_of_tuples(table, self.labels)
            if found is None:
                raise ReleaseError(
                    "recoding: equal records are in different classes; use view(table)"
                )
            return found
        known = self.labels_of_tuples
        same = [qi.leaves for qi in self.qis] == [qi.leaves for qi in table.qis]
        if known is None or len(known) != table.n_tuples or not same:
            raise ReleaseError(
                "recoding: its classes are not of the tuples of this scanned table; make them with "
                "cluster_recoding(table, labels, by='tuples')"
            )
        return known

    def _losses(self, table: Table) -> NDArray[np.float64]:
        """General loss of every class, where ranges are published."""
        weights = np.array([qi.weight for qi in table.qis])
        sizes = np.array([max(qi.n_leaves - 1, 1) for qi in table.qis])
        widths = np.asarray(self.ends) - self.centres - 1
        return np.asarray((widths / sizes) @ (weights / weights.sum()))

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The values of each row's class."""
        known = table.has_records
        labels = (
            self.labels[rows] if known else self.labels_for(table)[table.originals.tuples[rows]]
        )
        columns = {}
        for j, qi in enumerate(self.qis):
            values = self._values(j)[labels]
            kind = "str" if values.dtype == object else None
            columns[qi.name] = pd.Series(values, dtype=kind)
        return pd.DataFrame(columns)

    def _values(self, j: int) -> NDArray[Any]:
        """What every class publishes of quasi-identifier j."""
        qi = self.qis[j]
        if self.kind == "ranges":
            labels = self._labels(j)
            return np.array([labels[ends] for ends in self._ranges(j)], dtype=object)
        if self._numeric[j]:
            return self.centres[:, j] + 0.0  # no negative zero
        return np.array(qi.leaves, dtype=object)[self.centres[:, j].astype(np.int64)]

    def _ranges(self, j: int) -> list[tuple[int, int]]:
        starts = self.centres[:, j].astype(np.int64).tolist()
        return list(zip(starts, np.asarray(self.ends)[:, j].tolist(), strict=True))

    def _labels(self, j: int) -> dict[tuple[int, int], str]:
        """One label for every range: a value of the data can look like the name of a range."""
        labels: dict[tuple[int, int], str] = {}
        taken = set(self.qis[j].leaves)
        for start, stop in sorted(set(self._ranges(j))):
            label = self._label(j, start, stop)
            if stop - start > 1:
                while label in taken:
                    label += f" [{start + 1}–{stop}]"
                taken.add(label)
            labels[start, stop] = label
        return labels

    def _label(self, j: int, start: int, stop: int) -> str:
        hierarchy = self.qis[j].hierarchy
        if hierarchy is not None:
            return hierarchy.label(start, stop)
        leaves = self.qis[j].leaves
        if stop - start == 1:
            return leaves[start]
        if stop - start == len(leaves):
            return "*"
        if self._numeric[j]:
            return f"{leaves[start]}–{leaves[stop - 1]}"
        return "{" + ", ".join(leaves[start:stop]) + "}"

    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Leaves by label, where ranges are published; a mean or mode stands for itself."""
        if self.kind != "ranges":
            return {}
        return {
            qi.name: {name: list(qi.leaves[a:b]) for (a, b), name in self._labels(j).items()}
            for j, qi in enumerate(self.qis)
        }

    def describe(self, released: Mapping[str, Collection[str]] | None = None) -> dict[str, str]:
        """What a class publishes of every quasi-identifier."""
        words = {}
        for j, qi in enumerate(self.qis):
            values = [str(value) for value in pd.unique(self._values(j))]
            if released is not None:
                values = [value for value in values if value in released[qi.name]]
                count = len(released[qi.name])
            else:
                count = len(values)
            if self.kind == "ranges":
                words[qi.name] = f"range of each class ({count} different)"
            elif self._numeric[j]:
                what = "mean" if self.kind == "means" else "centroid"
                words[qi.name] = f"{what} of each class ({count} different)"
            else:
                what = "mode" if self.kind == "means" else "centroid's value"
                words[qi.name] = f"{what} of each class ({', '.join(sorted(values))})"
        return words

    def to_json(self) -> dict[str, Any]:
        """Classes as packed numbers; values follow from them, except for centroids."""
        data: dict[str, Any] = {
            "kind": "classes",
            "publishes": self.kind,
            "by": "records" if self.splits else "tuples",
            "labels": packed(self._own, "<i4"),
        }
        if self.kind == "centroids":
            data["centres"] = self.centres.tolist()
        return data

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> PartitionRecoding:
        """Read back what `to_json` wrote, for the same table; without `by`, labels are of records."""
        by = data.get("by", "records")
        n = table.n_tuples if by == "tuples" else table.n_records
        labels = unpacked(data["labels"], "<i4", n)
        if data.get("publishes") == "means":
            return cluster_recoding(table, labels, by=by)
        if data.get("publishes") == "ranges":
            return range_recoding(table, labels, by=by)
        if data.get("publishes") == "centroids":
            return cluster_recoding(table, labels, by=by, centres=data["centres"])
        raise ReleaseError("recoding: it says of no known kind what its classes publish")

    def key(self) -> bytes:
        """Equal classes with equal values, however they were found."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.kind.encode() + self._own.tobytes() + self.centres.tobytes())
        return digest.digest()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


def cluster_recoding(
    table: Table,
    labels: Sequence[int] | NDArray[Any],
    *,
    by: By = "records",
    centres: Sequence[Sequence[float]] | NDArray[Any] | None = None,
) -> PartitionRecoding:
    """A recoding that publishes the mean and mode of each class, or given centres.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples; of a scanned table, `"tuples"`.
        centres: Classes × quasi-identifiers, numbers and leaf codes to publish instead.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> cluster_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    [21.0, 21.0, 40.0]
    """
    own, of = checked_labels(table, labels, by)
    if centres is not None:
        given = checked_centres(table, centres, int(own.max()) + 1)
        used, own = np.unique(own, return_inverse=True)
        published = given[used]
    else:
        _, own = np.unique(own, return_inverse=True)
        published = class_means(table, own, by=of)
    merged = own.astype(np.int32)
    merge_equal(merged, published)
    if of == "records" and (whole := labels_of_tuples(table, merged)) is not None:
        again = None if centres is None else published
        return cluster_recoding(table, whole, by="tuples", centres=again)
    _, first, final = np.unique(merged, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # classes in the order of their first tuples or records
    in_order = published[merged[np.sort(first)]]
    kind: Kind = "means" if centres is None else "centroids"
    return PartitionRecoding(table, order[final].astype(np.int32), in_order, by=of, kind=kind)


def class_means(table: Table, labels: NDArray[Any], *, by: By = "records") -> NDArray[np.float64]:
    """Mean and mode of every class, of records or tuples labelled from 0 without gaps.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> class_means(table, np.array([0, 0, 1])).tolist()
    [[21.0], [40.0]]
    """
    numbers, offsets, numeric, digits = mean_facts(table)
    means = np.zeros((int(labels.max()) + 1, table.n_qis))
    centres_of_clusters(
        labels.astype(np.int32),
        table.weights if by == "tuples" else np.ones(table.n_records, np.int64),
        codes_of(table, by),
        offsets,
        numbers,
        numeric,
        digits,
        means,
    )
    return means


def range_recoding(
    table: Table,
    labels: Sequence[int] | NDArray[Any],
    *,
    by: By = "records",
) -> PartitionRecoding:
    """A recoding that publishes the range of each class: the lowest node or interval that covers it.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> range_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    ['20–22', '20–22', '40']
    """
    own, of = checked_labels(table, labels, by)
    _, first, own = np.unique(own, return_index=True, return_inverse=True)
    codes = codes_of(table, of).astype(np.int64)
    low = np.full((len(first), table.n_qis), np.iinfo(np.int64).max)
    high = np.zeros_like(low)
    np.minimum.at(low, own, codes)
    np.maximum.at(high, own, codes)
    high += 1
    for j, qi in enumerate(table.qis):
        if qi.hierarchy is not None and qi.hierarchy.constrained:
            low[:, j], high[:, j] = _covering_nodes(qi.hierarchy, low[:, j], high[:, j])
    both = np.hstack([low, high])
    _, first, merged = np.unique(both[own], axis=0, return_index=True, return_inverse=True)
    if of == "records" and (whole := labels_of_tuples(table, merged.ravel())) is not None:
        return range_recoding(table, whole, by="tuples")
    order = np.argsort(np.argsort(first))
    rows = np.sort(first)
    return PartitionRecoding(
        table,
        order[merged.ravel()].astype(np.int32),
        low[own[rows]].astype(np.float64),
        by=of,
        kind="ranges",
        ends=high[own[rows]],
    )


def _covering_nodes(
    hierarchy: Hierarchy, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest node above each range of leaves."""
    start, stop = low.copy(), high.copy()
    found = np.zeros(len(low), dtype=np.bool_)
    for blocks in hierarchy.level_blocks:
        inside = ~found & (blocks[low] == blocks[high - 1])
        start[inside] = np.searchsorted(blocks, blocks[low[inside]], side="left")
        stop[inside] = np.searchsorted(blocks, blocks[low[inside]], side="right")
        found |= inside
    return start, stop


@per_table
def mean_facts(
    table: Table,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
    """What `centres_of_clusters` asks of a table: leaf numbers, leaf offsets, numeric columns, digits."""
    numbers = []
    for j, qi in enumerate(table.qis):
        if qi.numbers is None:
            numbers.append(np.zeros(qi.n_leaves))
            continue
        if (reason := no_distance(qi.name, qi.numbers[table.tuples[:, j]])) is not None:
            raise ReleaseError(f"quasi_identifiers: {reason}")
        numbers.append(np.nan_to_num(qi.numbers))
    numeric = np.array([qi.numbers is not None for qi in table.qis])
    return np.concatenate(numbers), leaf_offsets(table), numeric, mean_digits(table)
