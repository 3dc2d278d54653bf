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
            content = json.loads(Path(source).read_text(encoding="utf-8"))
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
    if not isinstance(content, dict) or content.get("version") != _VERSION or not good:
        raise FileError(f"{where}: it is not an exploration; save one in the explorer")
    return content
