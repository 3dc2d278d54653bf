"""File names that are safe on every system, derived from column names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["file_names"]

_LONGEST = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def file_names(columns: Iterable[str], ending: str) -> dict[str, str]:
    """Return a file name for every column: letters, digits, `_` and `-`, no two alike.

    Names that differ only in capitals count as alike, as they do on some systems.

    Args:
        columns: The names of the columns.
        ending: The ending of the files, such as `.csv`.

    >>> file_names(["native-country", "a/b", "a b", "A_B", "..", "NUL", "größe", "年齢"], ".csv")
    {'native-country': 'native-country.csv', 'a/b': 'a_b.csv', 'a b': 'a_b_2.csv',
     'A_B': 'A_B_3.csv', '..': 'column.csv', 'NUL': 'column_NUL.csv', 'größe': 'grosse.csv',
     '年齢': 'column_2.csv'}
    """
    names_in_use: set[str] = set()
    files = {}
    for column in columns:
        stem = _clean(column)
        name, number = stem, 1
        while name.lower() in names_in_use:
            number += 1
            name = f"{stem}_{number}"
        names_in_use.add(name.lower())
        files[column] = name + ending
    return files


def _clean(column: str) -> str:
    plain = unicodedata.normalize("NFKD", column[: 10 * _LONGEST])
    letters = plain.replace("ß", "ss").encode("ascii", "ignore").decode()
    stem = re.sub(r"[^A-Za-z0-9-]+", "_", letters).strip("_-")[:_LONGEST].rstrip("_-")
    if not stem:
        return "column"
    return f"column_{stem}" if _RESERVED.fullmatch(stem) else stem
