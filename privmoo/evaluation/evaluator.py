"""Evaluator: the only way to evaluate candidates, with observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.cache import EvaluationCache
from privmoo.evaluation.climb import Climb, Measured
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Constraint, Measure
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates

__all__ = ["Evaluation", "Evaluator", "Formulation", "Observer", "join_evaluations"]

Decoder = Callable[[list[int]], Candidates]


@dataclass(frozen=True)
class Evaluation:
    """A batch of evaluated candidates.

    Attributes:
        X: The decision vectors.
        F: The objectives, all minimised.
        G: The violations of the constraints; a candidate is feasible where none is above 0.
        values: All measures in their natural sense, and in the last column the suppressed records.
        companions: Further candidates that were evaluated along with these at no cost, such as the
            other thresholds of the same recodings.
        origins: Of companions, the row of the batch that brought each of them along.
        thresholds: Candidates × thresholds, where a release is a step of a staircase; not numbers where it
            is what the policy keeps by itself. None if no candidate is a step.
    """

    X: NDArray[Any]
    F: NDArray[np.float64]
    G: NDArray[np.float64]
    values: NDArray[np.float64]
    companions: Evaluation | None = None
    origins: NDArray[np.int64] | None = None
    thresholds: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.F)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which candidates satisfy all constraints."""
        return np.asarray((self.G <= 0).all(axis=1))


def join_evaluations(first: Evaluation, second: Evaluation) -> Evaluation:
    """Return the candidates of two batches in one.

    Args:
        first: A batch.
        second: Another one of the same problem, such as its companions.
    """
    widths = [e.thresholds.shape[1] for e in (first, second) if e.thresholds is not None]
    thresholds = None
    if widths:
        thresholds = np.concatenate(
            [
                np.full((len(e), widths[0]), np.nan) if e.thresholds is None else e.thresholds
                for e in (first, second)
            ]
        )
    X, F, G, values = (
        np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("X", "F", "G", "values")
    )
    return Evaluation(X, F, G, values, thresholds=thresholds)


class Observer:
    """An observer that an evaluator notifies of all results; the base of archive, log and recorder."""

    def on_values(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Receive the measured values of candidates that were new.

        Args:
            keys: The keys of their recodings.
            values: A row of values for each.
        """

    def on_stairs(self, stairs: Mapping[bytes, Measured]) -> None:
        """Receive the measured steps of new recodings, by the keys of the recodings."""

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Receive a batch of evaluated candidates, with its companions."""


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
        """Return which decision vectors are valid recodings."""

    def minimised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return objective values with maximised ones negated."""

    def stair_keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the staircase is the same."""

    def step_rows(
        self, X: NDArray[Any], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return steps as decision vectors, and the thresholds that these do not contain.

        Args:
            X: The decision vectors of the recodings, one row per step.
            thresholds: Steps × thresholds.
        """

    def learn(self, steps: Evaluation) -> None:
        """Take note of the evaluated steps of a run."""

    def notice(self, X: NDArray[Any]) -> None:
        """Take note of the decision vectors that a run has evaluated."""

    def begin_run(self) -> None:
        """Forget what was remembered of an earlier run."""


class Evaluator:
    """Measures and judges candidates of a problem, and notifies observers.

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
        self._climb = Climb(formulation)

    @property
    def names(self) -> list[str]:
        """The names of the values: the measures' keys, and `records_suppressed`."""
        return [*self._columns, "records_suppressed"]

    @contextmanager
    def observed_by(self, *observers: Observer) -> Iterator[None]:
        """Tell observers about everything that is evaluated inside the `with` block.

        A new observer begins a new run: it also receives companions that earlier observers know already.
        """
        self._observers += observers
        self._climb = Climb(self.formulation)
        self.formulation.begin_run()
        try:
            yield
        finally:
            for observer in observers:
                self._observers.remove(observer)

    def evaluate(self, X: NDArray[Any], *, stairs: bool = False) -> Evaluation:
        """Evaluate decision vectors with their companions, and notify the observers.

        Args:
            X: One row per candidate.
            stairs: Whether the steps of the staircases are evaluated even if nobody observes.
        """
        if self.engine.staircase is None or not (stairs or self._observers):
            evaluation = self.judge(X)
        else:
            climb = self._climb if self._observers else Climb(self.formulation)
            evaluation = self._judge_stairs(X, climb)
        for observer in self._observers:
            observer.on_evaluation(evaluation)
        if self._observers:
            self.formulation.notice(X)
        return evaluation

    def _judge_stairs(self, X: NDArray[Any], climb: Climb) -> Evaluation:
        """Judge decision vectors, and all steps of recodings that the run has not had."""
        keys, valid = self.formulation.keys(X), self.formulation.valid(X)
        stair_keys = self.formulation.stair_keys(X)
        new = climb.new(stair_keys, valid)
        fresh = [i for i in new if stair_keys[i] not in climb.logged]
        logged_keys = {stair_keys[i] for i in new} & climb.logged.keys()
        stairs_of = {key: climb.logged[key] for key in logged_keys}
        step = self.formulation.chunk or max(len(fresh), 1)
        for begin in range(0, len(fresh), step):
            part = fresh[begin : begin + step]
            values, stairs = self._measure_stairs(X[part], climb)
            stairs_by_key = {stair_keys[i]: stairs[j] for j, i in enumerate(part)}
            # First the stairs, then the values: whoever knows a value in a log knows its stairs as well.
            for observer in self._observers:
                observer.on_stairs(stairs_by_key)
            missing = [j for j, i in enumerate(part) if keys[i] not in self.cache]
            self._store([keys[part[j]] for j in missing], values[missing])
            stairs_of |= stairs_by_key
        evaluation = self._evaluation(X, self.values(X), valid)
        climb.add(evaluation)
        owners = np.repeat(new, [len(stairs_of[stair_keys[i]][0]) for i in new]).astype(np.int64)
        if not len(owners):
            return evaluation
        thresholds = np.concatenate([stairs_of[stair_keys[i]][0] for i in new])
        values = np.concatenate([stairs_of[stair_keys[i]][1] for i in new])
        rows, unsaid = self.formulation.step_rows(X[owners], thresholds)
        steps = self._evaluation(rows, values, valid[owners])
        steps = replace(steps, origins=owners, thresholds=unsaid)
        climb.add(steps)
        self.formulation.learn(steps)
        return replace(evaluation, companions=steps)

    def _measure_stairs(
        self, X: NDArray[Any], climb: Climb
    ) -> tuple[NDArray[np.float64], list[Measured]]:
        """Measure candidates, and those of their steps that may be worth it."""
        staircase = self.engine.staircase
        assert staircase is not None  # noqa: S101  # whoever calls has asked
        candidates = self._candidates(X)
        diversity = "counts" in self.engine.needs
        parts, steps = self.engine.map_with_stairs(
            candidates,
            self._measure_batch,
            lambda groups: staircase.steps(groups, diversity=diversity),
        )
        values = np.concatenate(parts)
        steps = climb.promising(steps)
        of_steps = values[steps.owners]
        is_known = np.zeros(len(steps.owners), np.bool_)
        if staircase is self.engine.suppression and len(staircase.properties) == 1:
            # Each step of one property keeps less than the one before: so many records, the same release.
            is_known = steps.suppressed == of_steps[:, -1]
        unknown = np.flatnonzero(~is_known)
        for part in np.split(unknown, np.arange(self._most_steps, len(unknown), self._most_steps)):
            if len(part):
                owners, begins = np.unique(steps.owners[part], return_index=True)
                thresholds = np.split(steps.thresholds[part], begins[1:])
                with_steps = candidates.with_steps(owners, thresholds)
                of_steps[part] = np.concatenate(self.engine.map(with_steps, self._measure_batch))
        ends = np.searchsorted(steps.owners, np.arange(1, len(X)))
        pairs = zip(np.split(steps.thresholds, ends), np.split(of_steps, ends), strict=True)
        return values, list(pairs)

    @property
    def _most_steps(self) -> int:
        """Steps that are measured at once: their groups must fit into memory."""
        return max(1, (1 << 23) // max(1, self.engine.table.n_tuples))

    def judge(
        self, X: NDArray[Any], *, decode: Decoder | None = None, keep: bool = True
    ) -> Evaluation:
        """Evaluate decision vectors quietly: observers only receive new values.

        Args:
            X: One row per candidate.
            decode: Returns the candidates of some rows of X, by position, if that is cheaper than
                decoding the decision vectors; the result must be the same.
            keep: Whether to look values up in the cache and to keep them there.
        """
        values = self.values(X, decode) if keep else self.measure(self._candidates(X))
        return self._evaluation(X, values, self.formulation.valid(X))

    def judge_recodings(self, recodings: Sequence[Recoding]) -> Evaluation:
        """Evaluate recodings found elsewhere, such as baselines, which have no decision vectors."""
        rows = []
        for recoding in recodings:
            view = recoding.view(self.formulation.table)
            engine = Engine(
                view, suppression=self.engine.suppression, needs=self.engine.needs, threads=1
            )
            rows += engine.map(recoding.candidate(view), self._measure_batch)
        values = np.concatenate(rows)
        valid = np.ones(len(values), dtype=np.bool_)
        return self._evaluation(np.empty((len(values), 0)), values, valid)

    def values(self, X: NDArray[Any], decode: Decoder | None = None) -> NDArray[np.float64]:
        """Return all measures of decision vectors, from the cache if they are known.

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
        return np.concatenate(self.engine.map(candidates, self._measure_batch))

    def values_of_solutions(
        self, X: NDArray[Any], thresholds: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return all measures of the solutions of a front, some of which may be steps of staircases.

        Args:
            X: The decision vectors.
            thresholds: Solutions × thresholds; NaN where the policy decides. None if no solution is a step.
        """
        if thresholds is None:
            return self.values(X)
        is_step = ~np.isnan(thresholds).any(axis=1)
        values = np.empty((len(X), self.cache.width))
        values[~is_step] = self.values(X[~is_step])
        places = np.flatnonzero(is_step)
        size = min(self.formulation.chunk or len(X), self._most_steps)
        for part in np.split(places, np.arange(size, len(places), size)):
            if len(part):
                steps = [thresholds[i : i + 1] for i in part]
                candidates = self._candidates(X[part]).with_steps(np.arange(len(part)), steps)
                values[part] = self.measure(candidates)
        return values

    def recall(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Put values into the cache that were measured earlier, such as those of a log.

        Args:
            keys: The keys of their recodings.
            values: A row of values for each.
        """
        unknown = self.cache.missing(keys)
        self.cache.store([keys[i] for i in unknown], values[unknown])

    def recall_stairs(self, stairs: Mapping[bytes, Measured]) -> None:
        """Take the steps that the run under way measured earlier, such as those of a log."""
        self._climb.logged.update(stairs)

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

    def _measure_batch(self, before: GroupBatch, after: GroupBatch) -> NDArray[np.float64]:
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
        climb = Climb(self.formulation)
        return {**vars(self), "cache": cache, "_observers": [], "_climb": climb}
