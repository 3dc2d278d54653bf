"""privmoo plugins: list the objects that other packages add."""

from __future__ import annotations

import warnings

from privmoo.cli.command import Command
from privmoo.cli.console import complain, print_table, say

__all__ = ["command"]


def _plugins() -> None:
    """List the measures, problems and other objects that plug-ins add."""
    from privmoo.registry import KINDS, PluginWarning, plugins

    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always", PluginWarning)
        table = plugins()
    for warning in records:
        complain(warning.message)
    if table.empty:
        groups = ", ".join(f"privmoo.{kind}" for kind in KINDS)
        say(f"No plug-ins are installed. A package adds them with the entry points {groups}.")
        return
    columns = ["kind", "name", "package", "version"]
    states = ["cannot be used" if error else "works" for error in table["error"]]
    rows = [
        [*map(str, row), state]
        for row, state in zip(table[columns].itertuples(index=False), states, strict=True)
    ]
    print_table([*columns, "state"], rows)


command = Command(_plugins, order=110)
