"""Read files in DuckDB's SQL, with the values that a table in memory would have."""

from __future__ import annotations

import codecs
import glob
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from privmoo._util.reading import numbers_where_exact
from privmoo.engines.duckdb.database import DatabaseTable
from privmoo.engines.duckdb.files import CsvFiles, ParquetFiles
from privmoo.engines.duckdb.names import name_of, text_of
from privmoo.errors import TableError

__all__ = ["Records", "encoding_of", "is_complete", "reading", "to_pandas"]

Records: TypeAlias = ParquetFiles | CsvFiles | DatabaseTable
"""The records that DuckDB reads: files of one kind, or a table of a database."""
_ENCODINGS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "ascii": "utf-8", "iso8859-1": "latin-1"}
_NEVER = "\x01\x02never a cell\x02\x01"


def reading(files: Records, *, numbered: bool = False) -> str:
    """Return the relation of all records; files are read in their order.

    Args:
        files: The records.
        numbered: Whether Parquet rows get their file and their position in it.
    """
    if isinstance(files, DatabaseTable):
        return files.relation
    # DuckDB treats paths as patterns: a[1].csv would be a1.csv.
    paths = "[" + ", ".join(text_of(glob.escape(str(path))) for path in files.paths) + "]"
    if isinstance(files, ParquetFiles):
        options = ", file_row_number=true, filename=true" if numbered else ""
        return f"read_parquet({paths}, hive_partitioning=false{options})"
    # An empty line is not a row, but with a single column it would be read as a missing value.
    alone = len(files.columns) == 1
    nulls = ", ".join(text_of(v) for v in files.missing_values if not alone) or text_of(_NEVER)
    columns = ", ".join(f"{text_of(name)}: 'VARCHAR'" for name in files.columns)
    rows = (
        f"read_csv({paths}, header=true, auto_detect=false, columns={{{columns}}}, "
        f"delim={text_of(files.separator)}, quote='\"', escape='\"', nullstr=[{nulls}], "
        f"encoding={text_of(encoding_of(files.encoding))}, strict_mode=true, null_padding=false, "
        "hive_partitioning=false)"
    )
    if not alone or not files.missing_values:
        return rows
    name, missing = name_of(files.columns[0]), ", ".join(map(text_of, files.missing_values))
    return f"(SELECT CASE WHEN {name} NOT IN ({missing}) THEN {name} END AS {name} FROM {rows})"


def encoding_of(encoding: str) -> str:
    """Return DuckDB's name for an encoding."""
    try:
        name = _ENCODINGS.get(codecs.lookup(encoding).name)
    except LookupError:
        raise TableError(f"encoding: Python does not know {encoding!r}") from None
    if name is None:
        raise TableError(
            f"encoding: a scan reads utf-8 and latin-1, not {encoding!r}; convert the file"
        )
    return name


def is_complete(files: Records, columns: Iterable[str]) -> str:
    """Return the condition that no value is missing; not-a-number counts as missing, as in memory.

    Args:
        files: The files.
        columns: The columns.
    """
    import pyarrow as pa

    parts = []
    for column in columns:
        name = name_of(column)
        parts.append(f"{name} IS NOT NULL")
        if not isinstance(files, CsvFiles):
            kind = files.schema.field(column).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_floating(kind):
                parts.append(f"NOT isnan({name})")
    return " AND ".join(parts) or "true"


def to_pandas(files: Records, column: str, values: Any) -> pd.Series[Any]:
    """Return the values of a column as `Table.read_parquet` or `Table.read_csv` would have them.

    Args:
        files: The files.
        column: The column.
        values: Its values, as Arrow has them.
    """
    if isinstance(files, CsvFiles):
        text = pd.Series(values.to_pandas(), dtype="str")
        return numbers_where_exact(text.to_frame(column), files.decimal)[column]
    return _as_in_memory(files, column, values)


def _as_in_memory(files: ParquetFiles | DatabaseTable, column: str, values: Any) -> pd.Series[Any]:
    import pyarrow as pa

    field = files.schema.field(column)
    kind = field.type
    category = pa.types.is_dictionary(kind)
    if pa.types.is_null(kind):  # only missing values, to which engines give some type
        values = pa.nulls(len(values))
    metadata = files.schema.pandas_metadata
    try:
        values = values.cast(kind.value_type if category else kind, safe=False)
        if metadata is None or category:
            column_values = values.to_pandas()
        else:
            entries = [e for e in metadata["columns"] if e.get("field_name") == column]
            of_column = {**metadata, "columns": entries, "index_columns": []}
            schema = pa.schema([field]).with_metadata({b"pandas": json.dumps(of_column).encode()})
            table = pa.Table.from_arrays([values], schema=schema)
            column_values = table.to_pandas()[column]
    except (pa.ArrowException, ValueError):  # its text may quote a value
        raise TableError(
            f"{files.name}: the values of column {column!r} ({kind}) cannot be held by pandas; convert "
            "it to numbers, text or dates"
        ) from None
    if not category:
        return pd.Series(column_values, name=column)
    order = _categories(files.paths, column) if kind.ordered else None
    if kind.ordered and (order is None or not set(column_values.dropna()) <= set(order)):
        raise TableError(
            f"{files.name}: column {column!r} is an ordered category whose parts do not share one "
            "order; write it as text and give its order in an ordered hierarchy"
        )
    categorical = pd.Categorical(column_values, categories=order, ordered=bool(kind.ordered))
    return pd.Series(categorical, name=column)


def _categories(paths: Sequence[Path], column: str) -> list[Any] | None:
    """Return the order of a category in the file with the most values; None if other files differ."""
    import pyarrow.parquet as pq

    orders: list[list[Any]] = []
    for path in paths:
        with pq.ParquetFile(path) as file:
            if not file.metadata.num_rows:
                continue
            values = file.read_row_group(0, columns=[column]).column(0)
        order = values.unify_dictionaries().chunk(0).dictionary.to_pylist()
        if order not in orders:
            orders.append(order)
    longest = max(orders, key=len)
    place = {value: i for i, value in enumerate(longest)}
    for order in orders:
        places = [place.get(value, -1) for value in order]
        if -1 in places or places != sorted(places):
            return None
    return longest
