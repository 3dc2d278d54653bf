"""compare, demo, datasets, plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privmoo.cli.saying import command, complain, say, state, tabulate

__all__ = ["compare", "datasets", "demo", "plugins"]


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
    from privmoo.cli.studies import write_study
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
    files = write_study(study, out, force=force)
    say(f"\nWritten in {out}: {', '.join(path.name for path in files)}")


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "demo"
    ),
    generations: Annotated[int, typer.Option(min=1, help="Of 200 candidates each.")] = 250,
    max_loss: Annotated[
        float, typer.Option(min=0, max=1, help="Accepted information loss, 0 to 1.")
    ] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 7,
) -> None:
    """Anonymise the bundled census records: the whole way in a minute."""
    from privmoo.demo import demonstrate

    say("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    files = demonstrate(out, generations=generations, max_loss=max_loss, seed=seed)
    say("\nWritten:")
    for path in files:
        say(f"  {path}  ({path.stat().st_size:,} bytes)")


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="One to write; all are listed without it.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """List the bundled data, or write one as CSV to try things with."""
    from privmoo.cli.bundled import BUNDLED, frame_of
    from privmoo.writing import replacing

    if name is None:
        tabulate(["name", "records", "what it is"], [(n, *facts) for n, facts in BUNDLED.items()])
        say("\nTo write one: privmoo datasets adult -o adult.csv")
        return
    frame = frame_of(name)
    target = Path(f"{name}.csv") if out is None else out
    with replacing(target, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"Written: {target} ({len(frame):,} records). Next: {command('init', target)}")


def plugins() -> None:
    """List what other packages bring: measures, problems, operators, baselines, data."""
    import warnings

    from privmoo.entry_points import KINDS, PluginWarning
    from privmoo.entry_points import plugins as find

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", PluginWarning)
        found = find()
    for warning in heard:
        complain(warning.message)
    if found.empty:
        groups = ", ".join(f"privmoo.{kind}" for kind in KINDS)
        say(f"No package brings any; it would by the entry points {groups}.")
        return
    columns = ["kind", "name", "package", "version"]
    state_of = ["cannot be used" if error else "works" for error in found["error"]]
    rows = [
        [*map(str, row), works]
        for row, works in zip(found[columns].itertuples(index=False), state_of, strict=True)
    ]
    tabulate([*columns, "state"], rows)
