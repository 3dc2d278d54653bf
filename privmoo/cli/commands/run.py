"""privmoo run: compute the front of a job and write it into a folder."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import command_line, say
from privmoo.cli.options import Job, Quiet, Results

__all__ = ["command"]


def _run(
    job: Job,
    out: Results,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was interrupted.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Start again, and replace earlier results.")
    ] = False,
    focus: Annotated[
        list[str] | None,
        typer.Option(
            "--focus", help="The values that matter most, such as k=3:50; may be repeated."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Compute the front of a job.

    After Ctrl-C, --resume continues from a checkpoint.

    The files are for the publisher only, and only their owner may read them: they describe every solution,
    including those that protect nobody. To get files that you may pass on, use privmoo release.
    """
    from privmoo.cli.choices import next_command, say_choices
    from privmoo.cli.failures import StoppedError
    from privmoo.cli.inputs import load_job
    from privmoo.cli.memory import warn_if_too_large
    from privmoo.cli.run_folder import RunFolder, hashes

    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    config = load_job(job)
    folder = RunFolder(out)
    if not config.data["scan"]:
        warn_if_too_large(config.source)
    inputs = hashes(config)
    table, problem = config.table, config.problem
    folder.begin(resume=resume, force=force)
    say(f"{table.n_records:,} records, {table.n_tuples:,} distinct; {type(problem).__name__}")
    front = config.optimize(
        progress=not quiet, checkpoint=folder.checkpoint, focus=_limits(focus) if focus else None
    )
    if config.search.cut_short(front):
        raise StoppedError("the exact search keeps no checkpoint, so the next run starts again")
    if front.run.get("stopped_by_hand"):
        raise StoppedError(f"continue with: {command_line('run', job, '-o', out, '--resume')}")
    folder.check_resumed(front)
    say(f"\n{front}\n")
    if "families" in front.run and front.n_objectives == 2:
        from privmoo.families import consistency_in_words

        say(f"{consistency_in_words(front)}\n")
    files = folder.finish(config, front, inputs)
    say(f"Written to {out}: {', '.join(path.name for path in files)}")
    say(
        "They are only for you, the publisher; privmoo release writes the files that you may pass on.\n"
    )
    say_choices(front)
    say(f"\nNext: look at {out / 'front.html'}, then: {next_command(front, out)}")


def _limits(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Return the limits that options such as k=3:50 state."""
    from privmoo.errors import ProblemError

    limits = {}
    for text in texts:
        name, _, values = text.partition("=")
        low, _, high = values.partition(":")
        try:
            limits[name] = (float(low), float(high))
        except ValueError:
            raise ProblemError(f"focus: must look like k=3:50, got {text!r}") from None
    return limits


command = Command(_run, order=30)
