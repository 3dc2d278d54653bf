"""Tasks: the runs of a study, their keys, and running them in any process."""

from __future__ import annotations

import hashlib
import json
import pickle
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmoo._util.packing import plain
from privmoo._util.versions import versions
from privmoo.problem import AnonymizationProblem
from privmoo.study.outcomes import Outcome, history
from privmoo.study.recorder import Limit, Recorder
from privmoo.study.solvers import Solver

__all__ = ["Task", "failed_outcome", "run", "run_pickled"]


@dataclass(frozen=True)
class Task:
    """One run to do.

    Attributes:
        problem: The problem's name.
        solver: The solver.
        seed: The seed; None for a deterministic solver.
        limit: The budget.
        key: A digest of all that decides the result: the name of the run's file.
    """

    problem: str
    solver: Solver
    seed: int | None
    limit: Limit
    key: str

    @classmethod
    def of(
        cls,
        problem: str,
        solver: Solver,
        seed: int | None,
        limit: Limit,
        identity: dict[str, Any],
    ) -> Task:
        """Return a task with its key.

        Args:
            problem: The problem's name.
            solver: The solver.
            seed: The seed; None for a deterministic solver.
            limit: The budget.
            identity: The descriptions of problem and solver.
        """
        task_identity = {**identity, "seed": seed, "limit": repr(limit), "versions": versions()}
        text = json.dumps(plain(task_identity), sort_keys=True).encode()
        key = hashlib.blake2b(text, digest_size=16).hexdigest()
        return cls(problem, solver, seed, limit, key)


def run(task: Task, problem: AnonymizationProblem) -> Outcome:
    """Run a task; an error is an outcome too, so that the other runs go on.

    Args:
        task: The run.
        problem: The problem of its name.
    """
    began = time.perf_counter()
    try:
        problem.forget()
        if task.limit.seconds is not None:
            _warm_up(problem)
        recorder = Recorder(problem.n_obj, task.limit)
        front, facts = task.solver.solve(problem, task.seed or 0, recorder)
    except (Exception, SystemExit) as error:  # a solver's exit() ends its run, not the study
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f" (in {place.name}, line {place.lineno})"
        return failed_outcome(
            task,
            f"{type(error).__name__}: {error}{where}",
            seconds=round(time.perf_counter() - began, 3),
        )
    facts = plain({**facts, "seconds": round(recorder.elapsed_seconds, 3)})
    points, spans = history([np.empty((0, problem.n_obj)), *recorder.fronts])
    arrays: dict[str, Any] = {
        "at": np.array(recorder.at, np.int64),
        "seconds": np.array(recorder.seconds, np.float64),
        "points": points,
        "spans": spans - 1,  # without the empty front before all others
    }
    names = task.problem, task.solver.name, task.seed
    if front is None:
        return Outcome(*names, "nothing feasible", facts=facts, **arrays)
    return Outcome(*names, "ok", facts=facts, values=front.values, F=front.F, **arrays)


def failed_outcome(task: Task, error: str, **facts: Any) -> Outcome:
    """Return the outcome of a run that failed.

    Args:
        task: The run.
        error: Why it failed.
        facts: Facts about the run.
    """
    return Outcome(task.problem, task.solver.name, task.seed, "failed", error, facts=facts)


def run_pickled(problem: bytes, task: bytes) -> bytes:
    """Run a task that comes from another process.

    Args:
        problem: The pickled problem.
        task: The pickled task.

    Returns:
        The outcome as bytes.
    """
    task_object: Task = pickle.loads(task)  # noqa: S301  # from the process that started this one
    problems: dict[str, tuple[bytes, AnonymizationProblem]] = vars(_here)
    if task_object.problem not in problems or problems[task_object.problem][0] is not problem:
        copy: AnonymizationProblem = pickle.loads(problem)  # noqa: S301
        copy.limit_threads(1)
        problems[task_object.problem] = (problem, copy)
    return run(task_object, problems[task_object.problem][1]).to_bytes()


_here = threading.local()  # a worker of a cluster may have several threads, a problem only one run


def _warm_up(problem: AnonymizationProblem) -> None:
    """Compile what the evaluation needs before a clock runs."""
    sampling = problem.default_operators().get("sampling")
    if sampling is not None:
        samples = sampling.do(problem, 2, random_state=np.random.default_rng(0))
        problem.evaluate(samples.get("X"), return_as_dictionary=True)
        problem.forget()
