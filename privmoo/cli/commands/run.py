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
    quiet: Quiet = False,
) -> None:
    """Compute the front of a job.

    Ctrl-C leaves a checkpoint, from which --resume continues.
    """
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
    front = config.optimize(progress=not quiet, checkpoint=folder.checkpoint)
    if config.search.cut_short(front):
        raise StoppedError("the exact search keeps no checkpoint, so the next run starts again")
    if front.run.get("stopped_by_hand"):
        raise StoppedError(f"continue with: {command_line('run', job, '-o', out, '--resume')}")
    folder.check_resumed(front)
    say(f"\n{front}\n")
    files = folder.finish(config, front, inputs)
    say(f"Written to {out}: {', '.join(path.name for path in files)}")
    choose = command_line("choose", out, "--max-loss", 0.25, "--best", "k")
    say(f"Next: look at {out / 'front.html'}, then: {choose}")


command = Command(_run, order=30)
