"""Section: one table of a TOML file, read key by key; what is left over is a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from privmoo.errors import ConfigError, nearest

__all__ = ["Section"]

_WORDS: dict[type, str] = {
    str: "text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list in brackets",
    dict: "a table",
}
_MISSING = object()


class Section:
    """Entries of a table that know where they stand.

    Args:
        where: The file and the table, for messages.
        entries: What stands there.

    >>> section = Section("job.toml, [search]", {"sed": 1})
    >>> section.take("seed", int, None)
    >>> section.end()
    Traceback (most recent call last):
    privmoo.errors.ConfigError: job.toml, [search]: unknown key 'sed'; did you mean 'seed'?
    """

    def __init__(self, where: str, entries: Mapping[str, Any]) -> None:
        self.where = where
        self._entries = dict(entries)
        self._known: list[str] = []

    def take(self, name: str, kind: type, default: Any = _MISSING) -> Any:
        """The value of a key, which must be of a kind; without a default it must be there."""
        self._known.append(name)
        if name not in self._entries:
            if default is _MISSING:
                raise ConfigError(f"{self.where}: {name!r} is missing; it must be {_WORDS[kind]}")
            return default
        value = self._entries.pop(name)
        fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise ConfigError(f"{self.where}: {name!r} must be {_WORDS[kind]}, got {_told(value)}")
        return value

    def peek(self, name: str) -> Any:
        """The value of a key, which stays; None where there is none."""
        return self._entries.get(name)

    def choice(self, name: str, options: Iterable[str], default: Any = _MISSING) -> Any:
        """The value of a key that is one of some words."""
        value = self.take(name, str, default)
        known = list(options)
        if value is not default and value not in known:
            raise ConfigError(
                f"{self.where}: {name!r} is {value!r}, which is none of {', '.join(known)}"
                f"{nearest(value, known)}"
            )
        return value

    def texts(self, name: str, default: Any = _MISSING) -> Any:
        """The value of a key that is a list of texts."""
        value = self.take(name, list, default)
        if value is not default and not all(isinstance(entry, str) for entry in value):
            raise ConfigError(f"{self.where}: {name!r} must be a list of texts in quotes")
        return value

    def rest(self) -> dict[str, Any]:
        """All that was not taken, for somebody else to check."""
        left, self._entries = self._entries, {}
        return left

    def end(self, also: Iterable[str] = ()) -> None:
        """Raise where something is left that nobody knows."""
        for name in self._entries:
            known = [*self._known, *also]
            hint = nearest(name, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"{self.where}: unknown key {name!r}{hint}")


def _told(value: Any) -> str:
    """A value of a TOML file by its kind: files may quote people's values."""
    for kind in (bool, str, int, float, list, dict):
        if isinstance(value, kind):
            return _WORDS[kind]
    return "a date or time"
