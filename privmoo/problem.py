"""AnonymizationProblem: what every formulation shares, as a pymoo Problem."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem

from privmoo._util.checks import whole_number
from privmoo._util.digest import content_digest
from privmoo.data.table import Table
from privmoo.errors import ProblemError, nearest
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Constraint, Measure
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import NoSuppression, Suppression

__all__ = ["AnonymizationProblem", "EvaluationCache"]


class EvaluationCache:
    """What every candidate ever evaluated was worth, by the key of its recoding.

    `listeners` are told of new entries: a run's log is one.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.hits = 0
        self.listeners: list[Callable[[list[bytes], NDArray[np.float64]], None]] = []
        self._lock = threading.Lock()
        self._rows: dict[bytes, int] = {}
        self._values = np.empty((256, width))

    def __len__(self) -> int:
        return len(self._rows)

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """Positions of the keys to evaluate: unknown ones, each once."""
        first: dict[bytes, int] = {}
        for position, key in enumerate(keys):
            if key not in self._rows:
                first.setdefault(key, position)
        self.hits += len(keys) - len(first)
        return list(first.values())

    def store(self, keys: list[bytes], values: NDArray[np.float64], *, tell: bool = True) -> None:
        """Remember the values of new keys."""
        with self._lock:
            while len(self._rows) + len(keys) > len(self._values):
                self._values = np.concatenate([self._values, np.empty_like(self._values)])
            for key, row in zip(keys, values, strict=True):
                if key not in self._rows:  # another thread may have been faster
                    self._values[len(self._rows)] = row
                    self._rows[key] = len(self._rows)
        if tell:
            for listener in self.listeners:
                listener(keys, values)

    def values(self, keys: Sequence[bytes]) -> NDArray[np.float64]:
        """Values of known keys."""
        with self._lock:
            return self._values[[self._rows[key] for key in keys]]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "listeners": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()


class AnonymizationProblem(Problem):  # type: ignore[misc]  # pymoo has no types
    """A recoding × a suppression policy × measures, to be solved by any pymoo algorithm.

    A formulation says how decision vectors become recodings: it defines `candidates`, `recoding` and
    `default_operators`. Objectives are minimised for pymoo, and shown in their natural sense.

    Args:
        table: The records.
        objectives: Measures to optimise.
        constraints: Such as `KAnonymity() >= 5`.
        suppression: Which records are left out.
        extras: Further measures to record for every solution.
        threads: For the evaluation; all cores by default.
        view: The table as candidates group it, where they split distinct tuples.
    """

    def __init__(
        self,
        table: Table,
        *,
        objectives: Sequence[Measure],
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] = (),
        threads: int | None = None,
        view: Table | None = None,
        **variables: Any,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        if threads is not None:
            threads = whole_number("threads", threads)
        self.table = table
        self.objectives = tuple(objectives)
        self.constraints = tuple(constraints)
        self.suppression = suppression or NoSuppression()
        for objective in self.objectives:
            if not isinstance(objective, Measure):
                raise ProblemError(
                    f"objectives: expected measures such as KAnonymity(), got {objective!r}"
                )
        for constraint in self.constraints:
            if not isinstance(constraint, Constraint):
                raise ProblemError(
                    f"constraints: expected such as KAnonymity() >= 5, got {constraint!r}"
                )
        if not self.objectives:
            raise ProblemError("objectives: none given; name at least one measure")
        keys = [m.key for m in self.objectives]
        if len(set(keys)) < len(keys):
            raise ProblemError(
                f"objectives: {', '.join(keys)}: two have the same name; rename one with .named('...')"
            )
        for objective in self.objectives:
            objective.check(table)
        for constraint in self.constraints:
            constraint.check(table)
        measures: dict[str, Measure] = {}
        for m in (*self.objectives, *(c.measure for c in self.constraints)):
            if _described(measures.setdefault(m.key, m)) != _described(m):
                raise ProblemError(
                    f"constraints: two different measures are called {m.key!r} ({measures[m.key]!r} and "
                    f"{m!r}); name one, e.g. {type(m).__name__}(...).named('{m.name}_2')"
                )
        for extra in extras:
            extra.check(table)
            if _described(measures.setdefault(extra.key, extra)) != _described(extra):
                raise ProblemError(
                    f"extras: another measure is called {extra.key!r} already; name this one, e.g. "
                    f"{type(extra).__name__}(...).named('{extra.name}_2')"
                )
        self.measures = tuple(measures.values())
        needs = frozenset().union(*(m.needs for m in self.measures))
        seen = table if view is None else view
        self.engine = Engine(seen, suppression=self.suppression, needs=needs, threads=threads)
        self.cache = EvaluationCache(len(self.measures) + 1)
        self._columns = {m.key: i for i, m in enumerate(self.measures)}
        super().__init__(
            n_obj=len(self.objectives), n_ieq_constr=len(self.constraints) + 1, **variables
        )

    # What a formulation defines

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Decision vectors as the engine groups them."""
        raise TypeError(f"{type(self).__name__} must define candidates(X)")

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """The recoding of one decision vector."""
        raise TypeError(f"{type(self).__name__} must define recoding(x)")

    def default_operators(self) -> dict[str, Any]:
        """Sampling, crossover, mutation and duplicate elimination that fit."""
        raise TypeError(f"{type(self).__name__} must define default_operators()")

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Which decision vectors are recodings at all; the others are infeasible."""
        return np.ones(len(X), dtype=np.bool_)

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which records a decision vector publishes; None if the policy decides."""
        return None

    def policy(self, x: NDArray[Any]) -> Suppression:
        """Which records a decision vector leaves out, as a policy."""
        return self.suppression

    def adopt(self, recoding: Recoding) -> Recoding:
        """A recoding that was found elsewhere, as this problem would release it; raise if it cannot."""
        return recoding

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        """The decision vector nearest to a recoding that was found elsewhere, to start a search from."""
        raise ProblemError(
            f"start: {type(self).__name__} cannot start from recodings; give decision vectors or a front"
        )

    def parameters(self) -> dict[str, Any]:
        """The arguments that reproduce the problem, as plain data."""
        return {}

    default_algorithm: str | None = None
    """By name; None for NSGA-II, or GA where there is one objective."""
    default_population: int = 200
    default_generations: int = 250
    chunk: int | None = None
    """How many decision vectors become candidates at once, where each is large; None for all."""

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """One key per decision vector, equal where the recoding is the same."""
        rows = np.ascontiguousarray(X)
        return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]

    def limit_threads(self, threads: int) -> None:
        """Evaluate with so many threads from now on, such as one where processes share the cores."""
        self.engine.threads = threads

    def forget(self) -> None:
        """Forget what was evaluated, so that a run pays for all that it evaluates."""
        self.cache = EvaluationCache(self.cache.width)

    # What all share

    @property
    def objective_names(self) -> list[str]:
        """Names of the objectives, as columns of a front."""
        return [m.key for m in self.objectives]

    @property
    def reference_point(self) -> NDArray[np.float64]:
        """The worst value of every objective, as minimised: the natural point for hypervolume."""
        ranges = [(m.sense, *self.range_of(m)) for m in self.objectives]
        worst = [high if sense == "min" else low for sense, low, high in ranges]
        return self.minimised(np.array(worst))

    def range_of(self, m: Measure) -> tuple[float, float]:
        """Smallest and largest value that a measure can have in this problem."""
        return m.range(self.table)

    def minimised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Objective values with maximised ones negated; the same call turns them back."""
        signs = np.array([1.0 if m.sense == "min" else -1.0 for m in self.objectives])
        return np.asarray(values * signs)

    def evaluate_measures(self, X: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """All measures of decision vectors, in their natural sense, from the cache where known."""
        values = self._values(X)
        named = {m.key: values[:, i] for i, m in enumerate(self.measures)}
        named["records_suppressed"] = values[:, -1]
        return named

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        keys = self.keys(X)
        new = self.cache.missing(keys)
        step = self.chunk or max(len(new), 1)
        for begin in range(0, len(new), step):
            some = new[begin : begin + step]
            parts = self.engine.map(self.candidates(X[some]), self._measure)
            self.cache.store([keys[i] for i in some], np.concatenate(parts))
        return self.cache.values(keys)

    def _measure(self, before: GroupBatch, after: GroupBatch) -> NDArray[np.float64]:
        result = np.empty((len(after), len(self.measures) + 1))
        for i, m in enumerate(self.measures):
            result[:, i] = m.values(before if m.stage == "before" else after)
        result[:, -1] = self.table.n_records - after.n_records
        return result

    def _evaluate(self, X: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        values = self._values(X)
        out["F"], out["G"] = self._judge(values, self.valid(X))
        for m, column in self._columns.items():
            out[m] = values[:, column]
        out["records_suppressed"] = values[:, -1]

    def _judge(
        self, values: NDArray[np.float64], valid: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Minimised objectives and violations of constraints, from the values of all measures."""
        wanted = [self._columns[m.key] for m in self.objectives]
        violations = [
            c.violation(values[:, self._columns[c.measure.key]]) for c in self.constraints
        ]
        # A release of no records is none: worst in every objective, and infeasible. So is a decision
        # vector that is no recoding, such as a cut across the nodes of a tree.
        none = (values[:, -1] >= self.table.n_records) | ~valid
        violations.append(np.where(none, 1.0, -1.0))
        return self.minimised(values[:, wanted]), np.column_stack(violations)

    def measure(self, recoding: Recoding) -> dict[str, float]:
        """All measures of a recoding that was found elsewhere, such as a baseline, by name."""
        _, _, values = self.judge_recodings([self.adopt(recoding)])
        names = [*(m.key for m in self.measures), "records_suppressed"]
        return dict(zip(names, values[0].tolist(), strict=True))

    def judge_recodings(
        self, recodings: Sequence[Recoding]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """F, G and the values of all measures of recodings that were found elsewhere."""
        rows = []
        for recoding in recodings:
            view = recoding.view(self.table)
            engine = Engine(view, suppression=self.suppression, needs=self.engine.needs, threads=1)
            rows += engine.map(recoding.candidate(view), self._measure)
        values = np.concatenate(rows)
        return *self._judge(values, np.ones(len(values), dtype=np.bool_)), values

    def describe(self) -> dict[str, Any]:
        """What the problem is, as plain data: for files and certificates."""
        return {
            "problem": type(self).__name__,
            "parameters": self.parameters(),
            "objectives": [_described(m) for m in self.objectives],
            "constraints": [
                {"measure": _described(c.measure), "relation": c.relation, "bound": float(c.bound)}
                for c in self.constraints
            ],
            "measures": [_described(m) for m in self.measures],
            "suppression": self.suppression.describe(),
            "table": self.table.fingerprint,
        }

    def measure_named(self, name: str) -> Measure:
        """One of the problem's measures by name."""
        for m in self.measures:
            if name in (m.key, m.name):
                return m
        known = [m.key for m in self.measures]
        raise ProblemError(
            f"measure: {name!r} is not one of {', '.join(known)}{nearest(name, known)}"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> AnonymizationProblem:
        return self  # pymoo copies the problem every generation when it saves history


def _described(m: Measure) -> dict[str, Any]:
    """A measure as plain data, so exact that another one is never taken for it."""
    plain = {
        key: value if isinstance(value, str | int | float | bool | list) else content_digest(value)
        for key, value in m.parameters.items()
    }
    described = {
        "name": m.name,
        "key": m.key,
        "sense": m.sense,
        "stage": m.stage,
        "parameters": plain,
    }
    if isinstance(m, FunctionMeasure):
        described["code"] = content_digest(m.function)
    return described
