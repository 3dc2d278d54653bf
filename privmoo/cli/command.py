"""Command: one verb of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import typer

__all__ = ["Command"]


@dataclass(frozen=True)
class Command:
    """A verb of the command line.

    Attributes:
        function: The function, with typer's arguments and options; its docstring is the help.
        order: Its position in the list of `privmoo --help`.
        limits: Whether it takes limits such as `--max-loss 0.25`, which are named after measures and
            therefore unknown to typer.
    """

    function: Callable[..., None]
    order: int
    limits: bool = False

    def add_to(self, app: typer.Typer, verb: str) -> None:
        """Add the command to the command line.

        Args:
            app: The command line.
            verb: The name of the command.
        """
        unknown = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(verb, context_settings=unknown if self.limits else None)(self.function)
