"""privmoo check: check a job, and measure the risk of its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, say
from privmoo.cli.options import Job

if TYPE_CHECKING:
    from privmoo.problem import AnonymizationProblem

__all__ = ["command"]


def _check(job: Job) -> None:
    """Check a job and show the risk of its records before anonymisation."""
    from privmoo.cli.inputs import load_job
    from privmoo.cli.risk import describe_risk

    config = load_job(job)
    table = config.table
    say(table)
    problem = config.problem
    say(
        f"\n{type(problem).__name__}: objectives {', '.join(problem.objective_names)}; "
        f"{problem.n_var:,} variables"
    )
    say("\nThe records as they are, without the identifying columns:")
    report = table.audit()
    say(f"{describe_risk(report, persons=table.subject_name is not None)}\n")
    say(report)
    if table.sensitive and "l" not in config.problem_parameters and not _uses_sensitive(problem):
        say(
            f"\nNote: no objective or constraint looks at {', '.join(table.sensitive)}. By counting rows, "
            "k is the number of\nrecords that could be a person's; all of them may have the same sensitive "
            'value. To search for l as well, write name = "KLSafe" in [problem].'
        )
    say(f"\nThe job is valid. Next: {command_line('run', job, '-o', 'out')}")


def _uses_sensitive(problem: AnonymizationProblem) -> bool:
    """Return whether an objective or constraint of a problem looks at sensitive values."""
    measures = [*problem.objectives, *(constraint.measure for constraint in problem.constraints)]
    return any("counts" in measure.needs for measure in measures)


command = Command(_check, order=20)
