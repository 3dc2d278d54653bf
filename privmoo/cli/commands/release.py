"""privmoo release: write the table of a solution with its certificate."""

from __future__ import annotations

import datetime
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import complain, say
from privmoo.cli.options import Best, Force, Knee, RunPath, SolutionNumber

if TYPE_CHECKING:
    from privmoo.front import Solution

__all__ = ["command"]


@dataclass(frozen=True)
class _Writing:
    """How a release is written."""

    force: bool
    spreadsheets: bool
    allow_unique: bool


def _release(
    context: typer.Context,
    out: RunPath,
    to: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv or .parquet.")],
    solution: SolutionNumber = None,
    best: Best = None,
    knee: Knee = False,
    csv_safe: Annotated[
        bool,
        typer.Option("--csv-safe", help="Put an apostrophe before text that spreadsheets execute."),
    ] = False,
    allow_unique: Annotated[
        bool,
        typer.Option(
            "--allow-unique", help="Write it even if somebody is alone in a group (k = 1)."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Write the table of a solution and its certificate.

    Both are audited before they appear. Limits are as for privmoo choose. A table in which somebody is
    alone in a group (k = 1) is only written with --allow-unique.
    """
    from privmoo.cli.run_folder import RunFolder
    from privmoo.cli.selection import Selection
    from privmoo.errors import ProblemError

    folder = RunFolder(out)
    front = folder.front(target=to)
    selection = Selection.parse(front, context.args, solution=solution, best=best, knee=knee)
    if selection.is_open:
        raise ProblemError("release: choose a solution with --solution, --best or --knee")
    number = selection.number()
    earlier = folder.notes_on_earlier_releases(number)
    writing = _Writing(force, csv_safe, allow_unique)
    summary, notes, files = _write(front[number], number, to, writing)
    for note in [*notes, *earlier]:
        complain(f"note: {note}")
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    folder.remember_release(
        {"solution": number, "front": folder.front_hash, "file": to.name, "created": now}
    )
    say(summary)
    say(f"Written: {', '.join(str(path) for path in files)}")


def _write(
    chosen: Solution, number: int, target: Path, writing: _Writing
) -> tuple[str, list[str], list[Path]]:
    """Write a release; return a summary, notes for its publisher, and the files."""
    from privmoo.errors import ReleaseError
    from privmoo.release.release import ReleaseWarning, in_a_line

    def check(k: int) -> None:
        if k < 2 and not writing.allow_unique:
            raise ReleaseError(
                f"release: in solution {number} somebody is alone in a group (k = 1) and can be singled "
                "out; choose a solution with --min-k 2 or more, or add --allow-unique"
            )

    options = {"force": writing.force, "spreadsheets": writing.spreadsheets}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # the certificate has them too
        if chosen.table.has_records:
            release = chosen.release()
            check(int(release.certificate.privacy["k"]))
            files = release.write(target, **options)
            return str(release), list(release.certificate.warnings), files
        check(int(chosen.groups().sizes.min()))
        files = chosen.write(target, **options)
    certificate = json.loads(files[1].read_text(encoding="utf-8"))
    summary = in_a_line(certificate["privacy"], certificate["utility"])
    return summary, certificate["warnings"], files


command = Command(_release, order=50, limits=True)
