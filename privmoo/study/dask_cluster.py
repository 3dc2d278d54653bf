"""Dask cluster: runs on its workers, where a worker that dies costs time, not the study."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privmoo.errors import CheckpointError, ProblemError
from privmoo.problem import AnonymizationProblem
from privmoo.study.outcomes import Outcome
from privmoo.study.processes import pickle_value, pickled_problems
from privmoo.study.tasks import Task, failed_outcome, run_pickled

__all__ = ["on_cluster"]

_LOOK = 5.0  # seconds between two looks whether the problems are still there
_ALONE = 2  # times that a run may lose its worker with no other run beside it


def on_cluster(
    tasks: Sequence[Task],
    problems: Mapping[str, AnonymizationProblem],
    take: Callable[[Task, Outcome], None],
    client: Any,
) -> None:
    """Run tasks on the workers of a Dask client.

    What a lost worker was running is run again by another; where the problems themselves were lost with
    it, they are sent again.

    Args:
        tasks: The runs.
        problems: The problems by name.
        take: Called with every task and its outcome, in the order in which they end.
        client: The client.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ProblemError(
            "client: needs Dask; install it with: pip install 'privmoo[dask]'"
        ) from None
    if not isinstance(client, Client):
        raise ProblemError(
            f"client: must be a dask.distributed.Client, got {type(client).__name__}"
        )
    cluster = _Cluster(tasks, problems, take, client)
    waiting, alone = list(range(len(tasks))), 0
    while waiting:
        group = waiting[:1] if alone else waiting
        lost_tasks = cluster.attempt(group)
        if alone == _ALONE and lost_tasks:
            task = tasks[lost_tasks[0]]
            take(task, failed_outcome(task, "its worker was lost whenever it ran"))
            lost_tasks, alone = [], 0
        elif len(lost_tasks) == len(
            group
        ):  # one of them may take the workers along: one at a time, then
            alone += 1
        else:
            alone = 0
        waiting = sorted({*waiting[len(group) :], *lost_tasks})


class _Cluster:
    """The tasks of a study on a Dask cluster, some of them at a time."""

    def __init__(
        self,
        tasks: Sequence[Task],
        problems: Mapping[str, AnonymizationProblem],
        take: Callable[[Task, Outcome], None],
        client: Any,
    ) -> None:
        self.tasks, self.take, self.client = tasks, take, client
        self._problems = pickled_problems(problems)
        self._content = [pickle_value(task, f"solver {task.solver.name!r}") for task in tasks]
        self._attempts = 0

    def attempt(self, group: Sequence[int]) -> list[int]:
        """Run some of the tasks, and return those whose workers were lost."""
        self._attempts += 1
        names = sorted({self.tasks[i].problem for i in group})
        # Not by its hash: a late release of an earlier attempt would take the same key away.
        problems = self.client.scatter(
            [self._problems[name] for name in names], broadcast=True, hash=False
        )
        futures = self._submit(group, dict(zip(names, problems, strict=True)))
        lost_tasks = []
        try:
            pending = set(futures)
            while pending:
                done_futures = _wait_for_some(pending)
                if not done_futures and not all(self.client.who_has(problems).values()):
                    done_futures = set(pending)  # no worker has the problem any more
                pending -= done_futures
                for future in done_futures:
                    task = self.tasks[futures[future]]
                    outcome = _outcome(future, task)
                    if outcome is None:
                        lost_tasks.append(futures[future])
                    else:
                        self.take(task, outcome)
                        future.release()  # not to be computed again when its worker is lost
        finally:
            for future in futures:
                future.cancel()
        return lost_tasks

    def _submit(self, group: Sequence[int], problems: Mapping[str, Any]) -> dict[Any, int]:
        return {
            self.client.submit(
                run_pickled,
                problems[self.tasks[i].problem],
                self._content[i],
                key=f"privmoo-{self.tasks[i].key}-{self._attempts}",
                pure=False,
            ): i
            for i in group
        }


def _wait_for_some(futures: set[Any]) -> set[Any]:
    """Return the futures that ended within some seconds."""
    from distributed import wait

    with contextlib.suppress(
        TimeoutError,
        asyncio.TimeoutError,
        asyncio.CancelledError,
        concurrent.futures.CancelledError,
    ):
        wait(list(futures), timeout=_LOOK, return_when="FIRST_COMPLETED")
    return {future for future in futures if future.status in ("finished", "error", "cancelled")}


def _outcome(future: Any, task: Task) -> Outcome | None:
    """Return the outcome of a run; None if it was lost with the workers that had the problem."""
    if future.status == "error":
        error = future.exception()
        return failed_outcome(task, f"{type(error).__name__}: {error}")
    if future.status != "finished":
        return None
    try:
        return Outcome.read(future.result())
    except (asyncio.CancelledError, concurrent.futures.CancelledError):
        return None
    except CheckpointError as problem:
        return failed_outcome(task, str(problem))
