"""Canonical strings and hierarchies as the audit reads them, independent of the core."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import itertools
import numbers
import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.errors import AuditError

__all__ = [
    "MISSING",
    "canonical",
    "canonical_codes",
    "factorize",
    "hierarchy_rows",
    "node_ids",
    "number_alike",
    "stands_for_missing",
]

MISSING = "missing"

IntArray = npt.NDArray[np.int64]


def canonical(value: object) -> str:
    """Return the string that stands for a value in hierarchies and releases.

    >>> [canonical(v) for v in (39.0, True, 2.5, "a ", None, pd.Timestamp("2020-02-01"))]
    ['39', 'True', '2.5', 'a ', 'missing', '2020-02-01']
    """
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA or value is pd.NaT:
        return MISSING
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (decimal.Decimal, numbers.Real)):
        number = float(value)
        if np.isnan(number):
            return MISSING
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, np.datetime64):
        return canonical(pd.Timestamp(value))
    if isinstance(value, dt.datetime):
        midnight = value == value.replace(hour=0, minute=0, second=0, microsecond=0)
        nanoseconds = getattr(value, "nanosecond", 0)
        if midnight and not nanoseconds and value.tzinfo is None:
            return value.date().isoformat()
        return value.isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)


def canonical_codes(column: pd.Series[Any], name: Hashable) -> tuple[IntArray, list[str]]:
    """Return the codes of a column and the canonical string behind each code.

    Args:
        column: The values.
        name: The column's name, for errors.

    >>> canonical_codes(pd.Series([1.0, None, 1.0, 2.0]), "age")
    (array([0, 1, 0, 2]), ['1', 'missing', '2'])
    """
    codes, uniques = factorize(column, name)
    strings = [canonical(value) for value in uniques]
    if (codes < 0).any():
        strings.append(MISSING)
        codes = np.where(codes < 0, len(uniques), codes)
    # two values may share a string (1 and "1"), and codes follow first appearance
    remap, names = pd.factorize(np.array(strings, dtype=object)[codes])
    return remap.astype(np.int64), [str(string) for string in names]


def factorize(column: pd.Series[Any], name: Hashable) -> tuple[IntArray, pd.Index[Any]]:
    """Factorize as `pandas.factorize` does (missing = -1); an error names the column.

    Args:
        column: The values.
        name: The column's name, for errors.

    >>> factorize(pd.Series(["b", None, "b"]), "zip")[0]
    array([ 0, -1,  0])
    """
    try:
        codes, uniques = pd.factorize(column, use_na_sentinel=True)
    except (TypeError, NotImplementedError) as error:  # the second is Arrow's
        reason = f" ({error})" if isinstance(error, TypeError) else ", such as lists"
        raise AuditError(
            f"column {str(name)!r} holds values that cannot be compared{reason}; convert it to strings "
            "or numbers"
        ) from None
    return codes.astype(np.int64), pd.Index(uniques)


_EMPTY = re.compile(
    r"<na>|#?n/?a|#n/a n/a|-?nan|-?1\.#(ind|qnan)|null|none|missing|\?|", re.IGNORECASE
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)


def number_alike(values: Iterable[object]) -> int:
    """Return how many values differ from another one only in case, spaces or spelling.

    Args:
        values: Distinct values; None for missing ones.

    >>> number_alike(["HIV", "hiv ", "flu", "1", "1.0", None, "null"])
    6
    """
    texts = [value for value in values if value is None or isinstance(value, str)]
    frequency = collections.Counter(map(_bare, texts))
    return sum(number for number in frequency.values() if number > 1)


def stands_for_missing(value: object) -> bool:
    """Return whether a value is missing, or a text that a program may read as missing.

    Only Python's spelling "None" counts; "none" is a word, such as the answer to "which illness?".

    >>> [stands_for_missing(value) for value in (None, "N/A", "  ", "?", "None", "none", 0)]
    [True, True, True, True, True, False, False]
    """
    if not isinstance(value, str):
        return value is None
    text = _visible_text(value)
    return bool(_EMPTY.fullmatch(text)) and (text == "None" or text.casefold() != "none")


def _bare(value: str | None) -> object:
    """Return what is left of a text without case, spaces and spelling; None if it reads as missing."""
    if value is None:
        return None
    text = _visible_text(value).casefold()
    if _EMPTY.fullmatch(text):
        return None
    return decimal.Decimal(text).normalize() if _NUMBER.fullmatch(text) else text


def _visible_text(value: str) -> str:
    """Return a text without invisible format characters and with single spaces between words."""
    letters = unicodedata.normalize("NFKC", value)
    return " ".join("".join(c for c in letters if unicodedata.category(c) != "Cf").split())


def hierarchy_rows(
    table: pd.DataFrame | Iterable[Sequence[object]], name: Hashable
) -> dict[str, tuple[str, ...]]:
    """Check a hierarchy in ARX's layout and return leaf → labels, leaf first, one root last.

    Args:
        table: One row per leaf, one column per level.
        name: The attribute's name, for errors.

    >>> hierarchy_rows([("flu", "lung"), ("cold", "lung"), ("ulcer", "stomach")], "disease")["flu"]
    ('flu', 'lung', '*')
    """
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(list(table), dtype=object)
    rows = [tuple(canonical(v) for v in row) for row in frame.itertuples(index=False, name=None)]
    if not rows or not rows[0]:
        raise AuditError(f"hierarchies: the hierarchy of {str(name)!r} is empty")
    if len({row[-1] for row in rows}) > 1 or len(rows[0]) == 1:
        rows = [(*row, "*") for row in rows]
    parents: dict[tuple[int, str], str] = {}
    for row in rows:
        for level, (label, parent) in enumerate(itertools.pairwise(row)):
            if parents.setdefault((level, label), parent) != parent:
                raise AuditError(
                    f"hierarchies: in the hierarchy of {str(name)!r} the label {label!r} has two parents, "
                    f"{parents[level, label]!r} and {parent!r}; make it a tree"
                )
    return {row[0]: row for row in rows}


def node_ids(
    values: Sequence[object],
    rows: dict[str, tuple[str, ...]],
    name: Hashable,
    first_row: Sequence[int] | IntArray | None = None,
) -> IntArray:
    """Return the node of every value on every level: an array (levels, values), one root last.

    Args:
        values: The values.
        rows: The hierarchy, as `hierarchy_rows` returns it.
        name: The attribute's name, for errors.
        first_row: Where each value occurs first, for errors.

    >>> rows = hierarchy_rows([("flu", "lung"), ("cold", "lung"), ("ulcer", "stomach")], "disease")
    >>> node_ids(["flu", "ulcer", "cold"], rows, "disease")
    array([[0, 1, 2],
           [0, 1, 0],
           [0, 0, 0]])
    """
    any_path = next(iter(rows.values()))
    # a branch of its own right under the root; the tuple cannot collide with a label
    missing: tuple[object, ...] = (*[(MISSING,)] * (len(any_path) - 1), any_path[-1])
    paths: list[tuple[object, ...]] = []
    for position, value in enumerate(values):
        leaf = canonical(value)
        if leaf not in rows and leaf != MISSING:
            row = position if first_row is None else first_row[position]
            raise AuditError(
                f"hierarchies: the hierarchy of {str(name)!r} lacks the value of row {int(row)}; add it"
            )
        paths.append(rows.get(leaf, missing))
    ids = np.empty((len(any_path), len(paths)), dtype=np.int64)
    for level in range(len(any_path)):
        code_of: dict[object, int] = {}
        ids[level] = [code_of.setdefault(path[level], len(code_of)) for path in paths]
    return ids
