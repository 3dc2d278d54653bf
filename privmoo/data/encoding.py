"""From rows to the columns of a table: single records, or distinct ones with their weights."""

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
from privmoo.errors import Hint, TableError
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import Distinct, RowNumbers, distinct

__all__ = ["Encoded", "Rows", "encode", "frozen", "sums_by_owner"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Rows of values, and the number of records of each.

    Attributes:
        columns: The values of quasi-identifiers, and of sensitive and target attributes. An attribute
            that is in `parts` has the values of its part only.
        numbers: A function that returns the row numbers of a column for messages, if they differ from the
            positions.
        weights: The number of records of every row; None if every row is one record.
        parts: The rows that count an attribute, if every attribute has its own; every part counts all
            records.
    """

    columns: pd.DataFrame | Mapping[str, pd.Series[Any]]
    numbers: Callable[[str], RowNumbers | None] = field(default=lambda name: None)
    weights: IntArray | None = None
    parts: Mapping[str, slice] = field(default_factory=dict)

    def part(self, attribute: str | None) -> slice:
        """Return the rows that count an attribute; with None, the rows that count tuples."""
        if attribute is None or attribute not in self.parts:
            return next(iter(self.parts.values()), slice(None))
        return self.parts[attribute]

    def quasi_identifier(self, name: str) -> Distinct:
        """Return the distinct values of a quasi-identifier; every part has all of them."""
        values = distinct(self.columns[name], name, self.numbers(name))
        if self.weights is None:
            return values
        counted_once = np.zeros_like(self.weights)
        counted_once[self.part(None)] = self.weights[self.part(None)]
        return values._replace(counts=counted_once)

    def attribute(self, name: str) -> Distinct:
        """Return the distinct values of an attribute."""
        column = self.columns[name]
        if self.weights is None:
            return distinct(column, name, self.numbers(name))
        part = self.part(name)
        column = column if name in self.parts else column.iloc[part]
        return distinct(column, name, self.numbers(name))._replace(counts=self.weights[part])

    def weights_of(self, attribute: str | None = None) -> IntArray | None:
        """Return the weights of the rows of a part; None if every row is one record."""
        return None if self.weights is None else self.weights[self.part(attribute)]


@dataclass(frozen=True)
class Encoded:
    """The columns of a table as the optimiser sees them.

    Attributes:
        qis: The quasi-identifiers, bound to the data.
        sort_order: The quasi-identifiers in the order by which tuples are sorted.
        tuples: The distinct tuples of leaf codes.
        row_tuple: The tuple of every encoded row.
        weights: The number of records of every tuple.
        sensitive: The sensitive attributes by name.
        target: The attribute to predict.
    """

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
    missing: str = "value",
) -> Encoded:
    """Bind hierarchies to the values, and count tuples and the values of attributes in them.

    Args:
        rows: The rows.
        quasi_identifiers: The description of every quasi-identifier.
        sensitive: The hierarchy of every sensitive attribute, or None.
        target: The name of the attribute to predict.
        domain: `"hierarchy"` keeps all leaves of a hierarchy, `"observed"` those in the data.
        missing: `"unknown"` if a missing sensitive value could be any value; otherwise it is a value of its
            own.

    >>> frame = pd.DataFrame({"age": [31, 45, 31]})
    >>> rows = Rows(frame, weights=np.array([2, 1, 4]))
    >>> encode(rows, {"age": QuasiIdentifier()}, {}, None, domain="hierarchy").weights.tolist()
    [6, 1]
    """
    codes: list[NDArray[Any]] = []
    columns: list[QIColumn] = []
    for name, qi in quasi_identifiers.items():
        values = rows.quasi_identifier(name)
        check_missing(values)
        definition = qi.hierarchy or Hierarchy.flat()
        of_data = definition.takes_domain_of_data or domain == "observed"
        hierarchy = definition.bind(values)
        if domain == "observed":
            hierarchy = hierarchy.observed(values)
        leaves = set(hierarchy.leaves)
        exact = all(value in leaves for value in values.spellings())
        as_is = one_spelling(rows.columns[name], values)
        column = QIColumn.bind(name, qi, hierarchy, exact=exact, as_is=as_is, of_data=of_data)
        codes.append(hierarchy.encode(values).astype(small_uint(column.n_leaves)))
        columns.append(column)
    if not any(qi.weight for qi in columns):
        raise TableError("quasi_identifiers: all weights are 0; at least one must be above 0")
    # The attribute with most leaves leads the order: its blocks are then runs of tuples.
    sort_order = tuple(np.argsort([-c.n_leaves for c in columns], kind="stable").tolist())
    tuples, row_tuple, weights = distinct_tuples(codes, [c.n_leaves for c in columns], sort_order)
    row_weights = rows.weights_of()
    if row_weights is not None:
        weights = sums_by_owner(row_tuple[rows.part(None)], row_weights, len(tuples))
    attributes = {
        name: _attribute(rows, name, hierarchy, "sensitive", row_tuple, weights)
        for name, hierarchy in sensitive.items()
    }
    if missing != "value":
        attributes = {name: attribute.with_unknown() for name, attribute in attributes.items()}
        if target in attributes and attributes[target].missing_spellings > 1:
            raise TableError(
                f"target: column {target!r} is sensitive too, and spells missing values in several ways",
                hint=Hint("write them alike", parameter="missing", value="value", call="Table"),
            )
    target_attribute = None
    if target is not None:
        target_attribute = attributes.get(target) or _attribute(
            rows, target, None, "target", row_tuple, weights
        )
    return Encoded(
        tuple(columns),
        sort_order,
        frozen(tuples),
        frozen(row_tuple),
        frozen(weights),
        attributes,
        target_attribute,
    )


def _attribute(
    rows: Rows,
    name: str,
    hierarchy: Hierarchy | None,
    role: str,
    row_tuple: NDArray[np.int32],
    weights: IntArray,
) -> Attribute:
    """Count the values of an attribute in every tuple."""
    values = rows.attribute(name)
    check_missing(values)
    bound = (hierarchy or Hierarchy.flat()).bind(values)
    leaves = set(bound.leaves)
    if not all(value in leaves for value in values.spellings()):
        raise TableError(
            f"{role}: the hierarchy of {name!r} has intervals as leaves, but the column is "
            "released as it is; give it one whose leaves are its values"
        )
    row_codes = bound.encode(values).astype(small_uint(bound.n_leaves))
    if len(np.unique(row_codes)) < 2:
        raise TableError(
            f"{role}: column {name!r} has a single value in all {int(weights.sum())} rows, "
            "so there is nothing to protect or predict; give it another role"
        )
    offsets, codes, counts = sparse_counts(
        row_tuple[rows.part(name)], row_codes, len(weights), bound.n_leaves, rows.weights_of(name)
    )
    return Attribute(
        name=name,
        values=bound.leaves,
        numbers=bound.numbers,
        hierarchy=bound if hierarchy is not None else None,
        offsets=frozen(offsets),
        codes=frozen(codes),
        counts=frozen(counts),
        codes_of_rows=frozen(row_codes) if rows.weights is None else None,
        kind=values.kind,
        ordered=values.ordered,
        has_missing=values.has_missing,
    )


def sums_by_owner(owners: NDArray[Any], numbers: IntArray, n_owners: int) -> IntArray:
    """Return the sum of the numbers of every owner; it is exact, unlike a sum of floats.

    Args:
        owners: The owner of every number.
        numbers: The numbers.
        n_owners: The number of owners.

    >>> sums_by_owner(np.array([1, 0, 1]), np.array([2, 3, 4]), 2).tolist()
    [3, 6]
    """
    totals = np.zeros(n_owners, dtype=np.int64)
    np.add.at(totals, owners, numbers)
    return totals


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, read-only."""
    array.setflags(write=False)
    return array
