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


_MOST_NOTES = 6
_UNDECIDED = (
    "release: choose a solution with --solution, or with limits and --best, such as --min-k 5 --best loss; "
    "privmoo choose shows them"
)


@dataclass(frozen=True)
class _Writing:
    """The options for writing a release."""

    force: bool
    spreadsheets: bool
    allow_unique: bool
    report: Path | None


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
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="Also write a page about the release, to pass on with it (.html).",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write the table of a solution and its certificate.

    Both are audited before they appear. Limits work as in privmoo choose. A table in which somebody is
    alone in a group (k = 1) is only written with --allow-unique.

    You may pass on what this command writes, but not what privmoo run writes: front.html and the other
    files of its folder describe solutions that are not released.
    """
    from privmoo.cli.run_folder import RunFolder
    from privmoo.cli.selection import Selection
    from privmoo.errors import ProblemError

    folder = RunFolder(out)
    front = folder.front(target=to)
    selection = Selection.parse(front, context.args, solution=solution, best=best, knee=knee)
    if selection.is_open:
        raise ProblemError(_UNDECIDED)
    number = selection.number()
    table = front[number].table
    earlier = folder.notes_on_earlier_releases(number, table)
    writing = _Writing(force, csv_safe, allow_unique, report)
    summary, notes, files = _write(front[number], number, to, writing)
    _complain_of([*notes, *earlier], files)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    folder.remember_release(
        {
            "solution": number,
            "front": folder.front_hash,
            "file": to.name,
            "created": now,
            "table": folder.description_of(table),
        }
    )
    say(summary)
    for name, values in front[number].lost_values().items():
        say(f"  {name}: {values}")
    say(f"Written: {', '.join(str(path) for path in files)}")


def _complain_of(notes: list[str], files: list[Path]) -> None:
    """Print the first notes, and say where the others are."""
    for note in notes[:_MOST_NOTES]:
        complain(f"note: {note}")
    if len(notes) > _MOST_NOTES:
        complain(
            f"note: {len(notes) - _MOST_NOTES} more are in {files[1].with_suffix('.txt').name}"
        )


def _write(
    solution_to_write: Solution, number: int, target: Path, writing: _Writing
) -> tuple[str, list[str], list[Path]]:
    """Write a release; return a summary, notes for its publisher, and the files."""
    from privmoo._util.files import check_place
    from privmoo.errors import FileError, ReleaseError
    from privmoo.release.release import ReleaseWarning, in_a_line

    if writing.report is not None:
        if writing.report.suffix != ".html":
            raise FileError(f"{writing.report}: a report is written as .html; choose that ending")
        check_place(writing.report, force=writing.force)
        solution_to_write.table.need_records("a public report", "leave out --report")
    if not writing.allow_unique and (solution_to_write.groups().sizes == 1).any():
        raise ReleaseError(
            f"release: in solution {number} somebody is alone in a group (k = 1) and can be singled "
            "out; choose a solution with --min-k 2 or more, or add --allow-unique"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # the certificate has them too
        release = None if writing.report is None else solution_to_write.release()
        write = solution_to_write.write if release is None else release.write
        files = write(target, force=writing.force, spreadsheets=writing.spreadsheets)
        if writing.report is not None:
            solution_to_write.front.report(
                writing.report,
                pick=solution_to_write,
                release=release,
                public=True,
                force=writing.force,
            )
            files.append(writing.report)
    certificate = json.loads(files[1].read_text(encoding="utf-8"))
    summary = in_a_line(certificate["privacy"], certificate["utility"])
    return summary, certificate["warnings"], files


command = Command(_release, order=50, limits=True)
