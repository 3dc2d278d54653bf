"""Layer one of the audit: count a DataFrame by plain pandas group-bys."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.values import (
    canonical,
    factorize,
    hierarchy_rows,
    node_ids,
    number_alike,
    stands_for_missing,
)
from privmoo.errors import AuditError, ColumnError, nearest

__all__ = [
    "Roles",
    "count_frame",
    "group_numbers",
    "group_sizes",
    "labels_of_groups",
    "members_of_groups",
    "unknown_or_value",
    "value_counts",
]

IntArray = npt.NDArray[np.int64]


class Roles(NamedTuple):
    """The roles of the columns of a table.

    Attributes:
        quasi_identifiers: Columns an attacker may know.
        sensitive: Columns an attacker wants to learn.
        subject: A column (or one entry per row) that says whose record it is.
        target: A column to predict.
        missing: `"unknown"`: a missing sensitive value, or a text that stands for one such as `"NA"`,
            could be any value and adds no privacy; `"value"`: it is a value like any other.
    """

    quasi_identifiers: Iterable[Hashable] | str
    sensitive: Iterable[Hashable] | str = ()
    subject: Hashable | pd.Series[Any] | npt.NDArray[Any] | None = None
    target: Hashable | None = None
    missing: str = "unknown"


def count_frame(
    df: pd.DataFrame,
    roles: Roles,
    *,
    population: pd.DataFrame | None = None,
    hierarchies: Mapping[Any, pd.DataFrame | Iterable[Sequence[object]]] | None = None,
    original: pd.DataFrame | pd.Series[Any] | None = None,
) -> Counts:
    """Count a DataFrame by groups; missing values count as values, unused categories do not.

    Args:
        df: Any table.
        roles: The roles of its columns.
        population: A table with the same labels that contains this one.
        hierarchies: Per sensitive attribute a table in ARX's layout.
        original: The sensitive columns before anonymization.

    >>> df = pd.DataFrame({"age": [20, 20, 30], "job": ["a", "b", "a"]})
    >>> count_frame(df, Roles(["age"], ["job"])).sizes
    array([2, 1])
    """
    subject, target = roles.subject, roles.target
    qis = _names(roles.quasi_identifiers)
    attributes = _names(roles.sensitive)
    _check(df, qis, attributes)
    if target is not None:
        _require(df, [target], "target")
    group = group_numbers(df, qis)
    n_groups = int(group.max()) + 1
    sizes = np.bincount(group, minlength=n_groups).astype(np.int64)
    trees = dict(hierarchies or {})
    for name in trees:
        if name not in attributes:
            raise ColumnError(
                f"hierarchies: {str(name)!r} is not a sensitive attribute"
                f"{nearest(name, attributes)}"
            )
    references = _references(original, attributes)

    def tally(name: Hashable) -> ValueCounts:
        return value_counts(df[name], name, group, sizes, trees.get(name), references.get(name))

    members = None if subject is None else members_of_groups(df, subject, qis, group)
    return Counts(
        sizes,
        unknown_or_value({name: tally(name) for name in attributes}, roles.missing),
        None if members is None else np.bincount(members["group"], minlength=n_groups),
        None if population is None else _population(df, population, qis, sizes, group),
        None if target is None else tally(target),
        labels_of_groups(df, qis, group),
        members,
    )


def group_numbers(df: pd.DataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Return the number of the QI-group of every row, from 0.

    Args:
        df: The rows.
        columns: The quasi-identifiers.

    >>> group_numbers(pd.DataFrame({"a": [1, 1, None, None]}), ["a"])
    array([0, 0, 1, 1])
    """
    # group codes instead of values: all dtypes and all kinds of missing values behave alike
    codes = pd.DataFrame({i: factorize(df[name], name)[0] for i, name in enumerate(columns)})
    numbers = codes.groupby(list(codes.columns), sort=False, observed=True, dropna=False).ngroup()
    return np.asarray(numbers, dtype=np.int64)


def group_sizes(df: pd.DataFrame, columns: Sequence[Hashable]) -> IntArray:
    """Return the number of rows of every QI-group.

    Args:
        df: The rows.
        columns: The quasi-identifiers.

    >>> group_sizes(pd.DataFrame({"a": [1, 1, 2]}), ["a"])
    array([2, 1])
    """
    return np.bincount(group_numbers(df, columns)).astype(np.int64)


def _names(columns: Iterable[Hashable] | str) -> list[Hashable]:
    return [columns] if isinstance(columns, str) else list(columns)


def _check(df: object, qis: list[Hashable], attributes: list[Hashable]) -> None:
    if not isinstance(df, pd.DataFrame):
        raise AuditError(f"df: expected a pandas DataFrame, got {type(df).__name__}")
    twice = df.columns[df.columns.duplicated()]
    if len(twice):
        raise AuditError(f"df: the column name {str(twice[0])!r} occurs more than once; rename it")
    if not qis:
        raise AuditError("quasi_identifiers: name at least one column")
    _require(df, qis, "quasi_identifiers")
    _require(df, attributes, "sensitive")
    ambiguous = [name for name in qis if name in attributes]
    if ambiguous:
        raise AuditError(f"column {str(ambiguous[0])!r} is both a quasi-identifier and sensitive")
    if not len(df):
        raise AuditError("no rows to audit: the table is empty")


def _require(df: pd.DataFrame, names: Sequence[Hashable], role: str) -> None:
    for position, name in enumerate(names):
        if name not in df.columns:
            raise ColumnError(
                f"{role}: column {str(name)!r} is not in the data{nearest(name, df.columns)}"
            )
        if name in names[:position]:
            raise AuditError(f"{role}: column {str(name)!r} is named twice")


def _references(
    original: pd.DataFrame | pd.Series[Any] | None, attributes: list[Hashable]
) -> dict[Hashable, pd.Series[Any]]:
    if original is None:
        return {}
    if isinstance(original, pd.Series):
        if len(attributes) != 1:
            raise AuditError(
                f"original: a Series serves one sensitive attribute, got {len(attributes)}; "
                f"give a DataFrame"
            )
        return {attributes[0]: original}
    _require(original, attributes, "original")
    return {name: original[name] for name in attributes}


def value_counts(
    column: pd.Series[Any],
    name: Hashable,
    group: IntArray,
    sizes: IntArray,
    hierarchy: pd.DataFrame | Iterable[Sequence[object]] | None = None,
    reference: pd.Series[Any] | None = None,
    records: IntArray | None = None,
) -> ValueCounts:
    """Count the values of a column in every group.

    Args:
        column: The values.
        name: The column's name.
        group: The group of every row.
        sizes: The records of every group.
        hierarchy: A hierarchy of the values, in ARX's layout.
        reference: The values before anonymization.
        records: How many records every row stands for; 1 by default.

    >>> value_counts(pd.Series(["a", "b", "a"]), "s", np.array([0, 0, 0]), np.array([3])).count
    array([2, 1])
    """
    rows = None if hierarchy is None else hierarchy_rows(hierarchy, name)
    cells = column if reference is None else pd.concat([column, reference], ignore_index=True)
    codes, uniques = factorize(cells, name)
    values: list[object] = list(uniques)
    rank = _ranks(values, column, rows)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        rank = np.append(rank, len(values))
        values.append(None)
    codes = rank[codes]
    in_order: list[object] = [values[i] for i in np.argsort(rank)]
    audit_codes, rest = codes[: len(column)], codes[len(column) :]
    row_records = np.ones(len(audit_codes), dtype=np.int64) if records is None else records
    entries = (
        pd.DataFrame({"group": group, "value": audit_codes, "count": row_records})
        .groupby(["group", "value"], sort=True)["count"]
        .sum()
        .reset_index()
    )
    original = None
    if reference is not None:
        original = np.bincount(rest, minlength=len(values)).astype(np.int64)
        lacking = original[audit_codes] == 0
        if lacking.any():
            raise AuditError(
                f"original: column {str(name)!r} lacks the value that row {int(lacking.argmax())} "
                f"of the audited table has; give the table the release was made from"
            )
    occurring = [in_order[i] for i in np.unique(audit_codes)]
    present = [value for value in occurring if not stands_for_missing(value)]
    return ValueCounts(
        name,
        sizes,
        entries["group"].to_numpy(np.int64),
        entries["value"].to_numpy(np.int64),
        entries["count"].to_numpy(np.int64),
        len(values),
        original,
        None
        if rows is None
        else node_ids(in_order, rows, name, np.unique(codes, return_index=True)[1]),
        len(values) - 1 if values[-1] is None else None,
        number_alike(occurring),
        tuple(
            i for i, value in enumerate(in_order) if value is not None and stands_for_missing(value)
        ),
        number_alike([*present, None] if len(present) < len(occurring) else present),
    )


def unknown_or_value(
    counts: Mapping[Hashable, ValueCounts], missing: str
) -> dict[Hashable, ValueCounts]:
    """Return counts in which missing values are unknown, or values like any other.

    Args:
        counts: The counts of sensitive attributes.
        missing: `"unknown"` or `"value"`.
    """
    if missing not in ("unknown", "value"):
        raise AuditError(f"missing: expected 'unknown' or 'value', got {missing!r}")
    if missing == "unknown":
        return {name: values.unknown for name, values in counts.items()}
    return {name: replace(values, missing=None, texts=()) for name, values in counts.items()}


def _ranks(
    values: list[Any], column: pd.Series[Any], rows: dict[str, tuple[str, ...]] | None
) -> IntArray:
    """Return the position of each value in the attribute's order (for the ordered distance)."""
    if rows is not None:
        position = {leaf: i for i, leaf in enumerate(rows)}
        order = sorted(range(len(values)), key=lambda i: position.get(canonical(values[i]), -1))
    elif isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        place = {value: i for i, value in enumerate(column.dtype.categories)}
        order = sorted(range(len(values)), key=lambda i: place.get(values[i], len(place)))
    else:
        try:
            order = sorted(range(len(values)), key=values.__getitem__)
        except TypeError:  # mixed types
            order = sorted(range(len(values)), key=lambda i: canonical(values[i]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank


def labels_of_groups(
    df: pd.DataFrame, columns: Sequence[Hashable], group: IntArray
) -> pd.DataFrame:
    """Return the label of every group in every column, as codes.

    Args:
        df: The rows.
        columns: The quasi-identifiers.
        group: The group of every row.

    >>> df = pd.DataFrame({"a": [7, 7, 8]})
    >>> labels_of_groups(df, ["a"], np.array([0, 0, 1]))["a"].tolist()
    [0, 1]
    """
    first = np.unique(group, return_index=True)[1]
    codes = {name: factorize(df[name], name)[0][first] for name in columns}
    return pd.DataFrame(codes, columns=pd.Index(list(columns), dtype=object, tupleize_cols=False))


def members_of_groups(
    df: pd.DataFrame, subject: Any, qis: list[Hashable], group: IntArray
) -> pd.DataFrame:
    """Return every person in every group once.

    Args:
        df: The rows.
        subject: A column, or one entry per row, that says whose record it is.
        qis: The quasi-identifiers.
        group: The group of every row.
    """
    if isinstance(subject, (pd.Series, np.ndarray, list)):
        column = pd.Series(np.asarray(subject, dtype=object))
        if len(column) != len(df):
            raise AuditError(f"subject: expected {len(df)} entries, got {len(column)}")
    else:
        _require(df, [subject], "subject")
        if subject in qis:
            raise AuditError(f"column {str(subject)!r} is both a quasi-identifier and the subject")
        column = df[subject]
    pairs = pd.DataFrame({"group": group, "person": factorize(column, "subject")[0]})
    return pairs.drop_duplicates()


def _population(
    df: pd.DataFrame,
    population: pd.DataFrame,
    qis: list[Hashable],
    sizes: IntArray,
    group: IntArray,
) -> IntArray:
    _require(population, qis, "population")
    labels = pd.concat([df[qis].astype(object), population[qis].astype(object)], ignore_index=True)
    numbers = group_numbers(labels, qis)
    sample, rest = numbers[: len(df)], numbers[len(df) :]
    totals = np.bincount(rest, minlength=int(numbers.max()) + 1)
    group_totals = np.zeros(len(sizes), dtype=np.int64)
    group_totals[group] = totals[sample]
    short = group_totals < sizes
    if short.any():
        row = int(short[group].argmax())
        raise AuditError(
            f"population: it holds fewer records like row {row} than the audited table itself; "
            f"give a population that contains the table, with the same labels"
        )
    return group_totals
