"""compare: solvers against each other on one job, and what that leaves in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privmoo.cli.console import complain, say, state

if TYPE_CHECKING:
    from privmoo.study import Study

__all__ = ["compare"]


def compare(
    job: Annotated[Path, typer.Argument(help="The job, a TOML file such as privmoo.toml.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    solvers: Annotated[
        str, typer.Option(help="Algorithms, 'random' and 'exact', with commas between them.")
    ] = "nsga2,spea2,random",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each.")] = 10,
    evaluations: Annotated[int, typer.Option(min=1, help="The budget of every run.")] = 10_000,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores if not given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace earlier results.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Compare solvers on a job over seeds; the same command continues a study that was stopped."""
    import privmoo as pm
    from privmoo.cli.files import listed
    from privmoo.errors import CheckpointError

    config = pm.Config.load(job)
    state.data = config.frame
    if (out / "study.zip").exists() and not force:
        raise CheckpointError(
            f"{out}: has the results of a study; choose another folder, or replace them with --force"
        )
    population = config.search.population
    chosen = {
        name: name
        if population is None or name == "exact"
        else pm.Solver.algorithm(name, population=population)
        for name in listed(solvers)
    }
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        study = pm.compare(
            {config.problem_name: config.problem},
            chosen,
            seeds=seeds,
            budget=evaluations,
            jobs=jobs,
            folder=out / "runs",
            progress=not quiet,
        )
    except KeyboardInterrupt:
        complain("stopped; the same command continues with the runs that are missing")
        raise typer.Exit(130) from None
    say(study.verdict())
    files = _write(study, out, force=force)
    say(f"\nWritten in {out}: {', '.join(path.name for path in files)}")


def _write(study: Study, folder: Path, *, force: bool) -> list[Path]:
    """Write the study, its tables and pictures: all files or none."""
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    from privmoo._util.files import write_all

    def picture(path: Path) -> None:
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
        folder / "study.png": picture,
        folder / "study.zip": lambda path: study.save(path, force=True),
    }
    write_all(writers, force=force)
    return list(writers)
