"""One run of a study: what it is, its key, and doing it in whatever process."""

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

__all__ = ["Task", "do", "failed", "unpickled"]


@dataclass(frozen=True)
class Task:
    """One run to do.

    Attributes:
        problem: The problem's name.
        solver: How to solve it.
        seed: With which seed; None if the solver has no chance in it.
        limit: The budget.
        key: What decides the result, in a few characters: the name of its file.
    """

    problem: str
    solver: Solver
    seed: int | None
    limit: Limit
    key: str

    @classmethod
    def of(
        cls,
        name: str,
        problem: AnonymizationProblem,
        solver: Solver,
        seed: int | None,
        limit: Limit,
        known: dict[str, Any],
    ) -> Task:
        """The task with its key; `known` are the descriptions of problem and solver."""
        identity = {**known, "seed": seed, "limit": repr(limit), "versions": versions()}
        text = json.dumps(plain(identity), sort_keys=True).encode()
        key = hashlib.blake2b(text, digest_size=16).hexdigest()
        return cls(name, solver, seed, limit, key)


def do(task: Task, problem: AnonymizationProblem) -> Outcome:
    """Run it; whatever it raises is an outcome too, so that the other runs go on."""
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
        return failed(
            task,
            f"{type(error).__name__}: {error}{where}",
            seconds=round(time.perf_counter() - began, 3),
        )
    facts = {**facts, "seconds": round(recorder.used, 3)}
    n_obj = problem.n_obj
    points, spans = history([np.empty((0, n_obj)), *recorder.fronts])
    kept: dict[str, Any] = {
        "at": np.array(recorder.at, np.int64),
        "seconds": np.array(recorder.seconds, np.float64),
        "points": points,
        "spans": spans - 1,  # without the empty front before all others
    }
    if front is None:
        facts = plain(facts)
        return Outcome(
            task.problem, task.solver.name, task.seed, "nothing feasible", facts=facts, **kept
        )
    return Outcome(
        task.problem,
        task.solver.name,
        task.seed,
        "ok",
        facts=plain(facts),
        values=front.values,
        F=front.F,
        **kept,
    )


def failed(task: Task, error: str, **facts: Any) -> Outcome:
    """The outcome of a run that gave none."""
    return Outcome(task.problem, task.solver.name, task.seed, "failed", error, facts=facts)


def unpickled(problem: bytes, task: bytes) -> bytes:
    """Do a task that came from another process; both ways are bytes."""
    own: Task = pickle.loads(task)  # noqa: S301  # from the process that started this one
    known: dict[str, tuple[bytes, AnonymizationProblem]] = vars(_here)
    if own.problem not in known or known[own.problem][0] is not problem:
        one: AnonymizationProblem = pickle.loads(problem)  # noqa: S301
        one.limit_threads(1)
        known[own.problem] = (problem, one)
    return do(own, known[own.problem][1]).to_bytes()


_here = threading.local()  # a worker of a cluster may have several threads, a problem only one run


def _warm_up(problem: AnonymizationProblem) -> None:
    """Compile what the evaluation needs before a clock runs."""
    sampling = problem.default_operators().get("sampling")
    if sampling is not None:
        drawn = sampling.do(problem, 2, random_state=np.random.default_rng(0))
        problem.evaluate(drawn.get("X"), return_as_dictionary=True)
        problem.forget()
