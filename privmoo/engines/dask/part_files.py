"""The part files of a copy: each is written whole or not at all, and read back unchanged."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo._util.csv_writing import write_csv
from privmoo._util.spreadsheets import PROTECT, RESTORE
from privmoo.data.source import DiskFullError

__all__ = ["PartFiles", "part_name", "part_writer", "read_part", "write_whole"]

_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


@dataclass(frozen=True)
class PartFiles:
    """The parts of a copy, and what is needed to read them back.

    Attributes:
        schema: The names and types of the columns, as Arrow has them.
        headings: The names of the columns in the files.
        dates: Columns of times that are all midnight.
        spreadsheets: Whether texts that a spreadsheet would execute have an apostrophe.
        ending: The ending of the files' names.
        n_parts: The number of files.
    """

    schema: Any
    headings: list[str]
    dates: frozenset[str]
    spreadsheets: bool
    ending: str
    n_parts: int


def part_name(number: int, ending: str) -> str:
    """Return the file name of a part.

    Args:
        number: The number of the part.
        ending: The ending of the name.

    >>> part_name(7, ".csv")
    'part-00007.csv'
    """
    return f"part-{number:05d}{ending}"


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file under a temporary name, flush it to the disk, and rename it.

    A task may run twice, even at the same time: both write the same, each under its own temporary name.

    Args:
        path: The file.
        write: A function that writes the file to a path.

    Raises:
        DiskFullError: If there is no space left on the disk.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno in _FULL or "No space left" in str(error) or "too large" in str(error):
            raise DiskFullError(f"{path.name}: the disk is full; make room") from None
        raise


def part_writer(handle: PartFiles) -> Callable[[Any, Path], None]:
    """Return the function that writes an Arrow table as a part to a path."""
    return partial(_write, handle=handle)


def _write(table: Any, path: Path, *, handle: PartFiles) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    as_csv = handle.ending == ".csv"
    columns = []
    for name in table.column_names:
        column = table.column(name)
        if handle.spreadsheets and _is_text(column.type):
            column = _safe(column)
        if as_csv and name in handle.dates:
            column = column.cast(pa.date32())
        columns.append(column)
    if not as_csv:
        with path.open("wb") as file:
            pq.write_table(pa.table(columns, names=handle.headings), file, compression="snappy")
        return
    frame = pd.DataFrame({i: _to_pandas(column) for i, column in enumerate(columns)})
    frame.columns = pd.Index(handle.headings)
    write_csv(frame, path)


def read_part(path: Path, handle: PartFiles, names: Sequence[str]) -> pd.DataFrame:
    """Read columns of a part.

    Args:
        path: The file.
        handle: What was written.
        names: The columns.
    """
    headings = dict(zip(handle.schema.names, handle.headings, strict=True))
    chosen_headings = [headings[name] for name in names]
    table = (
        _read_csv(path, handle, chosen_headings)
        if handle.ending == ".csv"
        else _read_parquet(path, chosen_headings)
    )
    columns = {}
    for name, heading in zip(names, chosen_headings, strict=True):
        column = table.column(heading)
        if handle.spreadsheets and _is_text(column.type):
            column = _unsafe(column)
        columns[name] = _to_pandas(column)
    return pd.DataFrame(columns)


def _read_parquet(path: Path, headings: list[str]) -> Any:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=headings)


def _read_csv(path: Path, handle: PartFiles, headings: list[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    types = {}
    for column, heading in zip(handle.schema, handle.headings, strict=True):
        types[heading] = column.type if _is_read(column.type) else pa.string()
        if column.name in handle.dates:
            types[heading] = pa.date32()
    options = csv.ConvertOptions(
        column_types=types,
        include_columns=headings,
        null_values=[""],
        strings_can_be_null=True,
        # A missing value that is alone in its row is written with quotes.
        quoted_strings_can_be_null=len(types) == 1,
    )
    size = max(path.stat().st_size, 1)
    reading = csv.ReadOptions(use_threads=False, block_size=min(size + 1, 2**31 - 1))
    parsing = csv.ParseOptions(newlines_in_values=True)
    return csv.read_csv(path, reading, parsing, options)


def _is_read(kind: Any) -> bool:
    import pyarrow as pa

    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date)
    text_kinds = (pa.types.is_timestamp, pa.types.is_decimal)
    return _is_text(kind) or any(check(kind) for check in (*plain, *text_kinds))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _to_pandas(column: Any) -> pd.Series[Any]:
    """Return a column for pandas; whole numbers stay whole beside missing ones."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and column.null_count:
        series = column.to_pandas(types_mapper=dict(_nullable()).get)
    else:
        series = column.to_pandas()
    return pd.Series(series)


def _nullable() -> list[tuple[Any, Any]]:
    import pyarrow as pa

    return [
        (pa.int64(), pd.Int64Dtype()),
        (pa.int32(), pd.Int32Dtype()),
        (pa.int16(), pd.Int16Dtype()),
        (pa.int8(), pd.Int8Dtype()),
        (pa.uint64(), pd.UInt64Dtype()),
        (pa.uint32(), pd.UInt32Dtype()),
        (pa.uint16(), pd.UInt16Dtype()),
        (pa.uint8(), pd.UInt8Dtype()),
    ]


def _safe(column: Any) -> Any:
    return _apply_rules(column, PROTECT)


def _unsafe(column: Any) -> Any:
    return _apply_rules(column, RESTORE)


def _apply_rules(column: Any, rules: Sequence[tuple[str, str]]) -> Any:
    import pyarrow.compute as pc

    for pattern, replacement in rules:
        column = pc.replace_substring_regex(column, pattern=pattern, replacement=replacement)
    return column
