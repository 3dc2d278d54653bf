"""Recodings by classes: all records of a class are published with the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.candidates import Candidates
from privmoo.errors import ReleaseError
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.clusters import centres_of_clusters, merge_equal
from privmoo.measures.parts import leaf_offsets, mean_digits, no_distance
from privmoo.per_table import per_table
from privmoo.recoding import Recoding
from privmoo.table import Table
from privmoo.text_arrays import packed, unpacked

__all__ = ["PartitionRecoding", "class_means", "cluster_recoding", "mean_facts", "range_recoding"]

Kind = Literal["means", "centroids", "ranges"]


class PartitionRecoding(Recoding):
    """Every record is published as its class: mean and mode, a centroid, or a range.

    Made by `cluster_recoding` or `range_recoding`. Classes with the same published values are one class.
    Equal records may be in different classes.

    Attributes:
        labels: The class of every record, numbered by first appearance.
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
        kind: Kind,
        ends: NDArray[np.int64] | None = None,
    ) -> None:
        self.qis = table.qis
        self.kind: Kind = kind
        self.labels, self.centres, self.ends = labels, centres, ends
        self._numeric = np.array([qi.numbers is not None for qi in table.qis])
        first = np.empty(table.n_tuples, np.int64)
        first[table.row_tuple[::-1]] = np.arange(table.n_records)[::-1]
        self.splits = bool((labels[first][table.row_tuple] != labels).any())
        """Whether some equal records are in different classes."""
        for array in (labels, centres, *(() if ends is None else (ends,))):
            array.setflags(write=False)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.centres)

    def view(self, table: Table) -> Table:
        """The table, with the tuples split whose records are in different classes."""
        return table.split(self.labels) if self.splits else table

    def candidate(self, table: Table) -> Candidates:
        """One row of labels."""
        first = np.empty(table.n_tuples, np.int64)
        first[table.row_tuple[::-1]] = np.arange(table.n_records)[::-1]
        labels = self.labels[first]
        if (labels[table.row_tuple] != self.labels).any():
            raise ReleaseError("recoding: equal records are in different classes; use view(table)")
        if self.kind == "means":
            return Candidates(labels=labels[None])
        if self.kind == "centroids":
            return Candidates(labels=labels[None], centres=self.centres[None])
        return Candidates(labels=labels[None], losses=self._losses(table)[labels][None])

    def _losses(self, table: Table) -> NDArray[np.float64]:
        """General loss of every class, where ranges are published."""
        weights = np.array([qi.weight for qi in table.qis])
        sizes = np.array([max(qi.n_leaves - 1, 1) for qi in table.qis])
        widths = np.asarray(self.ends) - self.centres - 1
        return np.asarray((widths / sizes) @ (weights / weights.sum()))

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The values of each row's class."""
        labels = self.labels[rows]
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
            "labels": packed(self.labels, "<i4"),
        }
        if self.kind == "centroids":
            data["centres"] = self.centres.tolist()
        return data

    @classmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> PartitionRecoding:
        """Read back what `to_json` wrote, for the same table."""
        labels = unpacked(data["labels"], "<i4", table.n_records)
        if data.get("publishes") == "means":
            return cluster_recoding(table, labels)
        if data.get("publishes") == "ranges":
            return range_recoding(table, labels)
        if data.get("publishes") == "centroids":
            return cluster_recoding(table, labels, centres=data["centres"])
        raise ReleaseError("recoding: it says of no known kind what its classes publish")

    def key(self) -> bytes:
        """Equal classes with equal values, however they were found."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(self.kind.encode() + self.labels.tobytes() + self.centres.tobytes())
        return digest.digest()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


def cluster_recoding(
    table: Table,
    labels: Sequence[int] | NDArray[Any],
    *,
    by: Literal["records", "tuples"] = "records",
    centres: Sequence[Sequence[float]] | NDArray[Any] | None = None,
) -> PartitionRecoding:
    """A recoding that publishes the mean and mode of each class, or given centres.

    Args:
        table: The records.
        labels: The class of every record, or of every distinct tuple; any whole numbers from 0.
        by: Whether `labels` are of records or of tuples.
        centres: Classes × quasi-identifiers, numbers and leaf codes to publish instead.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> cluster_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    [21.0, 21.0, 40.0]
    """
    own = _record_labels(table, labels, by)
    if centres is not None:
        given = _check_centres(table, centres, int(own.max()) + 1)
        used, own = np.unique(own, return_inverse=True)
        published = given[used]
    else:
        _, own = np.unique(own, return_inverse=True)
        published = class_means(table, own)
    merged = own.astype(np.int32)
    merge_equal(merged, published)
    _, first, final = np.unique(merged, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # classes in the order of their first records
    in_order = published[merged[np.sort(first)]]
    kind: Kind = "means" if centres is None else "centroids"
    return PartitionRecoding(table, order[final].astype(np.int32), in_order, kind=kind)


def class_means(table: Table, labels: NDArray[Any]) -> NDArray[np.float64]:
    """Mean and mode of every class, of records labelled from 0 without gaps.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> class_means(table, np.array([0, 0, 1])).tolist()
    [[21.0], [40.0]]
    """
    numbers, offsets, numeric, digits = mean_facts(table)
    means = np.zeros((int(labels.max()) + 1, table.n_qis))
    centres_of_clusters(
        labels.astype(np.int32),
        np.ones(table.n_records, np.int64),
        table.tuples[table.row_tuple],
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
    by: Literal["records", "tuples"] = "records",
) -> PartitionRecoding:
    """A recoding that publishes the range of each class: the lowest node or interval that covers it.

    >>> table = Table(pd.DataFrame({"age": [20, 22, 40]}), quasi_identifiers=["age"])
    >>> range_recoding(table, [0, 0, 1]).apply(table, np.arange(3))["age"].tolist()
    ['20–22', '20–22', '40']
    """
    own = _record_labels(table, labels, by)
    _, first, own = np.unique(own, return_index=True, return_inverse=True)
    codes = table.tuples[table.row_tuple].astype(np.int64)
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
    order = np.argsort(np.argsort(first))
    rows = np.sort(first)
    return PartitionRecoding(
        table,
        order[merged.ravel()].astype(np.int32),
        low[own[rows]].astype(np.float64),
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


def _record_labels(table: Table, labels: Any, by: str) -> NDArray[np.int64]:
    if by not in ("records", "tuples"):
        raise ReleaseError(f"by: must be 'records' or 'tuples', got {by!r}")
    own = np.asarray(labels)
    expected = table.n_records if by == "records" else table.n_tuples
    if own.shape != (expected,) or own.dtype.kind not in "iu" or own.min() < 0:
        raise ReleaseError(
            f"labels: expected a whole number from 0 for each of {expected} {by}, got {own.dtype} of "
            f"shape {own.shape}"
        )
    return (own if by == "records" else own[table.row_tuple]).astype(np.int64)


def _check_centres(table: Table, centres: Any, n_classes: int) -> NDArray[np.float64]:
    try:
        given = np.array(centres, dtype=np.float64)
    except (TypeError, ValueError):
        raise ReleaseError("centres: expected a matrix of numbers, one row per class") from None
    if given.ndim != 2 or given.shape[1] != table.n_qis or len(given) < n_classes:
        raise ReleaseError(
            f"centres: expected {table.n_qis} values for each of {n_classes} classes, got shape "
            f"{given.shape}"
        )
    for j, qi in enumerate(table.qis):
        column = given[:, j]
        fits = np.isfinite(column)
        if qi.numbers is None and fits.all():
            fits = (column >= 0) & (column < qi.n_leaves) & (column % 1 == 0)
        if not fits.all():
            raise ReleaseError(
                f"centres: those of {qi.name!r} must be finite numbers, or codes of its "
                f"{qi.n_leaves} leaves where it has categories"
            )
    return given + 0.0  # no negative zero


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
