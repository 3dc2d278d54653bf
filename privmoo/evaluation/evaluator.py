"""Evaluator: the one way to judge candidates, with observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.cache import EvaluationCache
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Constraint, Measure
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates

__all__ = ["Evaluation", "Evaluator", "Formulation", "Observer"]

Decoder = Callable[[list[int]], Candidates]


@dataclass(frozen=True)
class Evaluation:
    """A batch of judged candidates.

    Attributes:
        X: The decision vectors.
        F: The objectives, all minimised.
        G: The violations of the constraints; a candidate is feasible where none is above 0.
        values: All measures in their natural sense, and in the last column the suppressed records.
        companions: Further candidates that were judged along with these at no cost, such as the other
            thresholds of the same recodings.
        origins: Of companions, the row of the batch that brought each of them along.
    """

    X: NDArray[Any]
    F: NDArray[np.float64]
    G: NDArray[np.float64]
    values: NDArray[np.float64]
    companions: Evaluation | None = None
    origins: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.F)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which candidates satisfy all constraints."""
        return np.asarray((self.G <= 0).all(axis=1))


class Observer:
    """Hears what an evaluator does; the base of archive, log and recorder."""

    def on_values(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Hear the measured values of candidates that were new.

        Args:
            keys: The keys of their recodings.
            values: A row of values for each.
        """

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Hear a batch of judged candidates, with its companions."""


class Formulation(Protocol):
    """What an evaluator judges: a problem, as far as evaluation needs to know it."""

    table: Table
    objectives: tuple[Measure, ...]
    constraints: tuple[Constraint, ...]
    measures: tuple[Measure, ...]
    chunk: int | None

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them."""

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the recoding is the same."""

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which decision vectors are recodings at all."""

    def minimised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return objective values with maximised ones negated."""

    def companions(self, X: NDArray[Any], evaluator: Evaluator) -> Evaluation | None:
        """Return the candidates that come along with decision vectors at no cost.

        Args:
            X: The decision vectors that were evaluated.
            evaluator: What judges the companions.
        """

    def begin_run(self) -> None:
        """Forget what was remembered of an earlier run."""


class Evaluator:
    """Measures and judges candidates of a problem, and tells observers.

    Values are kept by the key of a recoding, so that no recoding is measured twice.

    Args:
        formulation: The problem.
        engine: What groups its candidates.

    Attributes:
        cache: The values of everything that was measured.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> evaluator = pm.problems.Cuts(table).evaluator
    >>> evaluator.judge(np.array([[False, True, False]])).F.round(3).tolist()
    [[-2.0, 0.333]]
    """

    def __init__(self, formulation: Formulation, engine: Engine) -> None:
        self.formulation = formulation
        self.engine = engine
        self.cache = EvaluationCache(len(formulation.measures) + 1)
        self._columns = {m.key: i for i, m in enumerate(formulation.measures)}
        self._observers: list[Observer] = []

    @property
    def names(self) -> list[str]:
        """The names of the values: the measures' keys, and `records_suppressed`."""
        return [*self._columns, "records_suppressed"]

    @contextmanager
    def observed_by(self, *observers: Observer) -> Iterator[None]:
        """Tell observers of everything that is evaluated inside the `with` block.

        A new observer begins a new run: it hears of companions that earlier observers know already.
        """
        self._observers += observers
        self.formulation.begin_run()
        try:
            yield
        finally:
            for observer in observers:
                self._observers.remove(observer)

    def evaluate(self, X: NDArray[Any]) -> Evaluation:
        """Judge decision vectors and tell the observers, with the companions that come along."""
        evaluation = self.judge(X)
        if self._observers:
            companions = self.formulation.companions(X, self)
            evaluation = replace(evaluation, companions=companions)
            for observer in self._observers:
                observer.on_evaluation(evaluation)
        return evaluation

    def judge(
        self, X: NDArray[Any], *, decode: Decoder | None = None, keep: bool = True
    ) -> Evaluation:
        """Judge decision vectors quietly: observers hear of new values only.

        Args:
            X: One row per candidate.
            decode: Returns the candidates of some rows of X, by position, where that is cheaper than to
                decode the decision vectors; they must be the same.
            keep: Whether to look values up in the cache and to keep them there.
        """
        values = self.values(X, decode) if keep else self.measure(self._candidates(X))
        return self._evaluation(X, values, self.formulation.valid(X))

    def judge_recodings(self, recodings: Sequence[Recoding]) -> Evaluation:
        """Judge recodings that were found elsewhere, such as baselines; they have no decision vectors."""
        rows = []
        for recoding in recodings:
            view = recoding.view(self.formulation.table)
            engine = Engine(
                view, suppression=self.engine.suppression, needs=self.engine.needs, threads=1
            )
            rows += engine.map(recoding.candidate(view), self._measured)
        values = np.concatenate(rows)
        valid = np.ones(len(values), dtype=np.bool_)
        return self._evaluation(np.empty((len(values), 0)), values, valid)

    def values(self, X: NDArray[Any], decode: Decoder | None = None) -> NDArray[np.float64]:
        """Return all measures of decision vectors, from the cache where they are known.

        Args:
            X: One row per candidate.
            decode: As in `judge`.
        """
        keys = self.formulation.keys(X)
        new = self.cache.missing(keys)
        step = self.formulation.chunk or max(len(new), 1)
        for begin in range(0, len(new), step):
            part = new[begin : begin + step]
            candidates = self._candidates(X[part]) if decode is None else decode(part)
            values = self.measure(candidates)
            self._store([keys[i] for i in part], values)
        return self.cache.values(keys)

    def measure(self, candidates: Candidates) -> NDArray[np.float64]:
        """Return all measures of candidates, computed now."""
        return np.concatenate(self.engine.map(candidates, self._measured))

    def recall(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Put values into the cache that were measured earlier, such as those of a log.

        Args:
            keys: The keys of their recodings.
            values: A row of values for each.
        """
        unknown = self.cache.missing(keys)
        self.cache.store([keys[i] for i in unknown], values[unknown])

    def forget(self) -> None:
        """Empty the cache, so that a run pays for everything that it evaluates."""
        self.cache = EvaluationCache(self.cache.width)

    def _candidates(self, X: NDArray[Any]) -> Candidates:
        candidates = self.formulation.candidates(X)
        if len(candidates) != len(X):
            raise ProblemError(
                "candidates: a space must return one candidate per decision vector, got "
                f"{len(candidates)} for {len(X)}"
            )
        return candidates

    def _store(self, keys: list[bytes], values: NDArray[np.float64]) -> None:
        self.cache.store(keys, values)
        for observer in self._observers:
            observer.on_values(keys, values)

    def _measured(self, before: GroupBatch, after: GroupBatch) -> NDArray[np.float64]:
        measures = self.formulation.measures
        result = np.empty((len(after), len(measures) + 1))
        for i, m in enumerate(measures):
            result[:, i] = m.values(before if m.stage == "before" else after)
        result[:, -1] = self.formulation.table.n_records - after.n_records
        return result

    def _evaluation(
        self, X: NDArray[Any], values: NDArray[np.float64], valid: NDArray[np.bool_]
    ) -> Evaluation:
        formulation = self.formulation
        objectives = values[:, [self._columns[m.key] for m in formulation.objectives]]
        violations = [
            c.violation(values[:, self._columns[c.measure.key]]) for c in formulation.constraints
        ]
        # A release of no records is worst in every objective, and infeasible. So is a decision vector
        # that is not a recoding, such as a cut across the nodes of a tree.
        empty = (values[:, -1] >= formulation.table.n_records) | ~valid
        violations.append(np.where(empty, 1.0, -1.0))
        return Evaluation(X, formulation.minimised(objectives), np.column_stack(violations), values)

    def __getstate__(self) -> dict[str, Any]:
        # Another process has its own observers, and pays for what it evaluates.
        cache = EvaluationCache(self.cache.width)
        return {**vars(self), "cache": cache, "_observers": []}
