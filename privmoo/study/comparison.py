"""Comparison: several solvers on several problems with several seeds, as a Study."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from privmoo._util.checks import is_whole, whole_number
from privmoo._util.files import replacing
from privmoo._util.packing import plain
from privmoo._util.progress_bar import new_bar
from privmoo._util.threads import thread_count
from privmoo._util.versions import versions
from privmoo.errors import CheckpointError, ProblemError
from privmoo.front.quantities import quantities_of
from privmoo.problem import AnonymizationProblem
from privmoo.search.budgets import RunBudget
from privmoo.study.code_identity import problem_code
from privmoo.study.outcomes import Outcome
from privmoo.study.participants import StudiedProblem, StudiedSolver, check_names
from privmoo.study.processes import here, in_processes
from privmoo.study.recorder import Limit
from privmoo.study.solvers import Solver, as_solvers
from privmoo.study.study import Study
from privmoo.study.tasks import Task

__all__ = ["check_jobs", "compare", "read_seeds", "run_bar", "run_tasks"]

_log = logging.getLogger("privmoo.study")

_LARGEST = np.iinfo(np.int64).max
_PACKAGES = ("privmoo", "pymoo", "numpy", "moocore", "numba", "pandas", "scipy")


def compare(
    problems: AnonymizationProblem
    | Sequence[AnonymizationProblem]
    | Mapping[str, AnonymizationProblem],
    solvers: Any,
    *,
    budget: int | RunBudget,
    seeds: int | Sequence[int] = 10,
    jobs: int | None = None,
    client: Any = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Study:
    """Run every solver on every problem with every seed, and compare their fronts.

    All have the same budget: what an algorithm evaluates beyond it, to complete a generation, does not
    count. Candidates that violate a constraint never count, and a point counts only once. A
    deterministic solver runs once. A run that fails is reported in `study.failures`, and the others go
    on.

    Args:
        problems: One problem, a list of problems, or problems by name.
        solvers: Algorithms by name (`"nsga2"`, `"random"`, `"exact"`), pymoo algorithms, functions of the
            problem that make one, functions of problem, seed and budget that return a Front, recodings or
            decision vectors, or what the methods of `Solver` make; in a list, or by name in a dictionary.
        budget: `Evaluations(…)`, `Generations(…)` or `Seconds(…)`, or some joined by `|`, as for
            `optimize`. Generations count as evaluations, the same number for every solver: that of the
            largest default population of the problems. A plain number is evaluations here, because
            solvers differ in what a generation is.
        seeds: The seeds, or how many: 0, 1, 2 …
        jobs: Processes of one thread each; as many as cores by default. With 1 the runs are done in this
            process, one after the other, with all its threads.
        client: A Dask client, to run on its cluster instead.
        folder: Where finished runs are kept, for their owner only (mode 0600, and 0700 of a new
            folder): the same call continues a study that was stopped. Runs are identified by problem,
            solver, seed, budget and versions; for user-defined functions, operators, problems and
            measures, their own code counts, not that of the functions they call.
        progress: Whether to show a bar.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> small = pm.Solver.algorithm("nsga2", population=10)
    >>> study = compare(pm.problems.Cuts(table), {"small": small, "chance": "random"},
    ...                 seeds=2, budget=200, jobs=1, progress=False)
    >>> study
    Study of 2 solvers on 1 problem: 4 runs, 0 failed
    >>> study.frame[["solver", "seed", "front", "evaluations"]].to_numpy().tolist()
    [['small', 0, 4, 200], ['small', 1, 4, 200], ['chance', 0, 4, 200], ['chance', 1, 4, 200]]
    """
    entries = _problems_by_name(problems)
    solver_list = as_solvers(solvers)
    population = max(problem.default_population for problem in entries.values())
    limit = Limit.of(budget, population=population)
    numbers = read_seeds(seeds)
    check_jobs(jobs)
    tasks, settings = _tasks(entries, solver_list, limit, numbers)
    store = _RunFolder(None if folder is None else Path(folder))
    outcomes = {i: outcome for i, task in enumerate(tasks) if (outcome := store.get(task, entries))}
    open_tasks = [task for i, task in enumerate(tasks) if i not in outcomes]
    place = {task.key + task.problem + task.solver.name: i for i, task in enumerate(tasks)}
    with run_bar("compare", len(tasks), len(outcomes), visible=progress) as bar:

        def _take(task: Task, outcome: Outcome) -> None:
            outcomes[place[task.key + task.problem + task.solver.name]] = outcome
            store.put(task, outcome)
            bar.update()
            _log.info(
                "run %d of %d: %s on %s", len(outcomes), len(tasks), task.solver.name, task.problem
            )

        run_tasks(open_tasks, entries, _take, jobs=jobs, client=client)
    return Study(
        problems=tuple(_study_entry(name, problem) for name, problem in entries.items()),
        solvers=tuple(
            StudiedSolver(s.name, s.deterministic, settings[s.name]) for s in solver_list
        ),
        outcomes=tuple(outcomes[i] for i in range(len(tasks))),
        settings={
            "seeds": numbers,
            "evaluations": limit.evaluations,
            "seconds": limit.seconds,
            "versions": versions(_PACKAGES),
            "machine": _machine(),
        },
    )


def _problems_by_name(problems: Any) -> dict[str, AnonymizationProblem]:
    if isinstance(problems, Mapping):
        pairs = list(problems.items())
    else:
        several = problems if isinstance(problems, list | tuple) else [problems]
        pairs = [(type(problem).__name__, problem) for problem in several]
    for _, problem in pairs:
        if not isinstance(problem, AnonymizationProblem):
            raise ProblemError(
                f"problems: must be problems such as Cuts(table, …), got {type(problem).__name__}"
            )
    if not pairs:
        raise ProblemError("problems: there are none; name at least one")
    check_names([name for name, _ in pairs], "problems")
    return dict(pairs)


def check_jobs(jobs: Any) -> None:
    """Raise unless an argument is a number of processes, or None."""
    if jobs is not None:
        whole_number("jobs", jobs)


def run_tasks(
    tasks: Sequence[Task],
    problems: Mapping[str, AnonymizationProblem],
    take: Callable[[Task, Outcome], None],
    *,
    jobs: int | None,
    client: Any,
) -> None:
    """Run tasks on the client's cluster, in several processes, or in this one.

    Args:
        tasks: The runs.
        problems: The problems by name.
        take: Called with every task and its outcome, in the order in which they end.
        jobs: The number of processes; as many as cores if None.
        client: A Dask client, or None.
    """
    workers = min(thread_count() if jobs is None else jobs, len(tasks))
    if client is not None:
        from privmoo.study.dask_cluster import on_cluster

        on_cluster(tasks, problems, take, client)
    elif workers > 1:
        in_processes(tasks, problems, take, jobs=workers)
    else:
        here(tasks, problems, take)


def read_seeds(seeds: Any) -> list[int]:
    """Return a list of seeds; a number stands for that many seeds from 0."""
    if is_whole(seeds):
        return list(range(whole_number("seeds", seeds)))
    try:
        numbers = list(seeds)
    except TypeError:
        raise ProblemError(f"seeds: must be a number or a list of seeds, got {seeds!r}") from None
    if not numbers:
        raise ProblemError("seeds: at least one run per solver is needed, got none")
    for seed in numbers:
        if whole_number("seeds", seed, at_least=0) > _LARGEST:
            raise ProblemError(f"seeds: must be below 2**63, got {seed!r}")
    if len(set(numbers)) < len(numbers):
        raise ProblemError("seeds: one is given twice, which would count the same run twice")
    return [int(seed) for seed in numbers]


def _tasks(
    problems: Mapping[str, AnonymizationProblem],
    solvers: Sequence[Solver],
    limit: Limit,
    seeds: Sequence[int],
) -> tuple[list[Task], dict[str, dict[str, Any]]]:
    """Return all runs, and the settings of every solver by problem; raise before any run begins."""
    tasks: list[Task] = []
    settings: dict[str, dict[str, Any]] = {}
    for solver in solvers:
        settings[solver.name] = {}
        for name, problem in problems.items():
            solver.check(problem, limit)
            settings[solver.name][name] = plain(solver.describe(problem))
    for name, problem in problems.items():
        description = plain(problem.describe())
        code = problem_code(problem)
        if code:
            description = {**description, "own_code": plain(code)}
        for solver in solvers:
            identity = {"problem": description, "solver": settings[solver.name][name]}
            for seed in [None] if solver.deterministic else seeds:
                tasks.append(Task.of(name, solver, seed, limit, identity))
    return tasks, settings


def _study_entry(name: str, problem: AnonymizationProblem) -> StudiedProblem:
    worst = tuple(float(value) for value in problem.reference_point)
    description = plain(problem.describe())
    return StudiedProblem(name, quantities_of(problem), problem.n_obj, worst, description)


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "release": platform.release(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }


class _RunFolder:
    """Finished runs in a folder, one file each, written whole or not at all."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            try:
                # Runs are computed from people's records: nobody else may read them.
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as problem:
                raise ProblemError(
                    f"folder: {str(folder)!r} cannot be made ({problem.strerror})"
                ) from problem

    def get(self, task: Task, problems: Mapping[str, AnonymizationProblem]) -> Outcome | None:
        """Return the outcome of an earlier call, or None if there is none that can be used.

        Args:
            task: The run.
            problems: The problems by name.
        """
        if self.folder is None or not (path := self._path(task)).is_file():
            return None
        try:
            outcome = Outcome.read(path)
        except CheckpointError:
            return None  # a damaged file: the run is done again
        n_obj = problems[task.problem].n_obj
        if outcome.seed != task.seed or (outcome.status == "ok" and outcome.F.shape[1] != n_obj):
            return None
        return replace(outcome, problem=task.problem, solver=task.solver.name)

    def put(self, task: Task, outcome: Outcome) -> None:
        """Store an outcome, unless the run failed: the next call tries it again.

        Args:
            task: The run.
            outcome: Its outcome.
        """
        if self.folder is not None and outcome.status != "failed":
            with replacing(self._path(task), force=True, private=True) as temporary:
                temporary.write_bytes(outcome.to_bytes())

    def _path(self, task: Task) -> Path:
        return Path(self.folder or ".", f"{task.key}.run")


def run_bar(title: str, total: int, finished: int, *, visible: bool) -> Any:
    """Return a progress bar of runs.

    Args:
        title: The text before the bar.
        total: The number of runs.
        finished: How many of them were finished before.
        visible: Whether the bar is shown.
    """
    return new_bar(total=total, initial=finished, disable=not visible, desc=title, unit="run")
