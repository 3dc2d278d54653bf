"""datasets, plugins, demo: what there is to work with, and one job done on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.console import command, complain, say, tabulate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["datasets", "demo", "plugins"]

_BUNDLED = {
    "adult": ("30,162", "census records of 1994 (UCI Adult, training file, complete records)"),
    "german-credit": ("1,000", "applicants for credit (UCI Statlog German credit)"),
    "sparcs-like": ("1,000", "invented hospital discharges with the columns of New York's SPARCS"),
}


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "demo"
    ),
    generations: Annotated[int, typer.Option(min=1, help="Of 200 candidates each.")] = 250,
    max_loss: Annotated[
        float, typer.Option(min=0, max=1, help="Accepted information loss, 0 to 1.")
    ] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 7,
) -> None:
    """Anonymise the bundled census records: the whole way in a minute."""
    from privmoo.cli.demo import demonstrate

    say("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    files = demonstrate(out, generations=generations, max_loss=max_loss, seed=seed)
    say("\nWritten:")
    for path in files:
        say(f"  {path}  ({path.stat().st_size:,} bytes)")


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="One to write; all are listed without it.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """List the bundled data, or write one as CSV to try things with."""
    from privmoo._util.files import replacing

    if name is None:
        tabulate(["name", "records", "what it is"], [(n, *facts) for n, facts in _BUNDLED.items()])
        say("\nTo write one: privmoo datasets adult -o adult.csv")
        return
    frame = _frame(name)
    target = Path(f"{name}.csv") if out is None else out
    with replacing(target, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"Written: {target} ({len(frame):,} records). Next: {command('init', target)}")


def plugins() -> None:
    """List what other packages bring: measures, problems, operators, baselines, data."""
    import warnings

    from privmoo.registry import KINDS, PluginWarning
    from privmoo.registry import plugins as find

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", PluginWarning)
        found = find()
    for warning in heard:
        complain(warning.message)
    if found.empty:
        groups = ", ".join(f"privmoo.{kind}" for kind in KINDS)
        say(f"No package brings any; it would by the entry points {groups}.")
        return
    columns = ["kind", "name", "package", "version"]
    state_of = ["cannot be used" if error else "works" for error in found["error"]]
    rows = [
        [*map(str, row), works]
        for row, works in zip(found[columns].itertuples(index=False), state_of, strict=True)
    ]
    tabulate([*columns, "state"], rows)


def _frame(name: str) -> pd.DataFrame:
    """The records of a bundled data set."""
    from privmoo import datasets
    from privmoo.errors import TableError, nearest

    if name not in _BUNDLED:
        raise TableError(
            f"datasets: {name!r} is none of {', '.join(_BUNDLED)}{nearest(name, _BUNDLED)}"
        )
    if name == "adult":
        return datasets.adult("dewri").frame
    if name == "german-credit":
        return datasets.german_credit_frame()
    return datasets.sparcs_like(1000, seed=0)
