"""Reading CSV files that may be missing, damaged or not what they say they are."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from importlib import resources
from pathlib import Path

import pandas as pd

from privmoo.errors import TableError

__all__ = ["bundled", "files_in", "read_strings"]

_BROKEN = (OSError, EOFError, zlib.error, UnicodeDecodeError, ValueError, csv.Error)


def bundled(name: str) -> pd.DataFrame:
    """One of the bundled files, its numbers as integers and every other value as it is written.

    >>> bundled("german_credit.csv.gz").shape
    (1000, 21)
    """
    packed = resources.files("privmoo.datasets").joinpath(name).read_bytes()
    return pd.read_csv(io.BytesIO(gzip.decompress(packed)), na_filter=False)


def files_in(folder: str | Path) -> list[Path]:
    """The CSV files of a folder, compressed or not, in the order of their names."""
    folder = Path(folder)
    if not folder.is_dir():
        raise TableError(f"{folder}: no such folder; give the one that holds the CSV files")
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.lower().endswith((".csv", ".csv.gz")) and path.is_file()
    )


def read_strings(path: str | Path, *, separator: str | None = None) -> pd.DataFrame:
    """A CSV file with every cell as a string, the empty ones as missing.

    Args:
        path: The file; `.gz` is unpacked.
        separator: The character between cells; by default `;` or `,`, whichever the header uses.
    """
    path = Path(path)
    if not path.is_file():
        raise TableError(f"{path}: no such file")
    try:
        header, separator = _checked_header(path, separator)
        frame = pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
    except TableError:
        raise
    except _BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path}: not a readable CSV file: {reason}") from None
    if frame.empty:
        raise TableError(f"{path}: has a header but no rows")
    frame.columns = pd.Index(header)
    return frame.mask(frame == "")


def _checked_header(path: Path, separator: str | None) -> tuple[list[str], str]:
    """Column names and separator; every row is counted, because pandas fills up short ones."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        if not first.strip():
            raise TableError(f"{path}: is empty; the first line must name the columns")
        if separator is None:
            separator = ";" if first.count(";") > first.count(",") else ","
        header = next(csv.reader([first], delimiter=separator))
        twice = [name for name in header if header.count(name) > 1]
        if twice:
            raise TableError(f"{path}: column name {twice[0]!r} occurs more than once; rename one")
        width, number = len(header), 0
        for row in csv.reader(file, delimiter=separator, strict=True):
            number += bool(row)
            if row and len(row) != width:
                raise TableError(
                    f"{path}: row {number} after the header has {len(row)} cells, "
                    f"the header {width}"
                )
    return header, separator
