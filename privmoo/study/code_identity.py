"""Code identity: descriptions that change when a user's functions, operators, problems or measures change.

A study knows a finished run again by them. What comes with a package is known by the package's version.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from pymoo.core.problem import Problem

from privmoo._util.digest import content_digest
from privmoo.problem import AnonymizationProblem
from privmoo.search.algorithms import described

__all__ = ["described_function", "foreign_code", "problem_code"]

_VERSIONED = ("pymoo", "privmoo", "numpy", "scipy", "builtins")


def described_function(function: Any, outer: tuple[Any, ...] = ()) -> dict[str, Any]:
    """Describe a function by its code and what is bound to it, but not by what it calls.

    Args:
        function: The function.
        outer: The functions it is bound to, so that one that calls itself comes to an end.
    """
    outer = (*outer, function)
    if isinstance(function, partial):
        return {
            **described_function(function.func, outer),
            "arguments": [_content(value, outer) for value in function.args],
            "options": {key: _content(value, outer) for key, value in function.keywords.items()},
        }
    inner = getattr(function, "__wrapped__", function)
    defaults = getattr(inner, "__defaults__", None) or ()
    return {
        "function": str(getattr(inner, "__qualname__", type(inner).__qualname__)),
        "code": content_digest(inner) if hasattr(inner, "__code__") else described(inner),
        "defaults": [_content(value, outer) for value in defaults],
        "closure": [_in_cell(cell, outer) for cell in getattr(inner, "__closure__", None) or ()],
    }


def _in_cell(cell: Any, outer: tuple[Any, ...]) -> Any:
    try:
        return _content(cell.cell_contents, outer)
    except ValueError:  # nothing is bound yet
        return None


def foreign_code(value: Any) -> list[Any]:
    """Describe operators and functions of other packages by their code and private attributes.

    Args:
        value: An algorithm and everything it refers to.
    """
    descriptions: list[Any] = []
    visited_ids: set[int] = set()

    def _visit(part: Any, depth: int) -> None:
        if (
            id(part) in visited_ids
            or depth < 0
            or isinstance(part, str | bytes | int | float | type(None))
        ):
            return
        visited_ids.add(id(part))
        if isinstance(part, Mapping | list | tuple):
            for entry in part.values() if isinstance(part, Mapping) else part:
                _visit(entry, depth - 1)
        elif isinstance(part, FunctionType | partial):
            if not _is_versioned(part):
                descriptions.append(described_function(part))
        elif not isinstance(part, np.ndarray | Problem | type) and hasattr(part, "__dict__"):
            attributes = sorted(vars(part).items())
            if not _is_versioned(type(part)):
                private_attributes = {
                    key: described(v) for key, v in attributes if key.startswith("_")
                }
                descriptions.append({"hidden": private_attributes, "code": _code_of(type(part))})
            for _, entry in attributes:
                _visit(entry, depth - 1)

    _visit(value, 5)
    return descriptions


def problem_code(problem: AnonymizationProblem) -> list[Any]:
    """Return the code of the classes of a problem and its measures that are not privmoo's."""
    classes = [type(problem), *(type(m) for m in problem.measures)]
    return [_code_of(cls) for cls in classes if not _is_versioned(cls)]


def _is_versioned(thing: Any) -> bool:
    return (getattr(thing, "__module__", None) or "").partition(".")[0] in _VERSIONED


def _code_of(cls: type) -> dict[str, Any]:
    """Return the methods and plain attributes that a class and its foreign parents define."""
    parents = [parent for parent in cls.__mro__ if not _is_versioned(parent)]
    definitions = {
        key: v for parent in reversed(parents) for key, v in vars(parent).items() if key[:2] != "__"
    }
    definitions |= {
        key: vars(parent)[key]
        for parent in reversed(parents)
        for key in ("__init__", "__call__")
        if key in vars(parent)
    }
    inner = {key: getattr(v, "__func__", getattr(v, "fget", v)) for key, v in definitions.items()}
    return {key: _content(v) for key, v in sorted(inner.items())}


def _content(value: Any, outer: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _content(entry, outer) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_content(entry, outer) for entry in value]
    if not hasattr(value, "__code__"):
        return described(value)
    return "itself" if any(value is f for f in outer) else described_function(value, outer)
