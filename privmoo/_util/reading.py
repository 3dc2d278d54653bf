"""Read tables from files without losing what is written in them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

import pandas as pd

from privmoo.errors import Hint, TableError

__all__ = [
    "PLAIN",
    "numbers_where_exact",
    "read_csv",
    "read_header",
    "read_parquet",
    "read_strings",
]

_FEW = 1000
PLAIN = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")
"""What the texts of a column look like if the column is a number."""
_LONGEST_LINE = 16 * 1024 * 1024
_BROKEN = (OSError, EOFError, zlib.error, ValueError, csv.Error)


def read_csv(
    path: str | Path,
    *,
    separator: str | None = None,
    missing_values: Sequence[str] = ("",),
    encoding: str = "utf-8-sig",
    decimal: str = ".",
) -> pd.DataFrame:
    r"""Read a CSV file as text and turn columns into numbers only where nothing is lost.

    `02139` stays text: as a number it would lose its zero. Only `missing_values` are missing, so that
    a country `NA` stays one.

    Args:
        path: The file; `.gz` is unpacked.
        separator: The character between cells; by default the one of `,`, `;` and tab that the header
            uses most.
        missing_values: The texts that stand for a missing value.
        encoding: The encoding of the text; UTF-8 by default.
        decimal: The sign before the fraction of a number, `.` or `,`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip,age\n02139,31\n02140,45\n")
    >>> read_csv(path).dtypes.astype(str).to_dict()
    {'zip': 'str', 'age': 'int64'}
    """
    text = read_strings(path, separator=separator, encoding=encoding)
    missing = set(checked_missing(missing_values))
    checked_decimal(decimal)
    return _by_column(text, lambda column: _number(_without(column, missing), decimal))


def checked_missing(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that stand for missing values, or raise unless they are a list of texts."""
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise TableError(
            f"missing_values: must be a list of texts, such as ['NA'], got {texts!r}; put it in brackets"
        )
    return tuple(texts)


def checked_decimal(decimal: str) -> str:
    """Return the sign before the fraction of a number, or raise unless it is one."""
    if decimal not in (".", ","):
        raise TableError(f"decimal: must be '.' or ',', got {decimal!r}")
    return decimal


def read_records(
    path: str | Path,
    *,
    separator: str | None = None,
    missing_values: Sequence[str] = ("",),
    encoding: str = "utf-8-sig",
    decimal: str = ".",
) -> pd.DataFrame:
    """Read a Parquet file, or a CSV file if it has another ending; see `read_csv`.

    Args:
        path: The file.
        separator: The character between cells of a CSV file.
        missing_values: The texts that stand for a missing value in a CSV file.
        encoding: The encoding of a CSV file.
        decimal: The sign before the fraction of a number in a CSV file.
    """
    if Path(path).suffix.lower() == ".parquet":
        return read_parquet(path)
    return read_csv(
        path,
        separator=separator,
        missing_values=missing_values,
        encoding=encoding,
        decimal=decimal,
    )


def read_strings(
    path: str | Path, *, separator: str | None = None, encoding: str = "utf-8-sig"
) -> pd.DataFrame:
    """Read a CSV file with every cell as the string it is.

    Args:
        path: The file; `.gz` is unpacked.
        separator: The character between cells; by default the one the header uses most.
        encoding: The encoding of the text; UTF-8 by default.

    Raises:
        TableError: If the file is missing or damaged, in one sentence.
    """
    path = _file(path)
    with _named_errors(path, encoding):
        header, separator = _checked_header(path, separator, encoding)
        frame = pd.read_csv(
            path, sep=separator, dtype="str", keep_default_na=False, encoding=encoding
        )
    if frame.empty:
        raise TableError(f"{path} has columns but no rows; add at least one record")
    frame.columns = pd.Index(header)
    return frame


def read_header(
    path: str | Path, *, separator: str | None = None, encoding: str = "utf-8-sig"
) -> tuple[list[str], str]:
    """Return the column names and the separator of a CSV file; only its first line is read.

    Args:
        path: The file; `.gz` is unpacked.
        separator: The character between cells; by default the one the header uses most.
        encoding: The encoding of the text; UTF-8 by default.
    """
    path = _file(path)
    with _named_errors(path, encoding), _open(path, encoding) as file:
        header, separator, _ = _header(path, file, separator)
    return header, separator


@contextmanager
def _named_errors(path: Path, encoding: str) -> Iterator[None]:
    """Turn errors of reading into one sentence that names the file."""
    try:
        yield
    except TableError:
        raise
    except UnicodeDecodeError:
        raise TableError(
            f"{path} is not {encoding.removesuffix('-sig')} text",
            hint=Hint("convert it", parameter="encoding", value="latin-1", call="Table.read_csv"),
        ) from None
    except LookupError:
        raise TableError(
            f"encoding: Python does not know {encoding!r}; use utf-8 or latin-1, for example"
        ) from None
    except _BROKEN as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, gzip.BadGzipFile):  # it quotes the first bytes
            reason = "it is not packed by gzip"
        raise TableError(f"{path} is not a readable CSV file: {reason}") from None


def _open(path: Path, encoding: str) -> TextIO:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    file: TextIO = opener(path, "rt", encoding=encoding, newline="")
    return file


def _header(path: Path, file: TextIO, separator: str | None) -> tuple[list[str], str, Any]:
    """Return the column names, the separator and the reader of the rows."""
    first = next(_lines(path, file), "")
    if not first.strip():
        raise TableError(f"{path} is empty; the first line must name the columns")
    separator = separator or max(",;\t", key=first.count)
    if not isinstance(separator, str) or len(separator) != 1:
        raise TableError(f"separator: must be one character, got {separator!r}")
    file.seek(0)
    rows = csv.reader(_lines(path, file), delimiter=separator, strict=True)
    header = next(rows)
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise TableError(f"{path}: column name {twice[0]!r} occurs more than once; rename one")
    return header, separator, rows


def _file(name: str | Path) -> Path:
    """Return the path of a plain file, or raise: a pipe could keep a reader waiting for ever."""
    path = Path(name)
    try:
        if path.is_file():
            return path
        what = ": no such file"
        if path.is_dir():
            what = " is a folder; give the file in it"
        elif path.exists():
            what = " is not a plain file; copy it to one"
    except (OSError, ValueError) as error:
        what = f" cannot be read ({getattr(error, 'strerror', None) or 'not a file name'})"
    raise TableError(f"{path}{what}")


def _lines(path: Path, file: IO[str]) -> Iterator[str]:
    """Yield the lines of a text, of bounded length, so that a bad file cannot fill the memory."""
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise TableError(
                f"{path}: line {number} is longer than {_LONGEST_LINE >> 20} million characters; is "
                "it a CSV file?"
            )
        if "\0" in line:
            raise TableError(f"{path} has a NUL byte in line {number}; is it a text file?")
        yield line


def _checked_header(path: Path, separator: str | None, encoding: str) -> tuple[list[str], str]:
    """Return column names and separator after counting the cells of every row: pandas fills short ones."""
    with _open(path, encoding) as file:
        header, separator, rows = _header(path, file, separator)
        width, number = len(header), 0
        for row in rows:
            number += bool(row)
            if row and len(row) != width:
                raise TableError(
                    f"{path}: row {number} after the header has {len(row)} cells, "
                    f"but the header has {width}"
                )
    return header, separator


def numbers_where_exact(frame: pd.DataFrame, decimal: str = ".") -> pd.DataFrame:
    """Turn text columns into numbers where every value is a plain number.

    Args:
        frame: The columns.
        decimal: The sign before the fraction of a number.

    >>> numbers_where_exact(pd.DataFrame({"a": ["1", "2"], "b": ["1", "02"]})).dtypes.astype(str).to_dict()
    {'a': 'int64', 'b': 'str'}
    """
    return _by_column(frame, lambda column: _number(column, decimal))


def _by_column(
    frame: pd.DataFrame, change: Callable[[pd.Series[str]], pd.Series[str]]
) -> pd.DataFrame:
    columns = [change(frame.iloc[:, place]) for place in range(frame.shape[1])]
    result = pd.concat(columns, axis=1) if columns else frame
    result.columns = frame.columns
    return result


# Columns of a few values are looked at one by one: thousands of them would take pandas a minute.


def _without(column: pd.Series[str], missing: set[str]) -> pd.Series[str]:
    if len(column) <= _FEW and missing.isdisjoint(column.tolist()):
        return column
    return column.mask(column.isin(list(missing)))


def _number(column: pd.Series[str], decimal: str = ".") -> pd.Series[str]:
    if decimal == ",":
        with_points = _with_points(column)
        numbers = column if with_points is None else _number(with_points)
        # A text such as "Smith, John" keeps its comma.
        return numbers if pd.api.types.is_numeric_dtype(numbers) else column
    if len(column) <= _FEW:
        texts = [value for value in column.tolist() if isinstance(value, str)]
        plain = bool(texts) and all(map(PLAIN.fullmatch, texts))
    else:
        present = column.dropna()
        plain = not present.empty and bool(present.str.fullmatch(PLAIN.pattern).all())
    return pd.to_numeric(column) if plain else column


def _with_points(column: pd.Series[str]) -> pd.Series[str] | None:
    """Return numbers with decimal commas as numbers with points; None if a text has a point already."""
    present = column.dropna()
    if present.str.contains(".", regex=False).any() or present.str.count(",").gt(1).any():
        return None
    return column.str.replace(",", ".", regex=False)


def read_parquet(path: str | Path) -> pd.DataFrame:
    """Read a Parquet file."""
    from pyarrow import ArrowException

    path = _file(path)
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError, TypeError, LookupError, ArrowException) as error:
        # What Arrow says may quote the file; the kind of error is enough.
        raise TableError(
            f"{path} is not a readable Parquet file ({type(error).__name__}); is it whole?"
        ) from None
