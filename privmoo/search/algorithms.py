"""pymoo's algorithms by name, with what each can and cannot do.

Which one to use, as far as `notebooks/solver_comparison.ipynb` and `tests/benchmarks/RESULTS.md` show:

- Levels with a small lattice (`pm.exact.lattice_cost` says how small): none of them. `pm.exact_front` is
  quicker and proven.
- Everything else: the default, without a name. It is NSGA-II with `SpreadSurvival`, which searches small k
  as well as large ones, and from generation 21 on every second batch is a local search where the space
  knows moves (cuts and levels).
- Three objectives with thousands of trade-offs, such as `AnySuppression`: `"sms-emoa"`, its default.
- Only a part of the front matters: the default with `focus={"k": (5, 20)}`. One number matters: that
  objective alone, all else as constraints; the default is then GA.
- An algorithm that is named runs as pymoo has it, without the local search; `polish=True` adds that.
- Doubts about operators or measures of your own: `"random"` beside it. What does not beat it is broken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.util.ref_dirs import get_reference_directions

from privmoo._util.checks import whole_number
from privmoo.errors import ProblemError, nearest
from privmoo.registry import load_object
from privmoo.search.survival import SpreadSurvival

if TYPE_CHECKING:
    from privmoo.problem import AnonymizationProblem

__all__ = ["algorithm_names", "check_algorithm", "describe_algorithm", "make_algorithm"]

_MATING = ("sampling", "crossover", "mutation", "eliminate_duplicates", "repair")
_FEW_TRIES = 10
"""Rounds of mating for children that are not there yet; pymoo's 100 would each search for long."""


@dataclass(frozen=True)
class _Kind:
    path: str
    operators: tuple[str, ...] = _MATING
    population: str = "pop_size"
    directions: bool = False
    single: bool = False
    real: bool = False
    spread: bool = False
    offspring: bool = False


# Not C-TAEA: pymoo's never comes back when the first population has fewer distinct candidates than
# directions.
_KINDS = {
    "nsga2": _Kind("moo.nsga2:NSGA2", spread=True, offspring=True),
    "nsga3": _Kind("moo.nsga3:NSGA3", directions=True),
    "unsga3": _Kind("moo.unsga3:UNSGA3", directions=True),
    "spea2": _Kind("moo.spea2:SPEA2"),
    "sms-emoa": _Kind("moo.sms:SMSEMOA"),
    "age-moea": _Kind("moo.age:AGEMOEA"),
    "age-moea2": _Kind("moo.age2:AGEMOEA2"),
    "rvea": _Kind("moo.rvea:RVEA", directions=True),
    "cmopso": _Kind("moo.cmopso:CMOPSO", ("sampling",), real=True),
    "ga": _Kind("soo.nonconvex.ga:GA", single=True, offspring=True),
    "de": _Kind("soo.nonconvex.de:DE", ("sampling",), single=True, real=True),
    "pso": _Kind("soo.nonconvex.pso:PSO", ("sampling", "repair"), single=True, real=True),
    "random": _Kind(
        "soo.nonconvex.random_search:RandomSearch", ("sampling",), "n_points_per_iteration"
    ),
}
_ALIASES = {"nsgaii": "nsga2", "nsgaiii": "nsga3", "unsgaiii": "unsga3", "randomsearch": "random"}
_REFUSED = {
    "moead": "MOEAD",
    "dnsga2": "DNSGA2",
    "kgb": "KGB",
    "mopsocd": "MOPSO_CD",
}
# MOPSO_CD takes constraints silently and ignores them.
_NO_CONSTRAINTS = frozenset({"MOEAD", "ParallelMOEAD", "DNSGA2", "KGB", "MOPSO_CD"})
_NEVER_REPRODUCIBLE = frozenset({"CMOPSO"})
_TIES_MATTER = frozenset({"NSGA3", "UNSGA3", "RNSGA3"})


def algorithm_names() -> list[str]:
    """Return the algorithms that `optimize` knows by name; any other pymoo algorithm is given as an object.

    >>> algorithm_names()[:3]
    ['nsga2', 'nsga3', 'unsga3']
    """
    return list(_KINDS)


def make_algorithm(
    problem: AnonymizationProblem,
    name: str | None = None,
    *,
    population: int | None = None,
    **options: Any,
) -> Algorithm:
    """Return a pymoo algorithm with the problem's operators and, where needed, reference directions.

    NSGA-II gets `SpreadSurvival`, so that small k are searched as well as large ones.

    Args:
        problem: The problem to solve.
        name: One of `algorithm_names()`; NSGA-II by default, or GA if there is one objective.
        population: Its size; the problem's default if not given.
        options: Further arguments of the pymoo class; they take precedence over the problem's operators.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> type(make_algorithm(problem, "nsga3", population=50)).__name__
    'NSGA3'
    """
    if name is None:
        name = problem.default_algorithm or ("nsga2" if problem.n_obj > 1 else "ga")
    kind = _KINDS[_known(name)]
    _check_kind(name, kind, problem)
    size = problem.default_population if population is None else population
    size = whole_number("population", size, at_least=2)
    arguments: dict[str, Any] = {kind.population: size}
    if kind.directions:
        arguments["ref_dirs"] = reference_directions(problem.n_obj, size)
    operators = problem.default_operators()
    arguments |= {part: operators[part] for part in kind.operators if part in operators}
    if kind.offspring and problem.default_offspring is not None:
        arguments["n_offsprings"] = min(problem.default_offspring, size)
    if kind.spread:
        arguments["survival"] = SpreadSurvival()
    algorithm = load_object(f"pymoo.algorithms.{kind.path}")(**(arguments | options))
    if kind.offspring and problem.default_offspring is not None:
        algorithm.mating.n_max_iterations = _FEW_TRIES
    return algorithm


def reference_directions(n_obj: int, population: int) -> NDArray[np.float64]:
    """Return as many evenly spread directions (Das and Dennis) as fit in a population.

    Args:
        n_obj: The number of objectives.
        population: The size of the population.

    >>> len(reference_directions(3, 200))
    190
    """
    partitions = 1
    while math.comb(partitions + n_obj, n_obj - 1) <= population and n_obj > 1:
        partitions += 1
    return np.asarray(get_reference_directions("das-dennis", n_obj, n_partitions=partitions))


def _known(name: str) -> str:
    plain = "".join(c for c in name.lower() if c.isalnum())
    by_plain = {name_of_kind.replace("-", ""): name_of_kind for name_of_kind in _KINDS} | _ALIASES
    if plain in by_plain:
        return by_plain[plain]
    if plain in _REFUSED:
        raise ProblemError(_cannot_constrain(_REFUSED[plain]))
    raise ProblemError(
        f"algorithm: {name!r} is not one of {', '.join(_KINDS)}{nearest(name.lower(), _KINDS)}"
    )


def _cannot_constrain(name: str) -> str:
    return (
        f"algorithm: {name} cannot take constraints, and every anonymization problem has at least one "
        "(a release must not be empty); choose another, such as 'nsga2' or 'nsga3'"
    )


def _check_kind(name: str, kind: _Kind, problem: AnonymizationProblem) -> None:
    if kind.single and problem.n_obj > 1:
        raise ProblemError(_too_many(name, 1, problem))
    if kind.real and problem.vtype in (bool, int):
        raise ProblemError(
            f"algorithm: {name!r} moves in real numbers, but the variables of "
            f"{type(problem).__name__} are {problem.vtype.__name__}; choose another, such as "
            f"{'nsga2' if problem.n_obj > 1 else 'ga'!r}"
        )


def _too_many(name: str, able: int, problem: AnonymizationProblem) -> str:
    return (
        f"algorithm: {name} is for {able} objective{'s' if able > 1 else ''}, but the problem has "
        f"{problem.n_obj} ({', '.join(problem.objective_names)}); choose another, such as 'nsga2'"
    )


def check_algorithm(algorithm: Any, problem: AnonymizationProblem) -> None:
    """Raise a ProblemError if an algorithm object cannot solve the problem.

    Args:
        algorithm: A pymoo algorithm that has not run yet.
        problem: The problem.
    """
    if not isinstance(algorithm, Algorithm):
        raise ProblemError(
            f"algorithm: must be a name ({', '.join(_KINDS)}) or a pymoo algorithm, got "
            f"{type(algorithm).__name__}"
        )
    name = type(algorithm).__name__
    if algorithm.is_initialized:
        raise ProblemError(f"algorithm: this {name} has run already; give a new one")
    if name in _NO_CONSTRAINTS:
        raise ProblemError(_cannot_constrain(name))
    if (
        type(algorithm).__module__.startswith("pymoo.algorithms.soo.")
        and name != "RandomSearch"
        and problem.n_obj > 1
    ):
        raise ProblemError(_too_many(name, 1, problem))
    survival = getattr(algorithm, "survival", None)
    for owner, part in ((algorithm, "ref_dirs"), (survival, "ref_points")):
        directions = getattr(owner, part, None)
        able = directions.shape[-1] if isinstance(directions, np.ndarray) else problem.n_obj
        if able != problem.n_obj:
            raise ProblemError(_too_many(f"this {name}", able, problem))


def why_not_reproducible(algorithm: Algorithm, n_infeasible: int) -> str | None:
    """Return why the same seed may give another front, or None.

    Args:
        algorithm: The algorithm.
        n_infeasible: How many infeasible candidates the run has seen.
    """
    names = {cls.__name__ for cls in type(algorithm).__mro__}
    if names & _NEVER_REPRODUCIBLE:
        return f"pymoo's {type(algorithm).__name__} draws random numbers that do not depend on the seed"
    if names & _TIES_MATTER and n_infeasible:
        return (
            f"pymoo's {type(algorithm).__name__} orders equally infeasible candidates differently "
            f"from run to run, and {n_infeasible} were infeasible"
        )
    return None


def describe_algorithm(algorithm: Algorithm) -> dict[str, Any]:
    """Return the algorithm and its operators as plain data, the same for the same settings."""
    settings = described(algorithm, depth=5)
    return settings if isinstance(settings, dict) else {"class": str(settings)}


# What a run changes, shows or measures; not what the algorithm is.
_STATE = frozenset(
    {
        *(
            "problem",
            "termination",
            "output",
            "display",
            "callback",
            "history",
            "pop",
            "off",
            "opt",
        ),
        *("n_iter", "n_gen", "data", "start_time", "is_initialized", "evaluator", "random_state"),
        *("seed", "archive", "save_history", "verbose", "return_least_infeasible"),
    }
)


def described(value: Any, depth: int = 5) -> Any:
    """Return an operator, a parameter or an array as plain data.

    Args:
        value: The object.
        depth: How many levels of attributes are described.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return _described_array(value)
    if isinstance(value, FunctionType | MethodType | type):
        return getattr(value, "__qualname__", str(type(value)))
    if depth <= 0:
        return type(value).__name__
    if isinstance(value, Mapping):
        return {str(key): described(v, depth - 1) for key, v in sorted(value.items(), key=str)}
    if isinstance(value, list | tuple):
        return [described(v, depth - 1) for v in value]
    attributes = (
        {
            key: described(v, depth - 1)
            for key, v in sorted(vars(value).items())
            if key not in _STATE and not key.startswith("_") and not _is_problem(v)
        }
        if hasattr(value, "__dict__")
        else {}
    )
    return {"class": type(value).__name__, **attributes}


def _is_problem(value: Any) -> bool:
    from pymoo.core.problem import Problem

    return isinstance(value, Problem)


def _described_array(value: NDArray[Any]) -> Any:
    import hashlib

    if value.dtype == object:
        return f"{len(value)} objects"
    if value.size <= 8:
        return value.tolist()
    digest = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
    return f"array {value.shape} {digest}"
