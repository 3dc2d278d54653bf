"""privmoo init: look at a file of records, and write a first job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, say
from privmoo.cli.options import Encoding, Force, Separator

__all__ = ["command"]


def _init(
    data: Annotated[Path, typer.Argument(help="The records: a CSV or Parquet file.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the job; by default the folder of the data."),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = "utf-8-sig",
    force: Force = False,
) -> None:
    """Look at a file and propose a job.

    The job, privmoo.toml, has comments that give the reasons for the guessed roles and hierarchies.
    """
    from privmoo.cli.inputs import read_data
    from privmoo.guessing import guess

    frame = read_data(data, separator=separator, encoding=encoding)
    proposal = guess(frame)
    decimal = "," if proposal.decimal_commas and data.suffix != ".parquet" else None
    if decimal:
        proposal = guess(read_data(data, separator=separator, encoding=encoding, decimal=decimal))
    say(proposal)
    if decimal:
        say("\nNumbers have decimal commas; releases have decimal points.")
    if proposal.note:
        say(f"\n{proposal.note}")
    folder = data.parent if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    files = proposal.write(
        folder, data, force=force, separator=separator, encoding=encoding, decimal=decimal
    )
    job = next(path for path in files if path.suffix == ".toml")
    say(f"\nWritten: {job}" + (f" and {len(files) - 1} hierarchies" if len(files) > 1 else ""))
    check = command_line("check", job)
    if proposal.names("quasi-identifying"):
        say(f"The roles are guesses: read the file and decide. Next: {check}")
    else:
        say(
            "No column looks as if an attacker knew it. Give at least one column the role "
            f"quasi-identifying in {job}. Then: {check}"
        )


command = Command(_init, order=10)
