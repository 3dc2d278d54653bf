"""Files of records on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["listed", "read_data"]


def read_data(
    path: Path, *, separator: str | None = None, encoding: str = "utf-8-sig"
) -> pd.DataFrame:
    """A CSV or Parquet file of records."""
    from privmoo._util.reading import read_records
    from privmoo.errors import TableError

    if separator is not None and len(separator) != 1:
        raise TableError(f"separator: must be one character, got {len(separator)}")
    return read_records(path, separator=separator, encoding=encoding)


def listed(given: str) -> list[str]:
    """Names with commas between them.

    >>> listed("age, zip")
    ['age', 'zip']
    """
    return [name.strip() for name in given.split(",") if name.strip()]
