"""Files on one machine as a source, counted and copied by DuckDB without loading them into memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_files import find_files
from privmoo.data.source import (
    CopyCounts,
    CopyPlan,
    Counts,
    SourceSample,
    too_many_combinations,
)
from privmoo.engines.duckdb.copy import CopiedFile, copy, group_sizes, recount
from privmoo.engines.duckdb.counts import count_rows, counts_from, fetch, plain_numbers
from privmoo.engines.duckdb.database import DatabaseTable, open_table
from privmoo.engines.duckdb.files import (
    CsvFiles,
    ParquetFiles,
    check_types,
    open_csv,
    open_parquet,
)
from privmoo.engines.duckdb.names import name_of
from privmoo.engines.duckdb.sampling import draw_from_files
from privmoo.engines.duckdb.session import Limits, session
from privmoo.engines.duckdb.sql import Records, encoding_of, is_complete, reading, to_pandas
from privmoo.errors import TableError

__all__ = ["DuckSource"]

IntArray = NDArray[np.int64]
_SAMPLE_GROUPS = 16
_BEGIN = 2**18


class DuckSource:
    """Parquet or CSV files, or a table of a database, read by DuckDB; a `Source`.

    Args:
        files: The records.
        limits: What a session of DuckDB may use.
    """

    in_parts = False

    def __init__(self, files: Records, limits: Limits) -> None:
        self.files = files
        self.limits = limits
        # Read now, not when they are needed: a file may be gone after a long search.
        self._sizes = [(path.name, path.stat().st_size) for path in files.paths]

    @classmethod
    def open(
        cls,
        source: str | Path,
        limits: Limits,
        *,
        separator: str | None = None,
        encoding: str = "utf-8-sig",
        missing_values: Sequence[str] = ("",),
        decimal: str = ".",
    ) -> DuckSource:
        """Find the files and read their headers.

        Args:
            source: A file, a folder or a pattern.
            limits: What a session of DuckDB may use.
            separator: The character between cells of CSV; detected from the header by default.
            encoding: The encoding of CSV.
            missing_values: What stands for a missing value in CSV.
            decimal: The sign before the fraction of a number in CSV.
        """
        kind, paths = find_files(source)
        files: Records
        if kind == "Parquet":
            only_csv = {
                "separator": separator is not None,
                "missing_values": tuple(missing_values) != ("",),
                "decimal": decimal != ".",
            }
            for name, is_given in only_csv.items():
                if is_given:
                    raise TableError(
                        f"{name} is for CSV files, and {source} is Parquet; leave it out"
                    )
            files = open_parquet(str(source), paths)
        else:
            encoding_of(encoding)
            files = open_csv(
                str(source),
                paths,
                separator=separator,
                encoding=encoding,
                missing_values=tuple(missing_values),
                decimal=decimal,
            )
        _check_names(files)
        return cls(files, limits)

    @classmethod
    def open_table(cls, address: str, table: str | None, limits: Limits) -> DuckSource:
        """Open a table of a database.

        Args:
            address: The address of the database.
            table: The name of the table.
            limits: What a session of DuckDB may use.
        """
        records = open_table(address, table, limits)
        _check_names(records)
        return cls(records, limits)

    @property
    def name(self) -> str:
        """The name of the files in messages."""
        return self.files.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in their order."""
        return list(self.files.columns)

    @property
    def facts(self) -> dict[str, Any]:
        """The names and sizes of the files, and the types of the columns."""
        files = self.files
        types = (
            dict.fromkeys(files.columns, "text")
            if isinstance(files, CsvFiles)
            else {name: str(files.schema.field(name).type) for name in files.columns}
        )
        if isinstance(files, DatabaseTable):
            return {"table": files.name, "columns": types}
        return {"files": self._sizes, "columns": types}

    @property
    def paths(self) -> Sequence[Path]:
        """The files."""
        return self.files.paths

    @property
    def n_rows(self) -> int | None:
        """The number of rows, which Parquet files state; None for others."""
        return self.files.n_rows if isinstance(self.files, ParquetFiles) else None

    def sample(self, columns: Sequence[str], n_rows: int) -> SourceSample:
        """Read row groups spread over Parquet files, or the beginnings of others.

        Args:
            columns: The columns to read.
            n_rows: About how many rows.
        """
        files = self.files
        if isinstance(files, ParquetFiles):
            return _parquet_sample(files, columns, n_rows)
        names = ", ".join(name_of(c) for c in columns)
        first = replace(files, paths=files.paths[:_SAMPLE_GROUPS])
        with session(self.name, self.limits, attach=files.attach) as database:
            rows = database.arrow(f"SELECT {names} FROM {reading(first)} LIMIT {n_rows}")
        complete = len(files.paths) <= _SAMPLE_GROUPS and len(rows) < n_rows
        estimate = _estimated_rows(files, len(rows)) if isinstance(files, CsvFiles) else None
        return SourceSample(rows.to_pandas(), complete, estimate)

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        max_rows: int,
    ) -> Counts:
        """Count by one GROUP BY with a grouping set for every attribute; see `Source.count`.

        Args:
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            complete: Columns in which no value may be missing; other records are left out.
            others: Further columns that a copy will contain.
            max_rows: The largest number of rows of a part.
        """
        files = self.files
        if not isinstance(files, CsvFiles):
            check_types(files, [*keys, *attributes, *others])
        facts = plain_numbers(others, files.decimal) if isinstance(files, CsvFiles) else ""
        query = count_rows(
            reading(files),
            keys,
            attributes,
            complete=is_complete(files, complete) if complete else "",
            facts=facts,
        )
        limit = max_rows * max(len(attributes), 1)
        with session(self.name, self.limits, attach=self.files.attach) as database:
            table = database.run(lambda: fetch(database, query, limit), "scan")
        if table is None:
            raise too_many_combinations(self.name, max_rows)
        if not len(table):
            raise TableError(f"{self.name} has columns but no rows; add at least one record")
        return counts_from(
            table,
            keys,
            attributes,
            lambda column, values: to_pandas(files, column, values),
            others if facts else (),
        )

    def first_rows(self, column: str, counts: Counts, *, complete: Sequence[str] = ()) -> IntArray:
        """Find the first record of every value by one more scan; see `Source.first_rows`.

        Args:
            column: The column.
            counts: The counts whose rows are meant.
            complete: Columns in which no value may be missing.
        """
        import pyarrow as pa

        part = counts.parts.get(column, slice(None))
        values = counts.engine_keys.column(column)[part]
        with session(self.name, self.limits, attach=self.files.attach) as database:
            place = pa.array(np.arange(len(values)))
            database.connection.register("asked", pa.table({"v": values, "at": place}))
            first = database.arrow(
                f"WITH numbered AS (SELECT row_number() OVER () - 1 AS n, {name_of(column)} AS v, "
                f"{is_complete(self.files, complete)} AS c FROM {reading(self.files)}), "
                "first AS (SELECT v, min(n) AS n FROM numbered WHERE c GROUP BY v) "
                "SELECT first.n FROM asked JOIN first ON asked.v IS NOT DISTINCT FROM first.v "
                "ORDER BY asked.at"
            )
        return np.asarray(first.column(0).to_numpy(), dtype=np.int64)

    def draw(
        self,
        counts: Counts,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Draw the records with the smallest keyed hashes; see `Source.draw`.

        Args:
            counts: What was counted.
            columns: The columns of the records.
            n: The number of records; all records if there are fewer.
            secret: Determines the choice.
            complete: Columns in which no value may be missing.
        """
        return draw_from_files(self.files, self.limits, counts, columns, n, secret, complete)

    def copy(self, counts: Counts, plan: CopyPlan, path: Path) -> CopiedFile:
        """Write one file by a join with the released values, sorted by a keyed hash; see `Source.copy`.

        Args:
            counts: What was counted.
            plan: The released values and the order.
            path: The file to write, `.csv` or `.parquet`.
        """
        return copy(self.files, self.limits, counts, plan, path)

    def recount(
        self,
        path: Path,
        handle: CopiedFile,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> CopyCounts:
        """Count a copy by one GROUP BY; see `Source.recount`.

        Args:
            path: The copy.
            handle: What `copy` returned.
            keys: The quasi-identifiers.
            attributes: The sensitive attributes and the target.
            others: Further columns of the copy.
        """
        return recount(self.limits, path, handle, keys, attributes, others)

    def group_sizes(
        self, path: Path, handle: CopiedFile, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Count groups and then their sizes, without holding all groups; see `Source.group_sizes`.

        Args:
            path: The copy.
            handle: What `copy` returned.
            keys: The columns whose equal values form a group.
        """
        return group_sizes(self.limits, path, handle, keys)


def _check_names(files: Records) -> None:
    """Raise if DuckDB cannot tell the columns apart."""
    if "" in files.columns:
        raise TableError(
            f"{files.name}: column {files.columns.index('') + 1} has no name, and DuckDB needs one; name "
            "it, or leave it out"
        )
    spellings: dict[str, str] = {}
    for name in files.columns:
        if spellings.setdefault(name.lower(), name) != name:
            raise TableError(
                f"{files.name}: the columns {spellings[name.lower()]!r} and {name!r} differ only in "
                "capital letters, which DuckDB takes for one name; rename one"
            )


def _estimated_rows(files: CsvFiles, at_least: int) -> int | None:
    """Estimate the rows of CSV files from the length of their first lines; None for compressed files."""
    if any(path.suffix == ".gz" for path in files.paths):
        return None
    begins = []
    for path in files.paths[:_SAMPLE_GROUPS]:
        with path.open("rb") as file:
            begins.append(file.read(_BEGIN))
    read = sum(map(len, begins))
    lines = sum(begin.count(b"\n") or begin.count(b"\r") for begin in begins)
    return max(round(sum(path.stat().st_size for path in files.paths) / read * lines), at_least)


def _parquet_sample(files: ParquetFiles, columns: Sequence[str], n_rows: int) -> SourceSample:
    """Return the first rows of evenly spaced row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file_numbers = np.unique(np.linspace(0, len(files.paths) - 1, _SAMPLE_GROUPS).astype(int))
    n_groups = max(1, _SAMPLE_GROUPS // len(file_numbers))
    frames = []
    for path in (files.paths[i] for i in file_numbers):
        try:
            with pq.ParquetFile(path) as file:
                groups = np.unique(np.linspace(0, file.num_row_groups - 1, n_groups).astype(int))
                n_first = max(n_rows // (len(file_numbers) * len(groups)), 1)
                for group in groups if file.num_row_groups else ():
                    part = file.iter_batches(
                        n_first, row_groups=[int(group)], columns=list(columns)
                    )
                    frames += [batch.to_pandas() for batch in itertools.islice(part, 1)]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise TableError(
                f"{path} cannot be read as Parquet ({type(error).__name__}); is it whole?"
            ) from None
    rows = pd.concat(frames, ignore_index=True)[list(columns)]
    return SourceSample(rows, len(rows) == files.n_rows)
