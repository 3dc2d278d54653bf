"""Evaluation of a swarm of centroids, baselines on large tables, and one front against the λ grid.

Run by `make bench`.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
from candidates import machine
from sklearn.metrics import pairwise_distances_argmin

import privmoo as pm
from privmoo.baselines.common import sort_column
from privmoo.baselines.k_member import grown_labels
from privmoo.operators.space import space_of
from privmoo.problems import MOOBAM, scalar_grid

PARTICLES = 50


def best_of(function: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of some calls."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def swarm(problem: MOOBAM) -> np.ndarray:
    sampling = problem.default_operators()["sampling"]
    sampling.vary = False
    return np.asarray(sampling(problem, PARTICLES, random_state=np.random.default_rng(1)).get("X"))


def evaluate(problem: MOOBAM, X: np.ndarray) -> None:
    """All measures of a swarm, without the cache."""
    problem.evaluator.measure(problem.candidates(X))


def plain_particle(frame: pd.DataFrame, numeric: list[str], centroids: np.ndarray) -> None:
    """Algorithm 1's inner loops for one particle, in numpy and pandas over all records."""
    total = np.zeros((len(frame), len(centroids)))
    for j, name in enumerate(frame.columns[:-1]):
        values = frame[name].to_numpy()[:, None]
        gap = values - centroids[:, j] if name in numeric else values != centroids[:, j]
        total += gap**2 if name in numeric else gap
    labels = total.argmin(axis=1)
    total.min(axis=1).sum()
    counts = pd.crosstab(labels, frame["sensitive"]).to_numpy()
    shares = counts / counts.sum(axis=1, keepdims=True)
    -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1).min()
    np.bincount(labels).min()


def evaluation() -> None:
    table = pm.datasets.adult("wei")
    problem = MOOBAM(table, 100, 5, assignment="nearest", release="centroid", threads=1)
    two = MOOBAM(table, 100, 5, assignment="nearest", release="centroid", threads=2)
    balanced = MOOBAM(table, 100, 5, threads=1)
    X = swarm(problem)
    for each in (problem, two):
        evaluate(each, X[:4])
    wide = swarm(balanced)
    evaluate(balanced, wide[:4])
    own = best_of(lambda: evaluate(problem, X))
    threads = best_of(lambda: evaluate(two, X))
    ours = best_of(lambda: evaluate(balanced, wide))

    codes = table.tuples[table.row_tuple]
    numeric = [qi.name for qi in table.qis if qi.numbers is not None]
    columns = {
        qi.name: codes[:, j] if qi.numbers is None else qi.numbers[codes[:, j]]
        for j, qi in enumerate(table.qis)
    }
    frame = pd.DataFrame({**columns, "sensitive": next(iter(table.sensitive.values())).row_codes})
    matrices = space_of(problem, "centroids").matrices(X)
    plain = best_of(lambda: plain_particle(frame, numeric, matrices[0])) * PARTICLES

    # Half the squared distance of indicators is 0/1 mismatch: the same distance, for scikit-learn.
    def indicators(rows: np.ndarray) -> np.ndarray:
        parts = [
            rows[:, [j]]
            if qi.numbers is not None
            else (rows[:, [j]] == np.arange(qi.n_leaves)) / np.sqrt(2)
            for j, qi in enumerate(table.qis)
        ]
        return np.hstack(parts)

    rows, centres = indicators(frame.to_numpy()[:, :-1]), indicators(matrices[0])
    learn = best_of(lambda: pairwise_distances_argmin(rows, centres)) * PARTICLES
    print(f"\n## A swarm of {PARTICLES} particles, 100 centroids, Adult (45,222 records)\n")
    print("| what | ms | times ours |\n| --- | --- | --- |")
    for what, seconds in (
        ("nearest centroids, all measures, one thread", own),
        ("the same, two threads", threads),
        ("balanced assignment, all measures, one thread", ours),
        ("Algorithm 1 in numpy and pandas, over records", plain),
        ("scikit-learn: distances to centroids only, over records", learn),
    ):
        print(f"| {what} | {seconds * 1e3:,.1f} | {seconds / own:.1f} |")


def sepsis_like(n: int = 120_000) -> pm.Table:
    """Three numbers, three categories, thirty binary sensitive attributes."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(58, 19, n), 18, 100).astype(int),
            "visits": np.minimum(rng.geometric(0.55, n), 40),
            "days": np.minimum(rng.geometric(0.4, n), 60),
            "gender": rng.choice(["f", "m"], n),
            "race": rng.choice(list("abcdef"), n, p=[0.67, 0.22, 0.05, 0.03, 0.02, 0.01]),
            "ethnicity": rng.choice(["h", "n", "u"], n, p=[0.06, 0.92, 0.02]),
        }
    )
    quasi = list(frame.columns)
    for i in range(30):
        frame[f"s{i}"] = rng.random(n) < rng.uniform(0.03, 0.5)
    sensitive = [c for c in frame.columns if c.startswith("s")]
    return pm.Table(frame, quasi_identifiers=quasi, sensitive=sensitive)


def sepsis() -> None:
    table = sepsis_like()
    print(
        f"\n## 3,240 centroids, {table.n_records:,} records, {table.n_tuples:,} distinct tuples\n"
    )
    print("With 30 sensitive attributes, as the papers' sepsis data.\n")
    print("| assignment | ms per particle, two threads |\n| --- | --- |")
    for assignment in ("nearest", "balanced"):
        problem = MOOBAM(table, 3240, 5, assignment=assignment)
        X = swarm(problem)[:10]
        evaluate(problem, X[:2])
        seconds = best_of(partial(evaluate, problem, X), repeats=2)
        print(f"| {assignment} | {seconds / len(X) * 1e3:,.0f} |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of the process: {peak:,.0f} MB.")


def large_tables() -> None:
    rng = np.random.default_rng(3)
    n = 100_000
    tables = {}
    few = pm.datasets.adult("wei").frame.sample(n, replace=True, random_state=1)
    tables["Adult's four QIs"] = pm.Table(
        few.reset_index(drop=True),
        quasi_identifiers=["age", "race", "sex", "marital-status"],
        sensitive="occupation",
    )
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(5),
            "y": rng.normal(size=n).round(5),
            "a": rng.integers(0, 8, n).astype(str),
            "b": rng.choice(["p", "q"], n),
            "s": rng.integers(0, 9, n).astype(str),
        }
    )
    frame[["a", "b", "s"]] = "v" + frame[["a", "b", "s"]]
    tables["two continuous, two categories"] = pm.Table(
        frame, quasi_identifiers=["x", "y", "a", "b"], sensitive="s"
    )
    b = pm.baselines
    methods: dict[str, Callable[[pm.Table], object]] = {
        "MDAV": lambda t: b.mdav(t, 5),
        "Zheng, ℓ = 2": lambda t: b.zheng(t, 5, 2),
        "k-member": lambda t: b.k_member(t, 5),
        "Mondrian, strict": lambda t: b.mondrian(t, 5),
        "Mondrian, relaxed": lambda t: b.mondrian(t, 5, strict=False),
        "Ward": lambda t: b.ward(t, 5),
    }
    small = pm.datasets.german_credit()
    print(f"\n## Baselines, k = 5, {n:,} records, one thread\n")
    print(
        "| method | " + " | ".join(f"{k}: {t.n_tuples:,} tuples" for k, t in tables.items()) + " |"
    )
    print("| --- | --- | --- |")
    for name, method in methods.items():
        method(small)  # compiled before it is timed
        cells = []
        for table in tables.values():
            begin = time.perf_counter()
            method(table)
            cells.append(f"{time.perf_counter() - begin:.1f} s")
        print(f"| {name} | " + " | ".join(cells) + " |")


def greedy_walks() -> None:
    """k-member along a sorted column, and past every record as the greedy clusters by width must walk."""
    print("\n## k-member, k = 5: records along a sorted column against every record, CPU\n")
    print("| table | sorted column | every record |\n| --- | --- | --- |")
    numbers = np.random.default_rng(1).integers(0, 1000, (5000, 3))
    tables = {
        "German credit": pm.datasets.german_credit(),
        "5,000 × 3 numbers": pm.Table(
            pd.DataFrame(numbers, columns=list("abc")), quasi_identifiers=list("abc")
        ),
    }
    walks = {"sorted column": sort_column, "every record": lambda space, weights: -1}
    for name, table in tables.items():
        cells = []
        for walk in walks.values():
            with patch.object(sys.modules[grown_labels.__module__], "sort_column", walk):
                grown_labels(table, 5)
                begin = time.process_time()
                for _ in range(10):
                    grown_labels(table, 5)
                cells.append(f"{100 * (time.process_time() - begin):.1f} ms")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def one_front() -> None:
    table = pm.datasets.german_credit()
    problem = MOOBAM(table, 30, 5)
    begin = time.perf_counter()
    grid = scalar_grid(
        table, n_clusters=range(2, 31, 4), k=[5], particles=50, iterations=20, progress=False
    )
    of_grid = time.perf_counter() - begin
    union = grid.front(problem)
    evaluations = int(grid.frame["evaluations"].sum())
    print("\n## One front against the λ grid (German credit, k = 5, up to 30 clusters)\n")
    print(
        "| search | evaluations | seconds | solutions | hypervolume | grid's points it dominates |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    print(
        f"| grid of {len(grid.frame)} swarms | {evaluations:,} | {of_grid:.0f} | {len(union)} | "
        f"{union.hypervolume({'il': 1, 'min_entropy': 0}):.5f} | |"
    )
    for budget in (evaluations // 10, evaluations):
        begin = time.perf_counter()
        front = pm.optimize(problem, None, pm.Evaluations(budget), seed=1, progress=False)
        seconds = time.perf_counter() - begin
        beaten = np.mean([(point + 1e-12 >= front.F).all(axis=1).any() for point in union.F])
        print(
            f"| one NSGA-II | {front.run['evaluations']:,} | {seconds:.0f} | {len(front)} | "
            f"{front.hypervolume({'il': 1, 'min_entropy': 0}):.5f} | {beaten:.0%} |"
        )


if __name__ == "__main__":
    print(f"\n# Benchmarks of clusters\n\n{machine()}")
    evaluation()
    sepsis()
    large_tables()
    greedy_walks()
    one_front()
