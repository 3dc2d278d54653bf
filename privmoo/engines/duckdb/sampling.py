"""A sample of records in memory: those with the smallest keyed hashes of their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from privmoo.data.source import Counts
from privmoo.engines.duckdb.copy import place_of
from privmoo.engines.duckdb.files import CsvFiles
from privmoo.engines.duckdb.names import name_of, text_of
from privmoo.engines.duckdb.session import Limits, session
from privmoo.engines.duckdb.sql import Records, is_complete, to_pandas

__all__ = ["draw_from_files"]


def draw_from_files(
    files: Records,
    limits: Limits,
    counts: Counts,
    columns: Sequence[str],
    n: int,
    secret: str,
    complete: Sequence[str],
) -> pd.DataFrame:
    """Draw records of files at random, in a random order; types are those of the whole columns.

    Args:
        files: The records.
        limits: What the session may use.
        counts: What was counted.
        columns: The columns of the records.
        n: The number of records; all records if there are fewer.
        secret: Determines the choice.
        complete: Columns in which no value may be missing.
    """
    names = ", ".join(f"s.{name_of(name)}" for name in columns)
    place, numbered = place_of(files)
    condition = f" WHERE {is_complete(files, complete)}" if complete else ""
    query = (
        f"SELECT {names} FROM (SELECT * FROM {numbered}{condition}) s "
        f"ORDER BY md5_number(concat({text_of(secret)}, '|', {place})) LIMIT {n}"
    )
    with session(files.name, limits, attach=files.attach) as database:
        rows = database.arrow(query, "sample")
    return pd.DataFrame(
        {name: _sample_column(files, counts, name, rows.column(name)) for name in columns}
    )


def _sample_column(files: Records, counts: Counts, name: str, values: Any) -> pd.Series[Any]:
    """Return a column of the sample; texts of a CSV become numbers only if they do in all records."""
    if not isinstance(files, CsvFiles):
        return to_pandas(files, name, values)
    columns = {**counts.keys, **counts.attributes}
    if name in columns:
        part = counts.parts.get(name, slice(None)) if name in counts.attributes else slice(None)
        texts = pd.Series(counts.engine_keys.column(name)[part].to_pandas(), dtype="str")
        distinct = (~texts.duplicated()).to_numpy()
        places = pd.Index(texts[distinct]).get_indexer(pd.Index(values.to_pandas(), dtype="str"))
        return columns[name][distinct].iloc[places].reset_index(drop=True)
    if (counts.column_kinds or {}).get(name) == "text":
        return pd.Series(values.to_pandas(), dtype="str", name=name)
    return to_pandas(files, name, values)
