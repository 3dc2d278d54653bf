"""Random small tables for the tests of levels, and the obvious exact front: every node, every size."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.exact import exact_front
from privmoo.front import Front
from privmoo.hierarchy import Hierarchy
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import Budget


class Column(NamedTuple):
    """A quasi-identifier as plain lists: by level, every record's label and the leaves below it."""

    labels: list[list[str]]
    leaves: list[list[int]]
    n_leaves: int
    weight: float
    lowest: int
    highest: int


class Release(NamedTuple):
    """What the obvious version knows of one choice of levels and published records."""

    levels: tuple[int, ...]
    k: int
    loss: float
    transparency: float
    suppressed: int


def random_tree(rng: np.random.Generator) -> tuple[list[str], list[list[str]]]:
    """Leaves, and their labels by level: some branches end early, some leaves have no records."""
    leaves = [f"v{i}" for i in range(int(rng.integers(1, 7)))]
    by_level = [leaves]
    for height in range(1, int(rng.integers(1, 4))):
        nodes = sorted(set(by_level[-1]))
        above = {node: f"{height}:{rng.integers(0, max(1, len(nodes) // 2 + 1))}" for node in nodes}
        if rng.random() < 0.5:  # a branch that is not generalised here
            above[nodes[0]] = nodes[0]
        by_level.append([above[node] for node in by_level[-1]])
    return leaves, [*by_level, ["*"] * len(leaves)]


def random_column(rng: np.random.Generator, n: int) -> tuple[list[Any], Hierarchy, list[list[str]]]:
    """Values, a hierarchy, and by level the label of every leaf of the domain, in words."""
    kind = rng.choice(["tree", "tree", "masking", "intervals", "flat", "constant"])
    if kind == "tree":
        leaves, by_level = random_tree(rng)
        frame = pd.DataFrame({str(i): own for i, own in enumerate(by_level)})
        return rng.choice(leaves, n).tolist(), Hierarchy.levels(frame), by_level
    if kind == "masking":
        codes = rng.choice(["111", "112", "121", "211", "212", "333"], n)
        known = sorted(set(codes))
        return codes.tolist(), Hierarchy.masking(), [[c[: 3 - i] for c in known] for i in range(4)]
    if kind == "intervals":
        domain = range(8)
        by_level = [[str(v // width) for v in domain] for width in (1, 2, 4, 8)]
        hierarchy = Hierarchy.intervals(0, 7, widths=[2, 4])
        return rng.integers(0, 8, n).tolist(), hierarchy, by_level
    values = rng.choice(["a", "b", "c"] if kind == "flat" else ["a"], n)
    known = sorted(set(values))
    return values.tolist(), Hierarchy.flat(), [known, ["*"] * len(known)]


def random_case(
    rng: np.random.Generator, *, most: int = 16, qis: Sequence[int] = (1, 2, 3), **roles: Any
) -> tuple[Table, list[Column]]:
    """A table with equal records, and its columns as the obvious version reads them."""
    n = int(rng.integers(2, most + 1))
    drawn = {f"q{j}": random_column(rng, n) for j in range(int(rng.choice(qis)))}
    frame = pd.DataFrame({name: values for name, (values, _, _) in drawn.items()})
    if rng.random() < 0.3:
        frame = frame.iloc[rng.integers(0, max(1, n // 3), n)].reset_index(drop=True)
    frame["ill"] = rng.choice(list("xyz"), n)
    frame["who"] = rng.integers(0, max(1, n // 2), n)
    named, bounds = {}, {}
    flat_weights = rng.random() < 0.5
    for name, (_, hierarchy, _) in drawn.items():
        n_levels = hierarchy.bind(frame[name]).n_levels
        low = int(rng.integers(0, n_levels)) if rng.random() < 0.25 else 0
        high = int(rng.integers(low, n_levels)) if rng.random() < 0.25 else n_levels - 1
        weight = 1.0 if flat_weights else float(rng.choice([0.5, 1, 2, 3]))
        bounds[name] = low, high, n_levels, weight
        named[name] = QuasiIdentifier(
            hierarchy=hierarchy, weight=weight, min_level=low, max_level=high
        )
    table = Table(frame, quasi_identifiers=named, **roles)
    columns = []
    for name, (_, _, by_level) in drawn.items():
        low, high, n_levels, weight = bounds[name]
        domain = _domain(by_level[0], frame[name])
        by_level = [[own[i] for i in domain] for own in by_level]
        if n_levels < len(by_level):  # levels that repeat the one below are left out
            by_level = [own for i, own in enumerate(by_level) if i == 0 or _differs(by_level, i)]
        assert len(by_level) == n_levels
        places = [by_level[0].index(str(value)) for value in frame[name]]
        counts = [Counter(own) for own in by_level]
        columns.append(
            Column(
                labels=[[own[i] for i in places] for own in by_level],
                leaves=[
                    [count[own[i]] for i in places]
                    for own, count in zip(by_level, counts, strict=True)
                ],
                n_leaves=len(domain),
                weight=weight,
                lowest=low,
                highest=high,
            )
        )
    return table, columns


def _domain(leaves: list[str], values: pd.Series) -> list[int]:
    """Trees and intervals count leaves without records; masking and flat know the data only."""
    if leaves[0].startswith("v") or leaves[0] == "0":
        return list(range(len(leaves)))
    return [i for i, leaf in enumerate(leaves) if leaf in set(values.astype(str))]


def _differs(by_level: list[list[str]], i: int) -> bool:
    def blocks(own: list[str]) -> list[int]:
        return [own.index(label) for label in own]

    return blocks(by_level[i]) != blocks(by_level[i - 1])


def nodes_of(columns: Sequence[Column]) -> Iterator[tuple[int, ...]]:
    """Every vector of levels."""
    return itertools.product(*(range(c.lowest, c.highest + 1) for c in columns))


def groups_at(columns: Sequence[Column], levels: Sequence[int]) -> list[tuple[str, ...]]:
    """The generalised record of every record."""
    return list(zip(*(c.labels[at] for c, at in zip(columns, levels, strict=True)), strict=True))


def measured(
    columns: Sequence[Column], levels: tuple[int, ...], published: Sequence[int]
) -> Release:
    """k, general loss and transparency of publishing some records, by their definitions."""
    rows = groups_at(columns, levels)
    n, weights = len(rows), sum(c.weight for c in columns)
    loss, transparency = float(n - len(published)), 0.0
    for i in published:
        for c, at in zip(columns, levels, strict=True):
            loss += c.weight / weights * (c.leaves[at][i] - 1) / max(c.n_leaves - 1, 1)
            transparency += 1 / c.leaves[at][i]
    k = min(Counter(rows[i] for i in published).values())
    return Release(levels, k, loss / n, transparency, n - len(published))


def every_threshold(columns: Sequence[Column], limit: float = 1.0) -> list[Release]:
    """Every vector of levels with every distinct group size as threshold, within a limit."""
    found = []
    for levels in nodes_of(columns):
        rows = groups_at(columns, levels)
        sizes = Counter(rows)
        for size in sorted(set(sizes.values())):
            published = [i for i, row in enumerate(rows) if sizes[row] >= size]
            if (len(rows) - len(published)) / len(rows) <= limit:
                found.append(measured(columns, levels, published))
    return found


def every_subset(columns: Sequence[Column]) -> list[Release]:
    """Every vector of levels with every choice of published records but the empty one."""
    n = len(columns[0].labels[0])
    return [
        measured(columns, levels, [i for i in range(n) if chosen >> i & 1])
        for levels in nodes_of(columns)
        for chosen in range(1, 1 << n)
    ]


Points = set[tuple[float, ...]]


def best_of(points: Any) -> Points:
    """Points that no other dominates, all minimised, equal up to rounding."""
    own = {tuple(float(v) + 0.0 for v in np.round(point, 8)) for point in points}
    return {
        p
        for p in own
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in own)
    }


def exact(problem: Any, **options: Any) -> Front:
    front = exact_front(problem, progress=False, **options)
    assert front.proven or options
    return front


def exact_or_none(problem: Any, **options: Any) -> Front | None:
    """The exact front, or None if there is nothing feasible."""
    try:
        return exact(problem, **options)
    except ProblemError as error:
        if str(error).startswith("front: nothing feasible"):
            return None
        raise


def points_of(front: Front | None) -> Points:
    return set() if front is None else best_of(front.F)


def one_by_one(problem: Any) -> Points:
    """Every vector of levels, with every threshold there could be, as pymoo would evaluate it."""
    space = problem.space
    ranges = [range(a, b + 1) for a, b in zip(space.lowest, space.highest, strict=True)]
    sizes = [None]
    if isinstance(problem.suppression, Budget):
        return _every_size_within(problem, np.array(list(itertools.product(*ranges))))
    if space.max_suppression is not None:
        sizes = [*range(1, problem.table.n_records + 1)]
    rows = np.array(
        [
            problem.space.from_levels(np.array(node), size)
            for node in itertools.product(*ranges)
            for size in sizes
        ]
    )
    F, G = problem.evaluate(rows, return_values_of=["F", "G"])
    return best_of(F[(G <= 0).all(axis=1)])


def _every_size_within(problem: Any, nodes: np.ndarray) -> Points:
    """Every vector of levels with every size as threshold, if it leaves out no more than the budget."""
    n = problem.table.n_records
    levels, sizes = np.repeat(nodes, n, axis=0), np.tile(np.arange(1.0, n + 1), len(nodes))
    candidates = Candidates(blocks=problem.space.blocks(levels), thresholds=sizes)
    values = problem.evaluator.measure(candidates)
    within = values[:, -1] <= problem.suppression.limit(n)
    judged = problem.evaluator._evaluation(levels, values, within)
    return best_of(judged.F[judged.feasible])


def wide_table(n: int) -> Table:
    rng = np.random.default_rng(n)
    frame = pd.DataFrame({c: rng.permutation(n) for c in "abcde"})
    return Table(
        frame,
        quasi_identifiers={
            c: Hierarchy.intervals(0, n - 1, widths=[2 + i, (2 + i) * 150])
            for i, c in enumerate("abcde")
        },
    )


class Clock:
    """A clock that moves by one at every look."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter(self) -> float:
        self.now += 1
        return float(self.now)


def is_bound(bound: pd.DataFrame, front: Front, name: str, sign: int) -> bool:
    """Whether no solution is better than what the bound gives for its k."""
    for k, value in zip(front.column("k"), front.column(name), strict=True):
        above = bound[bound["k"] >= k]
        if above.empty or sign * above.iloc[0][name] > sign * value + 1e-9:
            return False
    return True


def huge_table() -> Table:
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(16)]
    frame = pd.DataFrame({c: rng.integers(10**5, 10**6, 200).astype(str) for c in names})
    return Table(frame, quasi_identifiers={c: Hierarchy.masking() for c in names})


def by_numpy(table: Table, limit: float) -> Points:
    """Every node and threshold by k and loss, for tables too large for lists, all weights equal."""
    n = table.n_records
    codes = table.tuples[table.row_tuple]
    blocks = [qi.hierarchy.level_blocks for qi in table.qis if qi.hierarchy is not None]
    least: dict[float, float] = {}
    for node in itertools.product(*(range(len(b)) for b in blocks)):
        own = [b[at][codes[:, j]] for j, (b, at) in enumerate(zip(blocks, node, strict=True))]
        lost = np.mean(
            [
                (np.bincount(b[at])[o] - 1) / (n - 1)
                for b, at, o in zip(blocks, node, own, strict=True)
            ],
            axis=0,
        )
        key = np.zeros(n, np.int64)
        for column in own:
            key = np.unique(key * n + column, return_inverse=True)[1]
        of_record = np.bincount(key)[key]
        for size in np.unique(of_record):
            kept = of_record >= size
            if (~kept).sum() <= limit * n:
                loss = (lost[kept].sum() + (~kept).sum()) / n
                least[-float(size)] = min(loss, least.get(-float(size), math.inf))
    return best_of(list(least.items()))


def case(seed: int, **options: Any) -> tuple[Table, list[Column], np.random.Generator]:
    rng = np.random.default_rng(seed)
    return *random_case(rng, **options), rng
