"""audit and analyse: what a table gives away, whoever made it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privmoo.cli.console import say, state, tabulate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["analyse", "audit"]

Separator = Annotated[str | None, typer.Option(help="Between cells; found if not given.")]
Encoding = Annotated[str, typer.Option(help="Of the text.")]


def audit(
    data: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a folder of them.")],
    qi: Annotated[str, typer.Option("--qi", help="Quasi-identifiers, with commas between them.")],
    sensitive: Annotated[
        str, typer.Option("--sensitive", help="Sensitive columns, with commas between them.")
    ] = "",
    scan: Annotated[
        bool,
        typer.Option("--scan", help="Count it without reading it into memory, as folders are."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """Measure privacy and risk of any table: k, diversity, closeness, attacks."""
    from privmoo.audit import audit as measure
    from privmoo.cli.files import listed, read_data
    from privmoo.cli.wording import in_words

    roles: dict[str, Any] = {"quasi_identifiers": listed(qi), "sensitive": listed(sensitive)}
    if scan or data.is_dir():
        from privmoo.data.table import Table

        table: Any = Table.scan(data, separator=separator, encoding=encoding, **roles)
        report = table.audit()
    else:
        frame = read_data(data, separator=separator, encoding=encoding)
        state.data = lambda: frame
        report = measure(frame, **roles)
    if as_json:
        say(json.dumps(report.to_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        say(f"{in_words(report)}\n")
        say(report)


def analyse(
    data: Annotated[
        Path, typer.Argument(help="A job (.toml), or a CSV or Parquet file with --qi.")
    ],
    qi: Annotated[
        str, typer.Option("--qi", help="Quasi-identifiers, with commas between them.")
    ] = "",
    sensitive: Annotated[
        str, typer.Option("--sensitive", help="Sensitive columns, with commas between them.")
    ] = "",
    largest: Annotated[
        int, typer.Option("--largest", min=1, help="Combinations of up to so many columns.")
    ] = 3,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """Rank quasi-identifiers: which one, and which few together, single people out."""
    from privmoo import analysis
    from privmoo.errors import TableError

    frame, names, secrets = _roles(data, qi, sensitive, separator, encoding)
    if len(names) < 2:
        raise TableError("analyse: at least two quasi-identifiers are needed to rank them")
    say(analysis.analyse(frame, names, sensitive=secrets))
    say("\nHow much larger the groups are without a column; the most identifying one first:\n")
    ranked = analysis.leave_one_out(frame, names, sensitive=secrets)
    ranked["left_out"] = ranked["left_out"].replace("", "(none)")
    _show(ranked, ["rank", "left_out", "rise", "groups", "mean_k_records", "uniques"])
    say("\nThe combinations that single out most people:\n")
    _show(analysis.keys(frame, names, max_size=min(largest, len(names)), progress=False).head(10))


def _roles(
    data: Path, qi: str, sensitive: str, separator: str | None, encoding: str
) -> tuple[pd.DataFrame, list[str], list[str]]:
    from privmoo.cli.files import listed, read_data
    from privmoo.errors import TableError

    if data.suffix == ".toml":
        from privmoo.config import Config

        config = Config.load(data)
        state.data = config.frame
        table = config.table
        table.need_records("analyse")
        return table.frame, listed(qi) or table.qi_names, listed(sensitive) or list(table.sensitive)
    frame = read_data(data, separator=separator, encoding=encoding)
    state.data = lambda: frame
    if not qi:
        raise TableError("analyse: name the quasi-identifiers with --qi, or give a job")
    return frame, listed(qi), listed(sensitive)


def _show(frame: pd.DataFrame, columns: list[str] | None = None) -> None:
    chosen = frame if columns is None else frame[columns]
    rows = [[_cell(cell) for cell in row] for row in chosen.itertuples(index=False)]
    tabulate([str(name) for name in chosen.columns], rows)


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
