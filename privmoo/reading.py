"""Reading tables from files, without guessing away what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from privmoo.errors import TableError

__all__ = ["read_csv", "read_parquet"]


def read_csv(
    path: str | Path, *, separator: str = ",", missing_values: Sequence[str] = ("",)
) -> pd.DataFrame:
    """Read a CSV file as text and turn columns into numbers only where nothing is lost.

    `02139` stays text: as a number it would lose its zero. Only `missing_values` are missing, so that
    a country `NA` stays one.

    >>> import io
    >>> read_csv(io.StringIO("zip,age\\n02139,31\\n02140,45\\n")).dtypes.astype(str).to_dict()
    {'zip': 'str', 'age': 'int64'}
    """
    try:
        text = pd.read_csv(
            path, sep=separator, dtype="str", keep_default_na=False, na_values=list(missing_values)
        )
        with_header = pd.read_csv(path, sep=separator, dtype="str", header=None, nrows=1) if (
            isinstance(path, str | Path)
        ) else None
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except UnicodeDecodeError:
        raise TableError(f"{path}: is not UTF-8 text; convert it or read it with pandas") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path}: cannot be read as CSV ({reason})") from None
    if with_header is not None and with_header.iloc[0].duplicated().any():
        # pandas renames the second `a` to `a.1`; the user should hear of it.
        name = with_header.iloc[0][with_header.iloc[0].duplicated()].iloc[0]
        raise TableError(f"{path}: column name {name!r} occurs more than once; rename one")
    return text.apply(_numbers)


def _numbers(column: pd.Series[str]) -> pd.Series[str]:
    present = column.dropna()
    if present.empty or not present.str.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?").all():
        return column
    return pd.to_numeric(column)  # type: ignore[no-any-return]


def read_parquet(path: str | Path) -> pd.DataFrame:
    """Read a Parquet file."""
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"{path}: cannot be read as Parquet ({reason})") from None
