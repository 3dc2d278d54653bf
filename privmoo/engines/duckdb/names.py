"""Names and texts in SQL."""

from __future__ import annotations

__all__ = ["name_of", "text_of"]


def name_of(column: str) -> str:
    """Return a column's name in SQL.

    >>> name_of('a"b')
    '"a""b"'
    """
    return '"' + column.replace('"', '""') + '"'


def text_of(value: str) -> str:
    """Return a text as an SQL literal.

    >>> text_of("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"
