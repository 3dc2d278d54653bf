"""Functions that solve problems, ready made: baselines, the exact front, the papers' grid of swarms."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from privmoo.comparison.recording import Limit
from privmoo.digest import content_digest
from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.problem import AnonymizationProblem
from privmoo.recoding import Recoding
from privmoo.run.algorithms import described

__all__ = ["described_function", "exact", "points", "pso_grid"]


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
    from privmoo.baselines import exact_front

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
    from privmoo.baselines.wishes import space_of

    space_of(problem)


def described_function(function: Any) -> dict[str, Any]:
    """A function by its code, and what was bound to it; not what it calls by name."""
    if isinstance(function, partial):
        return {
            **described_function(function.func),
            "arguments": [_content(value) for value in function.args],
            "options": {key: _content(value) for key, value in function.keywords.items()},
        }
    inner = getattr(function, "__wrapped__", function)
    cells = [cell.cell_contents for cell in getattr(inner, "__closure__", None) or ()]
    return {
        "function": str(getattr(inner, "__qualname__", type(inner).__qualname__)),
        "code": content_digest(inner) if hasattr(inner, "__code__") else described(inner),
        "defaults": [_content(value) for value in getattr(inner, "__defaults__", None) or ()],
        "closure": [_content(value) for value in cells],
    }


def _content(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _content(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_content(entry) for entry in value]
    return described_function(value) if hasattr(value, "__code__") else described(value)
