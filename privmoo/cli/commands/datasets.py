"""privmoo datasets: list the data sets, or write one as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmoo import registry
from privmoo.cli.command import Command
from privmoo.cli.console import command_line, print_table, say
from privmoo.cli.options import Force

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command"]

_FACTS = {
    "adult": ("30,162", "census records of 1994 (UCI Adult, training file, complete records)"),
    "german-credit": ("1,000", "applicants for credit (UCI Statlog German credit)"),
    "sparcs-like": ("1,000", "invented hospital discharges with the columns of New York's SPARCS"),
}
_PLUGIN = ("", "from a plug-in")


def _datasets(
    name: Annotated[
        str | None, typer.Argument(help="The data to write; without a name, all are listed.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    force: Force = False,
) -> None:
    """List the data sets that come with privmoo or a plug-in, or write one as CSV."""
    from privmoo._util.files import replacing

    if name is None:
        rows = [(key, *_FACTS.get(key, _PLUGIN)) for key in _names()]
        print_table(["name", "records", "what it is"], rows)
        say(f"\nTo write one: {command_line('datasets', 'adult', '-o', 'adult.csv')}")
        return
    frame = _load(name)
    target = Path(f"{name}.csv") if out is None else out
    with replacing(target, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"Written: {target} ({len(frame):,} records). Next: {command_line('init', target)}")


def _names() -> dict[str, str]:
    """Return the data sets: names to type, and names in the registry."""
    return {name.replace("_", "-"): name for name in registry.names("datasets")}


def _load(name: str) -> pd.DataFrame:
    """Return the records of a data set."""
    from privmoo.errors import TableError, nearest

    names = _names()
    if name not in names:
        raise TableError(
            f"datasets: {name!r} is not one of {', '.join(names)}{nearest(name, names)}"
        )
    table: Any = registry.load("datasets", names[name])()
    frame: pd.DataFrame = getattr(table, "frame", table)
    return frame


command = Command(_datasets, order=100)
