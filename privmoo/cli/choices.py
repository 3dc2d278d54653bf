"""The choices of a front on the terminal, and the command that follows from them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from privmoo.cli.console import command_line, say

if TYPE_CHECKING:
    from privmoo.front import Front

__all__ = ["next_command", "say_choices"]

_WIDTH = 110
_LEAST = 60
_READING = (
    "loss: the share of detail that is gone. left out: people whose records are not published. error of "
    "counts: how\nfar counts of about 5 % of the records are off, on average. * is any value."
)


def say_choices(front: Front) -> None:
    """Print what a few levels of privacy cost, and what a little more would buy."""
    from privmoo.errors import ProblemError

    try:
        choices = front.choices()
    except ProblemError:  # nothing to choose by: k is not recorded, and nothing is maximised
        say("This front does not record k; list its solutions with --all, or open front.csv.")
        return
    if not len(choices):
        say(
            "No solution protects anybody: k is 1 everywhere. Allow more suppression or coarser "
            "hierarchies, or search longer."
        )
        return
    width = shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH
    say(
        "The cheapest solution for each k, and what it does to each column:\n"
        if _is_k(front)
        else ""
    )
    say(choices.to_text(max(_LEAST, width)))
    if front.table is not None:
        say(f"\n{_READING}")
    if choices.suggested is not None:
        for answer in front.for_a_little_more(choices.suggested):
            if answer.solution is not None:
                name = f"From solution {choices.suggested.number} to {answer.solution.number}"
                say(f"{name}: {answer}.")


def _is_k(front: Front) -> bool:
    return any(q.key == "k" for q in front.quantities)


def next_command(front: Front, out: Path) -> str:
    """Return the command that shows the suggested solution; never one that protects nobody.

    Args:
        front: The front.
        out: The folder of its run.
    """
    from privmoo.front.choices import suggested

    place = suggested(front)
    if place is not None:
        return command_line("choose", out, "--solution", front[place].number)
    return command_line("choose", out, "--all")
