"""Columns in a TOML file: a role, or a table with role, hierarchy and bounds."""

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
    """The entry of one column in a file.

    Attributes:
        name: The column.
        role: One of `ROLES`.
        hierarchy: The hierarchy by which its values are generalised; for a sensitive column, it says which
            values are similar.
        qi: The full description of a quasi-identifier.
        files: The files that the hierarchy was read from.
    """

    name: str
    role: str
    hierarchy: Hierarchy | None = None
    qi: QuasiIdentifier | None = None
    files: tuple[Path, ...] = ()


def columns_of(entries: Mapping[str, Any], file: str, folder: Path) -> dict[str, Column]:
    """Read the table [columns].

    Args:
        entries: The entries of the table.
        file: The name of the file, for messages.
        folder: The folder that file names are relative to.

    >>> list(columns_of({"age": {"role": "quasi-identifying"}}, "job.toml", Path()))
    ['age']
    """
    columns = {name: _column(name, entry, file, folder) for name, entry in entries.items()}
    if not any(column.role == "quasi-identifying" for column in columns.values()):
        raise ConfigError(
            f"{file}, [columns]: none is quasi-identifying; name the columns that an attacker may know"
        )
    return columns


def _column(name: str, entry: Any, file: str, folder: Path) -> Column:
    where = f"{file}, [columns], {name!r}"
    if isinstance(entry, str):
        entry = {"role": entry}
    if not isinstance(entry, dict):
        raise ConfigError(f"{where}: must be a role in quotes ({', '.join(ROLES)}) or a table")
    section = Section(where, entry)
    role = section.choice("role", ROLES)
    hierarchy_entry = section.peek("hierarchy")
    section.take(
        "hierarchy", type(hierarchy_entry) if isinstance(hierarchy_entry, dict) else str, None
    )
    if role in ("identifying", "insensitive") and hierarchy_entry is not None:
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
        if key in _OF_QUASI_IDENTIFIERS:
            raise ConfigError(f"{where}: {key!r} is for quasi-identifying columns")
        keys = ["role", "hierarchy", *_OF_QUASI_IDENTIFIERS]
        raise ConfigError(f"{where}: unknown key {key!r}{nearest(key, keys)}")
    hierarchy: Hierarchy | None = None
    files: list[Path] = []
    if hierarchy_entry is not None:
        hierarchy, files = hierarchy_of(hierarchy_entry, where, folder)
    qi = None
    if role == "quasi-identifying":
        try:
            qi = QuasiIdentifier(hierarchy=hierarchy, **bounds)
        except PrivmooError as error:
            raise ConfigError.of(error, where) from error
    return Column(name, role, hierarchy, qi, tuple(files))
