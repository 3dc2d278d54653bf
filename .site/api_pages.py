"""API pages: a block such as ```` ```{names} measures/ ```` becomes the documentation of its names."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from sphinx.application import Sphinx

import privmoo as pm

_BLOCK = re.compile(r"^```\{names\} (.+)\n```$", re.MULTILINE)
_CODE = re.compile(r"(``.*?``|`.*?`)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _expand)
    app.connect("autodoc-process-docstring", _escape_bars)
    return {"parallel_read_safe": True}


def _expand(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace every block of names by the documentation of these objects."""
    source[0] = _BLOCK.sub(lambda match: _documentation(match[1].split()), source[0])


def _documentation(words: list[str]) -> str:
    lines = [line for word in words for name in _names(word) for line in _entry(name)]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _names(word: str) -> list[str]:
    """Return the names that a word stands for: `room/` for all that the room exports."""
    room = word.removesuffix("/")
    if room == word:
        return [word]
    module = importlib.import_module(f"privmoo.{room}")
    return [
        name if getattr(pm, name, None) is getattr(module, name) else f"{room}.{name}"
        for name in module.__all__
    ]


def _entry(name: str) -> list[str]:
    """Return the directives that document one name."""
    documented: Any = pm
    for part in name.split("."):
        documented = getattr(documented, part)
    if inspect.isclass(documented):
        return ["", f".. autoclass:: privmoo.{name}", "   :members:"]
    kind = "autofunction" if callable(documented) else "autodata"
    return ["", f".. {kind}:: privmoo.{name}"]


def _escape_bars(app: Sphinx, *place: Any) -> None:
    """Escape the bars of |g|, which reStructuredText would take for a substitution."""
    lines: list[str] = place[-1]
    for i, line in enumerate(lines):
        parts = _CODE.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)
