"""Hierarchies as a TOML file states them: a word, a file, or a table with its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from privmoo.config.section import Section
from privmoo.errors import ConfigError, PrivmooError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["KINDS", "hierarchy_of"]

KINDS = ("flat", "ordered", "masking", "intervals", "tree")
_FILES = (".csv", ".gz")


def hierarchy_of(given: Any, where: str, folder: Path) -> tuple[Hierarchy, list[Path]]:
    """A hierarchy, and the files it was read from.

    Args:
        given: `"flat"`, `"ordered"`, `"masking"`, the name of a file, or a table with `kind` and the
            arguments of that builder.
        where: For messages.
        folder: What names of files are relative to.

    >>> hierarchy_of({"kind": "ordered", "values": ["low", "high"]}, "job.toml", Path())[0].leaves
    ('low', 'high')
    """
    if isinstance(given, str) and given.endswith(_FILES):
        path = folder / given
        return _made(lambda: Hierarchy.read_csv(path), where), [path]
    entries = {"kind": given} if isinstance(given, str) else given
    if not isinstance(entries, dict):
        raise ConfigError(
            f"{where}: 'hierarchy' must be one of {', '.join(KINDS)}, the name of a .csv file, or a table"
        )
    section = Section(f"{where}, hierarchy", entries)
    kind = section.take("kind", str)
    if kind not in KINDS:
        raise ConfigError(
            f"{where}: hierarchy {kind!r} is none of {', '.join(KINDS)}, and no .csv file"
            f"{nearest(kind, KINDS)}"
        )
    arguments = _ARGUMENTS[kind](section)
    section.end()
    return _made(lambda: getattr(Hierarchy, kind)(**arguments), where), []


def _flat(section: Section) -> dict[str, Any]:
    return {"values": section.take("values", list, None)}


def _ordered(section: Section) -> dict[str, Any]:
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
    # A tree is a table of names or, where branches need none, a list of lists.
    kind = list if isinstance(section.peek("tree"), list) else dict
    return {"spec": section.take("tree", kind), "root": section.take("root", str, "*")}


_ARGUMENTS = {
    "flat": _flat,
    "ordered": _ordered,
    "masking": _masking,
    "intervals": _intervals,
    "tree": _tree,
}


def _made(make: Any, where: str) -> Hierarchy:
    try:
        made: Hierarchy = make()
    except PrivmooError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"{where}: the hierarchy cannot be made ({type(error).__name__}); look at its arguments"
        ) from error
    return made
