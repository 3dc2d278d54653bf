"""The roles of a table's columns, as a user gives them, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from privmoo._util.checks import choice
from privmoo.data.columns import QuasiIdentifier
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import MISSING, Distinct

__all__ = [
    "AttributeSpec",
    "QISpec",
    "Roles",
    "check_columns",
    "check_missing",
    "check_rows",
    "column_names",
    "one_spelling",
    "read_attributes",
    "read_quasi_identifiers",
]

QISpec = Sequence[str] | Mapping[str, Hierarchy | QuasiIdentifier | None]
AttributeSpec = str | Sequence[str] | Mapping[str, Hierarchy | None]


def column_names(names: str | Sequence[str] | None) -> list[str]:
    """Return one name or several as a list."""
    if names is None:
        return []
    if not isinstance(names, str | Iterable):
        raise TableError(f"roles: expected names of columns, got {type(names).__name__}")
    return [names] if isinstance(names, str) else list(names)


def read_quasi_identifiers(spec: QISpec) -> dict[str, QuasiIdentifier]:
    """Return names, hierarchies or full descriptions as descriptions by name."""
    if isinstance(spec, str):
        spec = [spec]
    if not isinstance(spec, Iterable):
        raise TableError(
            f"quasi_identifiers: expected names of columns or a mapping, got {type(spec).__name__}"
        )
    items: list[tuple[str, Any]]
    items = list(spec.items()) if isinstance(spec, Mapping) else [(name, None) for name in spec]
    if not items:
        raise TableError("quasi_identifiers: none given; name the columns an attacker may know")
    if len({name for name, _ in items}) < len(items):
        raise TableError("quasi_identifiers: a column is named twice; name each once")
    result = {}
    for name, description in items:
        if isinstance(description, QuasiIdentifier):
            result[name] = description
        elif description is None or isinstance(description, Hierarchy):
            result[name] = QuasiIdentifier(hierarchy=description)
        else:
            raise TableError(
                f"quasi_identifiers: {name!r} needs a Hierarchy, a QuasiIdentifier or None, "
                f"got {type(description).__name__}"
            )
    return result


def read_attributes(spec: AttributeSpec) -> dict[str, Hierarchy | None]:
    """Return names, or hierarchies by name, as hierarchies by name."""
    if isinstance(spec, Mapping):
        for name, hierarchy in spec.items():
            if not (hierarchy is None or isinstance(hierarchy, Hierarchy)):
                raise TableError(
                    f"sensitive: {name!r} needs a Hierarchy or None, got {type(hierarchy).__name__}"
                )
        return dict(spec)
    return dict.fromkeys(column_names(spec))


def check_columns(data: pd.DataFrame) -> None:
    """Raise unless the data is a DataFrame with distinct names of columns."""
    if not isinstance(data, pd.DataFrame):
        raise TableError(f"data: must be a pandas DataFrame, got {type(data).__name__}")
    for name in data.columns:
        if not isinstance(name, str):
            raise TableError(f"data: column names must be strings, got {name!r}; rename it")
    twice = data.columns[data.columns.duplicated()]
    if len(twice):
        raise TableError(f"data: column name {twice[0]!r} occurs more than once; rename one")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The roles of a table's columns as a user gives them; see `Table` for the arguments.

    >>> roles = Roles(quasi_identifiers=["age"], sensitive="ill")
    >>> roles.by_column(["name", "age", "ill"])
    {'name': 'identifying', 'age': 'quasi-identifying', 'ill': 'sensitive'}
    """

    quasi_identifiers: QISpec
    sensitive: AttributeSpec = ()
    identifiers: str | Sequence[str] = ()
    insensitive: str | Sequence[str] = ()
    target: str | None = None
    subject: str | None = None
    missing: Literal["value", "drop"] = "value"
    others: Literal["identifying", "insensitive"] = "identifying"
    domain: Literal["hierarchy", "observed"] = "hierarchy"

    def __post_init__(self) -> None:
        choice("missing", self.missing, ("value", "drop"), error=TableError)
        choice("others", self.others, ("identifying", "insensitive"), error=TableError)
        choice("domain", self.domain, ("hierarchy", "observed"), error=TableError)

    @cached_property
    def qis(self) -> dict[str, QuasiIdentifier]:
        """The description of every quasi-identifier."""
        return read_quasi_identifiers(self.quasi_identifiers)

    @cached_property
    def hierarchies(self) -> dict[str, Hierarchy | None]:
        """The hierarchy of every sensitive attribute, or None."""
        return read_attributes(self.sensitive)

    @property
    def attributes(self) -> list[str]:
        """The sensitive attributes, and the target where it has no other role that is counted."""
        names = list(self.hierarchies)
        if self.target is not None and self.target not in {*names, *self.qis}:
            names.append(self.target)
        return names

    @property
    def used(self) -> list[str]:
        """The columns whose values are read: all with a role that is counted."""
        names = [*self.qis, *self.attributes]
        if self.subject is not None and self.subject not in names:
            names.append(self.subject)
        return names

    def by_column(self, columns: list[str]) -> dict[str, str]:
        """Return the role of every column.

        Args:
            columns: The columns of the data.

        Raises:
            ColumnError: A named column is not in the data.
            TableError: A column has two roles.
        """
        roles: dict[str, str] = {}
        for argument, role, names in (
            ("quasi_identifiers", "quasi-identifying", list(self.qis)),
            ("sensitive", "sensitive", list(self.hierarchies)),
            ("identifiers", "identifying", column_names(self.identifiers)),
            ("insensitive", "insensitive", column_names(self.insensitive)),
        ):
            for name in names:
                _check_column(argument, name, columns)
                if roles.get(name, role) != role:
                    raise TableError(
                        f"{argument}: column {name!r} already is {roles[name]}; give it one role"
                    )
                roles[name] = role
        target, subject = self.target, self.subject
        for argument, extra in (("target", target), ("subject", subject)):
            if extra is not None:
                _check_column(argument, extra, columns)
        if target is not None and roles.setdefault(target, "insensitive") == "identifying":
            raise TableError(f"target: column {target!r} is identifying and will not be released")
        if subject is not None and roles.setdefault(subject, "identifying") != "identifying":
            raise TableError(
                f"subject: column {subject!r} is {roles[subject]}; a subject key identifies persons, "
                "so it can only be identifying"
            )
        return {name: roles.get(name, self.others) for name in columns}


def _check_column(argument: str, name: str, columns: list[str]) -> None:
    if name not in columns:
        raise ColumnError(f"{argument}: column {name!r} is not in the data{nearest(name, columns)}")


def one_spelling(column: pd.Series[Any], values: Distinct) -> bool:
    """Return whether a column's values are written as the audit reads them: one spelling per value.

    That fails for 39 beside 39.0 in a column of objects, for floats of less than 64 bits, and for very
    large ones.

    Args:
        column: The column.
        values: Its distinct values.
    """
    dtype = column.dtype
    if values.kind == "text":
        return True
    if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        return False
    if values.kind == "number" and pd.api.types.is_float_dtype(dtype):
        return str(dtype).lower() == "float64" and bool((np.abs(values.floats()) < 1e16).all())
    return values.kind in ("number", "bool", "date")


def check_missing(values: Distinct) -> None:
    """Raise where a text could be confused with a missing value: in a file "", in a release "missing"."""
    if not values.has_missing or values.kind != "text":
        return
    for text in ("", MISSING):
        if text in values.values:
            row = values.row(values.values.index(text))
            raise TableError(
                f"column {values.column!r}, row {row} (counted from 0): the text {text!r} stands beside "
                "missing values, and a release could not tell them apart; make them one of the two"
            ).at(values.column, row)


def check_rows(
    columns: pd.DataFrame | Mapping[str, pd.Series[Any]], used: list[str], *, n: int, dropped: int
) -> None:
    """Raise unless there are at least two records and no column is empty.

    Args:
        columns: The values.
        used: The columns that must not be empty.
        n: The number of records.
        dropped: The number of records that were left out because a value is missing.
    """
    if n < 2:
        after = f" after dropping {dropped} with missing values" if dropped else ""
        raise TableError(
            f"data: {n} row{'' if n == 1 else 's'}{after}; "
            "at least two records are needed to hide one among others"
        )
    for name in used:
        if columns[name].isna().all():
            raise TableError(f"data: all values of column {name!r} are missing; leave it out")
