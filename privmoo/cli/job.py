"""init, check, run: from a file to a front."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.console import command, complain, say, state

if TYPE_CHECKING:
    from privmoo.config import Config
    from privmoo.problem import AnonymizationProblem

__all__ = ["check", "init", "run"]

Job = Annotated[Path, typer.Argument(help="The job, a TOML file such as privmoo.toml.")]


def init(
    data: Annotated[Path, typer.Argument(help="The records: a CSV or Parquet file.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the job; beside the data if not given."),
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Between cells; found if not given.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the text.")] = "utf-8-sig",
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Look at a file and write a commented privmoo.toml: roles and hierarchies to begin with."""
    from privmoo.cli.files import read_data
    from privmoo.guessing import guess

    frame = read_data(data, separator=separator, encoding=encoding)
    state.data = lambda: frame
    found = guess(frame)
    say(found)
    folder = data.parent if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    files = found.write(folder, data, force=force, separator=separator, encoding=encoding)
    job = next(path for path in files if path.suffix == ".toml")
    say(f"\nWritten: {job}" + (f" and {len(files) - 1} hierarchies" if len(files) > 1 else ""))
    say(f"The roles are guesses: read the file and decide. Then: {command('check', job)}")


def check(job: Job) -> None:
    """Check a job, and show the risk of its records as they are."""
    from privmoo.cli.wording import in_words

    config = _load(job)
    table = config.table
    say(table)
    problem = config.problem
    say(
        f"\n{type(problem).__name__}: objectives {', '.join(problem.objective_names)}; "
        f"{problem.n_var:,} variables"
    )
    say("\nThe records as they are, without the identifying columns:")
    report = table.audit()
    say(f"{in_words(report, persons=table.subject_name is not None)}\n")
    say(report)
    if table.sensitive and "l" not in config.problem_parameters and not _minds(problem):
        say(
            f"\nNote: no objective or constraint looks at {', '.join(table.sensitive)}. k hides who a "
            "person is, not what all of a\ngroup have in common; to search for l as well, write "
            'name = "KLSafe" in [problem].'
        )
    say(f"\nThe job is in order. Next: {command('run', job, '-o', 'out')}")


def run(
    job: Job,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a run that was interrupted.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew, and replace earlier results.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Compute the front of a job; Ctrl-C leaves a checkpoint that --resume continues from."""
    from privmoo.cli.memory import foresee
    from privmoo.cli.run_folder import RunFolder, hashes

    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    config = _load(job)
    folder = RunFolder(out)
    if not config.data["scan"]:
        foresee(config.source)
    inputs = hashes(config)
    table, problem = config.table, config.problem
    folder.begin(resume=resume, force=force)
    say(f"{table.n_records:,} records, {table.n_tuples:,} distinct; {type(problem).__name__}")
    front = config.optimize(progress=not quiet, checkpoint=folder.checkpoint)
    if config.search.cut_short(front):
        complain("stopped; the exact search keeps no checkpoint, and begins anew next time")
        raise typer.Exit(130)
    if front.run.get("stopped_by_hand"):
        complain(f"stopped; continue with: {command('run', job, '-o', out, '--resume')}")
        raise typer.Exit(130)
    say(f"\n{front}\n")
    files = folder.finish(config, front, inputs)
    say(f"Written in {out}: {', '.join(path.name for path in files)}")
    then = command("choose", out, "--max-loss", 0.25, "--best", "k")
    say(f"Next: look at {out / 'front.html'}, then: {then}")


def _minds(problem: AnonymizationProblem) -> bool:
    """Whether a problem looks at sensitive values at all."""
    own = [*problem.objectives, *(constraint.measure for constraint in problem.constraints)]
    return any("counts" in measure.needs for measure in own)


def _load(job: Path) -> Config:
    from privmoo.config import Config

    config = Config.load(job)
    state.data = config.frame
    return config
