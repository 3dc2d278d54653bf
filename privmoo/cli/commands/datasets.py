"""privmoo datasets: list the bundled data, or write one as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, print_table, say
from privmoo.cli.options import Force

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command"]

_BUNDLED = {
    "adult": ("30,162", "census records of 1994 (UCI Adult, training file, complete records)"),
    "german-credit": ("1,000", "applicants for credit (UCI Statlog German credit)"),
    "sparcs-like": ("1,000", "invented hospital discharges with the columns of New York's SPARCS"),
}


def _datasets(
    name: Annotated[
        str | None, typer.Argument(help="The data to write; without a name, all are listed.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    force: Force = False,
) -> None:
    """List the bundled data, or write one of them as CSV."""
    from privmoo._util.files import replacing

    if name is None:
        rows = [(key, *facts) for key, facts in _BUNDLED.items()]
        print_table(["name", "records", "what it is"], rows)
        say(f"\nTo write one: {command_line('datasets', 'adult', '-o', 'adult.csv')}")
        return
    frame = _load(name)
    target = Path(f"{name}.csv") if out is None else out
    with replacing(target, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"Written: {target} ({len(frame):,} records). Next: {command_line('init', target)}")


def _load(name: str) -> pd.DataFrame:
    """Return the records of a bundled data set."""
    from privmoo import datasets
    from privmoo.errors import TableError, nearest

    if name not in _BUNDLED:
        raise TableError(
            f"datasets: {name!r} is not one of {', '.join(_BUNDLED)}{nearest(name, _BUNDLED)}"
        )
    if name == "adult":
        return datasets.adult("dewri").frame
    if name == "german-credit":
        return datasets.german_credit_frame()
    return datasets.sparcs_like(1000, seed=0)


command = Command(_datasets, order=100)
