"""Recodings by classes: all records of a class are published with the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privmoo._util.text_arrays import packed, unpacked
from privmoo.data.cache import per_table
from privmoo.data.columns import no_records
from privmoo.data.facts import leaf_offsets, mean_digits, no_distance
from privmoo.data.table import Table
from privmoo.errors import RecodingError
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.class_labels import (
    By,
    checked_centres,
    checked_labels,
    codes_of,
    labels_of_tuples,
)
from privmoo.recodings.columns import Labels, PublishedColumn, Values

__all__ = ["PartitionRecoding", "class_means", "cluster_recoding", "mean_facts", "range_recoding"]

Publishes = Literal["means", "centroids", "ranges"]


class PartitionRecoding(Recoding):
    """A recoding that publishes every record as its class: mean and mode, a centroid, or a range.

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
        publishes: `"means"`, `"centroids"` or `"ranges"`.

    >>> import pandas as pd
    >>> df = pd.DataFrame({"age": [20, 22, 40, 44], "sex": list("ffmf")})
    >>> table = Table(df, quasi_identifiers=["age", "sex"])
    >>> recoding = cluster_recoding(table, [0, 0, 1, 1])
    >>> recoding.apply(table, np.arange(4)).to_numpy().tolist()
    [[21.0, 'f'], [21.0, 'f'], [42.0, 'f'], [42.0, 'f']]
    >>> recoding
    age: mean of each class (2 different)
    sex: mode of each class (f)
    """

    name: ClassVar[str] = "classes"

    def __init__(
        self,
        table: Table,
        labels: NDArray[np.int32],
        centres: NDArray[np.float64],
        *,
        by: By,
        publishes: Publishes,
        ends: NDArray[np.int64] | None = None,
    ) -> None:
        self.qis, self.n_records = table.qis, table.n_records
        self.publishes: Publishes = publishes
        self.centres, self.ends = centres, ends
        self._numeric = np.array([qi.numbers is not None for qi in table.qis])
        self.splits = by == "records"
        """Whether some equal records are in different classes."""
        self._labels = labels
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
        """The number of classes."""
        return len(self.centres)

    @property
    def whole_tuples(self) -> bool:
        """Whether equal records are always in one class."""
        return not self.splits

    def view(self, table: Table) -> Table:
        """Return the table with the tuples split whose records are in different classes."""
        return table.split(self.labels) if self.splits else table

    def candidate(self, table: Table) -> Candidates:
        """Return one row of labels."""
        labels = self.labels_for(table)
        if self.publishes == "means":
            return Candidates(labels=labels[None])
        if self.publishes == "centroids":
            return Candidates(labels=labels[None], centres=self.centres[None])
        return Candidates(labels=labels[None], losses=self._losses(table)[labels][None])

    def labels_for(self, table: Table) -> NDArray[np.int32]:
        """Return the class of every tuple.

        Args:
            table: The table, or a finer view of it.

        Raises:
            RecodingError: Equal records are in different classes, or the tuples are those of another table.
        """
        if table.has_records:
            labels = labels_of_tuples(table, self.labels)
            if labels is None:
                raise RecodingError(
                    "recoding: equal records are in different classes; use view(table)"
                )
            return labels
        labels = self.labels_of_tuples
        same = [qi.leaves for qi in self.qis] == [qi.leaves for qi in table.qis]
        if labels is None or len(labels) != table.n_tuples or not same:
            raise RecodingError(
                "recoding: its classes are not of the tuples of this scanned table; make them with "
                "cluster_recoding(table, labels, by='tuples')"
            )
        return labels

    def _losses(self, table: Table) -> NDArray[np.float64]:
        """General loss of every class, where ranges are published."""
        weights = np.array([qi.weight for qi in table.qis])
        sizes = np.array([max(qi.n_leaves - 1, 1) for qi in table.qis])
        widths = np.asarray(self.ends) - self.centres - 1
        return np.asarray((widths / sizes) @ (weights / weights.sum()))

    def codes(self, table: Table, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Return the classes of some rows; those of ranges by distinct range.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        has_records, tuples = table.has_records, table.originals.tuples
        classes = self.labels[rows] if has_records else self.labels_for(table)[tuples[rows]]
        if self.publishes != "ranges":
            return [classes for _ in self.columns]
        return [column.codes[classes] for column in self.columns]

    @cached_property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """The ranges of the classes, or their means and modes, or their centroids."""
        column = self._ranges if self.publishes == "ranges" else self._values
        return tuple(column(j) for j in range(len(self.qis)))

    def _values(self, j: int) -> Values:
        qi, centres = self.qis[j], self.centres[:, j]
        if self._numeric[j]:
            values: NDArray[Any] = centres + 0.0  # no negative zero
            statistic = "mean" if self.publishes == "means" else "centroid"
        else:
            values = np.array(qi.leaves, dtype=object)[centres.astype(np.int64)]
            statistic = "mode" if self.publishes == "means" else "centroid's value"
        return Values(qi=qi, codes=np.arange(len(values)), values=values, statistic=statistic)

    def _ranges(self, j: int) -> Labels:
        ends = np.column_stack([self.centres[:, j].astype(np.int64), np.asarray(self.ends)[:, j]])
        spans, codes = np.unique(ends, axis=0, return_inverse=True)
        return Labels(
            qi=self.qis[j],
            codes=codes.ravel(),
            scope="class",
            labels=self._labels_of(j, spans.tolist()),
            start=spans[:, 0],
            stop=spans[:, 1],
        )

    def _labels_of(self, j: int, spans: Sequence[tuple[int, int]]) -> list[str]:
        """One label for every range: a value of the data can look like the name of a range."""
        labels = []
        taken = set(self.qis[j].leaves)
        for start, stop in spans:
            label = self._label(j, start, stop)
            if stop - start > 1:
                while label in taken:
                    label += f" [{start + 1}–{stop}]"
                taken.add(label)
            labels.append(label)
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

    def to_json(self) -> dict[str, Any]:
        """Return the classes as packed numbers; values follow from them, except for centroids."""
        data: dict[str, Any] = {
            "kind": self.name,
            "publishes": self.publishes,
            "by": "records" if self.splits else "tuples",
            "labels": packed(self._labels, "<i4"),
        }
        if self.publishes == "centroids":
            data["centres"] = self.centres.tolist()
        return data

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> PartitionRecoding:
        """Read back what `to_json` wrote; without `by`, labels are of records.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """
        by = data.get("by", "records")
        n = table.n_tuples if by == "tuples" else table.n_records
        labels = unpacked(data["labels"], "<i4", n)
        if data.get("publishes") == "means":
            return cluster_recoding(table, labels, by=by)
        if data.get("publishes") == "ranges":
            return range_recoding(table, labels, by=by)
        if data.get("publishes") == "centroids":
            return cluster_recoding(table, labels, by=by, centres=data["centres"])
        raise RecodingError("recoding: its classes publish neither means nor ranges nor centroids")

    def key(self) -> bytes:
        """Return a digest of classes and values, however they were computed."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.publishes.encode() + self._labels.tobytes() + self.centres.tobytes())
        return digest.digest()


def cluster_recoding(
    table: Table,
    labels: Sequence[int] | NDArray[Any],
    *,
    by: By = "records",
    centres: Sequence[Sequence[float]] | NDArray[Any] | None = None,
) -> PartitionRecoding:
    """Make a recoding that publishes the mean and mode of each class, or centres that you give.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples; of a scanned table, `"tuples"`.
        centres: Classes × quasi-identifiers, numbers and leaf codes to publish instead.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> cluster_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    [21.0, 21.0, 40.0]
    """
    classes, unit = checked_labels(table, labels, by)
    used, classes = np.unique(classes, return_inverse=True)
    if centres is not None:
        published = checked_centres(table, centres, int(used.max()) + 1)[used]
    else:
        published = class_means(table, classes, by=unit)
    merged = classes.astype(np.int32)
    merge_equal(merged, published)
    if unit == "records" and (whole := labels_of_tuples(table, merged)) is not None:
        again = None if centres is None else published
        return cluster_recoding(table, whole, by="tuples", centres=again)
    _, first, final = np.unique(merged, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # classes in the order of their first tuples or records
    in_order = published[merged[np.sort(first)]]
    return PartitionRecoding(
        table,
        order[final].astype(np.int32),
        in_order,
        by=unit,
        publishes="means" if centres is None else "centroids",
    )


def class_means(table: Table, labels: NDArray[Any], *, by: By = "records") -> NDArray[np.float64]:
    """Compute mean and mode of every class.

    Args:
        table: The records.
        labels: The class of every record or tuple, numbered from 0 without gaps.
        by: Whether `labels` are of records or of tuples.

    >>> import pandas as pd
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
    """Make a recoding that publishes the range of each class: the lowest node or interval above it.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples; of a scanned table, `"tuples"`.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> range_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    ['20–22', '20–22', '40']
    """
    classes, unit = checked_labels(table, labels, by)
    _, first, classes = np.unique(classes, return_index=True, return_inverse=True)
    codes = codes_of(table, unit).astype(np.int64)
    low = np.full((len(first), table.n_qis), np.iinfo(np.int64).max)
    high = np.zeros_like(low)
    np.minimum.at(low, classes, codes)
    np.maximum.at(high, classes, codes)
    high += 1
    for j, qi in enumerate(table.qis):
        if qi.hierarchy is not None and qi.hierarchy.constrained:
            low[:, j], high[:, j] = _covering_nodes(qi.hierarchy, low[:, j], high[:, j])
    ends = np.hstack([low, high])
    _, first, merged = np.unique(ends[classes], axis=0, return_index=True, return_inverse=True)
    if unit == "records" and (whole := labels_of_tuples(table, merged.ravel())) is not None:
        return range_recoding(table, whole, by="tuples")
    order = np.argsort(np.argsort(first))
    rows = np.sort(first)
    return PartitionRecoding(
        table,
        order[merged.ravel()].astype(np.int32),
        low[classes[rows]].astype(np.float64),
        by=unit,
        publishes="ranges",
        ends=high[classes[rows]],
    )


def _covering_nodes(
    hierarchy: Hierarchy, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lowest node above each range of leaves."""
    start, stop = low.copy(), high.copy()
    is_covered = np.zeros(len(low), dtype=np.bool_)
    for blocks in hierarchy.level_blocks:
        inside = ~is_covered & (blocks[low] == blocks[high - 1])
        start[inside] = np.searchsorted(blocks, blocks[low[inside]], side="left")
        stop[inside] = np.searchsorted(blocks, blocks[low[inside]], side="right")
        is_covered |= inside
    return start, stop


@per_table
def mean_facts(
    table: Table,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return what `centres_of_clusters` needs: leaf numbers, leaf offsets, numeric columns, digits."""
    numbers = []
    for j, qi in enumerate(table.qis):
        if qi.numbers is None:
            numbers.append(np.zeros(qi.n_leaves))
            continue
        if (reason := no_distance(qi.name, qi.numbers[table.tuples[:, j]])) is not None:
            raise RecodingError(f"quasi_identifiers: {reason}")
        numbers.append(np.nan_to_num(qi.numbers))
    numeric = np.array([qi.numbers is not None for qi in table.qis])
    return np.concatenate(numbers), leaf_offsets(table), numeric, mean_digits(table)
