"""Copy files with released values in a new order, and count the copy: one query each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.spreadsheets import PROTECT, RESTORE, safe_text
from privmoo.data.frame_files import decode_dictionary
from privmoo.data.source import CopyCounts, CopyPlan, Counts
from privmoo.engines.duckdb.counts import count_rows, counts_from
from privmoo.engines.duckdb.files import CsvFiles, ParquetFiles
from privmoo.engines.duckdb.names import name_of, text_of
from privmoo.engines.duckdb.noise import NoiseColumn, noise_sql
from privmoo.engines.duckdb.session import Limits, Session, session
from privmoo.engines.duckdb.sql import Records, is_complete, reading

__all__ = ["CopiedFile", "copy", "group_sizes", "place_of", "recount"]

IntArray = NDArray[np.int64]
_CAST = {"whole": "BIGINT", "fraction": "DOUBLE"}


@dataclass(frozen=True)
class CopiedFile:
    """The columns of a copy, with what is needed to read it back.

    Attributes:
        headings: The names of the columns in the file.
        names: The names of the columns in the table.
        types: The types of the columns in the file, as DuckDB calls them.
        spreadsheets: Whether texts that a spreadsheet would execute have an apostrophe.
    """

    headings: list[str]
    names: list[str]
    types: list[str]
    spreadsheets: bool


def copy(files: Records, limits: Limits, counts: Counts, plan: CopyPlan, path: Path) -> CopiedFile:
    """Write the records with released values to one file, in their new order.

    Args:
        files: The records.
        limits: What the session may use.
        counts: What was counted.
        plan: The released values and the order.
        path: The file to write, `.csv` or `.parquet`.
    """
    as_csv = path.suffix == ".csv"
    with session(files.name, limits, attach=files.attach) as database:
        database.connection.register("released", _release_lookup(counts, plan))
        query = _copy_sql(files, counts, plan)
        columns = database.connection.sql(f"DESCRIBE {query}").fetchall()
        types = {str(row[0]): str(row[1]) for row in columns}
        expressions, headings, written_types = [], [], []
        for name in plan.columns:
            value, written_type = _written_as(name, types[name], plan.spreadsheets, as_csv=as_csv)
            if as_csv and len(plan.columns) == 1:
                # A missing value that is alone in its row would be an empty line, which is not a row.
                value = f"coalesce(CAST({value} AS VARCHAR), '')"
            heading = str(safe_text(name)) if plan.spreadsheets else name
            expressions.append(f"{value} AS {name_of(heading)}")
            headings.append(heading)
            written_types.append(written_type)
        options = "FORMAT csv, HEADER true" if as_csv else "FORMAT parquet, COMPRESSION snappy"
        options += ", USE_TMP_FILE false, PER_THREAD_OUTPUT false"
        rows = f"SELECT {', '.join(expressions)} FROM ({query})"
        command = f"COPY ({rows}) TO {text_of(str(path))} ({options})"
        database.run(lambda: database.connection.execute(command) and None, "write")
    return CopiedFile(headings, list(plan.columns), written_types, plan.spreadsheets)


def _release_lookup(counts: Counts, plan: CopyPlan) -> Any:
    """Return original keys beside released values; texts are dictionary-encoded, which saves memory."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    kept_keys = counts.engine_keys.take(pa.array(plan.rows))
    for i, (name, values) in enumerate(plan.values.items()):
        columns[f"k{i}"] = kept_keys.column(name)
        array = pa.array(decode_dictionary(values), from_pandas=True)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            array = array.cast(pa.string()).dictionary_encode()
        columns[f"r{i}"] = array
        if name in plan.noise:
            columns[f"r{i}"] = array.cast(pa.float64())
            columns[f"n{i}"] = pa.array(plan.noise[name].scales)
            columns[f"h{i}"] = pa.array(plan.noise[name].salts)
    return pa.table(columns)


def _copy_sql(files: Records, counts: Counts, plan: CopyPlan) -> str:
    """Return the query of the rows of the copy, in their order."""
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
            value = f"s.{name_of(name)}"
            if isinstance(files, CsvFiles) and kind:
                point = value if files.decimal == "." else f"replace({value}, ',', '.')"
                value = f"CAST({point} AS {kind})"
            columns.append(f"{value} AS {name_of(name)}")
    match = " AND ".join(
        f"s.{name_of(key)} IS NOT DISTINCT FROM r.k{i}" for i, key in enumerate(keys)
    )
    order = ""
    if plan.secret is not None:
        # A keyed hash of the row's position: it depends on the secret, not on the number of threads.
        order = f" ORDER BY md5_number(concat({text_of(plan.secret)}, '|', {where}))"
    source = numbered if plan.noise or plan.secret is not None else reading(files)
    condition = f" WHERE {is_complete(files, plan.complete)}" if plan.complete else ""
    return (
        f"SELECT {', '.join(columns)} FROM (SELECT * FROM {source}{condition}) s "
        f"JOIN released r ON {match}{order}"
    )


def place_of(files: Records) -> tuple[str, str]:
    """Return an expression that identifies rows by their position, and the relation that has it."""
    names = {name.lower() for name in files.columns}
    if isinstance(files, ParquetFiles) and not names & {"file_row_number", "filename"}:
        paths = ", ".join(text_of(str(path)) for path in files.paths)
        place = (
            f"list_position([{paths}], s.filename), '|', " if len(files.paths) > 1 else ""
        ) + "s.file_row_number"
        return place, reading(files, numbered=True)
    numbered = f'(SELECT *, row_number() OVER () AS "\x01row" FROM {reading(files)})'
    return 's."\x01row"', numbered


def _written_as(name: str, kind: str, spreadsheets: bool, *, as_csv: bool) -> tuple[str, str]:
    """Return the expression that writes a column, and its type in the file."""
    value = name_of(name)
    if kind.startswith("ENUM"):
        value, kind = f"CAST({value} AS VARCHAR)", "VARCHAR"
    if as_csv and kind == "BOOLEAN":  # as pandas spells it
        return f"CASE {value} WHEN true THEN 'True' WHEN false THEN 'False' END", "VARCHAR"
    if as_csv and kind in ("FLOAT", "DOUBLE"):  # not a number is missing, as pandas writes it
        return f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END", kind
    if spreadsheets and kind == "VARCHAR":
        value = _apply_rules(value, PROTECT)
    return value, kind


def _apply_rules(value: str, rules: Sequence[tuple[str, str]]) -> str:
    """Return an expression in which the rules are applied to a text."""
    for pattern, replacement in rules:
        value = f"regexp_replace({value}, {text_of(pattern)}, {text_of(replacement)}, 'g')"
    return value


def recount(
    limits: Limits,
    path: Path,
    handle: CopiedFile,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> CopyCounts:
    """Count a copy from its file.

    Args:
        limits: What the session may use.
        path: The copy.
        handle: What `copy` returned.
        keys: The quasi-identifiers.
        attributes: The sensitive attributes and the target.
        others: Further columns of the copy.
    """
    with session(path.name, limits) as database:
        database.connection.execute(f"CREATE VIEW copied AS {_read_back(path, handle)}")
        table = database.arrow(count_rows("copied", keys, attributes), "audit")
        spread = _spread(database, others)
    counts = counts_from(table, keys, attributes, _as_series)
    return CopyCounts(counts, spread, partial(_combinations, limits, path, handle))


def group_sizes(
    limits: Limits, path: Path, handle: CopiedFile, keys: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Return the sizes of the groups in a copy, and how many groups have each size.

    Args:
        limits: What the session may use.
        path: The copy.
        handle: What `copy` returned.
        keys: The columns whose equal values form a group.
    """
    names = ", ".join(name_of(key) for key in keys)
    with session(path.name, limits) as database:
        database.connection.execute(f"CREATE VIEW copied AS {_read_back(path, handle)}")
        result = database.arrow(
            f"SELECT n, count(*) FROM (SELECT count(*) AS n FROM copied GROUP BY {names}) "
            "GROUP BY n ORDER BY n",
            "audit",
        )
    sizes, groups = (column.to_numpy().astype(np.int64) for column in result.columns)
    return sizes, groups


def _read_back(path: Path, handle: CopiedFile) -> str:
    """Return the query that reads a copy with the names and values of the table."""
    columns = []
    for heading, name, kind in zip(handle.headings, handle.names, handle.types, strict=True):
        value = name_of(heading if path.suffix != ".csv" else name)
        if handle.spreadsheets and kind == "VARCHAR":
            value = _apply_rules(value, RESTORE)
        columns.append(f"{value} AS {name_of(name)}")
    if path.suffix != ".csv":
        source = f"read_parquet({text_of(str(path))}, hive_partitioning=false)"
    else:
        spec = ", ".join(
            f"{text_of(name)}: {text_of(kind)}"
            for name, kind in zip(handle.names, handle.types, strict=True)
        )
        alone = "true" if len(handle.names) == 1 else "false"
        source = (
            f"read_csv({text_of(str(path))}, header=true, auto_detect=false, columns={{{spec}}}, "
            f"delim=',', quote='\"', escape='\"', nullstr=[''], allow_quoted_nulls={alone}, "
            "strict_mode=true, null_padding=false)"
        )
    return f"SELECT {', '.join(columns)} FROM {source}"


def _spread(session: Session, others: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the approximate number of distinct values, and of present values, per column of a copy."""
    if not others:
        return {}
    pieces = [f"approx_count_distinct({name_of(name)}), count({name_of(name)})" for name in others]
    row = session.arrow(f"SELECT {', '.join(pieces)} FROM copied", "audit").to_pydict()
    values: list[int] = [column[0] for column in row.values()]
    return {name: (values[2 * i], values[2 * i + 1]) for i, name in enumerate(others)}


def _combinations(
    limits: Limits, path: Path, handle: CopiedFile, columns: Sequence[str]
) -> tuple[int, int]:
    """Return the approximate number of combinations of values in some columns, and the number of rows."""
    names = ", ".join(map(name_of, columns))
    with session(path.name, limits) as database:
        database.connection.execute(f"CREATE VIEW copied AS {_read_back(path, handle)}")
        query = f"SELECT approx_count_distinct(hash({names})), count(*) FROM copied"
        distinct, rows = database.arrow(query, "audit").columns
    return int(distinct[0].as_py()), int(rows[0].as_py())


def _as_series(column: str, values: Any) -> pd.Series[Any]:
    return pd.Series(values.to_pandas(), name=column)
