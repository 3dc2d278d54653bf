"""privmoo choose: show the choices of a front, list its solutions, or show what one would release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, print_table, say
from privmoo.cli.options import Best, Knee, RunPath, SolutionNumber

if TYPE_CHECKING:
    from privmoo.cli.selection import Selection

__all__ = ["command"]

_MAX_ROWS = 20


def _choose(
    context: typer.Context,
    out: RunPath,
    solution: SolutionNumber = None,
    best: Best = None,
    knee: Knee = False,
    everything: Annotated[
        bool, typer.Option("--all", help="List solutions of the whole front, evenly thinned.")
    ] = False,
) -> None:
    """Show the choices of a front, list its solutions, or show what one would release.

    Without options, it shows what k = 3, 5, 10, 20 and 50 cost and what they do to each column. Every
    column of front.csv can be limited with --min- or --max- before its name, such as --max-loss 0.25
    --min-k 5: then the solutions within the limits are listed. With --best, --knee or --solution, one
    solution is shown. All of this is for the publisher only; privmoo release --report writes a page that
    you may pass on.
    """
    from privmoo.cli.choices import next_command, say_choices
    from privmoo.cli.run_folder import RunFolder
    from privmoo.cli.selection import Selection

    folder = RunFolder(out)
    front = folder.front()
    selection = Selection.parse(front, context.args, solution=solution, best=best, knee=knee)
    if selection.is_open:
        if everything or selection.limits:
            _list_solutions(selection)
        else:
            say_choices(front)
            say(f"\nNext: {next_command(front, out)}")
        return
    number = selection.number()
    say(f"{front[number]}\n")
    say(front[number].explain())
    notes = folder.notes_on_earlier_releases(number, front[number].table)
    if front.to_frame().iloc[number].get("k", 2) < 2:
        notes.append(
            "somebody is alone in a group (k = 1) and can be singled out; such a table is only written "
            "with --allow-unique"
        )
    for note in notes:
        say(f"\nNote: {note}")
    release = command_line("release", out, "--solution", number, "-o", "public.csv")
    say(f"\nTo write it: {release}")


def _list_solutions(selection: Selection) -> None:
    """Print the solutions within limits, evenly thinned if there are many."""
    import numpy as np

    front, numbers = selection.front, selection.within_limits()
    shortlist = numbers[np.unique(np.linspace(0, len(numbers) - 1, _MAX_ROWS).round().astype(int))]
    frame = front.to_frame()
    rows = [
        [str(number), *(f"{value:.6g}" for value in frame.iloc[number])]
        for number in shortlist.tolist()
    ]
    print_table(["solution", *map(str, frame.columns)], rows)
    if len(shortlist) < len(numbers):
        say(f"{len(shortlist)} of {len(numbers):,} solutions; all are in front.csv")


command = Command(_choose, order=40, limits=True)
