"""From rows to the columns of a table: single records, or distinct ones with how often each occurs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import Attribute, QIColumn, QuasiIdentifier, small_uint
from privmoo.data.roles import check_missing, one_spelling
from privmoo.data.tuples import distinct_tuples, sparse_counts
from privmoo.errors import TableError
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import Distinct, RowNumbers, distinct

__all__ = ["Encoded", "Rows", "encode", "frozen", "summed"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Rows with their values, and how many records each stands for.

    Attributes:
        columns: The values of quasi-identifiers, and of sensitive and target attributes; an attribute
            that has a part of its own has the values of that part.
        numbers: Per column the row numbers for messages, where they are not the positions.
        counts: Records of every row; one each by default.
        parts: Which rows count an attribute, where every attribute has rows of its own; all records
            are counted by each part.
    """

    columns: pd.DataFrame | Mapping[str, pd.Series[Any]]
    numbers: Callable[[str], RowNumbers | None] = field(default=lambda name: None)
    counts: IntArray | None = None
    parts: Mapping[str, slice] = field(default_factory=dict)

    def part(self, attribute: str | None) -> slice:
        """The rows that count an attribute, or tuples."""
        if attribute is None or attribute not in self.parts:
            return next(iter(self.parts.values()), slice(None))
        return self.parts[attribute]

    def column(self, name: str) -> Distinct:
        """The distinct values of a quasi-identifier; every part has all of them."""
        found = distinct(self.columns[name], name, self.numbers(name))
        if self.counts is None:
            return found
        once = np.zeros_like(self.counts)
        once[self.part(None)] = self.counts[self.part(None)]
        return found._replace(counts=once)

    def attribute(self, name: str) -> Distinct:
        """The distinct values of an attribute."""
        values = self.columns[name]
        if self.counts is None:
            return distinct(values, name, self.numbers(name))
        own = self.part(name)
        values = values if name in self.parts else values.iloc[own]
        return distinct(values, name, self.numbers(name))._replace(counts=self.counts[own])

    def records(self, attribute: str | None = None) -> IntArray | None:
        """Records of the rows of a part; None where each is one."""
        return None if self.counts is None else self.counts[self.part(attribute)]


@dataclass(frozen=True)
class Encoded:
    """The columns of a table as the optimiser sees them."""

    qis: tuple[QIColumn, ...]
    sort_order: tuple[int, ...]
    tuples: NDArray[Any]
    row_tuple: NDArray[np.int32]
    weights: IntArray
    sensitive: dict[str, Attribute]
    target: Attribute | None


def encode(
    rows: Rows,
    quasi_identifiers: Mapping[str, QuasiIdentifier],
    sensitive: Mapping[str, Hierarchy | None],
    target: str | None,
    *,
    domain: str,
) -> Encoded:
    """Bind hierarchies to the values, and count tuples and the values of attributes in them.

    >>> frame = pd.DataFrame({"age": [31, 45, 31]})
    >>> rows = Rows(frame, counts=np.array([2, 1, 4]))
    >>> encode(rows, {"age": QuasiIdentifier()}, {}, None, domain="hierarchy").weights.tolist()
    [6, 1]
    """
    codes: list[NDArray[Any]] = []
    columns: list[QIColumn] = []
    for name, qi in quasi_identifiers.items():
        values = rows.column(name)
        check_missing(values)
        bound = (qi.hierarchy or Hierarchy.flat()).bind(values)
        if domain == "observed":
            bound = bound.observed(values)
        known = set(bound.leaves)
        exact = all(value in known for value in values.spelled())
        as_is = one_spelling(rows.columns[name], values)
        column = QIColumn.bind(name, qi, bound, exact=exact, as_is=as_is)
        codes.append(bound.encode(values).astype(small_uint(column.n_leaves)))
        columns.append(column)
    if not any(qi.weight for qi in columns):
        raise TableError("quasi_identifiers: all weights are 0; at least one must count")
    # The attribute with most leaves leads the order: its blocks are then runs of tuples.
    sort_order = tuple(np.argsort([-c.n_leaves for c in columns], kind="stable").tolist())
    tuples, row_tuple, weights = distinct_tuples(codes, [c.n_leaves for c in columns], sort_order)
    counts = rows.records()
    if counts is not None:
        weights = summed(row_tuple[rows.part(None)], counts, len(tuples))
    found = {
        name: _attribute(rows, name, hierarchy, "sensitive", row_tuple, weights)
        for name, hierarchy in sensitive.items()
    }
    aim = None
    if target is not None:
        aim = found.get(target) or _attribute(rows, target, None, "target", row_tuple, weights)
    return Encoded(
        tuple(columns), sort_order, frozen(tuples), frozen(row_tuple), frozen(weights), found, aim
    )


def _attribute(
    rows: Rows,
    name: str,
    hierarchy: Hierarchy | None,
    role: str,
    row_tuple: NDArray[np.int32],
    weights: IntArray,
) -> Attribute:
    data = rows.attribute(name)
    check_missing(data)
    bound = (hierarchy or Hierarchy.flat()).bind(data)
    known = set(bound.leaves)
    if not all(value in known for value in data.spelled()):
        raise TableError(
            f"{role}: the hierarchy of {name!r} has intervals as leaves, but the column is "
            "released as it is; give it one whose leaves are its values"
        )
    row_codes = bound.encode(data).astype(small_uint(bound.n_leaves))
    if len(np.unique(row_codes)) < 2:
        raise TableError(
            f"{role}: column {name!r} has a single value in all {int(weights.sum())} rows, "
            "so there is nothing to protect or predict; give it another role"
        )
    offsets, codes, counts = sparse_counts(
        row_tuple[rows.part(name)], row_codes, len(weights), bound.n_leaves, rows.records(name)
    )
    return Attribute(
        name=name,
        values=bound.leaves,
        numbers=bound.numbers,
        hierarchy=bound if hierarchy is not None else None,
        offsets=frozen(offsets),
        codes=frozen(codes),
        counts=frozen(counts),
        codes_of_rows=frozen(row_codes) if rows.counts is None else None,
        kind=data.kind,
        ordered=data.ordered,
        has_missing=data.has_missing,
    )


def summed(owner: NDArray[Any], counts: IntArray, n: int) -> IntArray:
    """The sum of counts of every owner; exact, unlike a sum of floats.

    >>> summed(np.array([1, 0, 1]), np.array([2, 3, 4]), 2).tolist()
    [3, 6]
    """
    total = np.zeros(n, dtype=np.int64)
    np.add.at(total, owner, counts)
    return total


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only."""
    array.setflags(write=False)
    return array
