"""An exploration: limits, order of the axes, shortlist and comments, as plain data or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privmoo.errors import FileError

__all__ = ["read_exploration"]

_VERSION = 1


def read_exploration(source: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return an exploration, checked.

    Args:
        source: The data, or a file that the explorer saved.

    Raises:
        FileError: It is not an exploration.

    >>> read_exploration({"version": 1, "limits": {"k": [5, None]}})["limits"]
    {'k': [5, None]}
    """
    if isinstance(source, Mapping):
        content: Any = dict(source)
    else:
        try:
            text = Path(source).read_text(encoding="utf-8")
            content = json.loads(text, parse_constant=_refuse)
        except OSError as error:
            raise FileError(f"{source} cannot be read ({error.strerror})") from None
        except ValueError:
            content = None
    where = "exploration" if isinstance(source, Mapping) else str(source)
    shortlist = content.get("shortlist", []) if isinstance(content, dict) else None
    entries = shortlist if isinstance(shortlist, list) else [None]
    good = all(
        isinstance(e, list) and len(e) == 3 and all(type(n) is int for n in e[:2]) for e in entries
    )
    if (
        not isinstance(content, dict)
        or content.get("version") != _VERSION
        or not (good and _has_fields(content))
    ):
        raise FileError(f"{where}: it is not an exploration; save one in the explorer")
    return content


def _has_fields(content: Mapping[str, Any]) -> bool:
    """Return whether limits are by name, and axes and families are lists of names."""
    lists = [content.get(field) or [] for field in ("axes", "hidden", "families")]
    return isinstance(content.get("limits") or {}, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists
    )


def _refuse(constant: str) -> float:
    """Refuse a number that is not finite, such as NaN."""
    raise ValueError(constant)
