"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Best",
    "Encoding",
    "Force",
    "Job",
    "Knee",
    "Quiet",
    "Results",
    "RunPath",
    "Separator",
    "SolutionNumber",
]

Job = Annotated[Path, typer.Argument(help="The job: a TOML file such as privmoo.toml.")]
Results = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]
RunPath = Annotated[
    Path, typer.Argument(metavar="folder", help="The folder that privmoo run wrote.")
]
Separator = Annotated[
    str | None, typer.Option(help="The character between cells; detected by default.")
]
Encoding = Annotated[str, typer.Option(help="The encoding of the text.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
SolutionNumber = Annotated[int | None, typer.Option("--solution", help="The number of a solution.")]
Best = Annotated[
    str | None,
    typer.Option("--best", help="The best solution by a measure, such as k, within the limits."),
]
Knee = Annotated[bool, typer.Option("--knee", help="The knee of the front, within the limits.")]
