"""AnonymizationProblem: search space × suppression × measures, as a pymoo Problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem

from privmoo._util.checks import whole_number
from privmoo._util.digest import content_digest
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.evaluation.engine import Engine
from privmoo.evaluation.evaluator import Evaluation, Evaluator
from privmoo.measures.base import Constraint, Measure
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.base import SearchSpace, row_keys
from privmoo.suppression import NoSuppression, Suppression

__all__ = ["AnonymizationProblem"]


class AnonymizationProblem(Problem):  # type: ignore[misc]  # pymoo has no types
    """A search space × a suppression policy × measures, to be solved by any pymoo algorithm.

    There are two ways to a formulation of your own. Either give a `SearchSpace`, which says what decision
    vectors mean and brings its operators; or write a subclass that defines `candidates`, `recoding` and
    `default_operators`, and give the variables as pymoo takes them (`n_var`, `xl`, `xu`, `vtype`).
    Objectives are minimised for pymoo, and shown in their natural sense.

    Args:
        table: The records.
        space: The search space; None if a subclass defines what decision vectors mean.
        objectives: Measures to optimise; those of `default_objectives` if not given.
        constraints: Bounds such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record for every solution; those of `default_extras` if not given.
        threads: The number of threads of the evaluation; all cores by default.
        view: Without a space, the table as candidates group it, where they split equal records.
        variables: Without a space, the variables as pymoo takes them.

    Attributes:
        space: The search space, or None.
        evaluator: What judges candidates.
        measures: Objectives, measures of constraints, and extras.
    """

    default_algorithm: str | None = None
    """By name; None for NSGA-II, or GA where there is one objective."""
    default_population: int = 200
    default_generations: int = 250
    chunk: int | None = None
    """How many decision vectors become candidates at once, where candidates are large; None for all."""
    parameter_names: ClassVar[tuple[str, ...]] = ()
    """The names of the attributes that, as arguments, reproduce the problem."""

    def __init__(
        self,
        table: Table,
        *,
        space: SearchSpace | None = None,
        objectives: Sequence[Measure] | None = None,
        constraints: Sequence[Constraint] = (),
        suppression: Suppression | None = None,
        extras: Iterable[Measure] | None = None,
        threads: int | None = None,
        view: Table | None = None,
        **variables: Any,
    ) -> None:
        if not isinstance(table, Table):
            raise ProblemError(f"table: must be a privmoo Table, got {type(table).__name__}")
        if threads is not None:
            threads = whole_number("threads", threads)
        _check_space(space, table, variables)
        self.table = table
        self.space = space
        self.objectives = tuple(self.default_objectives() if objectives is None else objectives)
        self.constraints = tuple(constraints)
        self.suppression = suppression or NoSuppression()
        _check_parts(self.objectives, self.constraints, table)
        used = [*self.objectives, *(c.measure for c in self.constraints)]
        if extras is None:
            keys = {m.key for m in used}
            extras = [extra for extra in self.default_extras() if extra.key not in keys]
        self.measures = _distinct(used, tuple(extras), table)
        needs = frozenset().union(*(m.needs for m in self.measures))
        if space is not None:
            view = space.view
            self.chunk = space.chunk
            low, high = space.bounds
            variables = {"n_var": len(low), "xl": low, "xu": high, "vtype": space.variable_type}
        engine = Engine(view or table, suppression=self.suppression, needs=needs, threads=threads)
        self.evaluator = Evaluator(self, engine)
        super().__init__(
            n_obj=len(self.objectives),
            n_ieq_constr=len(self.constraints) + 1,
            exclude_from_serialization=["callback"],
            **variables,
        )

    # What a formulation may define

    def default_objectives(self) -> Sequence[Measure]:
        """Return the measures to optimise where none are given."""
        return ()

    def default_extras(self) -> Sequence[Measure]:
        """Return the measures to record where none are given; those in use already are left out."""
        return ()

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that reproduce the problem, as plain data."""
        parameters = {} if self.space is None else self.space.parameters()
        return {**parameters, **{name: getattr(self, name) for name in self.parameter_names}}

    def range_of(self, m: Measure) -> tuple[float, float]:
        """Return the smallest and the largest value that a measure can have in this problem."""
        return m.range(self.table)

    # What the space knows, or a formulation without a space defines

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them."""
        return self._need_space("candidates(X)").candidates(X)

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """Return the recoding of one decision vector."""
        return self._need_space("recoding(x)").recoding(x)

    def default_operators(self) -> dict[str, Any]:
        """Return sampling, crossover, mutation and duplicate elimination that fit."""
        return self._need_space("default_operators()").operators()

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the recoding is the same."""
        return row_keys(X) if self.space is None else self.space.keys(X)

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which decision vectors are recodings at all; the others are infeasible."""
        return np.ones(len(X), np.bool_) if self.space is None else self.space.valid(X)

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which records a decision vector publishes; None if the policy decides."""
        return None if self.space is None else self.space.published(x)

    def policy(self, x: NDArray[Any]) -> Suppression:
        """Return which records a decision vector leaves out, as a policy."""
        policy = None if self.space is None else self.space.policy(x)
        return self.suppression if policy is None else policy

    def adopt(self, recoding: Recoding) -> Recoding:
        """Return a recoding found elsewhere as this problem would release it; raise if it cannot."""
        return recoding if self.space is None else self.space.adopt(recoding)

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        """Return the decision vector nearest to a recoding that was found elsewhere."""
        if self.space is None:
            raise ProblemError(
                f"start: {type(self).__name__} cannot start from recodings; give decision vectors or "
                "a front"
            )
        return self.space.encode(recoding)

    def companions(self, X: NDArray[Any], evaluator: Evaluator) -> Evaluation | None:
        """Return the candidates that come along with decision vectors at no cost.

        Args:
            X: The decision vectors that were evaluated.
            evaluator: What judges the companions.
        """
        return None if self.space is None else self.space.companions(X, evaluator)

    def begin_run(self) -> None:
        """Forget what the space remembers of an earlier run."""
        if self.space is not None:
            self.space.begin_run()

    def _need_space(self, method: str) -> SearchSpace:
        if self.space is None:
            raise TypeError(f"{type(self).__name__} must define {method}, or be given a space")
        return self.space

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

    def minimised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return objective values with maximised ones negated; the same call turns them back."""
        signs = np.array([1.0 if m.sense == "min" else -1.0 for m in self.objectives])
        return np.asarray(values * signs)

    def evaluate_measures(self, X: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """Return all measures of decision vectors, in their natural sense, by name."""
        return dict(zip(self.evaluator.names, self.evaluator.values(X).T, strict=True))

    def measure(self, recoding: Recoding) -> dict[str, float]:
        """Return all measures of a recoding that was found elsewhere, such as a baseline, by name."""
        [values] = self.evaluator.judge_recodings([self.adopt(recoding)]).values.tolist()
        return dict(zip(self.evaluator.names, values, strict=True))

    def limit_threads(self, threads: int) -> None:
        """Evaluate with this many threads from now on, such as one where processes share the cores."""
        self.evaluator.engine.threads = threads
        if self.space is not None:
            self.space.limit_threads(threads)

    def forget(self) -> None:
        """Forget what was evaluated, so that a run pays for everything that it evaluates."""
        self.evaluator.forget()

    def describe(self) -> dict[str, Any]:
        """Return what the problem is, as plain data: for files and certificates."""
        description = {
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
        if type(self) is AnonymizationProblem and self.space is not None:
            # The class of any other problem implies its space; a plain one takes any space.
            description["space"] = {
                "name": type(self.space).__name__,
                "parameters": self.space.parameters(),
            }
        return description

    def _evaluate(self, X: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        evaluation = self.evaluator.evaluate(X)
        out["F"], out["G"] = evaluation.F, evaluation.G
        out.update(zip(self.evaluator.names, evaluation.values.T, strict=True))

    def __copy__(self) -> AnonymizationProblem:
        """Return a problem that shares the data, but has evaluated nothing and has no observers."""
        copied: AnonymizationProblem = object.__new__(type(self))
        copied.__dict__.update(self.__dict__, callback=None)
        copied.evaluator = Evaluator(copied, self.evaluator.engine)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> AnonymizationProblem:
        return self  # pymoo copies the problem every generation when it saves history


def _check_space(space: object, table: Table, variables: Mapping[str, Any]) -> None:
    """Raise unless a space of this table is given, or variables instead of one."""
    if space is None:
        if "n_var" not in variables and "vars" not in variables:
            raise ProblemError(
                "space: none given; pass a search space, or the variables as pymoo takes them (n_var, "
                "xl, xu, vtype)"
            )
    elif isinstance(space, type) and issubclass(space, SearchSpace):
        raise ProblemError(
            f"space: must be a search space, got the class; write {space.__name__}(table)"
        )
    elif not isinstance(space, SearchSpace):
        raise ProblemError(f"space: must be a SearchSpace, got {type(space).__name__}")
    elif space.table is not table and space.table.fingerprint != table.fingerprint:
        raise ProblemError(
            "space: was made for another table; make it from the table of the problem"
        )


def _check_parts(
    objectives: Sequence[Measure], constraints: Sequence[Constraint], table: Table
) -> None:
    """Raise unless all parts are of the right type and make sense on the table."""
    for objective in objectives:
        if isinstance(objective, type) and issubclass(objective, Measure):
            name = objective.__name__
            raise ProblemError(f"objectives: {name} is a class; add parentheses, as in {name}()")
        if not isinstance(objective, Measure):
            raise ProblemError(
                f"objectives: expected measures such as KAnonymity(), got {objective!r}"
            )
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise ProblemError(
                f"constraints: expected a bound such as KAnonymity() >= 5, got {constraint!r}"
            )
    if not objectives:
        raise ProblemError("objectives: none given; name at least one measure")
    keys = [m.key for m in objectives]
    if len(set(keys)) < len(keys):
        raise ProblemError(
            f"objectives: {', '.join(keys)}: two have the same name; rename one with .named('...')"
        )
    for objective in objectives:
        objective.check(table)
    for constraint in constraints:
        constraint.check(table)


def _distinct(
    used: Sequence[Measure], extras: Sequence[Measure], table: Table
) -> tuple[Measure, ...]:
    """Return all measures by name, each once; raise where one name means two measures."""
    measures: dict[str, Measure] = {}
    for m in used:
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
    return tuple(measures.values())


def _described(m: Measure) -> dict[str, Any]:
    """Return a measure as plain data, so exact that another one is never taken for it."""
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
