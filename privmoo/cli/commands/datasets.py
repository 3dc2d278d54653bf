"""privmoo datasets: list the data sets, or write one as CSV."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, print_table, say
from privmoo.cli.options import Force

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command"]


def _datasets(
    name: Annotated[
        str | None, typer.Argument(help="The data set to write; without a name, all are listed.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    force: Force = False,
) -> None:
    """List the data sets, including those of plug-ins, or write one as CSV."""
    from privmoo._util.files import replacing

    if name is None:
        rows = [(name, _first_sentence(loader)) for name, loader in _loaders().items()]
        print_table(["name", "description"], rows)
        say(f"\nTo write one: {command_line('datasets', 'adult', '-o', 'adult.csv')}")
        return
    frame = _load(name)
    target = Path(f"{name}.csv") if out is None else out
    with replacing(target, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"Written: {target} ({len(frame):,} records). Next: {command_line('init', target)}")


def _loaders() -> dict[str, Callable[[], Any]]:
    """Return the functions that load data, by their names as people type them."""
    from privmoo import registry
    from privmoo.errors import PluginError

    loaders = {}
    for name in registry.names("datasets"):
        with contextlib.suppress(PluginError):  # `privmoo plugins` says what is wrong with it
            loaders[name.replace("_", "-")] = registry.load("datasets", name)
    return loaders


def _first_sentence(loader: Callable[[], Any]) -> str:
    return (inspect.getdoc(loader) or "").partition("\n")[0]


def _load(name: str) -> pd.DataFrame:
    """Return the records of a data set, built-in or from a plug-in."""
    from privmoo.data.table import Table
    from privmoo.errors import TableError, nearest

    loaders = _loaders()
    if name not in loaders:
        raise TableError(
            f"datasets: {name!r} is not one of {', '.join(loaders)}{nearest(name, loaders)}"
        )
    data: Table | pd.DataFrame = loaders[name]()
    return data.frame if isinstance(data, Table) else data


command = Command(_datasets, order=100)
