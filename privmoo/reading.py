"""Reading tables from files, without guessing away what is in them."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from privmoo.errors import TableError

__all__ = ["numbers_where_exact", "read_csv", "read_header", "read_parquet", "read_strings"]

_BROKEN = (OSError, EOFError, zlib.error, ValueError, csv.Error)


def read_csv(
    path: str | Path,
    *,
    separator: str | None = None,
    missing_values: Sequence[str] = ("",),
    encoding: str = "utf-8-sig",
) -> pd.DataFrame:
    r"""Read a CSV file as text and turn columns into numbers only where nothing is lost.

    `02139` stays text: as a number it would lose its zero. Only `missing_values` are missing, so that
    a country `NA` stays one.

    Args:
        path: The file; `.gz` is unpacked.
        separator: Between cells; by default `,`, `;` or a tab, whichever the header uses most.
        missing_values: What stands for a missing value.
        encoding: Of the text; UTF-8 by default.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip,age\n02139,31\n02140,45\n")
    >>> read_csv(path).dtypes.astype(str).to_dict()
    {'zip': 'str', 'age': 'int64'}
    """
    text = read_strings(path, separator=separator, encoding=encoding)
    return numbers_where_exact(text.mask(text.isin(list(missing_values))))


def read_strings(
    path: str | Path, *, separator: str | None = None, encoding: str = "utf-8-sig"
) -> pd.DataFrame:
    """A CSV file with every cell as the string it is; damaged files give one sentence."""
    path = Path(path)
    with _told(path, encoding):
        header, separator = _checked_header(path, separator, encoding)
        frame = pd.read_csv(
            path, sep=separator, dtype="str", keep_default_na=False, encoding=encoding
        )
    if frame.empty:
        raise TableError(f"{path}: has a header but no rows")
    frame.columns = pd.Index(header)
    return frame


def read_header(
    path: str | Path, *, separator: str | None = None, encoding: str = "utf-8-sig"
) -> tuple[list[str], str]:
    """Column names and separator of a CSV file; only its first line is read."""
    path = Path(path)
    with _told(path, encoding), _opened(path, encoding) as file:
        header, separator, _ = _header(path, file, separator)
    return header, separator


@contextmanager
def _told(path: Path, encoding: str) -> Iterator[None]:
    """Say in one sentence what is wrong with a file."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "no such file"
        raise TableError(f"{path}: {what}")
    try:
        yield
    except TableError:
        raise
    except UnicodeDecodeError:
        raise TableError(
            f"{path}: is not {encoding.removesuffix('-sig')} text; convert it, or read it with its "
            "encoding, e.g. Table.read_csv(..., encoding='latin-1')"
        ) from None
    except LookupError:
        raise TableError(f"encoding: {encoding!r} is not known to Python") from None
    except _BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TableError(f"{path}: not a readable CSV file: {reason}") from None


def _opened(path: Path, encoding: str) -> TextIO:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    file: TextIO = opener(path, "rt", encoding=encoding, newline="")
    return file


def _header(path: Path, file: TextIO, separator: str | None) -> tuple[list[str], str, Any]:
    """Column names, separator, and what reads the rows."""
    first = file.readline()
    if not first.strip():
        raise TableError(f"{path}: is empty; the first line must name the columns")
    separator = separator or max(",;\t", key=first.count)
    file.seek(0)
    rows = csv.reader(file, delimiter=separator, strict=True)
    header = next(rows)
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise TableError(f"{path}: column name {twice[0]!r} occurs more than once; rename one")
    return header, separator, rows


def _checked_header(path: Path, separator: str | None, encoding: str) -> tuple[list[str], str]:
    """Column names and separator; every row is counted, because pandas fills up short ones."""
    with _opened(path, encoding) as file:
        header, separator, rows = _header(path, file, separator)
        width, number = len(header), 0
        for row in rows:
            number += bool(row)
            if row and len(row) != width:
                raise TableError(
                    f"{path}: row {number} after the header has {len(row)} cells, "
                    f"the header {width}"
                )
    return header, separator


def numbers_where_exact(frame: pd.DataFrame) -> pd.DataFrame:
    """Text columns whose every value is a plain number become numbers.

    >>> numbers_where_exact(pd.DataFrame({"a": ["1", "2"], "b": ["1", "02"]})).dtypes.astype(str).to_dict()
    {'a': 'int64', 'b': 'str'}
    """
    return frame.apply(_number)


def _number(column: pd.Series[str]) -> pd.Series[str]:
    present = column.dropna()
    if present.empty or not present.str.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?").all():
        return column
    return pd.to_numeric(column)


def read_parquet(path: str | Path) -> pd.DataFrame:
    """Read a Parquet file."""
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path}: not a readable Parquet file: {reason}") from None
