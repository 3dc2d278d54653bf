"""A sample of records in memory: those with the smallest keyed hashes of where they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privmoo.data.source import Counted
from privmoo.engines.duckdb.copy import place_of
from privmoo.engines.duckdb.files import CsvFiles, ParquetFiles
from privmoo.engines.duckdb.session import Limits, session
from privmoo.engines.duckdb.sql import is_complete, name_of, text_of, to_pandas

__all__ = ["draw_from_files", "drawn", "fewest"]

_KEY = "\x01key"


def draw_from_files(
    files: ParquetFiles | CsvFiles,
    limits: Limits,
    counted: Counted,
    columns: Sequence[str],
    n: int,
    secret: str,
    complete: Sequence[str],
) -> pd.DataFrame:
    """So many records of files, in a random order; types are those of the whole columns."""
    names = ", ".join(f"s.{name_of(name)}" for name in columns)
    place, numbered = place_of(files)
    condition = f" WHERE {is_complete(files, complete)}" if complete else ""
    query = (
        f"SELECT {names} FROM (SELECT * FROM {numbered}{condition}) s "
        f"ORDER BY md5_number(concat({text_of(secret)}, '|', {place})) LIMIT {n}"
    )
    with session(files.name, limits) as own:
        found = own.arrow(query, "sample")
    return pd.DataFrame(
        {name: _typed(files, counted, name, found.column(name)) for name in columns}
    )


def _typed(
    files: ParquetFiles | CsvFiles, counted: Counted, name: str, values: Any
) -> pd.Series[Any]:
    """A column of the sample; texts of a CSV are numbers only where they are in all of its records."""
    if isinstance(files, ParquetFiles):
        return to_pandas(files, name, values)
    known = {**counted.keys, **counted.attributes}
    if name in known:
        part = counted.parts.get(name, slice(None)) if name in counted.attributes else slice(None)
        texts = pd.Series(counted.raw.column(name)[part].to_pandas(), dtype="str")
        distinct = (~texts.duplicated()).to_numpy()
        at = pd.Index(texts[distinct]).get_indexer(pd.Index(values.to_pandas(), dtype="str"))
        return known[name][distinct].iloc[at].reset_index(drop=True)
    if (counted.kinds or {}).get(name) == "text":
        return pd.Series(values.to_pandas(), dtype="str", name=name)
    return to_pandas(files, name, values)


def drawn(
    frame: pd.DataFrame, number: int, *, n: int, secret: str, complete: list[str]
) -> pd.DataFrame:
    """The records of a partition that a sample of n may have, with their keys."""
    key = hashlib.shake_256(f"{secret}|{number}".encode()).digest(8 * len(frame))
    frame = frame.assign(**{_KEY: np.frombuffer(key, "<u8")})
    if complete:
        frame = frame[frame[complete].notna().all(axis=1)]
    return frame.nsmallest(n, _KEY)


def fewest(
    frames: list[pd.DataFrame], concat: Callable[[list[pd.DataFrame]], pd.DataFrame], n: int
) -> pd.DataFrame:
    """The records with the smallest keys of several partitions."""
    full = [frame for frame in frames if len(frame)] or frames[:1]
    return concat(full).nsmallest(n, _KEY)
