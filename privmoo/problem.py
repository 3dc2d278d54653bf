"""AnonymizationProblem: search space × suppression × measures, as a pymoo Problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem

from privmoo._util.checks import whole_number
from privmoo._util.digest import content_digest
from privmoo.data.table import Table, check_table
from privmoo.errors import Hint, ProblemError
from privmoo.evaluation.engine import Engine
from privmoo.evaluation.evaluator import Evaluation, Evaluator
from privmoo.measures import GeneralLoss, KAnonymity
from privmoo.measures.base import Constraint, Measure
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.recodings.base import Recoding
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.base import SearchSpace
from privmoo.spaces.variables import VariableSpace
from privmoo.suppression import NoSuppression, Suppression

__all__ = ["AnonymizationProblem", "read_constraints", "read_policy"]

_RENAME = Hint(call="measure.named(...)")
# What a program may set after it made a problem.
_SETTINGS = ("default_algorithm", "default_population", "default_offspring", "default_generations")
# What a subclass defines where it is not given a space.
_MEANING = ("candidates", "recoding", "default_operators")


class _MadeOf:
    """Remembers the arguments that an object is made of.

    It is a class of its own so that the signature of a problem stays that of `__init__`.
    """

    _made_of: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """Make an object and remember the arguments."""
        made = super().__new__(cls)
        made._made_of = arguments, options
        return made


class AnonymizationProblem(Problem, _MadeOf):  # type: ignore[misc]  # pymoo has no types
    """A search space × a suppression policy × measures, to be solved by any pymoo algorithm.

    There are two ways to define a new formulation. Either pass a `SearchSpace`, which says what
    decision vectors mean and brings its operators; or write a subclass that defines `candidates`,
    `recoding` and `default_operators`, and pass the variables as to pymoo (`n_var`, `xl`, `xu`,
    `vtype`), from which a space is made. Objectives are minimised for pymoo, and shown in their natural
    sense.

    Args:
        table: The records.
        space: The search space; if not given, the variables, whose meaning a subclass defines.
        objectives: Measures to optimise; those of `default_objectives` if not given.
        constraints: Bounds such as `KAnonymity() >= 5`.
        suppression: Which records are left out; none by default.
        extras: Further measures to record for every solution; those of `default_extras` if not given.
        threads: The number of threads of the evaluation; all cores by default.
        view: Without a space, the table as candidates group it, where they split equal records.
        variables: Without a space, the variables as pymoo takes them.

    Attributes:
        space: The search space.
        evaluator: What judges candidates.
        measures: Objectives, measures of constraints, and extras.
    """

    default_algorithm: str | None = None
    """By name; None for NSGA-II, or GA where there is one objective."""
    default_population: int = 200
    default_offspring: int | None = None
    """Children of a generation; as many as the population if None."""
    default_generations: int = 250
    chunk: int | None = None
    """How many decision vectors become candidates at once, where candidates are large; None for all."""
    parameter_names: ClassVar[tuple[str, ...]] = ()
    """The names of the attributes that, as arguments, reproduce the problem."""
    objects: ClassVar[tuple[str, ...]] = ()
    """The names of arguments that no file can state; a file states what they are built from instead."""

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
        """Make the problem; the arguments are those of the class."""
        check_table(table)
        self.table = table
        self.space = self._space_of(variables, view) if space is None else space
        _check_space(self.space, table)
        if threads is not None:
            threads = whole_number("threads", threads)
            self.space.limit_threads(threads)
        self.objectives = tuple(self.default_objectives() if objectives is None else objectives)
        self.constraints = read_constraints(constraints)
        self.suppression = read_policy(suppression)
        _check_parts(self.objectives, self.constraints, table)
        core = [*self.objectives, *(c.measure for c in self.constraints)]
        if extras is None:
            keys = {m.key for m in core}
            extras = [extra for extra in self.default_extras() if extra.key not in keys]
        self.measures = _distinct(core, tuple(extras), table)
        needs = frozenset().union(*(m.needs for m in self.measures))
        self.chunk = self.space.chunk
        engine = Engine(
            self.space.view,
            suppression=self.suppression,
            needs=needs,
            threads=threads,
            staircase=self.space.staircase,
        )
        self.evaluator = Evaluator(self, engine)
        self.proven_points: NDArray[np.float64] | None = None
        super().__init__(
            n_obj=len(self.objectives),
            n_ieq_constr=len(self.constraints) + 1,
            exclude_from_serialization=["callback"],
            **self.space.pymoo_variables(),
        )

    def _space_of(self, variables: Mapping[str, Any], view: Table | None) -> SearchSpace:
        """Make the space of a subclass that defines itself what its variables mean."""
        methods = {
            name: getattr(self, name)
            for name in _MEANING
            if getattr(type(self), name) is not getattr(AnonymizationProblem, name)
        }
        space = VariableSpace(self.table, variables, methods, owner=type(self).__name__)
        space.view = view or self.table
        space.chunk = self.chunk
        return space

    def with_table(self, table: Table) -> Self:
        """Return the same problem about another table, such as one with other weights.

        Args:
            table: The other table, with the same columns.

        Raises:
            ProblemError: The problem was made of a space of its table, or of variables.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> problem = pm.problems.Cuts(table, constraints=[pm.KAnonymity() >= 2])
        >>> problem.with_table(table.with_weights({"age": 3})).constraints
        (k >= 2,)
        """
        arguments, options = self._made_of
        if not arguments and "table" not in options:
            raise ProblemError(
                f"with_table: {type(self).__name__} was not made of a table; make the other problem anew"
            )
        if "table" in options:
            options = {**options, "table": table}
        else:
            arguments = (table, *arguments[1:])
        twin = type(self)(*arguments, **options)
        for name in _SETTINGS:
            if name in vars(self):
                setattr(twin, name, getattr(self, name))
        return twin

    # What a formulation may define

    def default_objectives(self) -> Sequence[Measure]:
        """Return the measures to optimise where none are given: k and general loss."""
        return KAnonymity(), GeneralLoss()

    def default_extras(self) -> Sequence[Measure]:
        """Return the measures to record where none are given; those in use already are left out."""
        return ()

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that reproduce the problem, as plain data."""
        names = self.parameter_names
        return {**self.space.parameters(), **{name: getattr(self, name) for name in names}}

    def range_of(self, m: Measure) -> tuple[float, float]:
        """Return the smallest and the largest value that a measure can have in this problem."""
        return m.range(self.table)

    # What the space knows; a subclass without a space of its own defines it here

    def candidates(self, X: NDArray[Any]) -> Candidates:
        """Return decision vectors as the engine groups them."""
        return self.space.candidates(X)

    def recoding(self, x: NDArray[Any]) -> Recoding:
        """Return the recoding of one decision vector."""
        return self.space.recoding(x)

    def default_operators(self) -> dict[str, Any]:
        """Return sampling, crossover, mutation and duplicate elimination that fit."""
        return self.space.operators()

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the recoding is the same."""
        return self.space.keys(X)

    def valid(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which decision vectors are valid recodings; the others are infeasible."""
        return self.space.valid(X)

    def published(self, x: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which records a decision vector publishes; None if the policy decides."""
        return self.space.published(x)

    def policy(self, x: NDArray[Any], thresholds: NDArray[np.float64] | None = None) -> Suppression:
        """Return which records a decision vector leaves out, as a policy.

        Args:
            x: The decision vector.
            thresholds: Those of a step of its staircase; without numbers the policy decides by itself.
        """
        staircase = self.evaluator.engine.staircase
        if thresholds is not None and staircase is not None and not np.isnan(thresholds).any():
            return staircase.at(thresholds)
        policy = self.space.policy(x)
        return self.suppression if policy is None else policy

    def adopt(self, recoding: Recoding) -> Recoding:
        """Return a recoding found elsewhere as this problem would release it; raise if it cannot."""
        return self.space.adopt(recoding)

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        """Return the decision vector nearest to a recoding that was found elsewhere."""
        return self.space.encode(recoding)

    def stair_keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the staircase is the same."""
        return self.space.stair_keys(X)

    def step_rows(
        self, X: NDArray[Any], thresholds: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return steps as decision vectors, and the thresholds that these do not contain.

        Args:
            X: The decision vectors of the recodings, one row per step.
            thresholds: Steps × thresholds.
        """
        return self.space.step_rows(X, thresholds)

    def learn(self, steps: Evaluation) -> None:
        """Let the space take note of the evaluated steps of a run."""
        self.space.learn(steps)

    def notice(self, X: NDArray[Any]) -> None:
        """Let the space take note of the decision vectors that a run has evaluated."""
        self.space.notice(X)

    def neighbours(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the decision vectors that are one small move away; none if the space has no moves."""
        return self.space.neighbours(x)

    def begin_run(self) -> None:
        """Forget what the space remembers of an earlier run."""
        self.space.begin_run()

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

    def pareto_front(self, *args: Any, **kwargs: Any) -> NDArray[np.float64] | None:
        """Return the proven front as minimised objectives, for pymoo's indicators; None if unknown.

        It is known once `privmoo.exact_front` has proven it for this problem.

        Args:
            args: Not used; pymoo has them.
            kwargs: Not used.
        """
        return self.proven_points

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
        """Evaluate with this many threads from now on, such as one if processes share the cores."""
        self.evaluator.engine.threads = threads
        self.space.limit_threads(threads)

    def forget(self) -> None:
        """Forget what was evaluated, so that a run pays for everything that it evaluates."""
        self.evaluator.forget()

    def describe(self) -> dict[str, Any]:
        """Return what the problem is, as plain data: for files and certificates."""
        description = {
            "problem": type(self).__name__,
            "parameters": self.parameters(),
            "objectives": [_measure_data(m) for m in self.objectives],
            "constraints": [
                {
                    "measure": _measure_data(c.measure),
                    "relation": c.relation,
                    "bound": float(c.bound),
                }
                for c in self.constraints
            ],
            "measures": [_measure_data(m) for m in self.measures],
            "suppression": self.suppression.describe(),
            "table": self.table.fingerprint,
        }
        if type(self) is AnonymizationProblem:
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
        twin: AnonymizationProblem = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, callback=None)
        twin.evaluator = Evaluator(twin, self.evaluator.engine)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> AnonymizationProblem:
        return self  # pymoo copies the problem every generation when it saves history


def _check_space(space: object, table: Table) -> None:
    """Raise unless it is a search space of this table."""
    if isinstance(space, type) and issubclass(space, SearchSpace):
        raise ProblemError(
            f"space: must be a search space, got the class; write {space.__name__}(table)"
        )
    if not isinstance(space, SearchSpace):
        raise ProblemError(f"space: must be a SearchSpace, got {type(space).__name__}")
    if space.table is not table and space.table.fingerprint != table.fingerprint:
        raise ProblemError(
            "space: this one was made for another table; make it from the table of the problem"
        )


def read_constraints(constraints: object) -> tuple[Constraint, ...]:
    """Return constraints as a tuple.

    Raises:
        ProblemError: They are not a list of bounds.
    """
    if isinstance(constraints, Constraint) or not isinstance(constraints, Iterable):
        raise ProblemError(
            f"constraints: must be a list such as [KAnonymity() >= 5], got {constraints!r}"
        )
    bounds = tuple(constraints)
    for bound in bounds:
        if not isinstance(bound, Constraint):
            raise ProblemError(
                f"constraints: expected a bound such as KAnonymity() >= 5, got {bound!r}"
            )
    return bounds


def read_policy(suppression: object) -> Suppression:
    """Return a policy, that of leaving nobody out for None, or raise if it is not one."""
    if suppression is None:
        return NoSuppression()
    if not isinstance(suppression, Suppression):
        raise ProblemError(
            f"suppression: must be a policy such as Budget(0.1), got {suppression!r}"
        )
    return suppression


def _check_parts(
    objectives: Sequence[Measure], constraints: Sequence[Constraint], table: Table
) -> None:
    """Raise unless all parts have the right type and make sense for the table."""
    for objective in objectives:
        if isinstance(objective, type) and issubclass(objective, Measure):
            name = objective.__name__
            raise ProblemError(f"objectives: {name} is a class; add parentheses, as in {name}()")
        if not isinstance(objective, Measure):
            raise ProblemError(
                f"objectives: expected measures such as KAnonymity(), got {objective!r}"
            )
    if not objectives:
        raise ProblemError("objectives: there are none; name at least one measure")
    keys = [m.key for m in objectives]
    if len(set(keys)) < len(keys):
        raise ProblemError(f"objectives: two of {', '.join(keys)} have the same name", hint=_RENAME)
    for objective in objectives:
        objective.check(table)
    for constraint in constraints:
        constraint.check(table)


def _distinct(
    of_search: Sequence[Measure], extras: Sequence[Measure], table: Table
) -> tuple[Measure, ...]:
    """Return all measures by name, each once; raise if one name means two measures."""
    measures: dict[str, Measure] = {}
    for m in of_search:
        if _measure_data(measures.setdefault(m.key, m)) != _measure_data(m):
            raise ProblemError(
                f"constraints: two different measures are called {m.key!r} ({measures[m.key]!r} and "
                f"{m!r})",
                hint=_RENAME,
            )
    for extra in extras:
        extra.check(table)
        if _measure_data(measures.setdefault(extra.key, extra)) != _measure_data(extra):
            raise ProblemError(
                f"extras: another measure is called {extra.key!r} already", hint=_RENAME
            )
    return tuple(measures.values())


def _measure_data(m: Measure) -> dict[str, Any]:
    """Return a measure as plain data that distinguishes it from every other measure."""
    plain = {
        key: value if isinstance(value, str | int | float | bool | list) else content_digest(value)
        for key, value in m.parameters.items()
    }
    description: dict[str, Any] = {
        "name": m.name,
        "key": m.key,
        "sense": m.sense,
        "stage": m.stage,
        "parameters": plain,
    }
    if m.definition > 1:
        description["definition"] = m.definition
    if isinstance(m, FunctionMeasure):
        description["code"] = content_digest(m.function)
    return description
