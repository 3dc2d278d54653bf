"""Rows of Python values, from a spreadsheet or a database, as a data frame."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo._util.data_frames import as_pandas
from privmoo._util.reading import checked_missing
from privmoo.errors import TableError

__all__ = ["frame_of_rows", "read_excel", "read_sql"]


def frame_of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return rows of Python values as a frame; whole numbers stay whole where some are missing.

    Texts stay texts, also those that look like numbers.

    Args:
        names: The names of the columns.
        rows: The values of every row, None for a missing one.

    >>> frame_of_rows(["age", "zip"], [(31, "02139"), (None, "02140")]).dtypes.astype(str).to_dict()
    {'age': 'Int64', 'zip': 'str'}
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pd.concat([_column(values) for values in columns], axis=1, keys=list(names))


def _column(values: Sequence[Any]) -> pd.Series[Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and None in values:
        try:
            return pd.Series(values, dtype="Int64")
        except OverflowError:  # such as long account numbers
            return pd.Series(values, dtype=object)
    if kinds == {bool} and None in values:
        return pd.Series(values, dtype="boolean")
    return pd.Series(values)


def read_excel(
    path: str | Path, *, sheet: str | int = 0, missing_values: Sequence[str] = ("",)
) -> pd.DataFrame:
    """Read a sheet of an Excel file; its first row names the columns.

    Cells are what Excel says: numbers, texts, dates. Empty rows and empty columns are left out.

    Args:
        path: The file, `.xlsx` or `.xlsm`.
        sheet: The name of the sheet, or its number from 0.
        missing_values: The texts that stand for a missing value, beside empty cells.

    Raises:
        TableError: openpyxl is not installed, the file or the sheet cannot be read, or it has no rows.
    """
    try:
        import openpyxl
    except ImportError:
        raise TableError(
            "read_excel: openpyxl is not installed; run pip install 'privmoo[excel]'"
        ) from None
    missing = set(checked_missing(missing_values))
    path = Path(path)
    if not path.is_file():
        raise TableError(f"{path}: no such file")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (
        OSError,
        ValueError,
        KeyError,
        zipfile.BadZipFile,
        openpyxl.utils.exceptions.InvalidFileException,
    ) as error:
        raise TableError(
            f"{path} is not a readable Excel file ({type(error).__name__}); save it as .xlsx"
        ) from None
    try:
        rows = [list(row) for row in _sheet(book, sheet, path).iter_rows(values_only=True)]
    finally:
        book.close()
    return _frame_of_cells(path, rows, missing)


def _sheet(book: Any, sheet: str | int, path: Path) -> Any:
    """Return a sheet by its name or number."""
    names = list(book.sheetnames)
    if isinstance(sheet, int) and 0 <= sheet < len(names):
        return book[names[sheet]]
    if sheet not in names:
        raise TableError(
            f"sheet: {path} has no sheet {sheet!r}, only {', '.join(map(repr, names))}"
        )
    return book[sheet]


def _frame_of_cells(path: Path, rows: list[list[Any]], missing: set[str]) -> pd.DataFrame:
    """Return the cells of a sheet as a frame, without empty rows and columns."""
    cells = [
        [None if isinstance(cell, str) and cell in missing else cell for cell in row]
        for row in rows
        if any(cell is not None for cell in row)
    ]
    if not cells:
        raise TableError(f"{path}: the sheet is empty; its first row must name the columns")
    width = max(map(len, cells))
    header, *records = (row + [None] * (width - len(row)) for row in cells)
    if not records:
        raise TableError(f"{path} has columns but no rows; add at least one record")
    places = [i for i in range(width) if any(row[i] is not None for row in (header, *records))]
    unnamed = next((i for i in places if header[i] is None), None)
    if unnamed is not None:
        raise TableError(f"{path}: column {unnamed + 1} has values but no name in the first row")
    names = [str(header[i]) for i in places]
    return frame_of_rows(names, ([row[i] for i in places] for row in records))


def read_sql(
    query: str, connection: Any, *, parameters: Sequence[Any] | Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Read the rows of a query.

    Args:
        query: The query, in the language of the database.
        connection: A connection of a DBAPI 2.0 or ADBC driver.
        parameters: Values for the placeholders of the query.

    Raises:
        TableError: The connection is something else, or the query returns no rows.

    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> read_sql("SELECT 31 AS age, '02139' AS zip", connection).values.tolist()
    [[31, '02139']]
    """
    if not hasattr(connection, "cursor"):
        raise TableError(
            "connection: must be a connection of a DBAPI or ADBC driver, "
            f"got {type(connection).__name__}"
        )
    cursor = connection.cursor()
    try:
        cursor.execute(query, *([] if parameters is None else [parameters]))
        if cursor.description is None:
            raise TableError("query: it returns no table; pass a SELECT")
        if hasattr(cursor, "fetch_arrow_table"):
            frame = as_pandas(cursor.fetch_arrow_table(), what="query")
        else:
            names = [str(column[0]) for column in cursor.description]
            frame = frame_of_rows(names, cursor.fetchall())
    finally:
        cursor.close()
    if frame.empty:
        raise TableError("query: it returns no rows; at least one record is needed")
    return frame
