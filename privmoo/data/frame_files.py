"""A frame as one CSV or Parquet file, and reading the file back."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privmoo._util.csv_writing import write_csv
from privmoo._util.reading import read_parquet, read_strings
from privmoo._util.spreadsheets import plain_text, spreadsheet_safe
from privmoo.data.counting import number_rows
from privmoo.errors import AuditError, ReleaseError

__all__ = ["FrameFile", "decode_dictionary", "drop_unused_categories", "read_frame", "write_frame"]


@dataclass(frozen=True)
class FrameFile:
    """A written frame, with the facts needed to read it back.

    Attributes:
        frame: The rows that were written.
        spreadsheets: Whether texts have an apostrophe where a spreadsheet would execute them.
    """

    frame: pd.DataFrame
    spreadsheets: bool


def write_frame(frame: pd.DataFrame, path: Path, *, spreadsheets: bool = False) -> FrameFile:
    """Write a frame as one file.

    Parquet files are written without dictionaries, which could name values that no row has.

    Args:
        frame: The rows.
        path: The file, `.csv` or `.parquet`.
        spreadsheets: Whether texts that a spreadsheet would execute as a formula get an apostrophe.

    Raises:
        ReleaseError: A column has values that a Parquet file cannot hold.
    """
    safe = spreadsheet_safe(frame) if spreadsheets else frame
    if path.suffix == ".csv":
        write_csv(safe, path)
    else:
        plain = pd.DataFrame({name: decode_dictionary(safe[name]) for name in safe})
        _check_parquet(plain)
        plain.to_parquet(path, index=False)
    return FrameFile(frame, spreadsheets)


def read_frame(path: Path, file: FrameFile, names: Sequence[str]) -> pd.DataFrame:
    """Read columns of a written frame.

    Args:
        path: The file.
        file: The result of `write_frame`.
        names: The columns.

    Raises:
        AuditError: The file has a text that was not written.
    """
    as_text = path.suffix == ".csv"
    cells = read_strings(path, separator=",") if as_text else read_parquet(path)
    places = {name: place for place, name in enumerate(file.frame)}
    columns = {}
    for name in names:
        column, original = cells.iloc[:, places[name]], file.frame[name]
        if as_text:
            columns[name] = _cells_as_values(column, original, file.spreadsheets)
        elif file.spreadsheets and not pd.api.types.is_numeric_dtype(original.dtype):
            columns[name] = column.map(plain_text)
        else:
            columns[name] = column
    return pd.DataFrame(columns)


def drop_unused_categories(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column without unused categories, such as those of suppressed records."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    return _without_dictionary(column)


def decode_dictionary(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of plain values instead of a dictionary and codes.

    >>> decode_dictionary(pd.Series([2, None, 2], dtype="category")).tolist()
    [2, <NA>, 2]
    """
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return _without_dictionary(column)
    categories = column.cat.categories
    if pd.api.types.is_integer_dtype(categories.dtype) and column.isna().any():
        return column.astype("Int64")
    return column.astype(categories.dtype)


def _without_dictionary(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the values of a dictionary of Arrow."""
    if not isinstance(column.dtype, pd.ArrowDtype):
        return column
    import pyarrow as pa

    kind = column.dtype.pyarrow_dtype
    if not pa.types.is_dictionary(kind):
        return column
    return column.astype(pd.ArrowDtype(kind.value_type))


def _check_parquet(frame: pd.DataFrame) -> None:
    import pyarrow as pa

    for name in frame:
        try:
            pa.array(frame[name], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):  # its text may quote a value
            raise ReleaseError(
                f"release: column {name!r} has values that a Parquet file cannot hold; convert it to "
                "numbers, text or dates, or write .csv"
            ) from None


def _cells_as_values(
    cells: pd.Series[Any], original: pd.Series[Any], spreadsheets: bool
) -> pd.Series[Any]:
    """Return the cells of a CSV column as the values that were written."""
    dtype, missing = original.dtype, (cells == "").to_numpy()
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return pd.Series(cells.mask(missing, "nan").to_numpy(dtype=object).astype(dtype))
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and not missing.any():
        return pd.Series(pd.to_numeric(cells)).astype(dtype)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        # One value may have several spellings: those of a midnight depend on the rows around it.
        return pd.Series(pd.to_datetime(cells.mask(missing), format="ISO8601")).astype(dtype)
    # Equal values may have several spellings, such as 0.0 and -0.0.
    plain = pd.api.types.is_object_dtype(dtype) or pd.api.types.is_float_dtype(dtype)
    spellings = original.map(str) if plain else original
    pairs = pd.DataFrame({"value": original, "spelling": spellings})
    numbers, _ = number_rows(pairs, ["value", "spelling"])
    distinct: pd.Series[Any] = original.iloc[np.unique(numbers, return_index=True)[1]]
    places = {
        text: place for place, text in reversed(list(enumerate(_texts(distinct, spreadsheets))))
    }
    row_numbers = cells.map(places)
    if row_numbers.isna().any():
        raise AuditError(
            f"release: the written file has a text in column {original.name!r} that should not be there; "
            "nothing is released"
        )
    return distinct.iloc[row_numbers.to_numpy(np.int64)].reset_index(drop=True)


def _texts(values: pd.Series[Any], spreadsheets: bool) -> list[str]:
    """Return the spelling of values in a CSV file; a column of numbers prevents blank lines."""
    frame = pd.DataFrame({"number": range(len(values)), "value": values.reset_index(drop=True)})
    buffer = io.StringIO(newline="")
    write_csv(spreadsheet_safe(frame) if spreadsheets else frame, buffer)
    buffer.seek(0)
    return pd.read_csv(buffer, dtype="str", keep_default_na=False)["value"].tolist()
