"""The files of a source: all are of one kind and have the same columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from privmoo._util.reading import read_header
from privmoo.engines.duckdb.database import DatabaseTable
from privmoo.errors import TableError

__all__ = ["CsvFiles", "ParquetFiles", "check_types"]


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same schema."""

    attach: ClassVar[tuple[str, ...]] = ()
    name: str
    paths: tuple[Path, ...]
    schema: Any
    n_rows: int

    @property
    def columns(self) -> list[str]:
        """The names of the columns, without those of an index."""
        index = _index_columns(self.schema)
        return [name for name in self.schema.names if name not in index]


@dataclass(frozen=True)
class CsvFiles:
    """CSV files with the same header."""

    attach: ClassVar[tuple[str, ...]] = ()
    name: str
    paths: tuple[Path, ...]
    columns: list[str]
    separator: str
    encoding: str
    missing_values: tuple[str, ...]
    decimal: str = "."


def open_parquet(name: str, paths: tuple[Path, ...]) -> ParquetFiles:
    """Read the footers of Parquet files, which name columns and rows, and compare them.

    Args:
        name: What the user passed, for messages.
        paths: The files.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, n_rows = None, 0
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                file_schema, rows = file.schema_arrow, file.metadata.num_rows
        except (OSError, ValueError, pa.ArrowException) as error:
            # Arrow's message may quote the file; the kind of error is enough.
            raise TableError(
                f"{path} is not a readable Parquet file ({type(error).__name__}); is it whole?"
            ) from None
        n_rows += rows
        if schema is None:
            schema = file_schema
            names = schema.names
            twice = [column for column in names if names.count(column) > 1]
            if twice:
                raise TableError(
                    f"{path}: column name {twice[0]!r} occurs more than once; rename one"
                )
            continue
        for column in schema.names:
            if column not in file_schema.names:
                raise TableError(f"{path} lacks the column {column!r} that {paths[0]} has")
            kind, first_kind = file_schema.field(column).type, schema.field(column).type
            if not _alike(kind, first_kind):
                raise TableError(
                    f"{path}: column {column!r} is {kind}, but {first_kind} in {paths[0]}; write both "
                    "with the same type"
                )
        new_columns = [column for column in file_schema.names if column not in schema.names]
        if new_columns:
            raise TableError(f"{path} has a column {new_columns[0]!r} that {paths[0]} lacks")
    if not n_rows:
        raise TableError(f"{name} has columns but no rows; add at least one record")
    return ParquetFiles(name, paths, schema, n_rows)


def check_types(files: ParquetFiles | DatabaseTable, columns: Iterable[str]) -> None:
    """Raise if the engine would change the values of a column silently.

    Args:
        files: The files.
        columns: The columns that are used.
    """
    import pyarrow as pa

    for column in columns:
        kind = files.schema.field(column).type
        if pa.types.is_duration(kind) or pa.types.is_decimal256(kind):
            raise TableError(
                f"{files.name}: column {column!r} is of type {kind}, which DuckDB does not keep; write it "
                "as a plain number, or make it identifying"
            )


def _alike(first: Any, second: Any) -> bool:
    """Return whether two types are the same, dictionary-encoded or not."""
    import pyarrow as pa

    values = [t.value_type if pa.types.is_dictionary(t) else t for t in (first, second)]
    texts = [pa.types.is_string(t) or pa.types.is_large_string(t) for t in values]
    return bool(values[0] == values[1] or all(texts))


def _index_columns(schema: Any) -> list[str]:
    metadata = schema.pandas_metadata or {}
    return [column for column in metadata.get("index_columns", []) if isinstance(column, str)]


def open_csv(
    name: str,
    paths: tuple[Path, ...],
    *,
    separator: str | None,
    encoding: str,
    missing_values: tuple[str, ...],
    decimal: str = ".",
) -> CsvFiles:
    """Read the headers of CSV files and compare them.

    Args:
        name: What the user passed, for messages.
        paths: The files.
        separator: The character between cells; detected from the header by default.
        encoding: The encoding of the text.
        missing_values: What stands for a missing value.
        decimal: The sign before the fraction of a number.
    """
    first: tuple[list[str], str] | None = None
    for path in paths:
        header, delimiter = read_header(path, separator=separator, encoding=encoding)
        if first is None:
            first = header, delimiter
        elif first != (header, delimiter):
            odd = [c for c in [*header, *first[0]] if (c in header) != (c in first[0])]
            why = f" (column {odd[0]!r})" if odd else ""
            raise TableError(f"{path}: its header differs from that of {paths[0]}{why}")
    assert first is not None  # noqa: S101, there is at least one path
    return CsvFiles(name, paths, first[0], first[1], encoding, missing_values, decimal)
