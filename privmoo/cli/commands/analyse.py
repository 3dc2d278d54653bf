"""privmoo analyse: rank the quasi-identifiers of a table by how much they identify."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import print_table, say
from privmoo.cli.options import Encoding, Separator

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command"]


@dataclass(frozen=True)
class _Records:
    """Records, and the roles of their columns."""

    frame: pd.DataFrame
    quasi_identifiers: list[str]
    sensitive: list[str]


def _analyse(
    data: Annotated[
        Path, typer.Argument(help="A job (.toml), or a CSV or Parquet file with --qi.")
    ],
    qi: Annotated[str, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")] = "",
    sensitive: Annotated[
        str, typer.Option("--sensitive", help="Sensitive columns, separated by commas.")
    ] = "",
    largest: Annotated[
        int,
        typer.Option("--largest", min=1, help="The largest number of columns in a combination."),
    ] = 3,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """Find the columns that, alone or together, single people out."""
    from privmoo import analysis
    from privmoo.cli.inputs import read_data, split_names
    from privmoo.errors import TableError

    names, sensitive_names = split_names(qi), split_names(sensitive)
    if data.suffix == ".toml":
        records = _of_job(data, names, sensitive_names)
    else:
        frame = read_data(data, separator=separator, encoding=encoding)
        if not names:
            raise TableError("analyse: name the quasi-identifiers with --qi, or give a job")
        records = _Records(frame, names, sensitive_names)
    frame, names = records.frame, records.quasi_identifiers
    if len(names) < 2:
        raise TableError("analyse: at least two quasi-identifiers are needed to rank them")
    say(analysis.analyse(frame, names, sensitive=records.sensitive))
    say("\nHow much larger the groups become without each column, most identifying first:\n")
    ranking = analysis.leave_one_out(frame, names, sensitive=records.sensitive)
    ranking["left_out"] = ranking["left_out"].replace("", "(none)")
    _print_frame(ranking[["rank", "left_out", "rise", "groups", "mean_k_records", "uniques"]])
    say("\nThe combinations that single out the most people:\n")
    size = min(largest, len(names))
    _print_frame(analysis.keys(frame, names, max_size=size, progress=False).head(10))


def _of_job(path: Path, names: list[str], sensitive_names: list[str]) -> _Records:
    """Read the records and roles of a job; names that are given replace those of the job."""
    from privmoo.cli.inputs import load_job

    table = load_job(path).table
    table.need_records("analyse")
    return _Records(table.frame, names or table.qi_names, sensitive_names or list(table.sensitive))


def _print_frame(frame: pd.DataFrame) -> None:
    rows = [[_cell(cell) for cell in row] for row in frame.itertuples(index=False)]
    print_table([str(name) for name in frame.columns], rows)


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


command = Command(_analyse, order=70)
