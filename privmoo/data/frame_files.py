"""A frame as one CSV or Parquet file, and the file read back as it was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo._util.reading import read_parquet, read_strings
from privmoo._util.spreadsheets import spreadsheet_safe
from privmoo.errors import ReleaseError

__all__ = ["FrameFile", "read_frame", "write_frame"]


@dataclass(frozen=True)
class FrameFile:
    """What is needed to read a written frame back.

    Attributes:
        dtypes: The type of every column.
        with_missing: The columns that have missing values.
        spreadsheets: Whether texts have an apostrophe where a spreadsheet would execute them.
    """

    dtypes: dict[str, Any]
    with_missing: frozenset[str]
    spreadsheets: bool


def write_frame(frame: pd.DataFrame, path: Path, *, spreadsheets: bool = False) -> FrameFile:
    """Write a frame as one file.

    Args:
        frame: The rows.
        path: The file, `.csv` or `.parquet`.
        spreadsheets: Whether texts that a spreadsheet would execute as a formula get an apostrophe.

    Raises:
        ReleaseError: A column has values that a Parquet file cannot hold.
    """
    safe = spreadsheet_safe(frame) if spreadsheets else frame
    if path.suffix == ".csv":
        safe.to_csv(path, index=False)
    else:
        _check_parquet(safe)
        safe.to_parquet(path, index=False)
    missing = frozenset(str(name) for name in frame if frame[name].isna().any())
    dtypes = {str(name): dtype for name, dtype in frame.dtypes.items()}
    return FrameFile(dtypes, missing, spreadsheets)


def read_frame(path: Path, written: FrameFile, names: Sequence[str]) -> pd.DataFrame:
    """Read columns of a written frame.

    Args:
        path: The file.
        written: What `write_frame` returned.
        names: The columns.
    """
    as_text = path.suffix == ".csv"
    cells = read_strings(path, separator=",") if as_text else read_parquet(path)
    places = {name: place for place, name in enumerate(written.dtypes)}
    columns = {}
    for name in names:
        column, dtype = cells.iloc[:, places[name]], written.dtypes[name]
        if written.spreadsheets and not pd.api.types.is_numeric_dtype(dtype):
            column = column.map(_without_apostrophe)
        if as_text:
            column = column.mask(column == "") if name in written.with_missing else column
            column = _typed(column, dtype)
        columns[name] = column
    return pd.DataFrame(columns)


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


def _without_apostrophe(value: Any) -> Any:
    return value[1:] if isinstance(value, str) and value.startswith("'") else value


def _typed(column: pd.Series[Any], dtype: Any) -> pd.Series[Any]:
    """Return the cells of a CSV column as values of the type that was written."""
    if pd.api.types.is_bool_dtype(dtype):
        return column.map({"True": True, "False": False})
    if pd.api.types.is_numeric_dtype(dtype):
        return pd.Series(pd.to_numeric(column))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return pd.Series(pd.to_datetime(column, format="ISO8601"))
    return column
