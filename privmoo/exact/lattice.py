"""The exact front over all levels and thresholds, and a bound for lattices that are too large."""

from __future__ import annotations

import math
import threading
import time
from itertools import islice, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.dominance import non_dominated
from privmoo._util.progress_bar import new_bar
from privmoo.errors import Hint, ProblemError
from privmoo.exact.costs import SweepGoal, goal_of
from privmoo.exact.stages import Lattice
from privmoo.exact.sweep import STOP, compact_entries, interruptible, new_best, new_cells
from privmoo.front.archive import Archive
from privmoo.front.front import Front
from privmoo.kernels.stairs import Best, Terms
from privmoo.measures import Transparency
from privmoo.operators.space import space_of
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.candidates import Candidates
from privmoo.spaces.levels import LevelSpace
from privmoo.suppression.staircase import Staircase, most_suppressed

__all__ = ["exact_front", "lattice_cost", "lower_bound"]

_SECONDS_PER_GROUP = 1.2e-8
_LONGEST = 600.0
_CHUNK = 4096
_STEPS = 256  # of the progress bar


def exact_front(
    problem: AnonymizationProblem,
    *,
    seconds: float | None = None,
    progress: bool = True,
) -> Front:
    """Return the proven front of a problem of levels, over all vectors of levels and thresholds.

    For k against general loss or transparency, the groups of a vector are built from those of finer
    vectors, all thresholds of a vector are judged at once, and a proven bound excludes what cannot matter
    (see `privmoo.kernels.lattice.sweep`). For other objectives, constraints and policies, every vector is
    evaluated like any candidate. The front is marked proven: `front.proven`.

    Args:
        problem: A `Levels` or `LevelsAndSuppression` problem.
        seconds: Stop after about this time with what is proven so far: `front.run["bound"]` gives, per k,
            a value that no release can beat, and `front.run["proven_solutions"]` says which solutions are
            certainly optimal. Ctrl-C does the same.
        progress: Whether to show a bar.

    Raises:
        ProblemError: If the lattice would take longer than ten minutes and `seconds` was not given.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200", "210"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> front = exact_front(pm.problems.Levels(table, max_suppression=1.0), progress=False)
    >>> front.to_frame()[["k", "loss"]].round(3).to_numpy().tolist(), front.proven
    ([[1.0, 0.0], [2.0, 0.333], [4.0, 1.0]], True)
    """
    space = space_of(problem, "levels")
    if seconds is not None and not isinstance(seconds, int | float):
        raise ProblemError(f"seconds: must be a number, got {seconds!r}")
    cost = lattice_cost(problem)
    if seconds is None and cost["seconds"] > _LONGEST:
        raise ProblemError(
            f"exact_front: {cost['nodes']:,} vectors of levels would take about "
            f"{_duration(cost['seconds'])}",
            hint=Hint("use another algorithm", parameter="seconds"),
        )
    goal = goal_of(problem)
    began = time.perf_counter()
    with _bar(space.n_nodes, disable=not progress) as bar:
        if goal is None:
            return _by_evaluation(problem, space, began, seconds, bar)
        return _by_sweep(problem, space, goal, began, seconds, bar)


def lattice_cost(problem: AnonymizationProblem) -> dict[str, float]:
    """Return the number of vectors of levels of a problem, and an estimate of the seconds to search them.

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

    Args:
        problem: A problem of levels, with k against general loss or transparency.
        most_nodes: The largest number of nodes in the lattice of a part.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "124", "200", "210"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> bound = lower_bound(pm.problems.Levels(table, max_suppression=1.0))
    >>> bound.round(3).to_numpy().tolist()
    [[1.0, 0.0], [2.0, 0.333], [4.0, 1.0]]
    """
    space, goal = space_of(problem, "levels"), goal_of(problem)
    if goal is None:
        raise ProblemError(
            "lower_bound: a bound is known for k against general loss or transparency, with a threshold "
            "or without suppression; this problem has other objectives, constraints or policies"
        )
    total = np.zeros(problem.table.n_records + 1)
    for part in _parts(space, most_nodes):
        lattice = Lattice(space, goal.price, part)
        best, _, _ = _search(lattice, goal, None, None, None)
        total += best.floor
    return _as_steps(problem, goal, total)


def _by_sweep(
    problem: AnonymizationProblem,
    space: LevelSpace,
    goal: SweepGoal,
    began: float,
    seconds: float | None,
    bar: Any,
) -> Front:
    lattice = Lattice(space, goal.price)
    best, counters, n_done = _search(lattice, goal, began, seconds, bar)
    rows = [
        space.from_levels(lattice.levels(node), k)
        for k, node in _best_entries(best, goal)
        if k >= goal.least_k
    ]
    if not rows:  # nothing feasible yet
        rows = [space.from_levels(space.highest, 1)]
    n_first = int(lattice.stages.n_combos[0])
    facts = _facts(space, began, int(counters[0]), int(counters[1]), proven=n_done == n_first)
    X = np.stack(rows)
    if n_done == n_first:
        return Front.of(problem, X, run=facts)
    rest = np.full(len(best.floor), np.inf)
    for combo in range(n_done, n_first):
        np.minimum(rest, _first_bound(lattice, goal, combo), out=rest)
    floor = np.minimum(best.floor, rest)
    front = Front.of(problem, X, run=facts)
    # With suppression as a third objective, the bound says nothing about a single limit.
    solutions = [] if goal.all_limits else list(enumerate(front))
    sure = [i for i, s in solutions if best.floor[int(s.k)] <= rest[int(s.k)]]
    bound = _as_steps(problem, goal, floor)
    facts |= {"proven_solutions": sure, "bound": bound.to_numpy().tolist()}
    return Front.of(problem, X, run=facts)


def _best_entries(best: Best, goal: SweepGoal) -> list[tuple[int, int]]:
    """Return every entry that no other dominates, as k and node."""
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
    return [(ks[i], int(best.nodes[positions[i]])) for i in keep]


def _search(
    lattice: Lattice, goal: SweepGoal, began: float | None, seconds: float | None, bar: Any
) -> tuple[Best, NDArray[np.int64], int]:
    """Sweep a lattice by combinations of its first stage; return how many were finished."""
    n_records = int(lattice.stages.weights.sum())
    best = new_best(n_records, 1 << 16)
    counters = np.zeros(5, np.int64)
    cells = new_cells(len(lattice.stages.weights))
    used, combo = 0, 0
    n_first = int(lattice.stages.n_combos[0])
    nodes_per_combo = lattice.n_nodes // n_first
    step = max(1, n_first // _STEPS)
    timer = None
    if began is not None and seconds is not None:
        remaining = max(0.0, began + seconds - time.perf_counter())
        timer = threading.Timer(remaining, counters.__setitem__, (STOP, 1))
        timer.daemon = True
        timer.start()
    while combo < n_first and not counters[STOP]:
        if began is not None and seconds is not None and time.perf_counter() - began > seconds:
            break
        before = counters[:3].copy()
        arguments = (
            lattice.stages,
            best,
            cells,
            used,
            combo,
            min(combo + step, n_first),
            Terms(lattice.price, goal.most_suppressed, goal.all_limits),
            counters,
        )
        n_used = interruptible(arguments, counters)
        if n_used < 0:
            # Stopped, or out of room: the entries stay; in the latter case the step is repeated.
            best, used = compact_entries(best, 2 * len(best.nexts))
            counters[:3] = before
            continue
        stop = min(combo + step, n_first)
        if bar is not None:
            bar.update(nodes_per_combo * (stop - combo))
        used, combo = n_used, stop
    if timer is not None:
        timer.cancel()
    return best, counters, combo


def _first_bound(lattice: Lattice, goal: SweepGoal, combo: int) -> NDArray[np.float64]:
    """Return, per k, the least cost below one combination of the first stage, as the kernel does."""
    stages = lattice.stages
    low = stages.map_offsets[combo]
    n_codes = int(stages.suffix_codes[: stages.n_suffixes[0]].max()) + 1
    blocks = stages.maps[low : low + n_codes][stages.suffix_codes[: stages.n_suffixes[0]]]
    n_blocks = int(stages.n_blocks[combo])
    records = np.bincount(blocks, weights=stages.weights, minlength=n_blocks).astype(np.int64)
    costs = stages.costs[stages.block_offsets[combo] :][:n_blocks]
    order = np.argsort(records, kind="stable")
    sizes, price = records[order], (records * costs)[order]
    suppressed_below = np.concatenate([[0], np.cumsum(sizes)])
    rest = price.sum() - np.concatenate([[0.0], np.cumsum(price)])
    k = np.arange(int(stages.weights.sum()) + 1)
    place = np.searchsorted(sizes, k, side="left")
    bound = rest[place] + suppressed_below[place] * lattice.price
    return np.where(suppressed_below[place] <= goal.most_suppressed, bound, np.inf) * (1 - 1e-12)


def _by_evaluation(
    problem: AnonymizationProblem, space: LevelSpace, began: float, seconds: float | None, bar: Any
) -> Front:
    """Evaluate every vector of levels, with every threshold if that is a variable."""
    archive = Archive(problem.n_obj)
    n_visited = 0
    ranges = [range(a, b + 1) for a, b in zip(space.lowest, space.highest, strict=True)]
    nodes = product(*ranges)
    while n_visited < space.n_nodes:
        if seconds is not None and time.perf_counter() - began > seconds:
            break
        chunk = np.array(list(islice(nodes, _CHUNK)))
        X = _with_thresholds(problem, space, chunk)
        for low in range(0, len(X), _CHUNK):
            part = X[low : low + _CHUNK]
            if isinstance(problem.suppression, Staircase):
                archive.on_evaluation(problem.evaluator.evaluate(part, stairs=True))
            else:
                archive.on_evaluation(problem.evaluator.judge(part, keep=False))
        n_visited += len(chunk)
        bar.update(len(chunk))
    proven = n_visited == space.n_nodes
    facts = _facts(space, began, n_visited, 0, proven=proven)
    if not len(archive):
        return Front.of(problem, _with_thresholds(problem, space, space.highest[None]), run=facts)
    return Front.from_evaluation(problem, archive.evaluation(), run=facts)


def _with_thresholds(
    problem: AnonymizationProblem, space: LevelSpace, nodes: NDArray[np.int64]
) -> NDArray[np.int64]:
    if space.max_suppression is None:
        return np.stack([space.from_levels(node) for node in nodes])
    rows = []
    limit = most_suppressed(float(space.max_suppression), space.table.n_records)
    staircases = problem.evaluator.engine.stairs(space.blocks(nodes))
    for node, stairs in zip(nodes, staircases, strict=True):
        rows += [space.from_levels(node, int(k)) for k in stairs.within(limit)]
    return np.stack(rows)


def _as_steps(
    problem: AnonymizationProblem, goal: SweepGoal, floor: NDArray[np.float64]
) -> pd.DataFrame:
    """Return a bound by k as a table of its steps, in the objective's own unit."""
    sizes = np.flatnonzero(np.isfinite(floor[1:])) + 1
    sizes = sizes[sizes >= goal.least_k]
    last = np.append(np.diff(floor[sizes]) != 0, True) if len(sizes) else np.zeros(0, bool)
    k = sizes[last]
    n = problem.table.n_records
    values = floor[k] / n
    if isinstance(goal.measure, Transparency):
        values = problem.table.n_qis * n - floor[k]
    return pd.DataFrame({"k": k, goal.measure.key: values})


def _parts(space: LevelSpace, most_nodes: int) -> list[list[int]]:
    """Return the quasi-identifiers in few parts whose lattices are small enough."""
    sizes = space.n_levels.tolist()
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
    space: LevelSpace, began: float, n_visited: int, left_out: int, *, proven: bool
) -> dict[str, Any]:
    return {
        "algorithm": "exact lattice",
        "proven": proven,
        "nodes": space.n_nodes,
        "visited": n_visited,
        "left_out_by_bounds": left_out,
        "seconds": round(time.perf_counter() - began, 3),
        "reproducible": proven,
        "why_not_reproducible": None if proven else "it ended early",
    }


def _duration(seconds: float) -> str:
    for unit, size in (
        ("years", 3.156e7),
        ("days", 86_400.0),
        ("hours", 3600.0),
        ("minutes", 60.0),
    ):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _bar(total: int, *, disable: bool) -> Any:
    return new_bar(total=total, disable=disable, unit=" nodes", unit_scale=total >= 100_000)
