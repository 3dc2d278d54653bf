"""Files on one machine, counted and copied by DuckDB out of core."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import CopyPlan, Counts, SourceSample, too_many_combinations
from privmoo.engines.duckdb.copy import Written, copy, group_sizes, recount
from privmoo.engines.duckdb.counts import as_counted, count_rows, fetch, plain_numbers
from privmoo.engines.duckdb.files import (
    CsvFiles,
    ParquetFiles,
    check_types,
    find_files,
    open_csv,
    open_parquet,
)
from privmoo.engines.duckdb.sampling import draw_from_files
from privmoo.engines.duckdb.session import Limits, session
from privmoo.engines.duckdb.sql import encoding_of, is_complete, name_of, reading, to_pandas
from privmoo.errors import TableError

__all__ = ["DuckSource"]

IntArray = NDArray[np.int64]
_SAMPLE_GROUPS = 16
_BEGIN = 2**18


class DuckSource:
    """Parquet or CSV files, read by DuckDB; a `Source`."""

    in_parts = False

    def __init__(self, files: ParquetFiles | CsvFiles, limits: Limits) -> None:
        self.files = files
        self.limits = limits
        # Now, not when they are asked for: a file may be gone after a long search.
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
    ) -> DuckSource:
        """Find the files and read what they say of themselves."""
        kind, paths = find_files(source)
        files: ParquetFiles | CsvFiles
        if kind == "Parquet":
            if separator is not None or tuple(missing_values) != ("",):
                name = "separator" if separator is not None else "missing_values"
                raise TableError(f"{name}: is for CSV files, and {source} is Parquet; leave it out")
            files = open_parquet(str(source), paths)
        else:
            encoding_of(encoding)
            files = open_csv(
                str(source),
                paths,
                separator=separator,
                encoding=encoding,
                missing_values=tuple(missing_values),
            )
        if "" in files.columns:
            raise TableError(
                f"{source}: column {files.columns.index('') + 1} has no name, and DuckDB needs one; name "
                "it, or leave it out"
            )
        seen: dict[str, str] = {}
        for name in files.columns:
            if seen.setdefault(name.lower(), name) != name:
                raise TableError(
                    f"{source}: the columns {seen[name.lower()]!r} and {name!r} differ only in capital "
                    "letters, which DuckDB takes for one name; rename one"
                )
        return cls(files, limits)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.files.name

    @property
    def columns(self) -> list[str]:
        """Its columns, in their order."""
        return list(self.files.columns)

    @property
    def facts(self) -> dict[str, Any]:
        """Names and sizes of the files, and the types of columns."""
        files = self.files
        types = (
            {name: str(files.schema.field(name).type) for name in files.columns}
            if isinstance(files, ParquetFiles)
            else dict.fromkeys(files.columns, "text")
        )
        return {"files": self._sizes, "columns": types}

    @property
    def paths(self) -> Sequence[Path]:
        """The files."""
        return self.files.paths

    @property
    def n_rows(self) -> int | None:
        """Parquet files tell it, CSV files do not."""
        return self.files.n_rows if isinstance(self.files, ParquetFiles) else None

    def sample(self, columns: Sequence[str], n_rows: int) -> SourceSample:
        """Rows of some row groups spread over Parquet files; of the beginnings of CSV files."""
        files = self.files
        if isinstance(files, ParquetFiles):
            return _parquet_sample(files, columns, n_rows)
        names = ", ".join(name_of(c) for c in columns)
        with session(self.name, self.limits) as own:
            few = CsvFiles(**{**vars(files), "paths": files.paths[:_SAMPLE_GROUPS]})
            found = own.arrow(f"SELECT {names} FROM {reading(few)} LIMIT {n_rows}")
        whole = len(files.paths) <= _SAMPLE_GROUPS and len(found) < n_rows
        return SourceSample(found.to_pandas(), whole, _about_rows(files, len(found)))

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        most: int,
    ) -> Counts:
        """One GROUP BY with a grouping set for every attribute."""
        files = self.files
        if isinstance(files, ParquetFiles):
            check_types(files, [*keys, *attributes, *others])
        facts = plain_numbers(others) if isinstance(files, CsvFiles) else ""
        query = count_rows(
            reading(files),
            keys,
            attributes,
            complete=is_complete(files, complete) if complete else "",
            facts=facts,
        )
        with session(self.name, self.limits) as own:
            table = own.run(lambda: fetch(own, query, most * max(len(attributes), 1)), "scan")
        if table is None:
            raise too_many_combinations(self.name, most)
        if not len(table):
            raise TableError(f"{self.name}: has a header but no rows")
        return as_counted(
            table,
            keys,
            attributes,
            lambda column, values: to_pandas(files, column, values),
            others if facts else (),
        )

    def first_rows(self, column: str, counts: Counts, *, complete: Sequence[str] = ()) -> IntArray:
        """One more scan, for a message."""
        import pyarrow as pa

        part = counts.parts.get(column, slice(None))
        values = counts.engine_keys.column(column)[part]
        with session(self.name, self.limits) as own:
            place = pa.array(np.arange(len(values)))
            own.connection.register("wanted", pa.table({"v": values, "at": place}))
            found = own.arrow(
                f"WITH numbered AS (SELECT row_number() OVER () - 1 AS n, {name_of(column)} AS v, "
                f"{is_complete(self.files, complete)} AS c FROM {reading(self.files)}), "
                "first AS (SELECT v, min(n) AS n FROM numbered WHERE c GROUP BY v) "
                "SELECT first.n FROM wanted JOIN first ON wanted.v IS NOT DISTINCT FROM first.v "
                "ORDER BY wanted.at"
            )
        return np.asarray(found.column(0).to_numpy(), dtype=np.int64)

    def draw(
        self,
        counts: Counts,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """One more scan, which keeps the records with the smallest hashes."""
        return draw_from_files(self.files, self.limits, counts, columns, n, secret, complete)

    def copy(self, counts: Counts, plan: CopyPlan, path: Path) -> Written:
        """One COPY of a join with the released values, sorted by a keyed hash."""
        return copy(self.files, self.limits, counts, plan, path)

    def recount(
        self,
        path: Path,
        written: Written,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> tuple[Counts, dict[str, tuple[int, int]]]:
        """One GROUP BY on the copy."""
        return recount(self.limits, path, written, keys, attributes, others)

    def group_sizes(
        self, path: Path, written: Written, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """A GROUP BY of a GROUP BY, out of core."""
        return group_sizes(self.limits, path, written, keys)


def _about_rows(files: CsvFiles, least: int) -> int | None:
    """About how many rows CSV files have, by the length of their first lines; unknown if packed."""
    if any(path.suffix == ".gz" for path in files.paths):
        return None
    begins = []
    for path in files.paths[:_SAMPLE_GROUPS]:
        with path.open("rb") as file:
            begins.append(file.read(_BEGIN))
    read = sum(map(len, begins))
    lines = sum(begin.count(b"\n") or begin.count(b"\r") for begin in begins)
    return max(round(sum(path.stat().st_size for path in files.paths) / read * lines), least)


def _parquet_sample(files: ParquetFiles, columns: Sequence[str], n_rows: int) -> SourceSample:
    """The first rows of row groups that are spread evenly."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = np.unique(np.linspace(0, len(files.paths) - 1, _SAMPLE_GROUPS).astype(int))
    each = max(1, _SAMPLE_GROUPS // len(chosen))
    frames = []
    for path in (files.paths[i] for i in chosen):
        try:
            with pq.ParquetFile(path) as file:
                groups = np.unique(np.linspace(0, file.num_row_groups - 1, each).astype(int))
                few = max(n_rows // (len(chosen) * len(groups)), 1)
                for group in groups if file.num_row_groups else ():
                    part = file.iter_batches(few, row_groups=[int(group)], columns=list(columns))
                    frames += [batch.to_pandas() for batch in itertools.islice(part, 1)]
        except (OSError, ValueError, pa.ArrowException) as error:
            raise TableError(
                f"{path}: cannot be read as Parquet ({type(error).__name__}); is it whole?"
            ) from None
    found = pd.concat(frames, ignore_index=True)[list(columns)]
    return SourceSample(found, len(found) == files.n_rows)
