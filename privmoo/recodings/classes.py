"""Recodings by classes: all records of a class are published with the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo._util.distinct import number_by_appearance, number_equal, number_rows
from privmoo._util.text_arrays import pack_numbers, unpack_numbers
from privmoo.data.cache import per_table
from privmoo.data.columns import no_records
from privmoo.data.facts import leaf_offsets, mean_digits, no_distance
from privmoo.data.table import Table
from privmoo.errors import ProblemError, RecodingError
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.recodings.base import Caution, Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.class_labels import (
    Bounds,
    By,
    PublishedEnds,
    checked_bounds,
    checked_centres,
    checked_labels,
    codes_of,
    labels_of_tuples,
    member_bounds,
)
from privmoo.recodings.columns import Labels, PublishedColumn, Values
from privmoo.recodings.means import Means

__all__ = [
    "PartitionRecoding",
    "as_classes",
    "class_means",
    "cluster_recoding",
    "mean_facts",
    "range_recoding",
]

Publishes = Literal["means", "centroids", "ranges"]


class RangeEnds(NamedTuple):
    """Where the published ranges of classes end, and what that follows from."""

    stop: NDArray[np.int64]
    """Classes × quasi-identifiers: one after the code of the last leaf."""
    publish: PublishedEnds


class PartitionRecoding(Recoding):
    """A recoding that publishes every record as its class: mean and mode, a centroid, or a range.

    Made by `cluster_recoding` or `range_recoding`. Classes with the same published values are one
    class. Equal records may be in different classes. If they are not, the classes consist of distinct
    tuples, and a scanned table can have them too.

    This class asks whether a table has records, and neither source nor counts can answer for it: records
    carry their classes to any table of the same records, such as a finer view or one whose tuples have
    another order. Counts have nothing but their tuples, which must be the same in the same order.

    Attributes:
        labels_of_tuples: The class of every distinct tuple, numbered by first appearance; None if some
            equal records are in different classes.
        sizes: Records of every class.
        n_records: Records of the table.
        centres: Classes × quasi-identifiers: a number or the code of a leaf; for ranges, of the first
            leaf of the range.
        ends: For ranges, one after the code of the last leaf.
        publishes: `"means"`, `"centroids"` or `"ranges"`.
        publish: For ranges, `"region"`: the given bounds of a region; `"tight"`: the smallest
            range around the members. None for means and centroids.
        means: How means are published; None if exactly.

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
        ranges: RangeEnds | None = None,
        means: Means | None = None,
    ) -> None:
        self.qis, self.n_records = table.qis, table.n_records
        self.publishes: Publishes = publishes
        self.centres, self.means = centres, means
        self.ends: NDArray[np.int64] | None = None if ranges is None else ranges.stop
        self.publish: PublishedEnds | None = None if ranges is None else ranges.publish
        self.is_bounded = self.publish == "region"
        """Whether ranges were given, and do not follow from the members."""
        self._numeric = np.array([qi.numbers is not None for qi in table.qis])
        self.splits = by == "records"
        """Whether some equal records are in different classes."""
        self._labels = labels
        self.labels_of_tuples = None if self.splits else labels
        self._of_records: NDArray[np.int32] | None = labels if self.splits else None
        if not self.splits and table.has_records:  # a finer view of the table needs them
            self._of_records = labels[table.row_tuple]
        weights = None if self.splits else table.weights
        self.sizes = np.bincount(labels, weights, len(centres)).astype(np.int64)
        for array in (labels, self._of_records, centres, self.ends, self.sizes):
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
        if self.publishes == "ranges":
            spans = np.stack([self.centres.astype(np.int64), np.asarray(self.ends)], axis=2)
            return Candidates(
                labels=labels[None], losses=self._losses(table)[labels][None], spans=[spans]
            )
        if self.publishes == "means" and self.means is None:
            return Candidates(labels=labels[None])
        return Candidates(labels=labels[None], centres=self.centres[None])

    def labels_for(self, table: Table) -> NDArray[np.int32]:
        """Return the class of every tuple.

        Args:
            table: The table, or a finer view of it.

        Raises:
            RecodingError: If equal records are in different classes, or tuples belong to another table.
        """
        if table.has_records:
            labels = labels_of_tuples(table, self.labels)
            if labels is None:
                raise RecodingError(
                    "recoding: equal records are in different classes; use view(table)"
                )
            return labels
        labels = self.labels_of_tuples
        same_leaves = [qi.leaves for qi in self.qis] == [qi.leaves for qi in table.qis]
        if labels is None or len(labels) != table.n_tuples or not same_leaves:
            raise RecodingError(
                "recoding: its classes do not belong to the tuples of this scanned table; make them with "
                "cluster_recoding(table, labels, by='tuples')"
            )
        return labels

    def assignment(self, table: Table) -> tuple[NDArray[np.int32], By]:
        """Return the class of every tuple, or of every record if equal records are in different classes.

        Args:
            table: The table.

        Returns:
            The classes, and whether they are of tuples or of records.

        Raises:
            RecodingError: If the classes belong to another table.
        """
        if not self.splits or not table.has_records:  # without records, it raises
            return self.labels_for(table), "tuples"
        return self.labels, "records"

    def _losses(self, table: Table) -> NDArray[np.float64]:
        """Return the general loss of every class, if ranges are published."""
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
        labels, by = self.assignment(table)
        classes = labels[rows if by == "records" else table.originals.tuples[rows]]
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
            of_regions=self.publish == "region",
        )

    def _labels_of(self, j: int, spans: Sequence[tuple[int, int]]) -> list[str]:
        """Return one label for every range: a value of the data can look like the name of a range."""
        labels = []
        names = set(self.qis[j].leaves)
        for start, stop in spans:
            label = self._label(j, start, stop)
            if stop - start > 1:
                while label in names:
                    label += f" [{start + 1}–{stop}]"
                names.add(label)
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
        """Return the classes as packed numbers, with the values that do not follow from them."""
        data: dict[str, Any] = {
            "kind": self.name,
            "publishes": self.publishes,
            **({} if self.publish is None else {"publish": self.publish}),
            "by": "records" if self.splits else "tuples",
            "labels": pack_numbers(self._labels, "<i4"),
        }
        if self.is_bounded:
            data["start"] = pack_numbers(self.centres, "<i4")
            data["stop"] = pack_numbers(np.asarray(self.ends), "<i4")
        if self.means is not None:
            data["means"] = self.means.to_json()
            if self.means.repeatable:
                data["repeatable"] = True
        if self.publishes == "centroids" or (self.means is not None and self.means.noise):
            data["centres"] = self.centres.tolist()
        return data

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> PartitionRecoding:
        """Read back what `to_json` wrote.

        Without `by`, labels are of records; without `publish`, ranges are tight.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """
        by = data.get("by", "records")
        n = table.n_tuples if by == "tuples" else table.n_records
        labels = unpack_numbers(data["labels"], "<i4", n)
        if data.get("publishes") == "ranges":
            publish = data.get("publish", "tight")
            if publish not in ("region", "tight"):
                raise RecodingError(
                    "recoding: publish must be 'region' or 'tight'; is its file damaged?"
                )
            is_bounded = publish == "region" or "start" in data
            bounds = _stored_bounds(table, labels, data) if is_bounded else None
            return range_recoding(table, labels, by=by, bounds=bounds, publish=publish)
        if data.get("publishes") not in ("means", "centroids"):
            raise RecodingError(
                "recoding: its classes must publish means, ranges or centroids; is its file damaged?"
            )
        if data["publishes"] == "centroids":
            return cluster_recoding(table, labels, by=by, centres=data["centres"])
        means = None
        if data.get("means") is not None:
            means = replace(
                Means.from_json(data["means"]), repeatable=data.get("repeatable") is True
            )
        centres = data["centres"] if means is not None and means.noise is not None else None
        return _of_centres(table, checked_labels(table, labels, by), centres, means)

    def key(self) -> bytes:
        """Return a digest of classes and values, however they were computed."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.publishes.encode() + self._labels.tobytes() + self.centres.tobytes())
        if self.is_bounded:
            digest.update(str(self.publish).encode() + np.asarray(self.ends).tobytes())
        if self.means is not None:
            digest.update(repr(self.means).encode())
        return digest.digest()

    def facts(self) -> dict[str, Any]:
        """Return which ends ranges have, or how means are published."""
        if self.publish is not None:
            return {"range_ends": self.publish}
        if self.publishes == "means":
            return {"means": {"exact": True} if self.means is None else self.means.to_json()}
        return {}

    def cautions(self) -> tuple[Caution, ...]:
        """Return what the ends of ranges, or means, reveal about members."""
        if self.publish == "tight":
            return (Caution("local_recoding"), Caution("tight_ranges"))
        if self.publish == "region":
            columns_of_data = [qi.name for qi in self.qis if qi.of_data]
            ends = (
                (Caution("domain_of_data", {"columns": columns_of_data}),)
                if columns_of_data
                else ()
            )
            return (Caution("local_recoding"), *ends)
        if self.publishes == "means" and self._numeric.any():
            if self.means is None:
                return (Caution("class_means"),)
            cautions = (Caution("seeded_noise"),) if self.means.repeatable else ()
            return (Caution("class_means", self.means.to_json()), *cautions)
        return ()


def _stored_bounds(table: Table, labels: NDArray[Any], data: Mapping[str, Any]) -> Bounds:
    """Return the bounds of regions that a file has."""
    shape = (int(labels.max(initial=-1)) + 1, table.n_qis)
    if not 0 < shape[0] <= len(labels):
        raise RecodingError("recoding: its classes are not numbered from 0")
    start, stop = (
        unpack_numbers(data[name], "<i4", shape[0] * shape[1]).reshape(shape)
        for name in ("start", "stop")
    )
    return start, stop


def as_classes(recoding: Recoding, table: Table) -> PartitionRecoding:
    """Return a recoding from which a search starts, if it has classes of the records of a table.

    Args:
        recoding: What was found elsewhere.
        table: The table of the search.

    Raises:
        ProblemError: If it has no classes, or the classes of another table.
    """
    if not isinstance(recoding, PartitionRecoding):
        raise ProblemError(
            f"start: expected classes such as baselines give, got {type(recoding).__name__}"
        )
    if recoding.n_records != table.n_records:
        raise ProblemError(
            f"start: the classes cover {recoding.n_records:,} records, but the table has "
            f"{table.n_records:,}"
        )
    return recoding


def cluster_recoding(
    table: Table,
    labels: Sequence[int] | NDArray[Any],
    *,
    by: By = "records",
    centres: Sequence[Sequence[float]] | NDArray[Any] | None = None,
    means: Means | None = None,
) -> PartitionRecoding:
    """Make a recoding that publishes the mean and mode of each class, or centres that you give.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples; of a scanned table, `"tuples"`.
        centres: Classes × quasi-identifiers, numbers and leaf codes to publish instead.
        means: How means are published, such as `Means(step=5)`; exactly by default.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> cluster_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    [21.0, 21.0, 40.0]
    """
    if centres is not None:
        if means is not None:
            raise RecodingError("means: centres are published as they are; give one of the two")
        return _of_centres(table, checked_labels(table, labels, by), centres, None)
    return _of_centres(table, checked_labels(table, labels, by), None, means)


def _of_centres(
    table: Table,
    classes_by: tuple[NDArray[np.int64], By],
    centres: Any,
    means: Means | None,
) -> PartitionRecoding:
    """Return classes that publish centres, or their means; those that publish the same are one."""
    numbers, unit = classes_by
    class_numbers, places = np.unique(numbers, return_inverse=True)
    classes = places.astype(np.int32)
    if centres is not None:
        values = checked_centres(table, centres, int(class_numbers.max()) + 1)[class_numbers]
    else:
        values = class_means(table, classes, by=unit)
        if means is not None:
            merge_equal(classes, values)  # classes with one mean have one draw of noise
            values = means.of(table, values)
    merge_equal(classes, values)
    if unit == "records" and (whole := labels_of_tuples(table, classes)) is not None:
        classes, unit = whole, "tuples"
    labels, rows = number_by_appearance(classes)
    return PartitionRecoding(
        table,
        labels,
        values[rows],
        by=unit,
        publishes="means" if centres is None or means is not None else "centroids",
        means=means,
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
    bounds: Bounds | Sequence[Any] | None = None,
    publish: Literal["region", "tight"] | None = None,
) -> PartitionRecoding:
    """Make a recoding that publishes a range of each class: of its region, or around its members.

    With `bounds`, every class publishes the bounds of its region, whatever the extremes of its members.
    Without, a class publishes the smallest range around its members, whose ends are values of real
    people. Of a hierarchy with a tree, the lowest node above the range is published. Classes with the
    same ranges are one class.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples; of a scanned table, `"tuples"`.
        bounds: Two matrices, classes × quasi-identifiers: the first leaf of every region, and the leaf
            after its last one. They must cover the members.
        publish: What the bounds are: of regions by default, `"tight"` if they follow from the members,
            such as values that are coarsened first.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> range_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    ['20–22', '20–22', '40']
    >>> regions = range_recoding(table, [0, 0, 1], bounds=([[0], [1]], [[2], [3]]))
    >>> regions.apply(table, np.arange(3))["age"].tolist()
    ['20–22', '20–22', '22–40']
    """
    numbers, unit = checked_labels(table, labels, by)
    classes, first = number_rows(numbers, [], [])
    class_numbers = numbers[first]
    start, stop = member_bounds(codes_of(table, unit), classes, len(class_numbers))
    if bounds is not None:
        start, stop = checked_bounds(table, bounds, (start, stop), class_numbers)
    for j, qi in enumerate(table.qis):
        if qi.hierarchy is not None and qi.hierarchy.constrained:
            start[:, j], stop[:, j] = _covering_nodes(qi.hierarchy, start[:, j], stop[:, j])
    new_numbers, first = number_equal(np.hstack([start, stop]))
    start, stop, classes = start[first], stop[first], new_numbers[classes]
    if unit == "records" and (whole := labels_of_tuples(table, classes)) is not None:
        classes, unit = whole, "tuples"
    final, rows = number_by_appearance(classes)
    recoding = PartitionRecoding(
        table,
        final,
        start[rows].astype(np.float64),
        by=unit,
        publishes="ranges",
        ranges=RangeEnds(
            stop[rows],
            publish="tight" if bounds is None else publish or "region",
        ),
    )
    recoding.is_bounded = bounds is not None
    return recoding


def _covering_nodes(
    hierarchy: Hierarchy, low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest node above each range of leaves."""
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
