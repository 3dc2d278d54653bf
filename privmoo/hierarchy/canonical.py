"""One spelling per value: how a column of any type becomes the leaves of a hierarchy."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import HierarchyError, TableError

__all__ = ["MISSING", "Distinct", "RowNumbers", "canonical", "distinct"]

MISSING = "missing"
"""The leaf of missing values."""

# Beyond this a float has no unit digit of its own, and writing it out would invent digits.
_EXACT_INTEGER = 1e16

_INFERRED = {
    "string": "text",
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "boolean": "bool",
    "datetime64": "date",
    "datetime": "date",
    "date": "date",
    "empty": "empty",
}


def canonical(value: object) -> str:
    """Return the spelling of a value as a leaf: equal numbers are equal, dates are ISO, text stays.

    >>> [canonical(v) for v in (39, 39.0, 0.5, True, "a ", None)]
    ['39', '39', '0.5', 'True', 'a ', 'missing']
    >>> canonical(pd.Timestamp("1987-03-05"))
    '1987-03-05'
    """
    if isinstance(value, str):
        return str(value)
    if type(value) is float:  # the common case, and a column may hold a million of them
        return _canonical_real(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return MISSING
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, decimal.Decimal | numbers.Real):
        return _canonical_real(value)
    if isinstance(value, np.datetime64):
        return canonical(pd.Timestamp(value))
    if isinstance(value, dt.datetime):
        if (
            value.tzinfo is None
            and value.time() == dt.time()
            and not getattr(value, "nanosecond", 0)
        ):
            return value.date().isoformat()
        return value.isoformat()
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _canonical_real(value: Any) -> str:
    as_float = float(value)
    if math.isnan(as_float):
        return MISSING
    if math.isinf(as_float):
        raise HierarchyError("an infinite number cannot be a value of a hierarchy; remove it")
    if as_float.is_integer() and abs(as_float) < _EXACT_INTEGER:
        return str(int(as_float))
    # str of a float32 is its shortest spelling; as a float it would grow digits nobody wrote
    return str(value) if isinstance(value, np.floating) else repr(as_float)


class RowNumbers(Protocol):
    """The number of every row for messages: an array, or an object that looks it up."""

    def __getitem__(self, row: Any, /) -> Any: ...


class Distinct(NamedTuple):
    """The distinct values of one column.

    Attributes:
        codes: For every row the position in `values`; -1 if the value is missing.
        values: The distinct values, in order of first appearance.
        kind: "number", "text", "bool", "date", "other", or "empty" if all are missing.
        column: The name for messages.
        ordered: Whether `values` are in the order of an ordered categorical instead.
        rows: The number of every row for messages; None if it is the row's position.
        counts: The number of records that every row stands for; None if it is 1.
    """

    codes: NDArray[np.intp]
    values: list[Any]
    kind: str
    column: str
    ordered: bool = False
    rows: RowNumbers | None = None
    counts: NDArray[np.int64] | None = None

    @property
    def has_missing(self) -> bool:
        """Whether any row is missing."""
        return bool((self.codes < 0).any())

    def row(self, value: int) -> int:
        """Return the first row of a distinct value."""
        position = int(np.flatnonzero(self.codes == value)[0])
        return position if self.rows is None else int(self.rows[position])

    def records(self, values: NDArray[Any]) -> int:
        """Return how many records have one of these distinct values."""
        mask = np.isin(self.codes, values)
        return int(mask.sum() if self.counts is None else self.counts[mask].sum())

    def where(self, value: int) -> str:
        """Return column and first row of a distinct value, as messages name them."""
        return f"column {self.column!r}, row {self.row(value)} (counted from 0)"

    def spellings(self) -> list[str]:
        """Return the canonical spelling of each distinct value."""
        if self.kind == "text":
            return [str(value) for value in self.values]
        return [canonical(value) for value in self.values]

    def floats(self) -> NDArray[np.float64]:
        """Return the distinct values as floats; only for kind "number"."""
        return np.array([float(value) for value in self.values], dtype=np.float64)


def distinct(
    values: pd.Series[Any] | Iterable[Any] | Distinct,
    column: str | None = None,
    rows: RowNumbers | None = None,
) -> Distinct:
    """Factorize a column of any type, refusing mixed types and infinite numbers.

    Args:
        values: The column; one that is factorized already stays as it is.
        column: Its name, for messages; default: the name of the series.
        rows: The row numbers for messages, where they are not the positions.

    >>> data = distinct([3.0, None, 3.0, 5.0], "age")
    >>> data.codes.tolist(), data.spellings(), data.kind
    ([0, -1, 0, 1], ['3', '5'], 'number')
    """
    if isinstance(values, Distinct):
        return values
    series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=None)
    name = str(
        column if column is not None else series.name if series.name is not None else "values"
    )
    numbers = np.arange(len(series)) if rows is None else rows
    kind = _kind_of_column(series, name, numbers)
    codes, uniques = _factorize(series)
    dtype = series.dtype
    ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    kind = kind or _kind_of_values(codes, uniques, name, numbers)
    data = Distinct(codes, uniques, kind, name, ordered, rows)
    if data.kind == "number":
        infinite = np.flatnonzero(np.isinf(data.floats()))
        if infinite.size:
            raise TableError(
                f"{data.where(int(infinite[0]))}: the number is infinite; "
                "replace it by a finite or a missing value"
            ).at(name, data.row(int(infinite[0])))
    return data


def _factorize(series: pd.Series[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.intp)
        uniques: list[Any] = list(series.cat.categories)
        occurs = np.zeros(len(uniques) + 1, dtype=bool)
        occurs[codes] = True
        occurs[-1] = False
    else:
        raw, index = pd.factorize(series)
        # plain floats are fast, but a float32 must keep its own short spelling
        short = series.dtype in (np.dtype("float32"), np.dtype("float16"))
        codes, uniques = (
            raw.astype(np.intp, copy=False),
            list(np.asarray(index)) if short else index.tolist(),
        )
        # a nullable float column can hold both NA and NaN
        occurs = np.append(~np.asarray(pd.isna(index), dtype=bool), False)
    if occurs[:-1].all():
        return codes, uniques
    renumber = np.where(occurs, np.cumsum(occurs) - 1, -1)
    return renumber[codes], [value for value, keep in zip(uniques, occurs, strict=False) if keep]


def _kind_of_column(series: pd.Series[Any], name: str, numbers: RowNumbers) -> str:
    """Return the kind that the type of the column implies, or an empty string."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return ""
    if not pd.api.types.is_object_dtype(dtype):
        if pd.api.types.is_bool_dtype(dtype):
            return "bool"
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
            return "number"
        if pd.api.types.is_datetime64_any_dtype(dtype):
            return "date"
        return "text" if isinstance(dtype, pd.StringDtype) else ""
    kind = _INFERRED.get(pd.api.types.infer_dtype(series, skipna=True), "")
    if not kind:
        # factorize takes 1 and True for one value, so the types of all rows must be looked at
        cells = series.to_numpy(dtype=object)
        present = np.flatnonzero(~series.isna().to_numpy())
        _one_kind(((int(row), cells[row]) for row in present), name, numbers)
    return kind


def _kind_of_values(
    codes: NDArray[np.intp], values: list[Any], name: str, numbers: RowNumbers
) -> str:
    rows = np.full(len(values) + 1, -1, dtype=np.intp)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]  # the first row wins
    order = np.argsort(rows[:-1], kind="stable")
    return _one_kind(((int(rows[i]), values[i]) for i in order), name, numbers)


def _one_kind(rows: Iterable[tuple[int, Any]], name: str, numbers: RowNumbers) -> str:
    first, kind = -1, "empty"
    for place, value in rows:
        this = _kind_of_value(value)
        if not this:
            row = int(numbers[place])
            raise TableError(
                f"column {name!r}, row {row} (counted from 0): values of type {type(value).__name__} "
                "cannot be used; convert the column to numbers, text or dates"
            ).at(name, row)
        if first < 0:
            first, kind = place, this
        elif this != kind:
            row, first = int(numbers[place]), int(numbers[first])
            raise TableError(
                f"column {name!r} mixes types: row {row} (counted from 0) is a {this}, "
                f"row {first} a {kind}; convert the column to one type"
            ).at(name, row)
    return kind if kind in ("number", "text", "bool", "date", "empty") else "other"


def _kind_of_value(value: Any) -> str:
    """Return the kind of one value, or an empty string where it cannot be used."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, numbers.Real | decimal.Decimal):
        return "number"
    if isinstance(value, dt.date | np.datetime64):
        return "date"
    if isinstance(value, pd.Interval | pd.Period | dt.timedelta | np.timedelta64 | dt.time):
        return type(value).__name__
    return ""
