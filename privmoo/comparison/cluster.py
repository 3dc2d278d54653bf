"""Runs on a cluster, by Dask: a worker that dies costs time, not the study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privmoo.comparison.outcomes import Outcome
from privmoo.comparison.processes import pickled
from privmoo.comparison.tasks import Task, failed, unpickled
from privmoo.errors import ProblemError
from privmoo.problem import AnonymizationProblem

__all__ = ["on_cluster"]

_ATTEMPTS = 3


def on_cluster(
    tasks: Sequence[Task],
    problems: Mapping[str, AnonymizationProblem],
    tell: Callable[[Task, Outcome], None],
    client: Any,
) -> None:
    """Do tasks on the workers of a Dask client.

    What a lost worker was doing is done again by another; where the problems themselves were lost with
    it, they are sent again.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ProblemError(
            "client: needs Dask; install it with: pip install 'privmoo[dask]'"
        ) from None
    if not isinstance(client, Client):
        raise ProblemError(
            f"client: must be a dask.distributed.Client, got {type(client).__name__}"
        )
    sent = {name: pickled(problem, f"problem {name!r}") for name, problem in problems.items()}
    content = [pickled(task, f"solver {task.solver.name!r}") for task in tasks]
    left = list(range(len(tasks)))
    for attempt in range(1, _ATTEMPTS + 1):
        names = sorted({tasks[i].problem for i in left})
        there = dict(
            zip(names, client.scatter([sent[n] for n in names], broadcast=True), strict=True)
        )
        futures = {
            client.submit(
                unpickled,
                there[tasks[i].problem],
                content[i],
                key=f"privmoo-{tasks[i].key}-{attempt}",
                pure=False,
            ): i
            for i in left
        }
        left = []
        try:
            for future in as_completed(list(futures)):
                task = tasks[futures[future]]
                if future.status == "finished":
                    tell(task, Outcome.read(future.result()))
                elif future.status == "error":
                    error = future.exception()
                    tell(task, failed(task, f"{type(error).__name__}: {error}"))
                else:  # the problem was lost with the worker that had it
                    left.append(futures[future])
        finally:
            for future in futures:
                future.cancel()
        if not left:
            return
    for i in left:
        tell(tasks[i], failed(tasks[i], f"it was lost with its worker {_ATTEMPTS} times"))
