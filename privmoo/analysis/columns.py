"""The columns of an analysis, checked and encoded once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo._util.data_frames import AnyFrame
from privmoo.data.roles import checked_frame, column_names
from privmoo.data.table import Table
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy.canonical import distinct

__all__ = ["Codes", "Column", "encode", "read_frame", "read_roles", "read_whole"]

Codes = NDArray[np.int64]
Column = tuple[Codes, int]
"""The code of every record, from 0, and the number of codes."""


def read_roles(
    data: AnyFrame | Table,
    quasi_identifiers: str | Sequence[str] | None,
    sensitive: str | Sequence[str] | None,
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the encoded quasi-identifiers and sensitive columns.

    Args:
        data: The records.
        quasi_identifiers: The columns an attacker may know; those of a table by default.
        sensitive: The columns that must not be inferred; those of a table by default.

    >>> columns, _ = read_roles(pd.DataFrame({"age": [31, None, 31]}), "age", None)
    >>> columns["age"][0].tolist(), columns["age"][1]
    ([0, 1, 0], 2)
    """
    frame = read_frame(data)
    names, secrets = column_names(quasi_identifiers), column_names(sensitive)
    if isinstance(data, Table):
        names = data.qi_names if quasi_identifiers is None else names
        if sensitive is None:
            secrets = [name for name in data.sensitive if name not in names]
    overlap = [name for name in secrets if name in names]
    if overlap:
        raise TableError(
            f"sensitive: column {overlap[0]!r} is among the quasi-identifiers; give it one role"
        )
    columns = encode(frame, names, "quasi_identifiers")
    return columns, encode(frame, secrets, "sensitive") if secrets else {}


def read_frame(data: AnyFrame | Table) -> pd.DataFrame:
    """Return the records, or raise if there are none.

    >>> read_frame(pd.DataFrame({"age": [31]})).shape
    (1, 1)
    """
    frame = data.frame if isinstance(data, Table) else checked_frame(data)
    if frame.empty:
        raise TableError("data: there are no records to analyse; give at least one")
    return frame


def encode(frame: pd.DataFrame, names: Sequence[str], what: str) -> dict[str, Column]:
    """Encode columns as codes from 0, missing values last.

    Args:
        frame: The records.
        names: The columns.
        what: The argument that they are from, for errors.

    Returns:
        By column the code of every record and the number of codes.

    >>> codes, n_values = encode(pd.DataFrame({"sex": ["f", None]}), ["sex"], "columns")["sex"]
    >>> codes.tolist(), n_values
    ([0, 1], 2)
    """
    if not names:
        raise TableError(f"{what}: there are none; name at least one column")
    columns: dict[str, Column] = {}
    for name in names:
        if name not in frame.columns:
            raise ColumnError(
                f"{what}: column {name!r} is not in the data{nearest(name, frame.columns)}"
            )
        if name in columns:
            raise TableError(f"{what}: column {name!r} is named twice; name each once")
        distinct_values = distinct(frame[name], name)
        n_values = len(distinct_values.values)
        codes = np.where(distinct_values.codes < 0, n_values, distinct_values.codes).astype(
            np.int64
        )
        columns[name] = codes, n_values + int(distinct_values.has_missing)
    return columns


def read_whole(what: str, numbers: int | Iterable[int]) -> list[int]:
    """Return one or several whole numbers from 1 as a list.

    Args:
        what: The argument that they are from, for the error.
        numbers: One number or several.

    >>> read_whole("k", range(2, 4))
    [2, 3]
    """
    values = list(numbers) if isinstance(numbers, Iterable) else [numbers]
    return [whole_number(what, value, error=TableError) for value in values]
