"""Runs on a cluster, by Dask: a worker that dies costs time, not the study."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privmoo.errors import CheckpointError, ProblemError
from privmoo.problem import AnonymizationProblem
from privmoo.study.outcomes import Outcome
from privmoo.study.processes import pickled, pickled_problems
from privmoo.study.tasks import Task, failed, unpickled

__all__ = ["on_cluster"]

_LOOK = 5.0  # seconds between two looks whether the problems are still there
_ALONE = 2  # times that a run may lose its worker with no other run beside it


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
        from distributed import Client
    except ImportError:
        raise ProblemError(
            "client: needs Dask; install it with: pip install 'privmoo[dask]'"
        ) from None
    if not isinstance(client, Client):
        raise ProblemError(
            f"client: must be a dask.distributed.Client, got {type(client).__name__}"
        )
    sent = pickled_problems(problems)
    content = [pickled(task, f"solver {task.solver.name!r}") for task in tasks]
    left, alone, attempt = list(range(len(tasks))), 0, 0
    while left:
        attempt += 1
        group = left[:1] if alone else left
        lost = []
        names = sorted({tasks[i].problem for i in group})
        # Not by its hash: a late release of an earlier attempt would take the same key away.
        there = client.scatter([sent[name] for name in names], broadcast=True, hash=False)
        place = dict(zip(names, there, strict=True))
        futures = {
            client.submit(
                unpickled,
                place[tasks[i].problem],
                content[i],
                key=f"privmoo-{tasks[i].key}-{attempt}",
                pure=False,
            ): i
            for i in group
        }
        try:
            pending = set(futures)
            while pending:
                ended = _ended(pending)
                if not ended and not all(client.who_has(there).values()):
                    ended = set(pending)  # nobody has the problem any more
                pending -= ended
                for future in ended:
                    task = tasks[futures[future]]
                    outcome = _outcome(future, task)
                    if outcome is None:
                        lost.append(futures[future])
                    else:
                        tell(task, outcome)
                        future.release()  # not to be computed again when its worker is lost
        finally:
            for future in futures:
                future.cancel()
        if alone == _ALONE and lost:
            tell(tasks[lost[0]], failed(tasks[lost[0]], "its worker was lost whenever it ran"))
            lost, alone = [], 0
        elif len(lost) == len(group):  # one of them may take the workers along: one at a time, then
            alone += 1
        else:
            alone = 0
        left = sorted({*left[len(group) :], *lost})


def _ended(futures: set[Any]) -> set[Any]:
    """Those that ended, waited for some seconds."""
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
    """What a run gave; None if it was lost, because the problem was lost with the workers that had it."""
    if future.status == "error":
        error = future.exception()
        return failed(task, f"{type(error).__name__}: {error}")
    if future.status != "finished":
        return None
    try:
        return Outcome.read(future.result())
    except (asyncio.CancelledError, concurrent.futures.CancelledError):
        return None
    except CheckpointError as problem:
        return failed(task, str(problem))
