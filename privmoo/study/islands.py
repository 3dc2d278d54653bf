"""Islands: independent searches of one problem in several processes, merged to one front."""

from __future__ import annotations

import base64
import pickle
import secrets
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm

from privmoo._util.versions import versions
from privmoo.errors import InfeasibleError, ProblemError
from privmoo.front.front import Front, nothing_feasible
from privmoo.front.quantities import quantities_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Recoding
from privmoo.search.algorithms import check_algorithm, make_algorithm
from privmoo.search.budgets import Generations, RunBudget, as_budget
from privmoo.search.optimization import optimize, read_start
from privmoo.study.comparison import check_jobs, read_seeds, run_bar, run_tasks
from privmoo.study.outcomes import Outcome
from privmoo.study.recorder import Limit, Recorder
from privmoo.study.solvers import Solver
from privmoo.study.tasks import Task

__all__ = ["optimize_islands"]

_CARRIED = ("values", "X", "dominated", "infeasible", "recodings", "thresholds")


def optimize_islands(
    problem: AnonymizationProblem,
    algorithm: str | Algorithm | None = None,
    budget: int | RunBudget | None = None,
    *,
    seeds: int | Sequence[int] = 4,
    jobs: int | None = None,
    client: Any = None,
    progress: bool = True,
    start: Front | NDArray[Any] | Sequence[Recoding] | None = None,
) -> Front:
    """Search for the front of a problem once with every seed, and merge what is found.

    The front does not depend on the number of processes. A search that fails is reported by a warning
    and in `front.run["failed"]`, and the others go on. Ctrl-C returns the front of those that ended.

    Args:
        problem: What to solve.
        algorithm: As for `optimize`.
        budget: As for `optimize`; every search has it.
        seeds: The seeds, or how many: 0, 1, 2 …
        jobs: Processes of one thread each; as many as cores by default. With 1 the searches are done in
            this process, one after the other, with all its threads.
        client: A Dask client, to search on its cluster instead.
        progress: Whether to show a bar.
        start: As for `optimize`.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> front = optimize_islands(problem, budget=5, seeds=2, jobs=1, progress=False)
    >>> len(front), front.run["seeds"]
    (4, [0, 1])
    """
    if not isinstance(problem, AnonymizationProblem):
        raise ProblemError(
            f"problem: must be an AnonymizationProblem such as Cuts(table, …), got "
            f"{type(problem).__name__}"
        )
    limit = Generations(problem.default_generations) if budget is None else as_budget(budget)
    polish = algorithm is None
    if not isinstance(algorithm, Algorithm):
        algorithm = make_algorithm(problem, algorithm)
    check_algorithm(algorithm, problem)
    numbers = read_seeds(seeds)
    check_jobs(jobs)
    read_start(problem, start)
    name = type(problem).__name__
    island = _Island(algorithm, limit, start, polish=polish)
    # A key of its own for every call: Dask would take an equal one for the same run.
    call = {"call": secrets.token_hex(16)}
    tasks = [Task.of(name, island, seed, Limit(), call) for seed in numbers]
    outcomes: dict[int, Outcome] = {}
    began, stopped = time.perf_counter(), False
    with run_bar("islands", len(tasks), 0, visible=progress) as bar:

        def _take(task: Task, outcome: Outcome) -> None:
            outcomes[int(task.seed or 0)] = outcome
            bar.update()
            if outcome.facts.get("stopped_by_hand"):
                raise KeyboardInterrupt

        try:
            run_tasks(tasks, {name: problem}, _take, jobs=jobs, client=client)
        except KeyboardInterrupt:
            stopped = True
            if not any(outcome.status == "ok" for outcome in outcomes.values()):
                raise
    outcome_by_seed = {seed: outcomes[seed] for seed in numbers if seed in outcomes}
    return _merge_fronts(problem, numbers, outcome_by_seed, stopped, time.perf_counter() - began)


class _Island(Solver):
    """A search whose whole front is sent back."""

    def __init__(
        self, algorithm: Algorithm, budget: RunBudget, start: Any, *, polish: bool
    ) -> None:
        super().__init__("island")
        self.source, self.budget, self.start, self.polish = algorithm, budget, start, polish

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        """Return the front, and all of it as text among the facts.

        Args:
            problem: The problem.
            seed: The seed of the search.
            recorder: Not used: the search has its own budget.
        """
        try:
            front = optimize(
                problem,
                self.source,
                self.budget,
                seed=seed,
                progress=False,
                start=self.start,
                polish=self.polish,
            )
        except InfeasibleError:
            return None, {}
        fields = {"run": dict(front.run), **{name: getattr(front, name) for name in _CARRIED}}
        return front, {
            "front": base64.b64encode(pickle.dumps(fields)).decode("ascii"),
            "stopped_by_hand": bool(front.run["stopped_by_hand"]),
        }


def _front(problem: AnonymizationProblem, outcome: Outcome) -> Front:
    fields = pickle.loads(base64.b64decode(outcome.facts["front"]))  # noqa: S301  # our own worker's
    return Front(
        quantities=quantities_of(problem),
        n_objectives=problem.n_obj,
        description=problem.describe(),
        problem=problem,
        table=problem.table,
        **fields,
    )


def _merge_fronts(
    problem: AnonymizationProblem,
    seeds: list[int],
    outcome_by_seed: dict[int, Outcome],
    stopped: bool,
    seconds: float,
) -> Front:
    failures = [
        {"seed": seed, "error": outcome.error}
        for seed, outcome in outcome_by_seed.items()
        if outcome.status == "failed"
    ]
    for failure in failures:
        warnings.warn(
            f"optimize_islands: the search with seed {failure['seed']} failed ({failure['error']}); the "
            "others are kept",
            RuntimeWarning,
            stacklevel=3,
        )
    fronts = [
        _front(problem, outcome) for outcome in outcome_by_seed.values() if outcome.status == "ok"
    ]
    if not fronts and failures:
        raise ProblemError(
            f"optimize_islands: all searches failed, that with seed {failures[0]['seed']} with "
            f"{failures[0]['error']}"
        )
    if not fronts:
        raise InfeasibleError(nothing_feasible(problem, len(seeds)))
    runs = [dict(front.run) for front in fronts]
    why = next((run["why_not_reproducible"] for run in runs if not run["reproducible"]), None)
    if failures or stopped:
        why = "not all searches ended"
    return replace(
        fronts[0].merge(*fronts[1:]),
        infeasible=np.concatenate([front.infeasible for front in fronts]),
        run={
            "algorithm": runs[0]["algorithm"],
            "seeds": seeds,
            "budget": runs[0]["budget"],
            "evaluations": sum(run["evaluations"] for run in runs),
            "infeasible": sum(run["infeasible"] for run in runs),
            "seconds": round(seconds, 3),
            "stopped_by_hand": stopped,
            "reproducible": why is None,
            "why_not_reproducible": why,
            "merged": runs,
            "failed": failures,
            "versions": versions(),
        },
    )
