"""Parquet and CSV files on one machine, counted and copied by DuckDB."""

from privmoo.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
