"""The engine for Parquet and CSV files, and for tables of PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privmoo._util.reading import checked_decimal, checked_missing
from privmoo.data.source import ScanEngine, ScanOptions
from privmoo.engines.duckdb.database import is_address
from privmoo.engines.duckdb.session import Limits
from privmoo.engines.duckdb.source import DuckSource
from privmoo.errors import TableError

__all__ = ["DuckDBEngine"]


class DuckDBEngine(ScanEngine):
    """Opens Parquet and CSV files and tables of PostgreSQL, which DuckDB reads."""

    name = "duckdb"
    reads = "a file, a folder, a pattern or the address of a PostgreSQL database"

    def accepts(self, source: Any) -> bool:
        """Return whether something may name files or a database."""
        return isinstance(source, str | Path)

    def open(self, source: Any, options: ScanOptions) -> DuckSource:
        """Find the files and read their headers or footers, or look at the columns of a table.

        Args:
            source: A file, a folder, a pattern or the address of a database.
            options: How to read it.
        """
        missing_values = checked_missing(options.missing_values)
        limits = Limits.read(options.memory, options.threads, options.temporary, options.progress)
        if is_address(source):
            for name in ("separator", "missing_values", "encoding", "decimal"):
                if name in options.changed_options:
                    raise TableError(
                        f"{name} is for CSV files, and this is a database; leave it out"
                    )
            return DuckSource.open_table(source, options.table, limits)
        if options.table is not None:
            raise TableError("table is for databases, and this is a file; leave it out")
        return DuckSource.open(
            source,
            limits,
            separator=options.separator,
            encoding=options.encoding,
            missing_values=missing_values,
            decimal=checked_decimal(options.decimal),
        )
