"""Columns as a TOML file states them: a role, or a table with role, hierarchy and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privmoo.config.hierarchies import hierarchy_of
from privmoo.config.section import Section
from privmoo.data.columns import QuasiIdentifier
from privmoo.errors import ConfigError, PrivmooError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["ROLES", "Column", "columns_of"]

ROLES = ("identifying", "quasi-identifying", "sensitive", "insensitive")
_OF_QUASI_IDENTIFIERS = ("weight", "min_level", "max_level", "fixed_cuts")


@dataclass(frozen=True)
class Column:
    """What the file says of one column.

    Attributes:
        name: The column.
        role: One of `ROLES`.
        hierarchy: How its values are generalised, or, of a sensitive column, which are alike.
        qi: The full description of a quasi-identifier.
        files: Where the hierarchy was read.
    """

    name: str
    role: str
    hierarchy: Hierarchy | None = None
    qi: QuasiIdentifier | None = None
    files: tuple[Path, ...] = ()


def columns_of(given: Mapping[str, Any], file: str, folder: Path) -> dict[str, Column]:
    """The table [columns].

    >>> list(columns_of({"age": {"role": "quasi-identifying"}}, "job.toml", Path()))
    ['age']
    """
    found = {name: _column(name, entry, file, folder) for name, entry in given.items()}
    if not any(column.role == "quasi-identifying" for column in found.values()):
        raise ConfigError(
            f"{file}, [columns]: none is quasi-identifying; name the columns that an attacker may know"
        )
    return found


def _column(name: str, given: Any, file: str, folder: Path) -> Column:
    where = f"{file}, [columns], {name!r}"
    if isinstance(given, str):
        given = {"role": given}
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: must be a role in quotes ({', '.join(ROLES)}) or a table")
    section = Section(where, given)
    role = section.choice("role", ROLES)
    stated = section.peek("hierarchy")
    section.take("hierarchy", type(stated) if isinstance(stated, dict) else str, None)
    if role in ("identifying", "insensitive") and stated is not None:
        raise ConfigError(f"{where}: an {role} column has no hierarchy, as it is not generalised")
    bounds: dict[str, Any] = {}
    if role == "quasi-identifying":
        kinds = {"weight": float, "min_level": int, "max_level": int, "fixed_cuts": list}
        bounds = {
            key: section.take(key, kind)
            for key, kind in kinds.items()
            if section.peek(key) is not None
        }
    for key in section.rest():
        known = ["role", "hierarchy", *_OF_QUASI_IDENTIFIERS]
        if key in _OF_QUASI_IDENTIFIERS:
            raise ConfigError(f"{where}: {key!r} is for quasi-identifying columns")
        raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, known)}")
    hierarchy: Hierarchy | None = None
    files: list[Path] = []
    if stated is not None:
        hierarchy, files = hierarchy_of(stated, where, folder)
    qi = None
    if role == "quasi-identifying":
        try:
            qi = QuasiIdentifier(hierarchy=hierarchy, **bounds)
        except PrivmooError as error:
            raise ConfigError(f"{where}: {error}") from error
    return Column(name, role, hierarchy, qi, tuple(files))
