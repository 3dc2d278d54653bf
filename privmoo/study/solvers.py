"""Solver: whatever gives a front of a problem, by one protocol: algorithms, points, exact, functions."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pymoo.core.algorithm import Algorithm

from privmoo.errors import InfeasibleError, ProblemError
from privmoo.front.front import Front
from privmoo.front.quantities import quantities_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Recoding, recodings_in
from privmoo.search.algorithms import (
    algorithm_names,
    check_algorithm,
    describe_algorithm,
    make_algorithm,
)
from privmoo.search.optimization import optimize
from privmoo.study import functions
from privmoo.study.recorder import Limit, Recorder
from privmoo.study.study import check_name, check_names

__all__ = ["Solver", "as_solvers"]


class Solver:
    """One way to solve problems in a study; made by the methods `algorithm`, `function`, and so on.

    Attributes:
        name: How tables call it.
        deterministic: Whether it has no chance in it: it runs once, not once per seed.

    >>> Solver.algorithm("nsga2", population=50)
    Solver('nsga2')
    >>> Solver.baseline("mdav", k=[2, 5, 10]).deterministic
    True
    """

    def __init__(self, name: str, *, deterministic: bool = False) -> None:
        check_name(name, "solvers")
        self.name = name
        self.deterministic = deterministic

    # What a kind of solver defines

    def check(self, problem: AnonymizationProblem, limit: Limit) -> None:
        """Raise a ProblemError where it cannot solve the problem within the limit."""

    def describe(self, problem: AnonymizationProblem) -> dict[str, Any]:
        """All that decides its results, as plain data."""
        raise TypeError(f"{type(self).__name__} must define describe(problem)")

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        """The front it finds, or None where nothing is feasible, and facts about the search."""
        raise TypeError(f"{type(self).__name__} must define solve(problem, seed, recorder)")

    def __repr__(self) -> str:
        return f"Solver({self.name!r})"

    # The kinds

    @staticmethod
    def algorithm(
        given: str | Algorithm | Callable[[AnonymizationProblem], Algorithm],
        *,
        name: str | None = None,
        **options: Any,
    ) -> Solver:
        """A pymoo algorithm.

        Args:
            given: One of `algorithm_names()`, a pymoo algorithm with its operators, or a function of the
                problem that makes one.
            name: How tables call it; by default the algorithm's own name.
            options: With a name: further arguments of `make_algorithm`, such as `population`.
        """
        return _AlgorithmSolver(given, name, options)

    @staticmethod
    def function(
        given: Callable[..., Any], *, name: str | None = None, deterministic: bool = False
    ) -> Solver:
        """A function `(problem, seed, budget)` that gives a Front, recodings, or decision vectors.

        What it evaluates through the problem is counted, and a study says where that was more than the
        budget. Judging the vectors or recodings that it gives is not.
        """
        return _FunctionSolver(given, name or _name_of(given), deterministic=deterministic)

    @staticmethod
    def baseline(
        given: str | Callable[..., Recoding],
        *,
        k: int | Sequence[int],
        name: str | None = None,
        **options: Any,
    ) -> Solver:
        """The points of a baseline such as `"mdav"`, one for every k.

        Args:
            given: One of `privmoo.baselines.names()`, of a plug-in, or a function `(table, k)`.
            k: One or several.
            name: How tables call it.
            options: Further arguments of the baseline.
        """
        from privmoo.baselines import by_name

        function = by_name(given) if isinstance(given, str) else given
        ks = (k,) if isinstance(k, int | np.integer) else tuple(k)
        if not ks:
            raise ProblemError("k: give at least one for a baseline")
        points = partial(functions.points, function=function, ks=ks, options=options)
        label = name or (given if isinstance(given, str) else _name_of(given))
        return _FunctionSolver(points, label, deterministic=True)

    @staticmethod
    def exact(*, name: str = "exact", seconds: float | None = None) -> Solver:
        """The proven front of a problem of levels; see `privmoo.exact_front`."""
        exact = partial(functions.exact, seconds=seconds)
        return _FunctionSolver(exact, name, deterministic=True, check=functions.check_exact)

    @staticmethod
    def pso_grid(
        *,
        n_clusters: Sequence[int],
        k: Sequence[int],
        lam: Sequence[float] = (0.0001, 0.001, 0.01, 0.1, 1.0),
        particles: int = 50,
        name: str = "PSO grid",
        **options: Any,
    ) -> Solver:
        """The papers' grid of swarms (`problems.scalar_grid`), which share the budget evenly."""
        grid = partial(
            functions.pso_grid,
            n_clusters=n_clusters,
            k=k,
            lam=lam,
            particles=particles,
            options=options,
        )
        check = partial(
            functions.iterations_of,
            n_swarms=functions.swarms(n_clusters, k, lam, options),
            particles=particles,
        )
        return _FunctionSolver(grid, name, check=check)


class _AlgorithmSolver(Solver):
    def __init__(self, given: Any, name: str | None, options: Mapping[str, Any]) -> None:
        if options and not isinstance(given, str):
            raise ProblemError(
                "solvers: options such as population go with an algorithm's name; give the algorithm "
                "ready made"
            )
        own = type(given).__name__ if isinstance(given, Algorithm) else given
        super().__init__(name or (own if isinstance(own, str) else _name_of(given)))
        self.given, self.options = given, dict(options)

    def made(self, problem: AnonymizationProblem) -> Algorithm:
        """A new algorithm for the problem."""
        if isinstance(self.given, str):
            made = make_algorithm(problem, self.given, **self.options)
        elif isinstance(self.given, Algorithm):
            made = copy.deepcopy(self.given)
        else:
            made = self.given(problem)
        check_algorithm(made, problem)
        return made

    def check(self, problem: AnonymizationProblem, limit: Limit) -> None:
        try:
            algorithm = self.made(problem)
        except ProblemError as error:
            raise ProblemError(
                f"solvers: {self.name!r} cannot solve {type(problem).__name__}: {error}"
            ) from error
        size = getattr(algorithm, "pop_size", None)
        size = getattr(algorithm, "n_points_per_iteration", None) if size is None else size
        if limit.evaluations is not None and size is not None and limit.evaluations < size:
            raise ProblemError(
                f"budget: {limit.evaluations:,} evaluations are fewer than the first population of "
                f"{self.name!r}, which has {size:,}; give more, or a smaller population"
            )

    def describe(self, problem: AnonymizationProblem) -> dict[str, Any]:
        made = self.made(problem)
        own = functions.own_code(made)
        settings = {"kind": "algorithm", **describe_algorithm(made)}
        return {**settings, "own_code": own} if own else settings

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        budget = recorder.limit.budget
        try:
            with recorder.listening(problem):
                run = optimize(problem, self.made(problem), budget, seed=seed, progress=False).run
        except InfeasibleError:
            if len(recorder.archive):
                raise
            run = {"reproducible": budget.reproducible}
        if run.get("stopped_by_hand"):
            raise KeyboardInterrupt
        wanted = ("generations", "exhausted", "reproducible", "why_not_reproducible")
        facts = {key: run[key] for key in wanted if key in run}
        spent = int(run.get("evaluations", recorder.evaluations))
        facts["evaluations"] = min(spent, recorder.limit.evaluations or spent)
        facts["infeasible"] = recorder.archive.n_infeasible
        if not len(recorder.archive):
            return None, facts
        return Front.of(problem, recorder.archive.rows), facts


class _FunctionSolver(Solver):
    def __init__(
        self,
        given: Any,
        name: str,
        *,
        deterministic: bool = False,
        check: Callable[[AnonymizationProblem, Limit], object] | None = None,
    ) -> None:
        if not callable(given):
            raise ProblemError(f"solvers: {name!r} must be a function, got {type(given).__name__}")
        super().__init__(name, deterministic=deterministic)
        self.given = given
        self._check = check

    def check(self, problem: AnonymizationProblem, limit: Limit) -> None:
        if self._check is not None:
            try:
                self._check(problem, limit)
            except ProblemError as error:
                raise ProblemError(
                    f"solvers: {self.name!r} cannot solve {type(problem).__name__}: {error}"
                ) from error

    def describe(self, problem: AnonymizationProblem) -> dict[str, Any]:
        return {"kind": "function", **functions.described_function(self.given)}

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        with recorder.listening(problem):
            given = self.given(problem, seed, recorder.limit.budget)
        front = _as_front(given, problem, self.name)
        run: Mapping[str, Any] = {} if front is None else front.run
        if run.get("stopped_by_hand"):
            raise KeyboardInterrupt
        # What it evaluated itself, or through the problem in several searches of which one is returned.
        spent = max(int(run.get("evaluations", 0)), recorder.evaluations)
        facts: dict[str, Any] = {
            "evaluations": spent,
            "infeasible": recorder.archive.n_infeasible,
            "reproducible": bool(run.get("reproducible", True)),
            "why_not_reproducible": run.get("why_not_reproducible"),
        }
        most = recorder.limit.evaluations
        if most is not None and spent > most:
            facts["over_budget"] = spent - most
        if recorder.limit.seconds is not None and recorder.used > recorder.limit.seconds:
            facts["over_seconds"] = round(recorder.used - recorder.limit.seconds, 3)
        if front is not None and front.proven:
            facts["proven"] = True
        return front, facts


def _as_front(given: Any, problem: AnonymizationProblem, name: str) -> Front | None:
    if isinstance(given, Front):
        if [q.key for q in given.objectives] != problem.objective_names:
            raise ProblemError(
                f"solvers: {name!r} gave a front of other objectives than the problem's"
            )
        if not len(given):
            return None
        if [q.key for q in given.quantities] != [q.key for q in quantities_of(problem)]:
            raise ProblemError(
                f"solvers: {name!r} gave a front of other recorded quantities than the problem's"
            )
        if not np.isfinite(given.values).all():
            raise ProblemError(f"solvers: {name!r} gave a front with values that are not finite")
        return given
    try:
        if recodings := recodings_in(given):
            return Front.of(problem, known=recodings)
        rows = np.atleast_2d(np.asarray(given))
        if not rows.size:
            return None
        if rows.shape[1] != problem.n_var or rows.dtype.kind not in "biuf":
            raise ProblemError(
                f"solvers: {name!r} must give a Front, recodings, or rows of {problem.n_var} variables, "
                f"got {type(given).__name__}"
            )
        return Front.of(problem, rows)
    except InfeasibleError:
        return None


def _needed(function: Callable[..., Any]) -> int:
    """How many arguments a function must be given: 1, the problem, or 3; 0 where that cannot be seen."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in ones
        return 0
    own = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in own if p.default is p.empty]
    if len(own) >= 3 and (len(needed) > 1 or own[1].name == "seed"):
        return 3 if len(needed) <= 3 else 0
    if len(own) < 3 and any(p.kind is p.VAR_POSITIONAL for p in found):
        return 3
    return len(needed)


def _name_of(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    name = getattr(inner, "__name__", type(inner).__name__)
    if name == "<lambda>":
        raise ProblemError("solvers: a lambda has no name; write {'name': lambda …}")
    return str(name)


def as_solvers(given: Any) -> tuple[Solver, ...]:
    """Solvers from what a user writes: names, algorithms, functions, in a list or by name.

    >>> as_solvers({"small": Solver.algorithm("nsga2", population=20), "chance": "random"})
    (Solver('small'), Solver('chance'))
    """
    if isinstance(given, Mapping):
        made = [_as_solver(entry, name) for name, entry in given.items()]
    elif isinstance(given, list | tuple):
        made = [_as_solver(entry, None) for entry in given]
    else:
        made = [_as_solver(given, None)]
    if not made:
        raise ProblemError("solvers: none given; name at least one, such as 'nsga2'")
    check_names([solver.name for solver in made], "solvers")
    return tuple(made)


def _as_solver(given: Any, name: Any) -> Solver:
    if isinstance(given, Solver):
        if name is None or name == given.name:
            return given
        other = copy.copy(given)
        Solver.__init__(other, name, deterministic=given.deterministic)
        return other
    if isinstance(given, str):
        return (
            Solver.exact(name=name or given)
            if given == "exact"
            else Solver.algorithm(given, name=name)
        )
    if isinstance(given, Algorithm):
        return Solver.algorithm(given, name=name)
    if callable(given) and not isinstance(given, type):
        needed = _needed(given)
        if needed == 1:
            return Solver.algorithm(given, name=name)
        if needed == 3:
            return Solver.function(given, name=name)
    raise ProblemError(
        f"solvers: expected a name ({', '.join(algorithm_names())}, exact), a pymoo algorithm, a Solver, "
        "a function of the problem that makes an algorithm, or one of problem, seed and budget, got "
        f"{type(given).__name__}"
    )
