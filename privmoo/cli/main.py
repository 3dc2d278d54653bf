"""The command `privmoo`: its verbs, and how errors become sentences and exit codes."""

from __future__ import annotations

import typer

__all__ = ["app", "main"]

app = typer.Typer(no_args_is_help=True, add_completion=False)


def main() -> None:
    """Run the command line."""
    app()
