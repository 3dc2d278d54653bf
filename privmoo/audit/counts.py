"""Counts per QI-group and per (group, sensitive value), which the audit's measures read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.errors import AuditError, ColumnError, nearest

__all__ = ["Counts", "ValueCounts"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ValueCounts:
    """The number of times each value of one attribute occurs in each QI-group.

    Attributes:
        name: The attribute.
        sizes: Records per group.
        group: Group of each entry, ascending.
        value: Value code of each entry, ascending within a group; codes follow the values' order.
        count: Records of this entry, at least one.
        n_values: Number of value codes.
        original: Records per value in the original table, or None.
        nodes: Node of each value on each level of a hierarchy (last level: one root), or None.
        missing: Code of missing values if each could be any value; None if there are none, or if they
            are a value like any other.
        alike: How many values differ from another one only in letter case, spaces or spelling.
        texts: Codes of texts that stand for a missing value but are not counted as one.
        alike_unknown: The same as `alike`, with these texts and missing values counted as one.

    >>> v = ValueCounts("s", np.array([2, 1]), np.array([0, 0, 1]), np.array([0, 1, 1]),
    ...                 np.array([1, 1, 1]), 2)
    >>> v.released
    array([1, 2])
    """

    name: Hashable
    sizes: IntArray
    group: IntArray
    value: IntArray
    count: IntArray
    n_values: int
    original: IntArray | None = None
    nodes: IntArray | None = None
    missing: int | None = None
    alike: int = 0
    texts: tuple[int, ...] = ()
    alike_unknown: int = 0

    @property
    def unknown(self) -> ValueCounts:
        """The same counts, with texts that stand for a missing value counted as missing.

        >>> one = np.array([1, 1, 1])
        >>> v = ValueCounts("s", np.array([3]), np.array([0, 0, 0]), np.array([0, 1, 2]), one, 3,
        ...                 missing=2, texts=(1,))
        >>> v.unknown.count
        array([1, 2])
        """
        if not self.texts:
            return self
        code = self.texts[0] if self.missing is None else self.missing
        new_codes = np.arange(self.n_values)
        new_codes[list(self.texts)] = code
        entries = (
            pd.DataFrame({"group": self.group, "value": new_codes[self.value], "count": self.count})
            .groupby(["group", "value"], sort=True)["count"]
            .sum()
            .reset_index()
        )
        original = None
        if self.original is not None:
            original = np.zeros(self.n_values, dtype=np.int64)
            np.add.at(original, new_codes, self.original)
        return replace(
            self,
            alike=self.alike_unknown,
            group=entries["group"].to_numpy(np.int64),
            value=entries["value"].to_numpy(np.int64),
            count=entries["count"].to_numpy(np.int64),
            original=original,
            missing=code,
            texts=(),
        )

    @property
    def worst(self) -> ValueCounts:
        """The same counts if every missing value were the most frequent value of its group.

        Whatever the missing values are, no group is less diverse than that. A group that has only missing
        values stays as it is: a group with one value.

        >>> two = np.array([2, 1])
        >>> v = ValueCounts("s", np.array([3]), np.array([0, 0]), np.array([0, 1]), two, 2, missing=1)
        >>> v.worst.count
        array([3])
        """
        if self.missing is None:
            return self
        unknown = self.value == self.missing
        n_missing = np.zeros(len(self.sizes), dtype=np.int64)
        n_missing[self.group[unknown]] = self.count[unknown]
        has_values = self.sizes > n_missing
        # the last of each group by count, missing values below all
        order = np.lexsort((np.where(unknown, 0, self.count), self.group))
        most_frequent = order[np.append(np.flatnonzero(np.diff(self.group[order])), len(order) - 1)]
        count = self.count.copy()
        count[most_frequent[has_values]] += n_missing[has_values]
        stays = ~unknown | ~has_values[self.group]
        return replace(
            self,
            group=self.group[stays],
            value=self.value[stays],
            count=count[stays],
            missing=None,
        )

    @property
    def present(self) -> ValueCounts:
        """The same counts without missing values and without the groups that have nothing else.

        >>> two = np.array([2, 1])
        >>> v = ValueCounts("s", np.array([3]), np.array([0, 0]), np.array([0, 1]), two, 2, missing=1)
        >>> v.present.sizes
        array([2])
        """
        if self.missing is None:
            return self
        stays = self.value != self.missing
        groups, group = np.unique(self.group[stays], return_inverse=True)
        sizes = np.zeros(len(groups), dtype=np.int64)
        np.add.at(sizes, group, self.count[stays])
        original = self.original
        if original is not None:
            original = np.where(np.arange(self.n_values) == self.missing, 0, original)
        return replace(
            self,
            sizes=sizes,
            group=group.astype(np.int64),
            value=self.value[stays],
            count=self.count[stays],
            original=original,
            missing=None,
        )

    @property
    def starts(self) -> IntArray:
        """First entry of every group; every group has at least one entry."""
        return np.searchsorted(self.group, np.arange(len(self.sizes))).astype(np.int64)

    @property
    def released(self) -> IntArray:
        """The records per value in the audited table."""
        totals = np.zeros(self.n_values, dtype=np.int64)
        np.add.at(totals, self.value, self.count)
        return totals

    @property
    def share(self) -> FloatArray:
        """Relative frequency of each entry in its group."""
        return np.asarray(self.count / self.sizes[self.group], dtype=np.float64)

    @property
    def height(self) -> int:
        """Levels of the hierarchy below its root."""
        return len(self._nodes()) - 1

    def _nodes(self) -> IntArray:
        if self.nodes is None:
            raise AuditError(
                f"attribute {str(self.name)!r} has no hierarchy; give one as hierarchies="
            )
        return self.nodes

    def merged(self, place: IntArray, sizes: IntArray) -> ValueCounts:
        """Return the counts of groups that are merged.

        Args:
            place: The new group of every group.
            sizes: The records of every new group.
        """
        entries = (
            pd.DataFrame({"group": place[self.group], "value": self.value, "count": self.count})
            .groupby(["group", "value"], sort=True)["count"]
            .sum()
            .reset_index()
        )
        return replace(
            self,
            sizes=sizes,
            group=entries["group"].to_numpy(np.int64),
            value=entries["value"].to_numpy(np.int64),
            count=entries["count"].to_numpy(np.int64),
        )

    def at_level(self, level: int) -> ValueCounts:
        """Return the same counts with every value replaced by its node on a level of the hierarchy."""
        if not 0 <= level <= self.height:
            raise AuditError(
                f"level: the hierarchy of {str(self.name)!r} has levels 0 to {self.height}, "
                f"got {level}"
            )
        node = self._nodes()[level]
        entries = (
            pd.DataFrame({"group": self.group, "value": node[self.value], "count": self.count})
            .groupby(["group", "value"], sort=True)["count"]
            .sum()
            .reset_index()
        )
        n_nodes = int(node.max()) + 1
        original = None
        if self.original is not None:
            original = np.zeros(n_nodes, dtype=np.int64)
            np.add.at(original, node, self.original)
        return ValueCounts(
            self.name,
            self.sizes,
            entries["group"].to_numpy(np.int64),
            entries["value"].to_numpy(np.int64),
            entries["count"].to_numpy(np.int64),
            n_nodes,
            original,
        )


@dataclass(frozen=True)
class Counts:
    """Everything that the audit's measures read. It contains no single records.

    Attributes:
        sizes: Records per QI-group.
        sensitive: Counts per (group, value) of every sensitive attribute.
        persons: Distinct persons per group; None if no subject was named.
        population: Records per group in the population; None if it is unknown.
        target: Counts per (group, value) of the target; None if there is no target.
        labels: The label of every group in every quasi-identifier, as codes; None if they are unknown.
        members: Every person in every group once, as the columns group and person; None without a subject.

    >>> counts = Counts(np.array([5, 2]))
    >>> counts.n_records, counts.n_groups
    (7, 2)
    """

    sizes: IntArray
    sensitive: Mapping[Hashable, ValueCounts] = field(default_factory=dict)
    persons: IntArray | None = None
    population: IntArray | None = None
    target: ValueCounts | None = None
    labels: pd.DataFrame | None = None
    members: pd.DataFrame | None = None

    @property
    def n_records(self) -> int:
        """Records in the audited table."""
        return int(self.sizes.sum())

    @property
    def n_groups(self) -> int:
        """QI-groups in the audited table."""
        return len(self.sizes)

    @property
    def hidden(self) -> IntArray:
        """The number that k counts in every group: its persons, or else its records."""
        return self.sizes if self.persons is None else self.persons

    def on(self, columns: Sequence[Hashable]) -> Counts:
        """Return the counts that an attacker finds who knows only some of the quasi-identifiers.

        Args:
            columns: The quasi-identifiers that the attacker knows.

        >>> counts = Counts(np.array([5, 2]), labels=pd.DataFrame({"age": [0, 0], "sex": [0, 1]}))
        >>> counts.on(["age"]).sizes, counts.on(["sex"]).sizes
        (array([7]), array([5, 2]))
        """
        if self.labels is None:
            raise AuditError(
                "columns: the labels of the groups were not counted, only their sizes; audit the rows"
            )
        for name in columns:
            if name not in self.labels.columns:
                raise ColumnError(
                    f"columns: {str(name)!r} is not a quasi-identifier"
                    f"{nearest(name, self.labels.columns)}"
                )
        if not len(columns):
            raise AuditError("columns: name at least one quasi-identifier")
        codes = self.labels[list(columns)]
        place = np.asarray(codes.groupby(list(columns), sort=False).ngroup(), dtype=np.int64)
        sizes = _summed(self.sizes, place)
        members = self.members
        if members is not None:
            members = members.assign(group=place[members["group"]]).drop_duplicates()
        return Counts(
            sizes,
            {name: values.merged(place, sizes) for name, values in self.sensitive.items()},
            None if members is None else np.bincount(members["group"], minlength=len(sizes)),
            None,
            None if self.target is None else self.target.merged(place, sizes),
            codes.iloc[np.unique(place, return_index=True)[1]].reset_index(drop=True),
            members,
        )


def _summed(numbers: IntArray, place: IntArray) -> IntArray:
    sums = np.zeros(int(place.max()) + 1, dtype=np.int64)
    np.add.at(sums, place, numbers)
    return sums
