"""Solvers: algorithms, baselines, exact searches and functions under one protocol."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pymoo.core.algorithm import Algorithm

from privmoo._util.checks import flag
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
from privmoo.study import solver_functions
from privmoo.study.code_identity import described_function, foreign_code
from privmoo.study.participants import check_name, check_names
from privmoo.study.recorder import Limit, Recorder

__all__ = ["Solver", "as_solvers"]


class Solver:
    """A way to solve problems in a study, made by the methods `algorithm`, `function`, and so on.

    Attributes:
        name: Its name in tables.
        deterministic: Whether it runs once instead of once per seed.

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
        """Raise a ProblemError if the solver cannot solve a problem within a limit.

        Args:
            problem: The problem.
            limit: The budget of a run.
        """

    def describe(self, problem: AnonymizationProblem) -> dict[str, Any]:
        """Return everything that determines the solver's results, as plain data."""
        raise TypeError(f"{type(self).__name__} must define describe(problem)")

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        """Search for the front of a problem.

        Args:
            problem: The problem.
            seed: The seed of the run.
            recorder: The observer of what the problem evaluates.

        Returns:
            The front, or None if nothing is feasible, and facts about the search.
        """
        raise TypeError(f"{type(self).__name__} must define solve(problem, seed, recorder)")

    def __repr__(self) -> str:
        return f"Solver({self.name!r})"

    # The kinds

    @staticmethod
    def algorithm(
        algorithm: str | Algorithm | Callable[[AnonymizationProblem], Algorithm],
        *,
        name: str | None = None,
        polish: bool = False,
        **options: Any,
    ) -> Solver:
        """Return a solver that runs a pymoo algorithm.

        Args:
            algorithm: One of `algorithm_names()`, a pymoo algorithm with its operators, or a function of
                the problem that makes one.
            name: The solver's name in tables; that of the algorithm by default.
            polish: Whether every second batch, from generation 21 on, is a local search around the best
                trade-offs so far, as in the default search of `optimize`.
            options: With the name of an algorithm: further arguments of `make_algorithm`, such as
                `population`.
        """
        return _AlgorithmSolver(algorithm, name, options, polish=flag("polish", polish))

    @staticmethod
    def function(
        function: Callable[..., Any], *, name: str | None = None, deterministic: bool = False
    ) -> Solver:
        """Return a solver that calls a function.

        What the function evaluates through the problem is counted, and a study reports if that exceeded
        the budget. The evaluation of the vectors or recodings that it returns is not counted.

        Args:
            function: A function `(problem, seed, budget)` that returns a Front, recodings, or decision
                vectors.
            name: The solver's name in tables; that of the function by default.
            deterministic: Whether it runs once instead of once per seed.
        """
        return _FunctionSolver(function, name or _name_of(function), deterministic=deterministic)

    @staticmethod
    def baseline(
        baseline: str | Callable[..., Recoding],
        *,
        k: int | Sequence[int],
        name: str | None = None,
        **options: Any,
    ) -> Solver:
        """Return a solver that runs a baseline such as `"mdav"` once for every k.

        Args:
            baseline: The name of a built-in baseline or one of a plug-in, or a function `(table, k)`.
            k: One or several values of k.
            name: The solver's name in tables; that of the baseline by default.
            options: Further arguments of the baseline.
        """
        from privmoo.baselines import by_name

        function = by_name(baseline) if isinstance(baseline, str) else baseline
        ks = (k,) if isinstance(k, int | np.integer) else tuple(k)
        if not ks:
            raise ProblemError("k: give at least one for a baseline")
        points = partial(
            solver_functions.baseline_points, function=function, ks=ks, options=options
        )
        label = name or (baseline if isinstance(baseline, str) else _name_of(baseline))
        return _FunctionSolver(points, label, deterministic=True)

    @staticmethod
    def exact(*, name: str = "exact", seconds: float | None = None) -> Solver:
        """Return a solver that proves the front of a problem of levels; see `privmoo.exact_front`.

        Args:
            name: The solver's name in tables.
            seconds: When to stop unproven; never by default.
        """
        exact = partial(solver_functions.exact, seconds=seconds)
        check = solver_functions.check_exact
        return _FunctionSolver(exact, name, deterministic=True, check=check)

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
        """Return a solver that runs the papers' grid of swarms, which share the budget evenly.

        Args:
            n_clusters: Numbers of clusters.
            k: Values of k.
            lam: Weights of the scalar objective.
            particles: Particles of every swarm.
            name: The solver's name in tables.
            options: Further arguments of `problems.scalar_grid`.
        """
        grid = partial(
            solver_functions.pso_grid,
            n_clusters=n_clusters,
            k=k,
            lam=lam,
            particles=particles,
            **options,
        )
        scaled = bool(options.get("scaled"))
        check = partial(
            solver_functions.swarm_iterations,
            swarms=solver_functions.n_swarms(n_clusters, k, lam, scaled=scaled),
            particles=particles,
        )
        return _FunctionSolver(grid, name, check=check)


class _AlgorithmSolver(Solver):
    def __init__(
        self, source: Any, name: str | None, options: Mapping[str, Any], *, polish: bool
    ) -> None:
        if options and not isinstance(source, str):
            raise ProblemError(
                "solvers: options such as population go with an algorithm's name; give the algorithm "
                "ready made"
            )
        label = type(source).__name__ if isinstance(source, Algorithm) else source
        super().__init__(name or (label if isinstance(label, str) else _name_of(source)))
        self.source, self.options, self.polish = source, dict(options), polish

    def new_algorithm(self, problem: AnonymizationProblem) -> Algorithm:
        """Make a new algorithm for the problem."""
        if isinstance(self.source, str):
            algorithm = make_algorithm(problem, self.source, **self.options)
        elif isinstance(self.source, Algorithm):
            algorithm = copy.deepcopy(self.source)
        else:
            algorithm = self.source(problem)
        check_algorithm(algorithm, problem)
        return algorithm

    def check(self, problem: AnonymizationProblem, limit: Limit) -> None:
        """Raise if the algorithm does not fit the problem or its population the limit.

        Args:
            problem: The problem.
            limit: The budget of a run.
        """
        try:
            algorithm = self.new_algorithm(problem)
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
        algorithm = self.new_algorithm(problem)
        code = foreign_code(algorithm)
        settings = {"kind": "algorithm", **describe_algorithm(algorithm)}
        if self.polish:
            settings["polish"] = True
        return {**settings, "own_code": code} if code else settings

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        """Run the algorithm.

        Args:
            problem: The problem.
            seed: The seed of the run.
            recorder: The observer of what the problem evaluates.
        """
        budget = recorder.limit.budget
        try:
            with recorder.listening(problem):
                run = optimize(
                    problem,
                    self.new_algorithm(problem),
                    budget,
                    seed=seed,
                    progress=False,
                    polish=self.polish,
                ).run
        except InfeasibleError:
            if len(recorder.archive):
                raise
            run = {"reproducible": budget.reproducible}
        if run.get("stopped_by_hand"):
            raise KeyboardInterrupt
        report_keys = ("generations", "exhausted", "reproducible", "why_not_reproducible")
        facts = {key: run[key] for key in report_keys if key in run}
        evaluations = int(run.get("evaluations", recorder.evaluations))
        facts["evaluations"] = min(evaluations, recorder.limit.evaluations or evaluations)
        facts["infeasible"] = recorder.archive.n_infeasible
        if not len(recorder.archive):
            return None, facts
        return Front.from_evaluation(problem, recorder.archive.evaluation()), facts


class _FunctionSolver(Solver):
    def __init__(
        self,
        function: Any,
        name: str,
        *,
        deterministic: bool = False,
        check: Callable[[AnonymizationProblem, Limit], object] | None = None,
    ) -> None:
        if not callable(function):
            raise ProblemError(
                f"solvers: {name!r} must be a function, got {type(function).__name__}"
            )
        super().__init__(name, deterministic=deterministic)
        self.called = function
        self._check = check

    def check(self, problem: AnonymizationProblem, limit: Limit) -> None:
        """Raise if the function cannot solve the problem within the limit.

        Args:
            problem: The problem.
            limit: The budget of a run.
        """
        if self._check is not None:
            try:
                self._check(problem, limit)
            except ProblemError as error:
                raise ProblemError(
                    f"solvers: {self.name!r} cannot solve {type(problem).__name__}: {error}"
                ) from error

    def describe(self, problem: AnonymizationProblem) -> dict[str, Any]:
        return {"kind": "function", **described_function(self.called)}

    def solve(
        self, problem: AnonymizationProblem, seed: int, recorder: Recorder
    ) -> tuple[Front | None, dict[str, Any]]:
        """Call the function.

        Args:
            problem: The problem.
            seed: The seed of the run.
            recorder: The observer of what the problem evaluates.
        """
        with recorder.listening(problem):
            result = self.called(problem, seed, recorder.limit.budget)
        front = _as_front(result, problem, self.name)
        run: Mapping[str, Any] = {} if front is None else front.run
        if run.get("stopped_by_hand"):
            raise KeyboardInterrupt
        # What it evaluated itself, or through the problem in several searches of which one is returned.
        evaluations = max(int(run.get("evaluations", 0)), recorder.evaluations)
        facts: dict[str, Any] = {
            "evaluations": evaluations,
            "infeasible": recorder.archive.n_infeasible,
            "reproducible": bool(run.get("reproducible", True)),
            "why_not_reproducible": run.get("why_not_reproducible"),
        }
        limit = recorder.limit.evaluations
        if limit is not None and evaluations > limit:
            facts["over_budget"] = evaluations - limit
        if recorder.limit.seconds is not None and recorder.elapsed_seconds > recorder.limit.seconds:
            facts["over_seconds"] = round(recorder.elapsed_seconds - recorder.limit.seconds, 3)
        if front is not None and front.proven:
            facts["proven"] = True
        return front, facts


def _as_front(result: Any, problem: AnonymizationProblem, name: str) -> Front | None:
    if isinstance(result, Front):
        if [q.key for q in result.objectives] != problem.objective_names:
            raise ProblemError(
                f"solvers: {name!r} returned a front whose objectives are not the problem's"
            )
        if not len(result):
            return None
        if [q.key for q in result.quantities] != [q.key for q in quantities_of(problem)]:
            raise ProblemError(
                f"solvers: {name!r} returned a front whose recorded quantities are not the problem's"
            )
        if not np.isfinite(result.values).all():
            raise ProblemError(
                f"solvers: {name!r} returned a front with values that are not finite"
            )
        return result
    try:
        if recodings := recodings_in(result):
            return Front.of(problem, known=recodings)
        rows = np.atleast_2d(np.asarray(result))
        if not rows.size:
            return None
        if rows.shape[1] != problem.n_var or rows.dtype.kind not in "biuf":
            raise ProblemError(
                f"solvers: {name!r} must return a Front, recodings, or rows of {problem.n_var} variables, "
                f"got {type(result).__name__}"
            )
        return Front.of(problem, rows)
    except InfeasibleError:
        return None


def _count_arguments(function: Callable[..., Any]) -> int:
    """Return how many arguments a function needs: 1, the problem, or 3; 0 if that is not visible."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in ones
        return 0
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(positional) >= 3 and (len(required) > 1 or positional[1].name == "seed"):
        return 3 if len(required) <= 3 else 0
    if len(positional) < 3 and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 3
    return len(required)


def _name_of(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    name = getattr(inner, "__name__", type(inner).__name__)
    if name == "<lambda>":
        raise ProblemError("solvers: a lambda has no name; write {'name': lambda …}")
    return str(name)


def as_solvers(solvers: Any) -> tuple[Solver, ...]:
    """Make solvers from what a user passes: names, algorithms, functions, in a list or by name.

    >>> as_solvers({"small": Solver.algorithm("nsga2", population=20), "chance": "random"})
    (Solver('small'), Solver('chance'))
    """
    if isinstance(solvers, Mapping):
        solver_list = [_as_solver(entry, name) for name, entry in solvers.items()]
    elif isinstance(solvers, list | tuple):
        solver_list = [_as_solver(entry, None) for entry in solvers]
    else:
        solver_list = [_as_solver(solvers, None)]
    if not solver_list:
        raise ProblemError("solvers: there are none; name at least one, such as 'nsga2'")
    check_names([solver.name for solver in solver_list], "solvers")
    return tuple(solver_list)


def _as_solver(entry: Any, name: Any) -> Solver:
    if isinstance(entry, Solver):
        if name is None or name == entry.name:
            return entry
        twin = copy.copy(entry)
        Solver.__init__(twin, name, deterministic=entry.deterministic)
        return twin
    if isinstance(entry, str):
        return (
            Solver.exact(name=name or entry)
            if entry == "exact"
            else Solver.algorithm(entry, name=name)
        )
    if isinstance(entry, Algorithm):
        return Solver.algorithm(entry, name=name)
    if callable(entry) and not isinstance(entry, type):
        n_arguments = _count_arguments(entry)
        if n_arguments == 1:
            return Solver.algorithm(entry, name=name)
        if n_arguments == 3:
            return Solver.function(entry, name=name)
    raise ProblemError(
        f"solvers: expected a name ({', '.join(algorithm_names())}, exact), a pymoo algorithm, a Solver, "
        "a function of the problem that makes an algorithm, or one of problem, seed and budget, got "
        f"{type(entry).__name__}"
    )
