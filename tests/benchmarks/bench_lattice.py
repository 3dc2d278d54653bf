"""The exact front of the level lattice: how fast, how it grows, and how near searches come to it.

Run by `make bench`.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from candidates import machine
from pymoo.algorithms.moo.nsga2 import NSGA2

import privmoo as pm
from privmoo.exact import lower_bound
from privmoo.problems import Levels, LevelsAndSuppression

ARX = Path(__file__).resolve().parents[3] / "shared" / "data" / "arx_adult"


def seconds_of(problem: Levels, repeats: int = 3) -> tuple[float, pm.Front]:
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        front = pm.exact_front(problem, progress=False)
        best = min(best, time.perf_counter() - begin)
    return best, front


def adult() -> None:
    table = pm.datasets.load_arx(ARX)
    every = [pm.KAnonymity(), pm.GeneralLoss(), pm.SuppressedShare()]
    print("\n## Adult, nine hierarchies, 12,960 vectors of levels, one thread\n")
    print("| what | seconds | solutions | vectors left out by bounds |\n| --- | --- | --- | --- |")
    for limit in (0.0, 0.02, 0.1, 1.0):
        problem = Levels(table, max_suppression=limit, threads=1)
        seconds, front = seconds_of(problem)
        out = front.run["left_out_by_bounds"]
        print(f"| every k, limit {limit:.0%} | {seconds:.2f} | {len(front)} | {out:,} |")
    seconds, front = seconds_of(Levels(table, objectives=every, max_suppression=1.0, threads=1))
    print(f"| every k and every limit at once | {seconds:.2f} | {len(front):,} | 0 |")
    one = Levels(
        table,
        objectives=[pm.GeneralLoss()],
        suppression=pm.BelowThreshold(5),
        constraints=[pm.SuppressedShare() <= 0.1],
        extras=[],
        threads=1,
    )
    seconds, _ = seconds_of(one, repeats=1)
    print(f"| one k, one limit, every vector evaluated on its own | {seconds:.2f} | 1 | 0 |")


def growth() -> None:
    print("\n## How it grows: every k, no limit, one thread\n")
    print("| QIs | vectors | records | distinct tuples | seconds | µs per vector |")
    print("| --- | --- | --- | --- | --- | --- |")
    whole = pm.datasets.load_arx(ARX)
    frame = whole.frame
    hierarchies = {qi.name: qi.hierarchy for qi in whole.qis}
    names = list(hierarchies)
    for n_qis in (3, 5, 7, 9):
        report(pm.Table(frame, quasi_identifiers={n: hierarchies[n] for n in names[:n_qis]}))
    for n in (1_000, 5_000, 15_000):
        some = frame.sample(n, random_state=1).reset_index(drop=True)
        report(pm.Table(some, quasi_identifiers=hierarchies))
    rng = np.random.default_rng(1)
    for levels in (2, 4, 8):
        widths = [2**i for i in range(1, levels - 1)]
        codes = pd.DataFrame({f"q{j}": rng.integers(0, 256, 5_000) for j in range(5)})
        tree = pm.Hierarchy.intervals(0, 255, widths=widths) if widths else pm.Hierarchy.flat()
        report(pm.Table(codes, quasi_identifiers=dict.fromkeys(codes.columns, tree)))


def report(table: pm.Table) -> None:
    problem = Levels(table, max_suppression=1.0, threads=1)
    seconds, _ = seconds_of(problem, repeats=1)
    nodes = problem.space.n_nodes
    print(
        f"| {table.n_qis} | {nodes:,} | {table.n_records:,} | {table.n_tuples:,} | {seconds:.2f} | "
        f"{seconds / nodes * 1e6:.0f} |"
    )


def cases() -> None:
    print("\n## SPARCS-like cases: the paper's GA, ours, and the exact front (min_k = 1)\n")
    print(
        "| case | QIs × records | vectors | exact, s | GA: hypervolume | GA: TD at AD 1 "
        "| ours: hypervolume | ours: missed | ours, s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for number in range(1, 9):
        table = pm.datasets.sparcs_case(number)
        problem = LevelsAndSuppression(table, min_k=1)
        begin = time.perf_counter()
        exact = pm.exact_front(problem, progress=False)
        of_exact = time.perf_counter() - begin
        budget = pm.Evaluations(table.n_qis * table.n_records)
        paper = LevelsAndSuppression(table, min_k=1, stairs=False)
        ga = pm.optimize(
            paper, NSGA2(30, **paper.paper_operators()), budget, seed=1, progress=False
        )
        begin = time.perf_counter()
        ours = pm.optimize(problem, None, budget, seed=1, progress=False)
        of_ours = time.perf_counter() - begin
        found, own = ga.gap(exact), ours.gap(exact)
        reached = (
            ga.where(max_k=1).best("transparency").transparency if ga[0].k == 1 else float("nan")
        )
        size = f"{table.n_qis} × {table.n_records}"
        print(
            f"| T{number} | {size} | {problem.space.n_nodes:,} | {of_exact:.1f} | "
            f"{found.hypervolume_ratio:.2%} | {reached:.0f} of {table.n_qis * table.n_records:,} | "
            f"{own.hypervolume_ratio:.3%} | {own.missed} of {own.points} | {of_ours:.1f} |"
        )
    print("\n| case | vectors | exact, s | ours: hypervolume | ours against the bound |")
    print("| --- | --- | --- | --- | --- |")
    for number in (9, 12, 13, 16):
        table = pm.datasets.sparcs_case(number)
        problem = LevelsAndSuppression(table, min_k=1)
        begin = time.perf_counter()
        exact = pm.exact_front(problem, progress=False)
        seconds = time.perf_counter() - begin
        budget = pm.Evaluations(table.n_qis * table.n_records)
        ours = pm.optimize(problem, None, budget, seed=1, progress=False)
        near = ours.gap(lower_bound(problem))
        print(
            f"| T{number} | {problem.space.n_nodes:,} | {seconds:.1f} | "
            f"{ours.gap(exact).hypervolume_ratio:.2%} | {near.hypervolume_ratio:.1%} |"
        )


if __name__ == "__main__":
    print(f"\n# Benchmarks of the lattice\n\n{machine()}")
    if ARX.is_dir():
        adult()
        growth()
    cases()
