"""The copy of files with released values, in a new order, and its counts: one query each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.spreadsheets import FORMULAS, safe_text
from privmoo.data.source import CopyPlan, Counts
from privmoo.engines.duckdb.counts import as_counted, count_rows
from privmoo.engines.duckdb.files import CsvFiles, ParquetFiles
from privmoo.engines.duckdb.noise import NoiseColumn, noise_sql
from privmoo.engines.duckdb.session import Limits, Session, session
from privmoo.engines.duckdb.sql import is_complete, name_of, reading, text_of

__all__ = ["Written", "copy", "group_sizes", "place_of", "recount"]

IntArray = NDArray[np.int64]
_CAST = {"whole": "BIGINT", "fraction": "DOUBLE"}


@dataclass(frozen=True)
class Written:
    """The columns of a copy: their names there, their own names and their types."""

    headings: list[str]
    names: list[str]
    types: list[str]
    spreadsheets: bool


def copy(
    files: ParquetFiles | CsvFiles, limits: Limits, counts: Counts, plan: CopyPlan, path: Path
) -> Written:
    """Write the joined and sorted rows to one file; only what is kept joins."""
    as_csv = path.suffix == ".csv"
    with session(files.name, limits) as own:
        own.connection.register("released", _released(counts, plan))
        query = _copy_sql(files, counts, plan)
        described = own.connection.sql(f"DESCRIBE {query}").fetchall()
        types = {str(row[0]): str(row[1]) for row in described}
        shown, headings, kinds = [], [], []
        for name in plan.columns:
            value, kind = _shown(name, types[name], plan.spreadsheets, as_csv=as_csv)
            if as_csv and len(plan.columns) == 1:
                # A missing value that is alone in its row would be an empty line, which is no row.
                value = f"coalesce(CAST({value} AS VARCHAR), '')"
            heading = str(safe_text(name)) if plan.spreadsheets else name
            shown.append(f"{value} AS {name_of(heading)}")
            headings.append(heading)
            kinds.append(kind)
        options = "FORMAT csv, HEADER true" if as_csv else "FORMAT parquet, COMPRESSION snappy"
        options += ", USE_TMP_FILE false, PER_THREAD_OUTPUT false"
        command = (
            f"COPY (SELECT {', '.join(shown)} FROM ({query})) TO {text_of(str(path))} ({options})"
        )
        own.run(lambda: own.connection.execute(command) and None, "write")
    return Written(headings, list(plan.columns), kinds, plan.spreadsheets)


def _released(counts: Counts, plan: CopyPlan) -> Any:
    """Original keys beside released values; texts as numbers of a dictionary, which sort in little room."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    kept = counts.engine_keys.take(pa.array(plan.rows))
    for i, (name, values) in enumerate(plan.values.items()):
        columns[f"k{i}"] = kept.column(name)
        if isinstance(values.dtype, pd.CategoricalDtype):
            values = values.astype(values.cat.categories.dtype)
        array = pa.array(values, from_pandas=True)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            array = array.cast(pa.string()).dictionary_encode()
        columns[f"r{i}"] = array
        if name in plan.noise:
            columns[f"r{i}"] = array.cast(pa.float64())
            columns[f"n{i}"] = pa.array(plan.noise[name].scales)
            columns[f"h{i}"] = pa.array(plan.noise[name].salts)
    return pa.table(columns)


def _copy_sql(files: ParquetFiles | CsvFiles, counts: Counts, plan: CopyPlan) -> str:
    """The rows of the copy, in their order."""
    keys = list(plan.values)
    columns = []
    where, numbered = place_of(files)
    for name in plan.columns:
        if name in plan.values:
            i = keys.index(name)
            value = f"r.r{i}"
            if name in plan.noise:
                place = NoiseColumn(i, value, "r", where)
                value = noise_sql(plan.noise[name], place, plan.noise_secret)
            columns.append(f"{value} AS {name_of(name)}")
        else:
            kind = _CAST.get((counts.column_kinds or {}).get(name, ""), "")
            cast = isinstance(files, CsvFiles) and kind
            value = f"CAST(s.{name_of(name)} AS {kind})" if cast else f"s.{name_of(name)}"
            columns.append(f"{value} AS {name_of(name)}")
    match = " AND ".join(
        f"s.{name_of(key)} IS NOT DISTINCT FROM r.k{i}" for i, key in enumerate(keys)
    )
    order = ""
    if plan.secret is not None:
        # A keyed hash of where a row stands: the same for the same secret, with any number of threads.
        order = f" ORDER BY md5_number(concat({text_of(plan.secret)}, '|', {where}))"
    source = numbered if plan.noise or plan.secret is not None else reading(files)
    condition = f" WHERE {is_complete(files, plan.complete)}" if plan.complete else ""
    return (
        f"SELECT {', '.join(columns)} FROM (SELECT * FROM {source}{condition}) s "
        f"JOIN released r ON {match}{order}"
    )


def place_of(files: ParquetFiles | CsvFiles) -> tuple[str, str]:
    """An expression that tells rows apart by where they stand, and the reading that has it."""
    names = {name.lower() for name in files.columns}
    if isinstance(files, ParquetFiles) and not names & {"file_row_number", "filename"}:
        paths = ", ".join(text_of(str(path)) for path in files.paths)
        place = (
            f"list_position([{paths}], s.filename), '|', " if len(files.paths) > 1 else ""
        ) + "s.file_row_number"
        return place, reading(files, numbered=True)
    numbered = f'(SELECT *, row_number() OVER () AS "\x01row" FROM {reading(files)})'
    return 's."\x01row"', numbered


def _shown(name: str, kind: str, spreadsheets: bool, *, as_csv: bool) -> tuple[str, str]:
    """How a column is written, and its type there."""
    own = name_of(name)
    if kind.startswith("ENUM"):
        own, kind = f"CAST({own} AS VARCHAR)", "VARCHAR"
    if as_csv and kind == "BOOLEAN":  # as pandas spells it
        return f"CASE {own} WHEN true THEN 'True' WHEN false THEN 'False' END", "VARCHAR"
    if as_csv and kind in ("FLOAT", "DOUBLE"):  # not a number is missing, as pandas writes it
        return f"CASE WHEN isnan({own}) THEN NULL ELSE {own} END", kind
    if spreadsheets and kind == "VARCHAR":
        starts = ", ".join(f"chr({ord(c)})" for c in f"{FORMULAS}'")
        own = f"CASE WHEN {own}[1] IN ({starts}) THEN concat('''', {own}) ELSE {own} END"
    return own, kind


def recount(
    limits: Limits,
    path: Path,
    written: Written,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> tuple[Counts, dict[str, tuple[int, int]]]:
    """Counts of a copy by its own columns, and about how many values the other columns have."""

    def plain(column: str, values: Any) -> pd.Series[Any]:
        return pd.Series(values.to_pandas(), name=column)

    with session(path.name, limits) as own:
        own.connection.execute(f"CREATE VIEW copied AS {_read_back(path, written)}")
        table = own.arrow(count_rows("copied", keys, attributes), "audit")
        unique = _spread(own, others)
    return as_counted(table, keys, attributes, plain), unique


def group_sizes(
    limits: Limits, path: Path, written: Written, keys: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Sizes of groups of a copy, and how many groups have each."""
    names = ", ".join(name_of(key) for key in keys)
    with session(path.name, limits) as own:
        own.connection.execute(f"CREATE VIEW copied AS {_read_back(path, written)}")
        found = own.arrow(
            f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM copied GROUP BY {names}) "
            "GROUP BY n ORDER BY n",
            "audit",
        )
    sizes, groups = (column.to_numpy().astype(np.int64) for column in found.columns)
    return sizes, groups


def _read_back(path: Path, written: Written) -> str:
    columns = []
    for heading, name, kind in zip(written.headings, written.names, written.types, strict=True):
        own = name_of(heading if path.suffix != ".csv" else name)
        if written.spreadsheets and kind == "VARCHAR":
            own = f"CASE WHEN starts_with({own}, '''') THEN {own}[2:] ELSE {own} END"
        columns.append(f"{own} AS {name_of(name)}")
    if path.suffix != ".csv":
        source = f"read_parquet({text_of(str(path))}, hive_partitioning=false)"
    else:
        spec = ", ".join(
            f"{text_of(name)}: {text_of(kind)}"
            for name, kind in zip(written.names, written.types, strict=True)
        )
        alone = "true" if len(written.names) == 1 else "false"
        source = (
            f"read_csv({text_of(str(path))}, header=true, auto_detect=false, columns={{{spec}}}, "
            f"delim=',', quote='\"', escape='\"', nullstr=[''], allow_quoted_nulls={alone}, "
            "strict_mode=true, null_padding=false)"
        )
    return f"SELECT {', '.join(columns)} FROM {source}"


def _spread(own: Session, others: Sequence[str]) -> dict[str, tuple[int, int]]:
    if not others:
        return {}
    pieces = [f"approx_count_distinct({name_of(name)}), count({name_of(name)})" for name in others]
    row = own.arrow(f"SELECT {', '.join(pieces)} FROM copied", "audit").to_pydict()
    values: list[int] = [column[0] for column in row.values()]
    return {name: (values[2 * i], values[2 * i + 1]) for i, name in enumerate(others)}
