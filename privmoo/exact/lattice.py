"""The exact front over all levels or cuts and all thresholds, and bounds for what is too large."""

from __future__ import annotations

import logging
import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo._util.progress_bar import new_bar
from privmoo.errors import InfeasibleError, ProblemError
from privmoo.exact.boxes import box_bound
from privmoo.exact.costs import SweepGoal, costs_of, goal_of, values_of
from privmoo.exact.cut_front import CutFront, search_cuts
from privmoo.exact.one_by_one import evaluate_all
from privmoo.exact.partitions import CutPartitions, Partitions, partitions_of
from privmoo.exact.prices import price_of
from privmoo.exact.russian_dolls import Outcome, search_lattice
from privmoo.exact.stages import Lattice
from privmoo.exact.stopwatch import Stopwatch
from privmoo.exact.sweep import new_best
from privmoo.front.front import Front
from privmoo.kernels.partial_cuts import OPEN
from privmoo.kernels.stairs import Best
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.candidates import Candidates
from privmoo.search import Evaluations, Generations, Seconds, optimize
from privmoo.spaces.levels import LevelSpace
from privmoo.suppression.staircase import Staircase

__all__ = ["exact_front", "lattice_cost", "lower_bound"]

_log = logging.getLogger("privmoo.exact")

_SECONDS_PER_GROUP = 1.2e-8
_LONGEST = 600.0
_LARGE = 1_000_000  # nodes from which a short search pays for itself
_FOR_SWEEP = 0.9  # of the time, after which a sweep ends; a bound by boxes takes the rest
_AFTER_CTRL_C = 2.0  # seconds for that bound, if somebody is waiting
_ROUNDING = 2e-11  # of sums in different orders
_QUICK = 2_000  # evaluations of that search
_SWEPT = 2_000_000  # cuts that a sweep visits in seconds, for every k at once


def exact_front(
    problem: AnonymizationProblem,
    *,
    seconds: float | None = None,
    start: Front | None = None,
    progress: bool = True,
) -> Front:
    """Return the proven front of a problem of levels or cuts, over all recodings and thresholds.

    For general loss (arithmetic or geometric) or transparency, alone or against k, the groups of a
    recoding are built from those of finer ones, all thresholds of a recoding are judged at once, and
    proven bounds exclude what cannot matter (see `privmoo.kernels.lattice.sweep`). Constraints on k, on
    suppression and on the values of one sensitive column are part of that. Those that merging groups
    cannot break exclude recodings by themselves: ℓ (by frequency, distinct, entropy, recursive), α and p,
    and t and β if nothing is suppressed or they compare with the original records. δ is only checked (see
    `privmoo.exact.value_demands.rules_of`).

    Cuts too many to sweep are searched bit by bit, one k after another (see
    `privmoo.kernels.cut_bounds.examine`), for k against arithmetic loss or transparency with any threshold.
    Weighted-k without suppression is searched in the same way. How many cuts there are hardly matters
    then; the more records may be suppressed, the longer it takes.

    For other objectives, constraints and policies, every recoding is evaluated like any candidate. The
    front is marked proven, `front.proven`, and the problem returns it to pymoo, `problem.pareto_front()`.

    A search that ends early returns the best that it knows and what is proven so far: `front.gap()` says
    how much better a release can be for every k, `front.run["bound"]` has these bounds as rows, and
    `front.run["proven_solutions"]` says which solutions are certainly optimal.

    Args:
        problem: A problem of levels or cuts, such as `Levels`, `LevelsAndSuppression` or `Cuts`. The front
            of `Regions` is not proven: it gets a bound, which is loose.
        seconds: Stop after about this time; ten minutes by default, `math.inf` for no end. Ctrl-C does
            the same.
        start: A front of the same problem, such as that of a search: only what is better is searched.
        progress: Whether to show a bar.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200", "210"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> front = exact_front(pm.problems.Levels(table, max_suppression=1.0), progress=False)
    >>> front.to_frame()[["k", "loss"]].round(3).to_numpy().tolist(), front.proven
    ([[1.0, 0.0], [2.0, 0.333], [4.0, 1.0]], True)
    """
    if not isinstance(problem, AnonymizationProblem):
        raise ProblemError(
            f"problem: must be a problem such as Levels(table), got {type(problem).__name__}"
        )
    if start is not None and not isinstance(start, Front):
        raise ProblemError(f"start: must be a Front, got {type(start).__name__}")
    watch = Stopwatch(_LONGEST if seconds is None else _read_seconds(seconds))
    if start is not None and start.description != problem.describe():
        raise ProblemError(
            "start: this front belongs to another problem or table; pass one of the same problem"
        )
    goal = goal_of(problem)
    if "regions" in getattr(problem.space, "kinds", ()) and goal is not None:
        return _by_boxes(problem, goal, start, watch, progress)
    partitions = partitions_of(problem)
    _log.info("exact search of %d vectors", partitions.n_nodes)
    if goal is not None and _has_switches(partitions, goal):
        with _bar(None, show=progress) as bar:
            front = _by_switches(problem, partitions, goal, start, watch, bar)
    else:
        with _bar(partitions.n_nodes, show=progress) as bar:
            if goal is None:
                front = _by_evaluation(problem, partitions, start, watch, bar)
            else:
                front = _by_sweep(problem, partitions, goal, start, watch, bar)
    _log.info(
        "exact search: %d solutions, %s", len(front), "proven" if front.proven else "a gap is left"
    )
    if front.proven:
        problem.proven_points = front.F
    return front


def lattice_cost(problem: AnonymizationProblem) -> dict[str, float]:
    """Return the number of vectors of levels of a problem, and the seconds that it takes to visit them all.

    It is about levels only; `exact_front` takes cuts too. Bounds usually exclude most vectors, so
    `exact_front` often needs much less, by orders of magnitude for many columns. How much less is not known
    before.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> lattice_cost(pm.problems.Levels(table))["nodes"]
    4
    """
    space = space_of(problem, "levels")
    rng = np.random.default_rng(0)
    nodes = rng.integers(space.lowest, space.highest, (32, len(space.lowest)), endpoint=True)
    groups = _mean_groups(problem, space, nodes)
    seconds_per_node = _SECONDS_PER_GROUP * 1.5 * groups + 1e-6
    if goal_of(problem) is None:
        seconds_per_node = 2e-8 * problem.table.n_tuples * len(problem.measures) + 5e-5
    return {"nodes": space.n_nodes, "seconds": seconds_per_node * space.n_nodes}


def lower_bound(problem: AnonymizationProblem, *, most_nodes: int = 200_000) -> pd.DataFrame:
    """Return, per k, a value of the second objective that no release with that k or more can beat.

    The quasi-identifiers are divided into parts, and the lattice of each part is searched exactly. A
    release with k has at least k published records in every group of every part; records in smaller groups
    of a part are not published and lose all of it. So the cost within a part is at least the best of that
    part's lattice for k or more, and the parts' costs add up. The fewer parts, the tighter the bound.

    The cheapest boxes around records give another bound, the only one for regions (see
    `privmoo.exact.boxes`).

    Args:
        problem: A problem of levels, cuts or regions, with k against general loss or transparency.
        most_nodes: The largest number of nodes in the lattice of a part.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200", "210"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> bound = lower_bound(pm.problems.Levels(table, max_suppression=1.0))
    >>> bound.round(3).to_numpy().tolist()
    [[1.0, 0.0], [2.0, 0.333], [4.0, 1.0]]
    """
    goal = goal_of(problem)
    if goal is None or goal.squares:
        raise ProblemError(
            "lower_bound: a bound is known for k against general loss or transparency, with a threshold "
            "or without suppression; this problem has other objectives, constraints or policies"
        )
    boxes = box_bound(problem.table, goal.kind)
    if "regions" in getattr(problem.space, "kinds", ()):
        return _as_steps(problem, goal, boxes)
    partitions = partitions_of(problem)
    price = price_of(partitions, goal.kind, range(problem.table.n_qis))
    total = np.zeros(problem.table.n_records + 1)
    for part in _parts(partitions, most_nodes):
        lattice = Lattice(partitions, price, part)
        total += search_lattice(lattice, goal._replace(demands=()), Stopwatch()).best.floor
    return _as_steps(problem, goal, np.maximum(total, boxes))


def _has_switches(partitions: Partitions, goal: SweepGoal) -> bool:
    """Return whether cuts are searched by their switches, one k after another, and not swept."""
    is_large = goal.squares or partitions.n_nodes > _SWEPT
    return isinstance(partitions, CutPartitions) and goal.is_plain and is_large


def _by_switches(
    problem: AnonymizationProblem,
    partitions: Partitions,
    goal: SweepGoal,
    start: Front | None,
    watch: Stopwatch,
    bar: Any,
) -> Front:
    space = space_of(problem, "cuts")
    if start is None and partitions.n_nodes > _LARGE:
        start = _quick_search(problem)
    known = [] if start is None else _points_of(problem, goal, start)
    outcome = search_cuts(space, goal, watch, until=_FOR_SWEEP, known=known, bar=bar)
    rows = [cut.status[space.owner] == OPEN for cut in outcome.cuts] or [partitions.coarsest()]
    facts = _facts(partitions, watch, outcome.visited, 0, proven=outcome.finished)
    facts |= {"algorithm": "exact cuts"}
    front = _front(problem, np.stack(rows), start, facts)
    if outcome.finished:
        return front
    return replace(front, run=facts | _proof_of_levels(problem, goal, front, outcome))


def _points_of(
    problem: AnonymizationProblem, goal: SweepGoal, front: Front
) -> list[tuple[int, float]]:
    """Return the level of privacy and the cost of every solution."""
    table = problem.table
    costs = costs_of(table, goal, front.column(goal.measure.key)) * (1 + _ROUNDING)
    if not goal.counts_k:
        return [(goal.least_k, float(cost)) for cost in costs]
    levels = goal.levels_of(front.column(goal.privacy), table.n_records)
    return list(zip(levels.tolist(), costs.tolist(), strict=True))


def _proof_of_levels(
    problem: AnonymizationProblem, goal: SweepGoal, front: Front, outcome: CutFront
) -> dict[str, Any]:
    """Return the bound by levels of privacy, and which solutions are proven."""
    table = problem.table
    points = _points_of(problem, goal, front)
    levels, costs = (np.array(column) for column in zip(*points, strict=True))
    is_least = costs <= outcome.bound(levels) * (1 + _ROUNDING) ** 2
    if goal.counts_k:
        is_least &= costs < outcome.bound(levels + 1)
    # The bound rises at the levels that were searched; a step ends before the next, or at a solution.
    highest = goal.highest_level(table.n_records)
    ends = np.unique([*(outcome.levels - 1), *levels, highest])
    ends = ends[ends >= goal.least_level] if goal.counts_k else levels[:1]
    bounds = np.minimum(outcome.bound(ends), [_least(points, end) for end in ends])
    rows = [
        [level / table.n_records if goal.squares else level, value]
        for level, value in zip(ends.tolist(), values_of(table, goal, bounds).tolist(), strict=True)
        if math.isfinite(value)
    ]
    return {"proven_solutions": np.flatnonzero(is_least).tolist(), "bound": rows}


def _least(points: list[tuple[int, float]], level: int) -> float:
    """Return the least cost of what reaches a level; infinite if nothing does."""
    return min((cost for reached, cost in points if reached >= level), default=math.inf)


def _by_sweep(
    problem: AnonymizationProblem,
    partitions: Partitions,
    goal: SweepGoal,
    start: Front | None,
    watch: Stopwatch,
    bar: Any,
) -> Front:
    known = None
    if not goal.all_limits:
        if start is None and partitions.n_nodes > _LARGE:
            start = _quick_search(problem)
        known = None if start is None else _staircase(problem, goal, start)
    columns = partitions.listed()
    price = price_of(partitions, goal.kind, columns)
    lattice = Lattice(partitions, price, columns, with_values=bool(goal.demands))
    if len(columns) < problem.table.n_qis:
        # The others cost at least nothing: what is proven of the listed columns bounds all.
        part = search_lattice(lattice, goal.for_columns(), watch, until=_FOR_SWEEP, bar=bar)
        outcome = Outcome(new_best(problem.table.n_records, 0), part.bound, part.visited)
    else:
        outcome = search_lattice(lattice, goal, watch, until=_FOR_SWEEP, start=known, bar=bar)
    rows = [
        partitions.row(lattice.places(node), size)
        for size, node in _best_entries(outcome.best, goal)
    ]
    if not rows:  # nothing feasible yet, or nothing better than the start
        rows = [partitions.coarsest()]
    if start is None and not outcome.finished and partitions.n_nodes > _QUICK:
        start = _quick_search(problem)  # what a sweep has visited when it ends says little
    facts = _facts(partitions, watch, outcome.visited, outcome.left_out, proven=outcome.finished)
    front = _front(problem, np.stack(rows), start, facts)
    if outcome.finished:
        return front
    by_hand = facts["stopped_by_hand"]
    boxes = box_bound(problem.table, goal.kind, Stopwatch(_AFTER_CTRL_C) if by_hand else watch)
    outcome = outcome._replace(rest=np.maximum(outcome.rest, boxes))
    return replace(front, run=facts | _partial_proof(problem, goal, front, outcome))


def _quick_search(problem: AnonymizationProblem) -> Front | None:
    """Return a front that a short search finds; None if it finds nothing feasible."""
    try:
        # A copy: the problem itself has evaluated nothing yet.
        front = optimize(copy(problem), budget=Evaluations(_QUICK), seed=1, progress=False)
    except InfeasibleError:
        return None
    return replace(front, problem=problem)


def _front(
    problem: AnonymizationProblem, X: NDArray[Any], start: Front | None, facts: dict[str, Any]
) -> Front:
    """Return the front of some rows and of the start."""
    stairs = isinstance(problem.suppression, Staircase)
    if start is None:
        return Front.of(problem, X, run=facts, stairs=stairs)
    try:
        front = Front.of(problem, X, run=facts, stairs=stairs)
    except InfeasibleError:
        return replace(start, run=facts)
    return replace(start.merge(front), run=facts)


def _staircase(problem: AnonymizationProblem, goal: SweepGoal, front: Front) -> NDArray[np.float64]:
    """Return, per k, the least cost of a solution with k or more."""
    floor = np.full(problem.table.n_records + 1, np.inf)
    costs = costs_of(problem.table, goal, front.column(goal.measure.key))
    for k, cost in zip(_ks(goal, front), costs, strict=True):
        # Sums are rounded differently: what costs as much may be found once more.
        floor[k] = min(floor[k], cost * (1 + 1e-12))
    return np.minimum.accumulate(floor[::-1])[::-1]


def _ks(goal: SweepGoal, front: Front) -> NDArray[np.int64]:
    """Return k of every solution, as far as it counts."""
    if goal.counts_k:
        return front.column("k").astype(np.int64)
    return np.full(len(front), goal.least_k)


def _by_boxes(
    problem: AnonymizationProblem,
    goal: SweepGoal,
    start: Front | None,
    watch: Stopwatch,
    progress: bool,
) -> Front:
    """Return what a search found in regions, with a loose bound: their front is not proven."""
    if start is None:
        most = Generations(problem.default_generations)
        budget = most if watch.seconds is None else most | Seconds(max(watch.seconds, 1e-3))
        start = optimize(problem, budget=budget, seed=1, progress=progress)
    rest = box_bound(problem.table, goal.kind, watch)
    outcome = Outcome(new_best(problem.table.n_records, 0), rest)
    facts = dict(start.run) | {"algorithm": "bound by boxes", "proven": False}
    facts |= {"stopped_by_hand": False, "seconds": round(watch.elapsed, 3)}
    return replace(start, run=facts | _partial_proof(problem, goal, start, outcome))


def _partial_proof(
    problem: AnonymizationProblem, goal: SweepGoal, front: Front, outcome: Outcome
) -> dict[str, Any]:
    """Return the bound by k, and which solutions nothing that was not searched can beat."""
    costs = costs_of(problem.table, goal, front.column(goal.measure.key))
    ks = _ks(goal, front)
    # A bound that is lower by no more than the rounding of sums is as good as the cost itself. What costs
    # as much is better if it has more k, or if it suppresses less and that is an objective.
    is_least = costs <= outcome.rest[ks] * (1 - 1e-9 if goal.all_limits else 1 + _ROUNDING)
    if goal.counts_k:
        is_least &= costs * (1 + _ROUNDING) < np.append(outcome.rest, np.inf)[ks + 1]
    bound = np.minimum(outcome.bound, _staircase(problem, goal, front))
    return {
        "proven_solutions": np.flatnonzero(is_least).tolist(),
        "bound": _as_steps(problem, goal, bound).to_numpy().tolist(),
    }


def _best_entries(best: Best, goal: SweepGoal) -> list[tuple[int, int]]:
    """Return every entry that no other dominates, as size of its smallest group and node."""
    ks: list[int] = []
    positions: list[int] = []
    for k in np.flatnonzero(best.heads >= 0):
        place = int(best.heads[k])
        while place >= 0:
            if goal.all_limits or best.costs[place] <= best.floor[k]:
                ks.append(int(k))
                positions.append(place)
            place = int(best.nexts[place])
    points = np.column_stack([-np.array(ks, dtype=np.float64), best.costs[positions]])
    if goal.all_limits:
        points = np.column_stack([points, best.suppressed[positions]])
    if not len(points):
        return []
    keep = np.flatnonzero(non_dominated(points))
    places = [positions[i] for i in keep]
    return [(int(best.sizes[place]), int(best.nodes[place])) for place in places]


def _by_evaluation(
    problem: AnonymizationProblem,
    partitions: Partitions,
    start: Front | None,
    watch: Stopwatch,
    bar: Any,
) -> Front:
    """Evaluate every recoding, with every threshold if that is a variable."""
    if len(partitions.listed()) < problem.table.n_qis:
        raise ProblemError(
            f"exact_front: {partitions.n_nodes:.1e} recodings cannot be evaluated one by one, and bounds "
            "are known only for k against general loss or transparency; choose these objectives or use "
            "hierarchies with fewer leaves"
        )
    archive, n_visited = evaluate_all(problem, partitions, watch, bar)
    facts = _facts(partitions, watch, n_visited, 0, proven=n_visited == partitions.n_nodes)
    if not len(archive):
        return _front(problem, partitions.coarsest()[None], start, facts)
    front = Front.from_evaluation(problem, archive.evaluation(), run=facts)
    return front if start is None else replace(start.merge(front), run=facts)


def _as_steps(
    problem: AnonymizationProblem, goal: SweepGoal, floor: NDArray[np.float64]
) -> pd.DataFrame:
    """Return a bound by k as a table of its steps, in the objective's own unit."""
    sizes = np.flatnonzero(np.isfinite(floor[1:])) + 1
    sizes = sizes[(sizes >= goal.least_k) & (goal.counts_k | (sizes == goal.least_k))]
    last = np.append(np.diff(floor[sizes]) != 0, True) if len(sizes) else np.zeros(0, bool)
    k = sizes[last]
    return pd.DataFrame({"k": k, goal.measure.key: values_of(problem.table, goal, floor[k])})


def _parts(partitions: Partitions, most_nodes: int) -> list[list[int]]:
    """Return the quasi-identifiers in few parts whose lattices are small enough."""
    sizes = partitions.sizes
    parts: list[list[int]] = []
    for j in sorted(range(len(sizes)), key=lambda j: -sizes[j]):
        for part in parts:
            if math.prod(sizes[i] for i in [*part, j]) <= most_nodes:
                part.append(j)
                break
        else:
            parts.append([j])
    return parts


def _mean_groups(
    problem: AnonymizationProblem, space: LevelSpace, nodes: NDArray[np.int64]
) -> float:
    candidates = Candidates(blocks=space.blocks(nodes), thresholds=np.ones(len(nodes)))
    counts = problem.evaluator.engine.map(candidates, lambda before, after: before.n_groups.copy())
    return float(np.concatenate(counts).mean())


def _facts(
    partitions: Partitions, watch: Stopwatch, n_visited: int, left_out: int, *, proven: bool
) -> dict[str, Any]:
    return {
        "algorithm": "exact lattice",
        "proven": proven,
        "nodes": partitions.n_nodes,
        "visited": n_visited,
        "left_out_by_bounds": left_out,
        "seconds": round(watch.elapsed, 3),
        "stopped_by_hand": not proven and not watch.is_over(_FOR_SWEEP),
        "reproducible": proven,
        "why_not_reproducible": None if proven else "it ended early",
    }


def _read_seconds(seconds: object) -> float | None:
    """Return a time limit; None if there is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        raise ProblemError(f"seconds: must be a number, got {seconds!r}")
    if seconds < 0:
        raise ProblemError(f"seconds: must be at least 0, got {seconds!r}")
    return None if math.isinf(seconds) else float(seconds)


def _bar(total: int | None, *, show: bool) -> Any:
    """Return a bar, if it is wanted and there is a terminal or a notebook to show it in."""
    is_long = total is None or total >= 100_000
    return new_bar(total=total, disable=None if show else True, unit=" nodes", unit_scale=is_long)
