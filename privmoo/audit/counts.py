"""Counts per QI-group and per (group, sensitive value), which the audit's measures read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.errors import AuditError

__all__ = ["Counts", "ValueCounts"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of one attribute occurs in each QI-group.

    Attributes:
        name: The attribute.
        sizes: Records per group.
        group: Group of each entry, ascending.
        value: Value code of each entry, ascending within a group; codes follow the values' order.
        count: Records of this entry, at least one.
        n_values: Number of value codes.
        original: Records per value in the original table, or None.
        nodes: Node of each value on each level of a hierarchy (last level: one root), or None.

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
    """All that the audit's measures read; it holds nothing of single records.

    Attributes:
        sizes: Records per QI-group.
        sensitive: Counts per (group, value) of every sensitive attribute.
        persons: Distinct persons per group where a subject was named, else None.
        population: Records per group in the population, else None.
        target: Counts per (group, value) of the target, else None.

    >>> counts = Counts(np.array([5, 2]))
    >>> counts.n_records, counts.n_groups
    (7, 2)
    """

    sizes: IntArray
    sensitive: Mapping[Hashable, ValueCounts] = field(default_factory=dict)
    persons: IntArray | None = None
    population: IntArray | None = None
    target: ValueCounts | None = None

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
        """How many a record hides among: the persons of its group, or its records."""
        return self.sizes if self.persons is None else self.persons
