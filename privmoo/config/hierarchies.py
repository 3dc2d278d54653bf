"""Hierarchies in a TOML file: a kind, the name of a file, or a table with a kind and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from privmoo.config.section import Section
from privmoo.errors import ConfigError, PrivmooError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["KINDS", "hierarchy_of"]

_FILES = (".csv", ".gz")


def _flat(section: Section) -> dict[str, Any]:
    return {"values": section.take("values", list, None)}


def _ordered_arguments(section: Section) -> dict[str, Any]:
    return {
        "values": section.take("values", list, None),
        "step": section.take("step", float, None),
        "start": section.take("start", float, None),
        "labels": section.choice("labels", ("range", "set"), "range"),
    }


def _masking(section: Section) -> dict[str, Any]:
    return {
        "steps": section.take("steps", list, None),
        "symbol": section.take("symbol", str, "*"),
        "side": section.choice("side", ("left", "right"), "right"),
    }


def _dates(section: Section) -> dict[str, Any]:
    orders = ("year first", "day first", "month first")
    return {"order": section.choice("order", orders, "year first")}


def _intervals(section: Section) -> dict[str, Any]:
    return {
        "low": section.take("low", float),
        "high": section.take("high", float),
        "widths": section.take("widths", list, None),
        "edges": section.take("edges", list, None),
        "origin": section.take("origin", float, None),
        "open_ends": section.take("open_ends", bool, False),
    }


def _tree(section: Section) -> dict[str, Any]:
    # A tree is a table of names or, if branches need no names, a list of lists.
    kind = list if isinstance(section.peek("tree"), list) else dict
    return {"spec": section.take("tree", kind), "root": section.take("root", str, "*")}


_ARGUMENTS = {
    "flat": _flat,
    "ordered": _ordered_arguments,
    "masking": _masking,
    "dates": _dates,
    "intervals": _intervals,
    "tree": _tree,
}
KINDS = tuple(_ARGUMENTS)


def hierarchy_of(entry: Any, where: str, folder: Path) -> tuple[Hierarchy, list[Path]]:
    """Return a hierarchy and the files that it was read from.

    Args:
        entry: `"flat"`, `"ordered"`, `"masking"`, `"dates"`, the name of a file, or a table with `kind`
            and the arguments of that builder.
        where: The file and the table, for messages.
        folder: The folder that file names are relative to.

    >>> hierarchy_of({"kind": "ordered", "values": ["low", "high"]}, "job.toml", Path())[0].leaves
    ('low', 'high')
    """
    if isinstance(entry, str) and entry.endswith(_FILES):
        path = folder / entry
        return _build(lambda: Hierarchy.read_csv(path), where), [path]
    entries = {"kind": entry} if isinstance(entry, str) else entry
    if not isinstance(entries, dict):
        raise ConfigError(
            f"{where}: 'hierarchy' must be one of {', '.join(KINDS)}, the name of a .csv file, or a table"
        )
    section = Section(f"{where}, hierarchy", entries)
    kind = section.take("kind", str)
    if kind not in KINDS:
        raise ConfigError(
            f"{where}: hierarchy {kind!r} is not one of {', '.join(KINDS)}, nor a .csv file"
            f"{nearest(kind, KINDS)}"
        )
    arguments = _ARGUMENTS[kind](section)
    section.end()
    return _build(lambda: getattr(Hierarchy, kind)(**arguments), where), []


def _build(builder: Callable[[], Hierarchy], where: str) -> Hierarchy:
    try:
        return builder()
    except PrivmooError as error:
        raise ConfigError.of(error, where) from error
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"{where}: the hierarchy cannot be built ({type(error).__name__}); check its arguments"
        ) from error
