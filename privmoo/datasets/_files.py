"""Read CSV files: bundled ones, and files that may be missing or damaged."""

from __future__ import annotations

import gzip
import io
from importlib import resources
from pathlib import Path

import pandas as pd

from privmoo._util import reading
from privmoo.errors import TableError

__all__ = ["files_in", "read_bundled", "read_strings"]


def read_bundled(name: str) -> pd.DataFrame:
    """Read a bundled file, with numbers as integers and every other value as text.

    >>> read_bundled("german_credit.csv.gz").shape
    (1000, 21)
    """
    content = resources.files("privmoo.datasets").joinpath(name).read_bytes()
    return pd.read_csv(io.BytesIO(gzip.decompress(content)), na_filter=False)


def files_in(folder: str | Path) -> list[Path]:
    """Return the CSV files of a folder, compressed or not, in the order of their names."""
    folder = Path(folder)
    if not folder.is_dir():
        raise TableError(f"{folder}: no such folder; give the one that holds the CSV files")
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.lower().endswith((".csv", ".csv.gz")) and path.is_file()
    )


def read_strings(path: str | Path, *, separator: str | None = None) -> pd.DataFrame:
    """Read a CSV file with every cell as a string and empty cells as missing.

    Args:
        path: The file; `.gz` is unpacked.
        separator: The character between cells; by default the one the header uses most.
    """
    frame = reading.read_strings(path, separator=separator)
    return frame.mask(frame == "")
