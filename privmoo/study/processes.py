"""Processes: runs in this process, or in others of one thread each; one that dies ends one run only."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privmoo.errors import CheckpointError, Hint, ProblemError
from privmoo.problem import AnonymizationProblem
from privmoo.study.outcomes import Outcome
from privmoo.study.tasks import Task, failed_outcome, run
from privmoo.study.worker import read, write

__all__ = ["here", "in_processes", "pickle_value", "pickled_problems"]

Take = Callable[[Task, Outcome], None]
_WORK = "from privmoo.study.worker import main; main()"
_ONE = ("PRIVMOO", "NUMBA_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM")


def here(tasks: Sequence[Task], problems: Mapping[str, AnonymizationProblem], take: Take) -> None:
    """Run tasks one after the other in this process.

    Args:
        tasks: The runs.
        problems: The problems by name.
        take: Called with every task and its outcome.
    """
    for task in tasks:
        # A copy, because a run begins with an empty cache.
        take(task, run(task, copy.copy(problems[task.problem])))


def pickle_value(value: Any, what: str) -> bytes:
    """Pickle a value with the functions that were written in a notebook.

    Args:
        value: The value.
        what: The value's name in the error.
    """
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(value))
    except Exception as error:
        raise ProblemError(
            f"compare: {what} cannot be sent to another process ({error})",
            hint=Hint(parameter="jobs", value=1),
        ) from error


def pickled_problems(problems: Mapping[str, AnonymizationProblem]) -> dict[str, bytes]:
    """Pickle problems; what they have evaluated and who observes them stays here."""
    return {name: pickle_value(problem, f"problem {name!r}") for name, problem in problems.items()}


def in_processes(
    tasks: Sequence[Task],
    problems: Mapping[str, AnonymizationProblem],
    take: Take,
    *,
    jobs: int,
) -> None:
    """Run tasks in new processes (not forked), until all have ended or Ctrl-C.

    Args:
        tasks: The runs.
        problems: The problems by name.
        take: Called with every task and its outcome, in the order in which they end.
        jobs: The number of processes.
    """
    pickles = pickled_problems(problems)
    waiting = [(task, pickle_value(task, f"solver {task.solver.name!r}")) for task in tasks][::-1]
    lock = threading.Lock()
    errors: list[BaseException] = []
    workers = [_Worker() for _ in range(jobs)]

    def serve(worker: _Worker) -> None:
        try:
            while True:
                with lock:
                    if not waiting or errors:
                        return
                    task, content = waiting.pop()
                outcome = worker.run(task, pickles[task.problem], content)
                with lock:
                    if outcome is not None:
                        take(task, outcome)
        except BaseException as error:  # raised again below, in the thread that waits
            with lock:
                errors.append(error)
        finally:
            worker.end()

    threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():  # a join without a timeout does not hear Ctrl-C everywhere
                thread.join(0.2)
    finally:
        with lock:
            waiting.clear()
        for worker in workers:
            worker.close()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


class _Worker:
    """One process, replaced when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._problems: set[str] = set()
        self._closed = False

    def run(self, task: Task, problem: bytes, content: bytes) -> Outcome | None:
        """Return the outcome of a task, or None if the study ends meanwhile.

        Args:
            task: The task.
            problem: The pickled problem.
            content: The pickled task.
        """
        process = self._process or self._start()
        new = None if task.problem in self._problems else problem
        answer = None
        try:
            write(_stream(process.stdin), pickle.dumps((task.problem, new, content)))
            self._problems.add(task.problem)
            answer = read(_stream(process.stdout))
        except OSError:
            pass  # it died, which the missing answer says
        if answer is not None:
            try:
                return Outcome.read(answer)
            except CheckpointError as problem:
                return failed_outcome(task, _message(answer) or str(problem))
        code = self.end()
        if self._closed:
            return None
        reason = f"signal {-code}" if code < 0 else f"exit code {code}"
        return failed_outcome(task, f"its process ended without an answer ({reason})")

    def _start(self) -> subprocess.Popen[bytes]:
        self._problems = set()
        self._process = subprocess.Popen(  # noqa: S603  # this Python, with a text of our own
            [sys.executable, "-c", _WORK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **{f"{name}_THREADS": "1" for name in _ONE}},
            start_new_session=True,  # Ctrl-C is for the process that waits
        )
        write(_stream(self._process.stdin), pickle.dumps(sys.path))
        return self._process

    def close(self) -> None:
        """End the process, for good."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # its thread, which waits for an answer, ends it

    def end(self) -> int:
        """End the process, and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return process.wait()


def _message(answer: bytes) -> str:
    """Return the sentence that a worker gave instead of an outcome; empty if there is none."""
    try:
        return str(pickle.loads(answer))  # noqa: S301  # from our own worker
    except Exception:  # whatever pickle raises for other bytes
        return ""


def _stream(stream: Any) -> Any:
    if stream is None:
        raise ProblemError("compare: the process has no pipes")
    return stream
