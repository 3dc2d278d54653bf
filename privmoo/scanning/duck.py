"""Files on one machine, counted and copied by DuckDB out of core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import TableError
from privmoo.scanning.files import CsvFiles, ParquetFiles, find_files, open_csv, open_parquet
from privmoo.scanning.session import Limits, Session, session
from privmoo.scanning.source import Counted, Mapped, Sample
from privmoo.scanning.sql import PLAIN, encoding_of, is_complete, name_of, reading, to_pandas

__all__ = ["DuckSource", "too_many"]

IntArray = NDArray[np.int64]
_SAMPLE_GROUPS = 16


class DuckSource:
    """Parquet or CSV files, read by DuckDB; a `Source`."""

    def __init__(self, files: ParquetFiles | CsvFiles, limits: Limits) -> None:
        self.files = files
        self.limits = limits

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
        return {"files": [(p.name, p.stat().st_size) for p in files.paths], "columns": types}

    def sample(self, columns: Sequence[str], n_rows: int) -> Sample:
        """Rows of some row groups spread over Parquet files; of the beginnings of CSV files."""
        files = self.files
        if isinstance(files, ParquetFiles):
            return _parquet_sample(files, columns, n_rows)
        names = ", ".join(name_of(c) for c in columns)
        with session(self.name, self.limits) as own:
            few = CsvFiles(**{**vars(files), "paths": files.paths[:_SAMPLE_GROUPS]})
            found = own.arrow(f"SELECT {names} FROM {reading(few)} LIMIT {n_rows}")
        whole = len(files.paths) <= _SAMPLE_GROUPS and len(found) < n_rows
        return Sample(found.to_pandas(), len(found) if whole else None)

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        most: int,
    ) -> Counted:
        """One GROUP BY with a grouping set for every attribute."""
        facts = _numbers_sql(others) if isinstance(self.files, CsvFiles) else ""
        with session(self.name, self.limits) as own:
            query = _count_sql(self.files, keys, attributes, complete, facts)
            table = own.run(lambda: _fetch(own, query, most * max(len(attributes), 1)), "scan")
        if table is None:
            raise too_many(self.name, most)
        if not len(table):
            raise TableError(f"{self.name}: has a header but no rows")
        return _counted(self.files, table, keys, attributes, others if facts else ())

    def first_rows(
        self, column: str, counted: Counted, *, complete: Sequence[str] = ()
    ) -> IntArray:
        """One more scan, for a message."""
        import pyarrow as pa

        part = counted.parts.get(column, slice(None))
        values = counted.raw.column(column)[part]
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

    def copy(self, counted: Counted, mapped: Mapped, path: Path) -> None:
        """One COPY of a join with the released values, sorted by a keyed hash."""
        from privmoo.scanning.copying import copy

        copy(self.files, self.limits, counted, mapped, path)

    def recount(
        self, path: Path, keys: Sequence[str], attributes: Sequence[str], others: Sequence[str]
    ) -> tuple[Counted, dict[str, tuple[int, int]]]:
        """One GROUP BY on the copy."""
        from privmoo.scanning.copying import recount

        return recount(self.files, self.limits, path, keys, attributes, others)


def too_many(name: str, most: int) -> TableError:
    """The error where distinct combinations do not fit."""
    return TableError(
        f"{name}: has more than {most:,} distinct combinations of quasi-identifiers (with values of an "
        "attribute); round or shorten the columns with most values, or give a larger max_tuples"
    )


def _count_sql(
    files: ParquetFiles | CsvFiles,
    keys: Sequence[str],
    attributes: Sequence[str],
    needed: Sequence[str],
    facts: str,
) -> str:
    head = [name_of(key) for key in keys]
    if needed:
        head.append(f'({is_complete(files, needed)}) AS "\x01complete"')
    more = [name_of(name) for name in attributes]
    by = [str(i + 1) for i in range(len(head))]
    if len(attributes) > 1:
        which = [f"WHEN GROUPING({name}) = 0 THEN {i}" for i, name in enumerate(more)]
        part = f"CASE {' '.join(which)} END"
        names = [*map(name_of, keys), *([f"({is_complete(files, needed)})"] if needed else [])]
        sets = ", ".join(f"({', '.join([*names, name])})" for name in more)
        grouping = f"GROUPING SETS ({sets})"
    else:
        part = "0"
        grouping = ", ".join([*by, *(str(len(head) + 1 + i) for i in range(len(more)))])
    columns = ", ".join([*head, *more, f'{part} AS "\x01part"', 'count(*) AS "\x01count"'])
    return f"SELECT {columns}{facts} FROM {reading(files)} GROUP BY {grouping}"


def _numbers_sql(others: Sequence[str]) -> str:
    """Whether a CSV column is a plain number in every record, has a fraction, and a value at all."""
    pieces = []
    for i, name in enumerate(others):
        own = name_of(name)
        pieces.append(
            f", bool_and({own} IS NULL OR regexp_full_match({own}, '{PLAIN}')) AS \"\x01n{i}\""
            f', bool_or(contains({own}, \'.\')) AS "\x01f{i}", count({own}) AS "\x01v{i}"'
        )
    return "".join(pieces)


def _fetch(own: Session, query: str, most: int) -> Any | None:
    """The result as an Arrow table, or None where it has too many rows."""
    import pyarrow as pa

    reader = own.connection.sql(query).to_arrow_reader(2**17)
    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += len(batch)
        if rows > most:
            return None
    return pa.Table.from_batches(batches, schema=reader.schema)


def _counted(
    files: ParquetFiles | CsvFiles,
    table: Any,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> Counted:
    """The result of the query as values, parts and counts."""
    kinds = {name: _kind(table, i) for i, name in enumerate(others)}
    part = table.column("\x01part").to_numpy()
    if len(attributes) > 1:
        table = table.take(np.argsort(part, kind="stable"))
    sizes = np.bincount(part, minlength=max(len(attributes), 1))
    stops = np.cumsum(sizes)
    before = [slice(int(b - n), int(b)) for n, b in zip(sizes, stops, strict=True)]
    counts = table.column("\x01count").to_numpy().astype(np.int64)
    kept = np.ones(len(counts), dtype=bool)
    if "\x01complete" in table.column_names:
        kept = table.column("\x01complete").to_numpy().astype(bool)
    dropped = int(counts[before[0]][~kept[before[0]]].sum())
    series = {key: to_pandas(files, key, table.column(key)) for key in keys}
    values = {
        name: to_pandas(files, name, table.column(name)[own])
        for name, own in zip(attributes, before, strict=False)
    }
    kinds |= {name: "number" for name, own in values.items() if pd.api.types.is_numeric_dtype(own)}
    after = np.concatenate([[0], np.cumsum([int(kept[own].sum()) for own in before])])
    names = list(attributes) or [""]
    raw = table.select([*keys, *attributes])
    raw = raw if kept.all() else raw.filter(kept)
    return Counted(
        keys={name: own[kept].reset_index(drop=True) for name, own in series.items()},
        raw=raw,
        attributes={
            name: own[kept[at]].reset_index(drop=True)
            for (name, own), at in zip(values.items(), before, strict=False)
        },
        counts=counts[kept],
        parts={name: slice(int(after[i]), int(after[i + 1])) for i, name in enumerate(names)},
        combinations=_numbered(raw, keys),
        n_dropped=dropped,
        kinds=kinds,
    )


def _numbered(table: Any, keys: Sequence[str]) -> IntArray:
    """A number for every row, equal where all keys are."""
    codes = {}
    for i, key in enumerate(keys):
        column = table.column(key).combine_chunks()
        codes[i] = column.dictionary_encode("encode").indices.to_numpy()
    numbers = pd.DataFrame(codes).groupby(list(codes), sort=False).ngroup()
    return np.asarray(numbers, dtype=np.int64)


def _kind(table: Any, i: int) -> str:
    """What a CSV column that is only copied would be in memory."""
    numbers = table.column(f"\x01n{i}").to_pylist()
    present = sum(table.column(f"\x01v{i}").to_pylist())
    if not present or not all(numbers):
        return "text"
    return "fraction" if any(table.column(f"\x01f{i}").to_pylist()) else "whole"


def _parquet_sample(files: ParquetFiles, columns: Sequence[str], n_rows: int) -> Sample:
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
                for group in groups if file.num_row_groups else ():
                    few = n_rows // (len(chosen) * len(groups))
                    part = file.read_row_group(int(group), columns=list(columns))
                    frames.append(part.slice(0, max(few, 1)).to_pandas())
        except (OSError, ValueError, pa.ArrowException) as error:
            raise TableError(
                f"{path}: cannot be read as Parquet ({type(error).__name__}); is it whole?"
            ) from None
    found = pd.concat(frames, ignore_index=True)[list(columns)]
    return Sample(found, files.n_rows)
