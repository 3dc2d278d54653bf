"""Cells that a spreadsheet does not execute as formulas."""

from __future__ import annotations

import re

import pandas as pd

__all__ = ["PROTECT", "RESTORE", "plain_text", "safe_text", "spreadsheet_safe"]

_BLANKS = " \v\f\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
# A reader may leave out quotes and blanks at the beginning of a cell.
_SIGN = rf"[{_BLANKS}\"]*['=+\-@＝＋－＠]"
_BREAK = r"[;|\t\r\n]"

PROTECT = (
    (rf"({_BREAK})({_SIGN})", r"\1'\2"),
    (rf"\A({_SIGN}|[\t\r\n])", r"'\1"),
)
"""What is replaced in a text, in this order, in the syntax that Python and RE2 share.

A sign begins a formula at the start of a cell, and also after a character at which a program that expects
other separators begins a new cell; blanks, no-break spaces and quotes before it do not matter. An
apostrophe is put before all of these, also before an apostrophe in such a place, so that different texts
stay different.
"""
RESTORE = ((rf"({_BREAK})'", r"\1"), (r"\A'", ""))
"""What brings the text back."""


def spreadsheet_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe wherever a text or a column name could begin a formula.

    Groups and what was measured on them remain the same. Numbers stay numbers.

    >>> spreadsheet_safe(pd.DataFrame({"=a": ["=1+1", "'b", "c;=d"], "n": [-1, 2, 3]})).to_dict("list")
    {"'=a": ["'=1+1", "''b", "c;'=d"], 'n': [-1, 2, 3]}
    """
    safe = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        safe.isetitem(place, column.astype(object).map(safe_text).to_numpy())
    safe.columns = pd.Index([safe_text(name) for name in frame.columns])
    return safe


def safe_text(value: object) -> object:
    """Return a text with an apostrophe wherever it needs one, and anything else as it is.

    >>> safe_text("a;+1"), safe_text("a-1"), safe_text(-1)
    ("a;'+1", 'a-1', -1)
    >>> print(safe_text('a;"=1'))
    a;'"=1
    """
    return _apply_rules(value, PROTECT)


def plain_text(value: object) -> object:
    """Return the text that `safe_text` made safe.

    >>> plain_text(safe_text("'a;'=b")) == "'a;'=b"
    True
    """
    return _apply_rules(value, RESTORE)


def _apply_rules(value: object, rules: tuple[tuple[str, str], ...]) -> object:
    if not isinstance(value, str):
        return value
    for pattern, replacement in rules:
        value = re.sub(pattern, replacement, value)
    return value
