"""Problem 1 on Adult, end to end, against a bare pymoo run; and how good the fronts are.

Run by `make bench`.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from candidates import machine
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.operators.crossover.pntx import TwoPointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.sampling.rnd import BinaryRandomSampling
from pymoo.optimize import minimize

import privmoo as pm
from privmoo.front import Front
from privmoo.front.archive import Archive

POPULATION, GENERATIONS = 200, 250
# A plain NSGA-II prototype with these hierarchies, 1,500 generations of 200.
P1_PROTOTYPE = {0.10: 468, 0.20: 1033, 0.22: 1445, 0.30: 2256, 0.40: 4005}
P2_PROTOTYPE = {0.25: 14, 0.26: 17, 0.30: 26, 0.40: 90, 0.50: 301}


class Trivial(Problem):  # type: ignore[misc]  # pymoo has no types
    """As many bits, and objectives that cost nothing."""

    def __init__(self, n_bits: int) -> None:
        super().__init__(n_var=n_bits, n_obj=2, xl=0, xu=1, vtype=bool)

    def _evaluate(
        self, X: np.ndarray, out: dict[str, Any], *args: object, **kwargs: object
    ) -> None:
        ones = X.sum(axis=1)
        out["F"] = np.column_stack([ones, self.n_var - ones + X[:, 0]])


class Stopwatch:
    """Seconds spent inside the methods it is put around."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, owner: object, name: str) -> None:
        inner = getattr(owner, name)

        def timed(*args: object, **kwargs: object) -> object:
            begin = time.perf_counter()
            try:
                return inner(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - begin

        setattr(owner, name, timed)


def bare(n_bits: int) -> float:
    algorithm = NSGA2(
        POPULATION,
        sampling=BinaryRandomSampling(),
        crossover=TwoPointCrossover(),
        mutation=BitflipMutation(),
    )
    begin = time.perf_counter()
    minimize(Trivial(n_bits), algorithm, ("n_gen", GENERATIONS), seed=1)
    return time.perf_counter() - begin


def speed() -> None:
    table = pm.datasets.adult("dewri")
    pm.optimize(pm.problems.ZeroSuppression(table), budget=2, seed=0, progress=False)  # warm up
    problem = pm.problems.ZeroSuppression(table)
    algorithm = pm.search.make_algorithm(problem)
    evaluation, operators, bookkeeping = Stopwatch(), Stopwatch(), Stopwatch()
    evaluation.around(problem, "_evaluate")
    for part in (
        algorithm.mating.crossover,
        algorithm.mating.mutation,
        algorithm.initialization.sampling,
    ):
        operators.around(part, "_do")
    bookkeeping.around(Archive, "add")
    bookkeeping.around(Front, "of")
    begin = time.perf_counter()
    front = pm.optimize(problem, algorithm, GENERATIONS, seed=1, progress=False)
    total = time.perf_counter() - begin
    outside = total - evaluation.seconds
    plain = bare(problem.n_var)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n## Problem 1 on Adult, {POPULATION} × {GENERATIONS}, {problem.n_var} bits\n")
    print("| part | seconds |\n| --- | --- |")
    print(f"| all | {total:.1f} |")
    print(
        f"| evaluation ({len(problem.evaluator.cache):,} distinct candidates) | {evaluation.seconds:.1f} |"
    )
    print(f"| sampling, crossover, mutation | {operators.seconds:.2f} |")
    print(f"| archive and front | {bookkeeping.seconds:.2f} |")
    rest = outside - operators.seconds - bookkeeping.seconds
    print(f"| pymoo: selection, survival, duplicates, its objects | {rest:.1f} |")
    print(f"| everything outside evaluation | {outside:.1f} |")
    print(f"| bare pymoo: built-in bit operators, trivial objective | {plain:.1f} |")
    print(
        f"\nOutside evaluation: {outside / plain:.2f} times bare pymoo. Front: {len(front):,} solutions. "
        f"Peak memory of the process: {peak:.0f} MB."
    )


def quality() -> None:
    table = pm.datasets.adult("dewri-prototype")
    print("\n## Against the prototype (its hierarchies, observed leaves, five-year steps of age)\n")
    for name, problem, goals, measure in (
        ("P1, weighted-k", pm.problems.ZeroSuppression, P1_PROTOTYPE, "weighted_k"),
        ("P2 (η = 10 %), k", pm.problems.BudgetSuppression, P2_PROTOTYPE, "k"),
    ):
        print(f"\n{name}, {POPULATION} × {GENERATIONS}, three seeds (prototype: 200 × 1,500):\n")
        print(
            "| at most loss | prototype | seed 1 | seed 2 | seed 3 |\n| --- | --- | --- | --- | --- |"
        )
        fronts = [
            pm.optimize(problem(table), budget=GENERATIONS, seed=s, progress=False)
            for s in (1, 2, 3)
        ]
        for limit, goal in goals.items():
            found = [front.where(max_loss=limit).best(measure).values[measure] for front in fronts]
            print(
                f"| {limit:.0%} | {goal} | " + " | ".join(f"{value:.0f}" for value in found) + " |"
            )


if __name__ == "__main__":
    print(f"\n# Benchmarks of whole runs\n\n{machine()}")
    speed()
    quality()
