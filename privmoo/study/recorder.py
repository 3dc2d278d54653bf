"""Recorder: the fronts of a run while its budget lasts, which is the same for every solver."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_whole
from privmoo.errors import ProblemError
from privmoo.evaluation.evaluator import Evaluation, Observer
from privmoo.front.archive import Archive
from privmoo.problem import AnonymizationProblem
from privmoo.search.budgets import Evaluations, Generations, RunBudget, Seconds, parts_of

__all__ = ["Limit", "Recorder"]

_MARKS = 40
_GROWTH = 1.15


@dataclass(frozen=True)
class Limit:
    """The budget that every run of a study has.

    Attributes:
        evaluations: Evaluations that count, or None.
        seconds: Seconds that count, or None.

    >>> Limit.of(Evaluations(500) | Seconds(2))
    Limit(evaluations=500, seconds=2)
    """

    evaluations: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, budget: object, *, population: int | None = None) -> Limit:
        """Return the limit of a budget; a plain number is one of evaluations.

        Args:
            budget: The budget.
            population: How many evaluations a generation stands for, whatever a solver's population is.

        >>> Limit.of(Generations(10), population=200)
        Limit(evaluations=2000, seconds=None)
        """
        if is_whole(budget):
            budget = Evaluations(int(budget))
        if not isinstance(budget, RunBudget):
            raise ProblemError(
                "budget: must be a number of evaluations, Evaluations(…), Generations(…), Seconds(…) or "
                f"some joined by |, got {budget!r}"
            )
        evaluations: int | None = None
        seconds: float | None = None
        for part in parts_of(budget):
            if isinstance(part, Generations) and population is not None:
                part = Evaluations(part.number * population)
            if isinstance(part, Evaluations):
                evaluations = min(part.number, evaluations or part.number)
            elif isinstance(part, Seconds):
                seconds = min(part.number, seconds or part.number)
            else:
                raise ProblemError(
                    f"budget: {part!r} is not the same work for every solver; give Evaluations(…), "
                    "Seconds(…) or both"
                )
        return cls(evaluations, seconds)

    @property
    def budget(self) -> RunBudget:
        """The budget of one run."""
        if self.seconds is None:
            return Evaluations(self.evaluations or 1)
        if self.evaluations is None:
            return Seconds(self.seconds)
        return Evaluations(self.evaluations) | Seconds(self.seconds)

    def marks(self) -> Iterator[int]:
        """Yield the numbers of evaluations at which the front is recorded, evenly if there is a limit."""
        if self.evaluations is None:
            mark = 10.0
            while True:
                yield round(mark)
                mark *= _GROWTH
        steps = np.linspace(0, self.evaluations, _MARKS + 1)[1:]
        yield from np.unique(np.ceil(steps).astype(int)).tolist()


class Recorder(Observer):
    """An observer that records the front of what a problem evaluates at marks, until the budget ends.

    An algorithm completes its last generation; what it evaluates beyond the budget does not count, so
    that solvers with large and with small populations have equal budgets to the evaluation.

    >>> recorder = Recorder(2, Limit(evaluations=3))
    >>> F = np.array([[4.0, 4.0], [3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    >>> recorder.on_evaluation(Evaluation(np.arange(4)[:, None], F, np.zeros((4, 1)), F))
    >>> recorder.archive.F.tolist(), recorder.evaluations, [len(F) for F in recorder.fronts]
    ([[2.0, 2.0]], 4, [1, 1, 1])
    """

    def __init__(self, n_obj: int, limit: Limit) -> None:
        self.archive = Archive(n_obj)
        self.limit = limit
        self.evaluations = 0
        self.at: list[int] = []
        self.seconds: list[float] = []
        self.fronts: list[NDArray[np.float64]] = []
        self._marks = limit.marks()
        self._next: float = next(self._marks)
        self._began = time.perf_counter()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self._began

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Take a batch of judged candidates; companions count with the candidate that brought them."""
        total = len(evaluation)
        is_over_time = self.limit.seconds is not None and self.elapsed_seconds > self.limit.seconds
        limit = math.inf if self.limit.evaluations is None else self.limit.evaluations
        begin = 0
        while begin < total and not is_over_time and self.evaluations + begin < limit:
            room = min(self._next, limit) - self.evaluations - begin
            end = int(min(total, begin + room))
            self._add(evaluation, slice(begin, end))
            companions = evaluation.companions
            if companions is not None and companions.origins is not None:
                within = (begin <= companions.origins) & (companions.origins < end)
                self._add(companions, within)
            if self.evaluations + end >= self._next:
                self._keep(self.evaluations + end)
                self._next = next(self._marks, math.inf)
            begin = end
        self.evaluations += total

    def _add(self, evaluation: Evaluation, rows: slice | NDArray[np.bool_]) -> None:
        X, F, G = evaluation.X[rows], evaluation.F[rows], evaluation.G[rows]
        extras = {"values": evaluation.values[rows]}
        if evaluation.thresholds is not None:
            extras["thresholds"] = evaluation.thresholds[rows]
        if len(F):
            self.archive.add(X, {"F": F, "G": G, **extras})

    def _keep(self, evaluations: int) -> None:
        self.at.append(evaluations)
        self.seconds.append(self.elapsed_seconds)
        self.fronts.append(self.archive.F)

    @contextmanager
    def listening(self, problem: AnonymizationProblem) -> Iterator[None]:
        """Observe what a problem evaluates inside the `with` block."""
        self._began = time.perf_counter()
        with problem.evaluator.observed_by(self):
            yield
