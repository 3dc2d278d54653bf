"""choose and release: from a front to a certified table."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.console import command, complain, say, state, tabulate

if TYPE_CHECKING:
    from privmoo.front import Front, Solution

__all__ = ["choose", "release"]

Out = Annotated[Path, typer.Argument(help="The folder that privmoo run wrote.")]
Number = Annotated[int | None, typer.Option("--solution", help="A solution by its number.")]
Best = Annotated[
    str | None,
    typer.Option("--best", help="The best one in a measure, such as k, within the limits."),
]
Knee = Annotated[bool, typer.Option("--knee", help="The knee of the front, within the limits.")]
_SHOWN = 20


def choose(
    context: typer.Context, out: Out, solution: Number = None, best: Best = None, knee: Knee = False
) -> None:
    """Show what a solution would release; choose by limits such as --max-loss 0.25 --min-k 5.

    Every column of front.csv can be limited by --min- and --max- before its name. Without --best, --knee
    or --solution the solutions within the limits are listed.
    """
    front = _front(out)
    limits = _limits(front, context.args)
    if solution is None and best is None and not knee:
        _list(front, limits)
        return
    number = _number(front, solution, best, limits, knee=knee)
    chosen = front[number]
    say(f"{chosen}\n")
    say(chosen.explain())
    notes = chosen_before(out, number)
    if front.to_frame().iloc[number].get("k", 2) < 2:
        notes.append(
            "somebody is alone in a group (k = 1) and can be singled out; such a table is not written "
            "without --allow-unique"
        )
    for note in notes:
        say(f"\nNote: {note}")
    then = command("release", out, "--solution", number, "-o", "public.csv")
    say(f"\nTo write it: {then}")


def release(
    context: typer.Context,
    out: Out,
    to: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv or .parquet.")],
    solution: Number = None,
    best: Best = None,
    knee: Knee = False,
    csv_safe: Annotated[
        bool,
        typer.Option(
            "--csv-safe", help="Put an apostrophe before texts that spreadsheets execute."
        ),
    ] = False,
    allow_unique: Annotated[
        bool,
        typer.Option(
            "--allow-unique", help="Write it although somebody is alone in a group (k = 1)."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write the table of a solution and its certificate, audited before they appear.

    A table in which somebody is alone in a group (k = 1) is not written unless you say --allow-unique.
    """
    from privmoo.cli.run_folder import RunFolder
    from privmoo.errors import ProblemError

    front = _front(out, to)
    limits = _limits(front, context.args)
    if solution is None and best is None and not knee:
        raise ProblemError("release: which solution? name one with --solution, --best or --knee")
    number = _number(front, solution, best, limits, knee=knee)
    before = chosen_before(out, number)
    options = {"force": force, "spreadsheets": csv_safe, "allow_unique": allow_unique}
    summary, notes, files = _write(front[number], number, to, **options)
    for note in [*notes, *before]:
        complain(f"note: {note}")
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    folder = RunFolder(out)
    folder.remember(
        {"solution": number, "front": folder.front_hash, "file": to.name, "created": now}
    )
    say(summary)
    say(f"Written: {', '.join(str(path) for path in files)}")


def _write(
    chosen: Solution, number: int, to: Path, *, force: bool, spreadsheets: bool, allow_unique: bool
) -> tuple[str, list[str], list[Path]]:
    """Write a release; what it is in a line, what its publisher should know, and the files."""
    import json

    from privmoo.engines.scanned import ScannedTable
    from privmoo.errors import ReleaseError
    from privmoo.release.release import ReleaseWarning, in_a_line

    def check(k: int) -> None:
        if k < 2 and not allow_unique:
            raise ReleaseError(
                f"release: in solution {number} somebody is alone in a group (k = 1) and can be singled "
                "out; choose one with --min-k 2 or more, or say --allow-unique"
            )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # the certificate has them too
        if not isinstance(chosen.table, ScannedTable):
            made = chosen.release()
            check(int(made.certificate.privacy["k"]))
            files = made.write(to, force=force, spreadsheets=spreadsheets)
            return str(made), list(made.certificate.warnings), files
        check(int(chosen.groups().sizes.min()))
        files = chosen.write(to, force=force, spreadsheets=spreadsheets)
    stated = json.loads(files[1].read_text(encoding="utf-8"))
    return in_a_line(stated["privacy"], stated["utility"]), stated["warnings"], files


# Limits have the names of measures, so that typer cannot know them.
choose.settings = release.settings = {  # type: ignore[attr-defined]
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True}
}


def limits_of(arguments: list[str]) -> dict[str, float]:
    """Limits from what typer left over.

    >>> limits_of(["--max-loss", "0.25", "--min-k=5"])
    {'max_loss': 0.25, 'min_k': 5.0}
    """
    from privmoo.errors import ProblemError

    found: dict[str, float] = {}
    left = list(arguments)
    while left:
        option = left.pop(0)
        name, equals, text = option.partition("=")
        if not name.startswith(("--max-", "--min-")):
            raise ProblemError(
                f"{name}: is no option; limits are such as --max-loss 0.25 or --min-k 5"
            )
        if not equals:
            if not left:
                raise ProblemError(f"{name}: needs a number, such as {name} 0.25")
            text = left.pop(0)
        key = name.removeprefix("--").replace("-", "_")
        if key in found:
            raise ProblemError(f"{name}: is given twice")
        try:
            found[key] = float(text)
        except ValueError:
            raise ProblemError(f"{name}: needs a number, such as {name} 0.25") from None
    return found


def _limits(front: Front, arguments: list[str]) -> dict[str, float]:
    """Limits of what the front has; the library would call them as Python does."""
    from privmoo.errors import ProblemError, nearest

    found = limits_of(arguments)
    known = [quantity.key for quantity in front.quantities]
    options = [f"--{side}-{key}" for key in known for side in ("max", "min")]
    for limit in found:
        side, _, key = limit.partition("_")
        if key not in known:
            raise ProblemError(
                f"--{side}-{key}: there is no {key!r} to limit; there are {', '.join(known)}"
                f"{nearest(f'--{side}-{key}', options)}"
            )
    return found


def chosen_before(out: Path, number: int) -> list[str]:
    """What to know of earlier releases of the same records."""
    from privmoo.cli.run_folder import RunFolder

    folder = RunFolder(out)
    now = folder.front_hash
    written = folder.released()
    same = {str(e.get("solution")) for e in written if e.get("front") == now} - {str(number)}
    others = [f"solution {', '.join(sorted(same))} of this run"] if same else []
    if any(e.get("front") != now for e in written):  # numbers of another front mean nothing here
        others.append("a solution of an earlier run in this folder")
    if not others:
        return []
    return [
        f"{' and '.join(others)} was written before; whoever holds two different releases of the same "
        "people can intersect them: publish one"
    ]


def _front(out: Path, to: Path | None = None) -> Front:
    """The front of a run; a release may not be written over the files that the run was made from."""
    from privmoo.cli.run_folder import RunFolder
    from privmoo.errors import ReleaseError

    config, front = RunFolder(out).load()
    state.data = config.frame
    if to is not None and to.exists() and any(to.samefile(path) for path in config.inputs):
        raise ReleaseError(f"{to}: the run was made from this file; choose another name")
    return front


def _number(
    front: Front, solution: int | None, best: str | None, limits: dict[str, float], *, knee: bool
) -> int:
    """The number on the whole front of what was asked for."""
    from privmoo.errors import ProblemError

    asked = (solution is not None) + (best is not None) + knee
    if asked > 1:
        raise ProblemError("choose: give one of --solution, --best and --knee")
    if solution is not None:
        if limits:
            raise ProblemError("choose: limits go with --best or --knee, not with --solution")
        if not 0 <= solution < len(front):
            raise ProblemError(
                f"choose: there is no solution {solution}; they are counted from 0 to {len(front) - 1}"
            )
        return solution
    places = front.places_within(**limits)
    allowed = front.rows(places)
    chosen = allowed.knee() if best is None else allowed.best(best)
    return int(places[chosen.index])


def _list(front: Front, limits: dict[str, float]) -> None:
    """The solutions within limits, some of them where they are many."""
    import numpy as np

    kept = front.places_within(**limits)
    shown = kept[np.unique(np.linspace(0, len(kept) - 1, _SHOWN).round().astype(int))]
    frame = front.to_frame()
    rows = [[str(i), *(f"{value:.6g}" for value in frame.iloc[i])] for i in (int(j) for j in shown)]
    tabulate(["solution", *map(str, frame.columns)], rows)
    if len(shown) < len(kept):
        say(f"{len(shown)} of {len(kept):,} solutions; all are in front.csv")
