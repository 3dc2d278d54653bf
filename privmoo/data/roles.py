"""The roles of a table's columns, read from a user's arguments and checked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from privmoo._util.checks import choice, is_unicode
from privmoo._util.data_frames import AnyFrame, as_pandas
from privmoo.data.columns import Attribute, QuasiIdentifier
from privmoo.errors import ColumnError, TableError, TableWarning, nearest
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import MISSING, Distinct

__all__ = [
    "AttributeSpec",
    "Missing",
    "QISpec",
    "Roles",
    "check_missing",
    "check_names",
    "check_rows",
    "check_texts",
    "checked_frame",
    "column_names",
    "one_spelling",
    "read_attributes",
    "read_quasi_identifiers",
    "warn_of_values",
]

QISpec = Sequence[str] | Mapping[str, Hierarchy | QuasiIdentifier | None]
Missing = Literal["unknown", "value", "drop"]
AttributeSpec = str | Sequence[str] | Mapping[str, Hierarchy | None]


def column_names(names: str | Sequence[str] | None) -> list[str]:
    """Return one name or several as a list."""
    if names is None:
        return []
    if not isinstance(names, str | Iterable):
        raise TableError(f"roles: expected names of columns, got {type(names).__name__}")
    return [names] if isinstance(names, str) else list(names)


def read_quasi_identifiers(spec: QISpec) -> dict[str, QuasiIdentifier]:
    """Read names, hierarchies or full descriptions, and return descriptions by name."""
    if isinstance(spec, str):
        spec = [spec]
    if not isinstance(spec, Iterable):
        raise TableError(
            f"quasi_identifiers: expected names of columns or a mapping, got {type(spec).__name__}"
        )
    items: list[tuple[str, Any]]
    items = list(spec.items()) if isinstance(spec, Mapping) else [(name, None) for name in spec]
    if not items:
        raise TableError(
            "quasi_identifiers: there are none; name the columns that an attacker may know"
        )
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
    """Read names, or hierarchies by name, and return hierarchies by name."""
    if isinstance(spec, Mapping):
        for name, hierarchy in spec.items():
            if not (hierarchy is None or isinstance(hierarchy, Hierarchy)):
                raise TableError(
                    f"sensitive: {name!r} needs a Hierarchy or None, got {type(hierarchy).__name__}"
                )
        return dict(spec)
    return dict.fromkeys(column_names(spec))


def checked_frame(data: AnyFrame) -> pd.DataFrame:
    """Return the records as pandas holds them, or raise unless their columns have distinct names.

    >>> checked_frame([31, 45])
    Traceback (most recent call last):
    privmoo.errors.TableError: data: must be a data frame of pandas, polars, pyarrow or another library ...
    """
    frame = as_pandas(data)
    for name in frame.columns:
        if not isinstance(name, str):
            raise TableError(f"data: column names must be strings, got {name!r}; rename it")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise TableError(f"data: column name {twice[0]!r} occurs more than once; rename one")
    check_names(list(frame.columns))
    return frame


def check_names(columns: Sequence[str]) -> None:
    """Raise if the name of a column has a character that files do not keep."""
    for place, name in enumerate(columns, start=1):
        if not is_unicode(name) or {*"\0\r"} & {*name} or name.startswith("\ufeff"):
            raise TableError(
                f"data: the name of column {place} has a character that files do not keep (NUL, a carriage "
                "return, a byte order mark, or half of a surrogate pair); rename it"
            )


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The roles of a table's columns, as a user passes them; see `Table` for the arguments.

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
    missing: Missing = "unknown"
    others: Literal["identifying", "insensitive"] = "identifying"
    domain: Literal["hierarchy", "observed"] = "hierarchy"

    def __post_init__(self) -> None:
        choice("missing", self.missing, ("unknown", "value", "drop"), error=TableError)
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
        """The sensitive attributes, and the target if it has no other role that is counted."""
        names = list(self.hierarchies)
        if self.target is not None and self.target not in {*names, *self.qis}:
            names.append(self.target)
        return names

    @property
    def read_columns(self) -> list[str]:
        """The columns whose values are read: those with a role that is counted."""
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
        check_names(columns)
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
                        f"{argument}: column {name!r} is already {roles[name]}; give it one role"
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
    """Return whether every value of a column has one spelling, the one that the audit reads.

    This is not the case for 39 and 39.0 in one column of objects, for floats of fewer than 64 bits, and for
    very large ones.

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
    """Raise if a text could be confused with a missing value: in a file "", in a release "missing"."""
    if not values.has_missing or values.kind != "text":
        return
    for text in ("", MISSING):
        if text in values.values:
            row = values.row(values.values.index(text))
            raise TableError(
                f"column {values.column!r}, row {row} (counted from 0): the text {text!r} looks like the "
                "missing values of the column, and a release could not tell them apart; use only one of "
                "the two"
            ).at(values.column, row)


def check_texts(
    frame: pd.DataFrame | Mapping[str, pd.Series[Any]],
    columns: list[str],
    numbers: Callable[[str], Any] = lambda name: None,
) -> None:
    """Raise if a column has lists, or a text has a NUL or half of a surrogate pair.

    Args:
        frame: The records, or rows that stand for them.
        columns: The columns that are released.
        numbers: A function that returns the record of every row of a column; None if rows are records.
    """
    for name in columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        if _is_nested(column.dtype):
            raise TableError(
                f"column {name!r} holds lists or structures, which cannot be compared; convert it to text "
                "or numbers"
            )
        if all(map(_can_be_written, _values_of(column))):
            continue
        for row, value in enumerate(column.to_numpy(dtype=object)):
            if not _can_be_written(value):
                records = numbers(name)
                row = row if records is None else int(records[row])
                raise TableError(
                    f"column {name!r}, row {row} (counted from 0): the text has a NUL or half of a "
                    "surrogate pair, which files do not keep; correct it"
                ).at(name, row)


def _values_of(column: pd.Series[Any]) -> Iterable[Any]:
    """Return the values of a column, each once where they can be compared."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories().cat.categories
    try:
        return column.unique()
    except TypeError:
        return column.to_numpy(dtype=object)


def _is_nested(dtype: Any) -> bool:
    """Whether a column of Arrow has lists, maps or structures."""
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    import pyarrow as pa

    return bool(pa.types.is_nested(dtype.pyarrow_dtype))


def _can_be_written(value: object) -> bool:
    """Whether every file keeps a value."""
    return not isinstance(value, str) or (
        "\0" not in value and (value.isascii() or is_unicode(value))
    )


def warn_of_values(sensitive: Mapping[str, Attribute]) -> None:
    """Warn of texts that count as missing, and of values that look the same to a reader."""
    for name, attribute in sensitive.items():
        if attribute.missing_texts:
            warnings.warn(
                f"sensitive: column {name!r} has texts that programs read as missing, such as 'NA', '?' or "
                "an empty one; they count as missing and add no diversity: if they are values, write them "
                "differently, or count them as values (missing = 'value')",
                TableWarning,
                stacklevel=3,
            )
        number = sum(map(len, attribute.alike))
        if number:
            warnings.warn(
                f"sensitive: column {name!r} has {number:,} values that differ from another one only in "
                "letter case, spaces or spelling, or read as missing; they count as different, but look "
                f"the same to readers; spell them alike (table.sensitive[{name!r}].alike lists them)",
                TableWarning,
                stacklevel=3,
            )


def check_rows(
    columns: pd.DataFrame | Mapping[str, pd.Series[Any]],
    required: list[str],
    *,
    n: int,
    dropped: int,
) -> None:
    """Raise unless there are at least two records and no column is empty.

    Args:
        columns: The values.
        required: The columns that must not be empty.
        n: The number of records.
        dropped: The number of records that were left out because a value is missing.
    """
    if n < 2:
        after = f" after dropping {dropped} with missing values" if dropped else ""
        raise TableError(
            f"data: {n} row{'' if n == 1 else 's'}{after}; at least two records are needed"
        )
    for name in required:
        if columns[name].isna().all():
            raise TableError(f"data: all values of column {name!r} are missing; leave it out")
