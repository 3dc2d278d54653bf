"""The inputs of commands: jobs, files of records, and lists of names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from privmoo.cli.console import state

if TYPE_CHECKING:
    import pandas as pd

    from privmoo.config import Config

__all__ = ["load_job", "read_data", "split_names"]


def load_job(path: Path) -> Config:
    """Read a job, and remember its records for messages that may show values."""
    from privmoo.config import Config

    config = Config.load(path)
    state.data = config.frame
    return config


def read_data(
    path: Path, *, separator: str | None = None, encoding: str = "utf-8-sig", decimal: str = "."
) -> pd.DataFrame:
    """Read a CSV or Parquet file of records, and remember them for messages that may show values.

    Args:
        path: The file.
        separator: The character between cells; detected by default.
        encoding: The encoding of the text.
        decimal: The sign before the fraction of a number.
    """
    from privmoo._util.reading import read_records
    from privmoo.errors import TableError

    if separator is not None and len(separator) != 1:
        raise TableError(f"separator: must be one character, got {len(separator)}")
    frame = read_records(path, separator=separator, encoding=encoding, decimal=decimal)
    state.data = lambda: frame
    return frame


def split_names(text: str) -> list[str]:
    """Split names that are separated by commas.

    >>> split_names("age, zip")
    ['age', 'zip']
    """
    return [name.strip() for name in text.split(",") if name.strip()]
