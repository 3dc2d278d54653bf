"""privmoo check: check a job, and measure the risk of its records."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, say
from privmoo.cli.options import Job

if TYPE_CHECKING:
    from privmoo.audit import Audit
    from privmoo.data.table import Table
    from privmoo.problem import AnonymizationProblem

__all__ = ["command"]

_MOST = 3  # sensitive columns on the first screen
_WIDTH = 110
_SAME = 0.8  # with a more frequent value than this, ℓ says hardly anything


def _check(
    job: Job,
    everything: Annotated[
        bool, typer.Option("--all", help="Print all figures, and write no file.")
    ] = False,
) -> None:
    """Check a job and show the risk of its records before anonymisation.

    All figures, with a sentence on how to read each, are written to a file next to the job, which only
    its owner may read.
    """
    from privmoo.cli.inputs import load_job
    from privmoo.cli.risk import describe_risk

    config = load_job(job)
    table, problem = config.table, config.problem
    report = table.audit()
    persons = table.subject_name is not None
    say(table if everything else _columns(table))
    say(
        f"\n{type(problem).__name__}: objectives {', '.join(problem.objective_names)}; "
        f"{problem.n_var:,} variables"
    )
    say("\nThe records as they are, without the identifying columns:")
    say(describe_risk(report, persons=persons, most=None if everything else _MOST))
    if everything:
        say(f"\n{_figures(report)}")
    else:
        _write(job, f"{table}\n\n{describe_risk(report, persons=persons)}\n\n{_figures(report)}\n")
    if table.sensitive:
        note = _note_on_diversity(table, problem, "l" in config.problem_parameters)
        if note:
            say(f"\n{textwrap.fill(note, _WIDTH)}")
    say(f"\nThe job is valid. Next: {command_line('run', job, '-o', 'out')}")


def _columns(table: Table) -> str:
    """Return the size of a table, and its columns by role."""
    lines = [f"{table.n_records:,} records, {table.n_tuples:,} distinct"]
    roles: dict[str, list[str]] = {}
    for name, role in table.roles.items():
        roles.setdefault(role, []).append(name or "''")
    for role, names in roles.items():
        text = f"{role} ({len(names)}): {', '.join(names)}"
        lines.append(textwrap.shorten(text, 3 * _WIDTH, placeholder=" …"))
    return "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in lines)


def _figures(report: Audit) -> str:
    """Return all figures of an audit, and how to read them."""
    from privmoo.audit.figure_words import how_to_read

    names = [str(measure).partition("(")[0] for measure in report.to_frame()["measure"]]
    sentences = [f"{words}: {sentence}" for words, sentence in how_to_read(names)]
    return "\n".join([str(report), "", "How to read the figures", *sentences])


def _write(job: Path, text: str) -> None:
    """Write all figures to a file next to the job, and say where it is."""
    from privmoo._util.files import write_text
    from privmoo.errors import FileError

    path = job.with_name(f"{job.stem}.check.txt")
    try:
        write_text(path, text, force=True, private=True)
    except (FileError, OSError):
        say(f"\n{path} cannot be written; --all prints all figures.")
    else:
        say(f"\nAll figures, and how to read them: {path}")


def _note_on_diversity(table: Table, problem: AnonymizationProblem, limited: bool) -> str:
    """Return a note if no measure considers sensitive values, or if considering them cannot help."""
    constant = _near_constant(table)
    several = len(constant) > 1
    subject = (
        f"{', '.join(map(repr, constant))} {'have' if several else 'has'} nearly always the same value, so "
        "that l stays near 1 whatever is done"
    )
    role = 'the role "insensitive" or "identifying" in [columns]'
    if limited or _uses_sensitive(problem):
        if not constant:
            return ""
        return f"Note: {subject}; give {'them' if several else 'it'} {role}, or search without l."
    names = ", ".join(table.sensitive)
    note = (
        f"Note: no objective or constraint considers {textwrap.shorten(names, 200, placeholder=' …')}. By "
        "counting rows, k is the number of records that could be a person's; all of them may have the same "
        'sensitive value. To search for l as well, write name = "KLSafe" in [problem].'
    )
    if constant:
        note += f" Before that, give {'some columns' if several else 'a column'} {role}: {subject}."
    return note


def _near_constant(table: Table) -> list[str]:
    """Return the sensitive columns in which nearly all records have the same value."""
    import numpy as np

    names = []
    for name, attribute in table.sensitive.items():
        counts = np.bincount(attribute.codes, attribute.counts)
        if counts.max(initial=0) > _SAME * counts.sum():
            names.append(name)
    return names


def _uses_sensitive(problem: AnonymizationProblem) -> bool:
    """Return whether an objective or constraint of a problem considers sensitive values."""
    measures = [*problem.objectives, *(constraint.measure for constraint in problem.constraints)]
    return any("counts" in measure.needs for measure in measures)


command = Command(_check, order=20)
