"""The engine for Parquet and CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privmoo._util.reading import checked_missing
from privmoo.data.source import ScanEngine, ScanOptions
from privmoo.engines.duckdb.session import Limits
from privmoo.engines.duckdb.source import DuckSource

__all__ = ["DuckDBEngine"]


class DuckDBEngine(ScanEngine):
    """Opens Parquet and CSV files, which DuckDB reads."""

    name = "duckdb"
    reads = "a file, a folder or a pattern"

    def accepts(self, source: Any) -> bool:
        """Return whether something may name files."""
        return isinstance(source, str | Path)

    def open(self, source: Any, options: ScanOptions) -> DuckSource:
        """Find the files and read their headers or footers.

        Args:
            source: A file, a folder or a pattern.
            options: How to read it.
        """
        missing_values = checked_missing(options.missing_values)
        limits = Limits.read(options.memory, options.threads, options.temporary, options.progress)
        return DuckSource.open(
            source,
            limits,
            separator=options.separator,
            encoding=options.encoding,
            missing_values=missing_values,
        )
