"""Write TOML: strings, keys, values and comments that every reader reads back unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from privmoo.errors import TableError

__all__ = ["comment", "key", "quote", "value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_WIDTH = 100


def quote(text: str) -> str:
    r"""Return a text in quotes; invisible characters are spelled out.

    >>> print(quote('a "b"\\\n'), quote("\x00\x7f"), quote("😀"))
    "a \"b\"\\\n" "\u0000\u007F" "😀"
    """
    return '"' + "".join(_sign(sign) for sign in text) + '"'


def _sign(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    if sign.isprintable():
        return sign
    number = ord(sign)
    if 0xD800 <= number <= 0xDFFF:
        raise TableError("a text is not valid Unicode, so no file can hold it; rename or recode it")
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"


def key(name: str) -> str:
    """Return a key, in quotes if it needs them.

    >>> key("age"), key("native country"), key("")
    ('age', '"native country"', '""')
    """
    return name if _BARE.fullmatch(name) else quote(name)


def value(content: object) -> str:
    """Return a text, number, truth value, list or table as TOML; a long list is broken into lines.

    >>> value({"kind": "intervals", "widths": [5, 10.0, 0.5], "open_ends": True})
    '{ kind = "intervals", widths = [5, 10, 0.5], open_ends = true }'
    """
    if isinstance(content, str):
        return quote(content)
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, int):
        return str(content)
    if isinstance(content, float):
        return _number(content)
    if isinstance(content, Mapping):
        return "{ " + ", ".join(f"{key(k)} = {value(v)}" for k, v in content.items()) + " }"
    if isinstance(content, Sequence):
        return _list([value(entry) for entry in content])
    raise TypeError(f"not a value of TOML: {type(content).__name__}")


def _number(number: float) -> str:
    # As 1e+16, a whole number would be longer to read and no more exact.
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _list(entries: list[str]) -> str:
    line = "[" + ", ".join(entries) + "]"
    if len(line) <= _WIDTH // 2:
        return line
    lines, current = [], ""
    for entry in entries:
        if current and len(current) + len(entry) + 2 > _WIDTH - 4:
            lines.append(current)
            current = ""
        current += f"{' ' if current else ''}{entry},"
    return "[\n    " + "\n    ".join([*lines, current]) + "\n]"


def comment(text: str) -> str:
    r"""Return a text as one line of comment, even if it has line breaks.

    >>> comment("two\nlines")
    '# two\\nlines'
    """
    return "# " + "".join(sign if sign in '"\\' else _sign(sign) for sign in text)
