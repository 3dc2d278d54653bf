"""privmoo attack: attack released rows, and people who are not in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import say
from privmoo.cli.options import Encoding, Separator

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["command"]


def _attack(
    release: Annotated[Path, typer.Argument(help="The released rows: a CSV or Parquet file.")],
    original: Annotated[
        Path,
        typer.Option(
            "--original",
            help="The records that the release was made from; best without those left out.",
        ),
    ],
    control: Annotated[
        Path,
        typer.Option(
            "--control",
            help="Records of people who were not in the table, of the same population; best as many.",
        ),
    ],
    qi: Annotated[str, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")],
    sensitive: Annotated[
        str, typer.Option("--sensitive", help="Sensitive columns, separated by commas.")
    ] = "",
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            help="What labels stand for, as COLUMN=FILE with a hierarchy in ARX's format.",
        ),
    ] = None,
    attempts: Annotated[
        int, typer.Option("--attempts", help="The most people or descriptions per attack.")
    ] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of all choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
) -> None:
    """Attack released rows, and people who are not in them in the same way.

    What works better against people in the table is the fault of the release; other attacks may work
    too. The result is for the publisher: it is measured with the original records.
    """
    from privmoo.analysis.attack import attack_rows
    from privmoo.audit import Roles
    from privmoo.cli.inputs import read_data, split_names

    released, people, others = [
        read_data(path, separator=separator, encoding=encoding)
        for path in (release, original, control)
    ]
    table = attack_rows(
        released,
        people,
        others,
        Roles(split_names(qi), split_names(sensitive)),
        meanings=_meanings(hierarchy or ()),
        attempts=attempts,
        seed=seed,
    )
    if as_json:
        say(json.dumps(table.to_dict("records"), indent=2, ensure_ascii=False))
    else:
        _say_outcomes(table)
        _say_crowd(len(others), len(people))


def _say_crowd(n_control: int, n_people: int) -> None:
    """Say among how many people singling out was counted, where these are not all."""
    if n_control < n_people:
        say(
            f"\nSingling out was counted among {n_control:,} people of each file, as many as there "
            "are control people. With more of them it is counted in a larger crowd."
        )


def _meanings(entries: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return what the labels of columns stand for, from entries such as `age=age.csv`."""
    from privmoo.analysis.attack import meanings_of
    from privmoo.errors import AttackError
    from privmoo.hierarchy import Hierarchy

    meanings = {}
    for entry in entries:
        column, _, path = entry.partition("=")
        if not path:
            raise AttackError(f"hierarchy: must be COLUMN=FILE, got {entry!r}")
        meanings[column.strip()] = meanings_of(Hierarchy.read_csv(path))
    return meanings


def _say_outcomes(table: pd.DataFrame) -> None:
    """Print a line for every attack, and what follows from all of them."""
    width = max(len(name) for name in table["attack"])
    heads = f"{'attack':<{width}}  {'success':>8}  {'control':>8}  {'gain':>9}"
    say(f"{heads}  interval (about 95 % for all of them)")
    for line in table.to_dict("records"):
        say(
            f"{line['attack']:<{width}}  {line['success']:8.1%}  {line['control']:8.1%}  "
            f"{100 * line['gain']:+9.1f}  {100 * line['low']:+.1f} to {100 * line['high']:+.1f} points"
        )
    helped = table["attack"][table["low"] > 0].tolist()
    if helped:
        say(f"\nThe release helps these attacks against people in the table: {', '.join(helped)}.")
    else:
        say(
            "\nNone of these attacks works more often against people in the table, beyond chance. Other "
            "attacks may."
        )


command = Command(_attack, order=65)
