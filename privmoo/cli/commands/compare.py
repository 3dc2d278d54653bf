"""privmoo compare: compare solvers on a job over several seeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import say
from privmoo.cli.options import Job, Quiet, Results

if TYPE_CHECKING:
    from privmoo.study import Study

__all__ = ["command"]


def _compare(
    job: Job,
    out: Results,
    solvers: Annotated[
        str, typer.Option(help="Algorithms, 'random' and 'exact', separated by commas.")
    ] = "nsga2,spea2,random",
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs of each solver.")] = 10,
    evaluations: Annotated[int, typer.Option(min=1, help="The budget of every run.")] = 10_000,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="The number of processes; by default one per core.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace earlier results.")] = False,
    quiet: Quiet = False,
) -> None:
    """Compare solvers on a job over several seeds.

    To continue a study that was stopped, run the same command again.
    """
    from privmoo.cli.failures import StoppedError
    from privmoo.cli.inputs import load_job, split_names
    from privmoo.errors import CheckpointError
    from privmoo.study import Solver, compare

    config = load_job(job)
    if (out / "study.zip").exists() and not force:
        raise CheckpointError(
            f"{out} contains the results of a study; choose another folder, or replace them with "
            "--force"
        )
    population = config.search.population
    entrants = {
        name: name
        if population is None or name == "exact"
        else Solver.algorithm(name, population=population)
        for name in split_names(solvers)
    }
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        study = compare(
            {config.problem_name: config.problem},
            entrants,
            seeds=seeds,
            budget=evaluations,
            jobs=jobs,
            folder=out / "runs",
            progress=not quiet,
        )
    except KeyboardInterrupt:
        raise StoppedError("run the same command again to continue with the missing runs") from None
    say(study.verdict())
    files = _write(study, out, force=force)
    say(f"\nWritten to {out}: {', '.join(path.name for path in files)}")


def _write(study: Study, folder: Path, *, force: bool) -> list[Path]:
    """Write a study with its tables and pictures: all files or none."""
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    from privmoo._util.files import write_all

    def draw(path: Path) -> None:
        figure, axes = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
        study.plot_convergence(ax=axes[0])
        study.plot_indicator(ax=axes[1])
        figure.savefig(path, dpi=130)
        plt.close(figure)

    writers = {
        folder / "verdict.txt": lambda path: path.write_text(study.verdict() + "\n", "utf-8"),
        folder / "table.md": lambda path: path.write_text(study.to_markdown(), "utf-8"),
        folder / "table.tex": lambda path: path.write_text(study.to_latex(), "utf-8"),
        folder / "runs.csv": lambda path: study.frame.to_csv(path, index=False),
        folder / "study.png": draw,
        folder / "study.zip": lambda path: study.save(path, force=True),
    }
    write_all(writers, force=force, private=True)  # computed from the data, for its publisher
    return list(writers)


command = Command(_compare, order=80)
