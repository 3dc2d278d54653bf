"""Write a frame as CSV so that every text comes back, also one with a carriage return."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

import pandas as pd

__all__ = ["write_csv"]


def write_csv(frame: pd.DataFrame, target: str | Path | TextIO) -> None:
    r"""Write a frame without its index; texts with a separator, a quote or a line break are quoted.

    Lines end with a line feed. Only where a text or a name has a carriage return, which is quoted no
    other way, they end with both.

    Args:
        frame: The rows.
        target: A path, or an open text file.

    >>> import io
    >>> file = io.StringIO()
    >>> write_csv(pd.DataFrame({"a": ["x\ry", "z"]}), file)
    >>> file.getvalue()
    'a\r\n"x\ry"\r\nz\r\n'
    """
    ends = "\r\n" if _has_return(frame) else "\n"
    frame.to_csv(target, index=False, lineterminator=ends)


def _has_return(frame: pd.DataFrame) -> bool:
    names = any("\r" in str(name) for name in frame.columns)
    return names or any(_column_has_return(column) for _, column in frame.items())


def _column_has_return(column: pd.Series[Any]) -> bool:
    dtype = column.dtype
    if pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype):
        return False
    values = column.cat.categories if isinstance(dtype, pd.CategoricalDtype) else column
    # Other objects are written as the text that they give.
    return any("\r" in (value if isinstance(value, str) else str(value)) for value in values)
