"""Rows that are nobody's record: blank ones, and totals at the end of a table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.wording import count_noun

__all__ = ["odd_rows", "odd_rows_in_words"]

_TOTAL = re.compile(
    r"(grand |sub)?total(s|en|e)?|sum|summe|gesamt|insgesamt|somme|suma|ensemble|all|alle",
    re.IGNORECASE,
)
_LAST = 3
"""Totals are looked for in so many rows at each end."""


def odd_rows(frame: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of blank rows and of rows that look like totals.

    A total has a word for it in one column of texts, as one of the first or last rows, and that word
    occurs once.

    Args:
        frame: The records.

    >>> people = pd.DataFrame({"city": ["A", "B", None, "Total"], "age": [31, 45, None, 76]})
    >>> [rows.tolist() for rows in odd_rows(people)]
    [[2], [3]]
    """
    blank = frame.isna() | frame.apply(_is_empty)
    blank_rows = np.flatnonzero(blank.all(axis=1).to_numpy())
    present = np.setdiff1d(np.arange(len(frame)), blank_rows)
    ends = {*present[:_LAST].tolist(), *present[-_LAST:].tolist()}
    totals = [row for row in sorted(ends) if _is_total(frame, row)]
    return blank_rows, np.array(totals, np.int64)


def odd_rows_in_words(frame: pd.DataFrame) -> str:
    """Say which rows are nobody's record, without their values; an empty text if there are none.

    Args:
        frame: The records.
    """
    blank, totals = odd_rows(frame)
    parts = []
    if len(blank):
        parts.append(f"{count_noun(len(blank), 'row')} without any value, first row {blank[0] + 1}")
    if len(totals):
        rows = ", ".join(str(row + 1) for row in totals)
        parts.append(f"{count_noun(len(totals), 'row')} that may be a total ({rows})")
    if not parts:
        return ""
    return f"The file has {' and '.join(parts)}, counted after the header: remove what is nobody's record."


def _is_empty(column: pd.Series[Any]) -> pd.Series[bool]:
    texts = not pd.api.types.is_numeric_dtype(column.dtype)
    empty = column.map(lambda value: isinstance(value, str) and not value.strip())
    return empty.astype(bool) if texts else pd.Series(False, index=column.index)


def _is_total(frame: pd.DataFrame, row: int) -> bool:
    for name in frame:
        value = frame[name].iloc[row]
        if isinstance(value, str) and _TOTAL.fullmatch(value.strip().rstrip(":")):
            return int((frame[name] == value).sum()) == 1
    return False
