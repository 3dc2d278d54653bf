"""Functions that solve a problem: the points of a baseline, the exact front, the papers' grid of swarms.

Each takes the problem, a seed and a budget, as a user's function does (see `Solver.function`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privmoo.errors import ProblemError
from privmoo.front.front import Front
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import Recoding
from privmoo.study.recorder import Limit

__all__ = ["baseline_points", "check_exact", "exact", "n_swarms", "pso_grid", "swarm_iterations"]


def baseline_points(
    problem: AnonymizationProblem,
    seed: int,
    budget: Any,
    *,
    function: Callable[..., Recoding],
    ks: Sequence[int],
    options: Mapping[str, Any],
) -> list[Recoding]:
    """Return the recodings of a baseline, one for every k.

    Args:
        problem: The problem, whose table is recoded.
        seed: Not used: baselines are deterministic.
        budget: Not used.
        function: The baseline, a function of table and k.
        ks: The values of k.
        options: Further arguments of the baseline.
    """
    return [function(problem.table, k, **options) for k in ks]


def exact(problem: AnonymizationProblem, seed: int, budget: Any, *, seconds: float | None) -> Front:
    """Return the proven front of a problem of levels or cuts.

    Args:
        problem: The problem.
        seed: Not used: the search is deterministic.
        budget: Not used.
        seconds: When to stop unproven; never if None.
    """
    from privmoo.exact import exact_front

    front = exact_front(problem, seconds=math.inf if seconds is None else seconds, progress=False)
    if front.run["stopped_by_hand"]:
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
    **options: Any,
) -> Front | list[Any]:
    """Return the front of a grid of swarms that share the budget evenly.

    Args:
        problem: The problem, whose table is clustered.
        seed: The seed of the grid.
        budget: The budget of all swarms together.
        n_clusters: Numbers of clusters.
        k: Values of k.
        lam: Weights of the scalar objective.
        particles: Particles of every swarm.
        options: Further arguments of `problems.scalar_grid`.
    """
    from privmoo.problems import scalar_grid

    swarms = n_swarms(n_clusters, k, lam, scaled=bool(options.get("scaled")))
    iterations = swarm_iterations(problem, Limit.of(budget), swarms=swarms, particles=particles)
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


def n_swarms(
    n_clusters: Sequence[int], k: Sequence[int], lam: Sequence[float], *, scaled: bool
) -> int:
    """Return how many swarms a grid has.

    Args:
        n_clusters: Numbers of clusters.
        k: Values of k.
        lam: Weights of the scalar objective.
        scaled: Whether the grid is scaled, which needs one more swarm per number of clusters and k.
    """
    return len(n_clusters) * len(k) * (len(lam) + scaled)


def swarm_iterations(
    problem: AnonymizationProblem, limit: Limit, *, swarms: int, particles: int
) -> int:
    """Return how many iterations of every swarm a budget pays for.

    Args:
        problem: Not used: the signature is that of a check.
        limit: The budget of all swarms together.
        swarms: The number of swarms.
        particles: Particles of every swarm.

    Raises:
        ProblemError: The budget has no evaluations, or too few for one iteration.
    """
    if limit.evaluations is None:
        raise ProblemError("budget: the PSO grid shares out evaluations; give Evaluations(…)")
    iterations = limit.evaluations // (swarms * particles) if swarms * particles > 0 else 0
    if iterations < 1:
        raise ProblemError(
            f"budget: {limit.evaluations:,} evaluations are fewer than one iteration of {swarms} swarms "
            f"of {particles}"
        )
    return iterations


def check_exact(problem: AnonymizationProblem, limit: Limit) -> None:
    """Raise if a problem's exact front cannot be computed.

    Args:
        problem: The problem.
        limit: Not used: the search has its own limit.
    """
    from privmoo.exact.partitions import partitions_of

    partitions_of(problem)
