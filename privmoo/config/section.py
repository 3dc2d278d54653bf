"""Section: one table of a TOML file, which is read key by key; unknown keys are mistakes."""

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
    """The entries of a table together with their place.

    Args:
        where: The file and the table, for messages.
        entries: The entries of the table.

    >>> section = Section("job.toml, [search]", {"sed": 1})
    >>> section.take("seed", int, None)
    >>> section.end()
    Traceback (most recent call last):
    privmoo.errors.ConfigError: job.toml, [search]: unknown key 'sed'; did you mean 'seed'?
    """

    def __init__(self, where: str, entries: Mapping[str, Any]) -> None:
        self.where = where
        self._entries = dict(entries)
        self._keys: list[str] = []

    def take(self, name: str, kind: type, default: Any = _MISSING) -> Any:
        """Remove and return the value of a key.

        Args:
            name: The key.
            kind: The type that the value must have.
            default: The value of a missing key; without it, a missing key is an error.
        """
        self._keys.append(name)
        if name not in self._entries:
            if default is _MISSING:
                raise ConfigError(f"{self.where}: {name!r} is missing; it must be {_WORDS[kind]}")
            return default
        value = self._entries.pop(name)
        fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise ConfigError(
                f"{self.where}: {name!r} must be {_WORDS[kind]}, got {_kind_of(value)}"
            )
        return value

    def peek(self, name: str) -> Any:
        """Return the value of a key without removing it; None if there is none."""
        return self._entries.get(name)

    def choice(self, name: str, options: Iterable[str], default: Any = _MISSING) -> Any:
        """Remove and return the value of a key that is one of several words.

        Args:
            name: The key.
            options: The words.
            default: The value of a missing key; without it, a missing key is an error.
        """
        value = self.take(name, str, default)
        words = list(options)
        if value is not default and value not in words:
            raise ConfigError(
                f"{self.where}: {name!r} is {value!r}, which is not one of {', '.join(words)}"
                f"{nearest(value, words)}"
            )
        return value

    def texts(self, name: str, default: Any = _MISSING) -> Any:
        """Remove and return the value of a key that is a list of texts.

        Args:
            name: The key.
            default: The value of a missing key; without it, a missing key is an error.
        """
        value = self.take(name, list, default)
        if value is not default and not all(isinstance(entry, str) for entry in value):
            raise ConfigError(f"{self.where}: {name!r} must be a list of texts in quotes")
        return value

    def rest(self) -> dict[str, Any]:
        """Remove and return all remaining entries; the caller checks them."""
        remaining, self._entries = self._entries, {}
        return remaining

    def end(self, also: Iterable[str] = ()) -> None:
        """Raise an error if any entries are left.

        Args:
            also: Further keys that are allowed.
        """
        for name in self._entries:
            keys = [*self._keys, *also]
            suggestion = nearest(name, keys) or f"; there are {', '.join(keys)}"
            raise ConfigError(f"{self.where}: unknown key {name!r}{suggestion}")


def _kind_of(value: Any) -> str:
    """Return the kind of a value in words; the value itself may be a person's."""
    for kind in (bool, str, int, float, list, dict):
        if isinstance(value, kind):
            return _WORDS[kind]
    return "a date or time"
