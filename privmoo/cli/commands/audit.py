"""privmoo audit: measure the privacy and risk of any table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import say
from privmoo.cli.options import Encoding, Separator

__all__ = ["command"]


def _audit(
    data: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a folder of them.")],
    qi: Annotated[str, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")],
    sensitive: Annotated[
        str, typer.Option("--sensitive", help="Sensitive columns, separated by commas.")
    ] = "",
    scan: Annotated[
        bool,
        typer.Option("--scan", help="Count on the disk instead of in memory, as for folders."),
    ] = False,
    missing_as_value: Annotated[
        bool,
        typer.Option(
            "--missing-as-value",
            help="Count a missing sensitive value as a value of its own, which adds diversity.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """Measure the privacy and risk of any table.

    The report has k, the diversity and closeness of sensitive columns, and the success of attacks.
    """
    from privmoo.audit import audit
    from privmoo.cli.inputs import read_data, split_names
    from privmoo.cli.risk import describe_risk

    roles: dict[str, Any] = {
        "quasi_identifiers": split_names(qi),
        "sensitive": split_names(sensitive),
        "missing": "value" if missing_as_value else "unknown",
    }
    if scan or data.is_dir():
        from privmoo.data.table import Table

        table: Any = Table.scan(data, separator=separator, encoding=encoding, **roles)
        report = table.audit()
    else:
        report = audit(read_data(data, separator=separator, encoding=encoding), **roles)
    if as_json:
        say(json.dumps(report.to_dict(), indent=2, ensure_ascii=False, default=str))
    else:
        say(f"{describe_risk(report)}\n")
        say(report)


command = Command(_audit, order=60)
