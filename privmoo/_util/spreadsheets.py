"""Cells that a spreadsheet does not execute as formulas."""

from __future__ import annotations

import pandas as pd

__all__ = ["FORMULAS", "safe_text", "spreadsheet_safe"]

FORMULAS = "=+-@\t\r"
"""How a cell begins that a spreadsheet may execute."""


def spreadsheet_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an apostrophe before every text and column name that begins like a formula.

    Texts that begin with an apostrophe get one more, so that different texts stay different: groups and
    what was measured on them remain the same. Numbers stay numbers.

    >>> spreadsheet_safe(pd.DataFrame({"=a": ["=1+1", "'b", "c"], "n": [-1, 2, 3]})).to_dict("list")
    {"'=a": ["'=1+1", "''b", 'c'], 'n': [-1, 2, 3]}
    """
    safe = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        safe.isetitem(place, column.astype(object).map(safe_text).to_numpy())
    safe.columns = pd.Index([safe_text(name) for name in frame.columns])
    return safe


def safe_text(value: object) -> object:
    """Return a text with an apostrophe where it needs one, and anything else as it is."""
    risky = isinstance(value, str) and value[:1] in {*FORMULAS, "'"} and value != ""
    return f"'{value}" if risky else value
