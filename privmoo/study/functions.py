"""Functions that solve problems, ready made: baselines, the exact front, the papers' grid of swarms."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from pymoo.core.problem import Problem

from privmoo._util.digest import content_digest
from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.recoding import Recoding
from privmoo.search.algorithms import described
from privmoo.study.recorder import Limit

__all__ = [
    *("check_exact", "described_function", "exact", "iterations_of"),
    *("own_code", "own_code_of_problem", "points", "pso_grid", "swarms"),
]

_KNOWN = ("pymoo", "privmoo", "numpy", "scipy", "builtins")  # told apart by their versions


def points(
    problem: AnonymizationProblem,
    seed: int,
    budget: Any,
    *,
    function: Callable[..., Recoding],
    ks: Sequence[int],
    options: Mapping[str, Any],
) -> list[Recoding]:
    """The recodings of a baseline, one for every k."""
    return [function(problem.table, k, **options) for k in ks]


def exact(problem: AnonymizationProblem, seed: int, budget: Any, *, seconds: float | None) -> Front:
    """The proven front of a problem of levels."""
    from privmoo.exact import exact_front

    began = time.perf_counter()
    front = exact_front(problem, seconds=seconds, progress=False)
    if not front.proven and (seconds is None or time.perf_counter() - began < seconds):
        raise KeyboardInterrupt  # it ended before its time: Ctrl-C gives what there is
    return front


def pso_grid(
    problem: AnonymizationProblem,
    seed: int,
    budget: Any,
    *,
    n_clusters: Sequence[int],
    k: Sequence[int],
    lam: Sequence[float],
    particles: int,
    options: Mapping[str, Any],
) -> Front | list[Any]:
    """The front of a grid of swarms that share the budget evenly."""
    from privmoo.problems import scalar_grid

    n_swarms = swarms(n_clusters, k, lam, options)
    iterations = iterations_of(problem, Limit.of(budget), n_swarms=n_swarms, particles=particles)
    grid = scalar_grid(
        problem.table,
        n_clusters=n_clusters,
        k=k,
        lam=lam,
        particles=particles,
        iterations=iterations,
        seed=seed,
        progress=False,
        threads=1,
        **options,
    )
    if len(grid.frame) < len(n_clusters) * len(k) * len(lam):
        raise KeyboardInterrupt  # swarms are missing: Ctrl-C gives those that there are
    return grid.front(problem) if grid.recodings else []


def swarms(
    n_clusters: Sequence[int], k: Sequence[int], lam: Sequence[float], options: Mapping[str, Any]
) -> int:
    """How many swarms a grid has; its scaled form needs one more per number of clusters and k."""
    return len(n_clusters) * len(k) * (len(lam) + bool(options.get("scaled")))


def iterations_of(
    problem: AnonymizationProblem, limit: Limit, *, n_swarms: int, particles: int
) -> int:
    """How many iterations of every swarm a budget pays for."""
    if limit.evaluations is None:
        raise ProblemError("budget: the PSO grid shares out evaluations; give Evaluations(…)")
    iterations = limit.evaluations // (n_swarms * particles) if n_swarms * particles > 0 else 0
    if iterations < 1:
        raise ProblemError(
            f"budget: {limit.evaluations:,} evaluations are fewer than one iteration of {n_swarms} swarms "
            f"of {particles}"
        )
    return iterations


def check_exact(problem: AnonymizationProblem, limit: Limit) -> None:
    """Raise where there is no exact front to be had."""
    space_of(problem, "levels")


def described_function(function: Any, outer: tuple[Any, ...] = ()) -> dict[str, Any]:
    """A function by its code, and what was bound to it; not what it calls by name.

    Args:
        function: The function.
        outer: Functions that it is bound to, so that one that calls itself comes to an end.
    """
    outer = (*outer, function)
    if isinstance(function, partial):
        return {
            **described_function(function.func, outer),
            "arguments": [_content(value, outer) for value in function.args],
            "options": {key: _content(value, outer) for key, value in function.keywords.items()},
        }
    inner = getattr(function, "__wrapped__", function)
    defaults = getattr(inner, "__defaults__", None) or ()
    return {
        "function": str(getattr(inner, "__qualname__", type(inner).__qualname__)),
        "code": content_digest(inner) if hasattr(inner, "__code__") else described(inner),
        "defaults": [_content(value, outer) for value in defaults],
        "closure": [_in_cell(cell, outer) for cell in getattr(inner, "__closure__", None) or ()],
    }


def _in_cell(cell: Any, outer: tuple[Any, ...]) -> Any:
    try:
        return _content(cell.cell_contents, outer)
    except ValueError:  # nothing is bound yet
        return None


def own_code(value: Any) -> list[Any]:
    """What tells operators and functions of others apart: their code, and what they keep to themselves.

    Args:
        value: An algorithm, with all that it holds.
    """
    found: list[Any] = []
    seen: set[int] = set()

    def visit(part: Any, depth: int) -> None:
        if (
            id(part) in seen
            or depth < 0
            or isinstance(part, str | bytes | int | float | type(None))
        ):
            return
        seen.add(id(part))
        if isinstance(part, Mapping | list | tuple):
            for entry in part.values() if isinstance(part, Mapping) else part:
                visit(entry, depth - 1)
        elif isinstance(part, FunctionType | partial):
            if not _is_known(part):
                found.append(described_function(part))
        elif not isinstance(part, np.ndarray | Problem | type) and hasattr(part, "__dict__"):
            held = sorted(vars(part).items())
            if not _is_known(type(part)):
                hidden = {key: described(v) for key, v in held if key.startswith("_")}
                found.append({"hidden": hidden, "code": _code_of(type(part))})
            for _, entry in held:
                visit(entry, depth - 1)

    visit(value, 5)
    return found


def own_code_of_problem(problem: AnonymizationProblem) -> list[Any]:
    """The code of classes of problems and measures that are not privmoo's."""
    classes = [type(problem), *(type(m) for m in problem.measures)]
    return [_code_of(cls) for cls in classes if not _is_known(cls)]


def _is_known(thing: Any) -> bool:
    return (getattr(thing, "__module__", None) or "").partition(".")[0] in _KNOWN


def _code_of(cls: type) -> dict[str, Any]:
    """The methods and plain attributes that a class and its foreign parents define."""
    own = [parent for parent in cls.__mro__ if not _is_known(parent)]
    defined = {
        key: v for parent in reversed(own) for key, v in vars(parent).items() if key[:2] != "__"
    }
    defined |= {
        key: vars(parent)[key]
        for parent in reversed(own)
        for key in ("__init__", "__call__")
        if key in vars(parent)
    }
    inner = {key: getattr(v, "__func__", getattr(v, "fget", v)) for key, v in defined.items()}
    return {key: _content(v) for key, v in sorted(inner.items())}


def _content(value: Any, outer: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _content(entry, outer) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_content(entry, outer) for entry in value]
    if not hasattr(value, "__code__"):
        return described(value)
    return "itself" if any(value is f for f in outer) else described_function(value, outer)
