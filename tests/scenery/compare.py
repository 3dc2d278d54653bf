"""Solvers that behave well and badly, for the tests of comparisons."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

import privmoo as pm
from tests.scenery.runs import TABLE, small

SMALL: Any = pm.Solver.algorithm("nsga2", population=10, name="small")
THREE = pm.problems.Cuts(
    TABLE,
    objectives=(pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()),
    suppression=pm.Budget(0.1),
)
CHANCE = pm.Solver.algorithm("random", population=10, name="chance")


def good(problem: Any, seed: int, budget: Any) -> np.ndarray:
    """Random decision vectors, valid and not: what is no recoding must not count."""
    rng = np.random.default_rng(seed)
    return rng.random((30, problem.n_var)) < 0.5


def slow(problem: Any, seed: int, budget: Any) -> np.ndarray:
    time.sleep(0.3)
    return good(problem, seed, budget)


def endless(problem: Any, seed: int, budget: Any) -> np.ndarray:
    """Answers for seeds 0 to 2; for others only if the environment says that nobody stops it."""
    if seed > 2 and "MAY_END" not in os.environ:
        time.sleep(600)
    return good(problem, seed, budget)


def raising(problem: Any, seed: int, budget: Any) -> np.ndarray:
    if seed == 1:
        raise ValueError("tired")
    return good(problem, seed, budget)


def dying(problem: Any, seed: int, budget: Any) -> np.ndarray:
    if seed == 1:
        os._exit(7)
    print("printed into the pipe of the answers?")
    return good(problem, seed, budget)


def greedy(problem: Any, seed: int, budget: Any) -> pm.Front:
    return pm.optimize(problem, SMALL.new_algorithm(problem), 12, seed=seed, progress=False)


def thrice(problem: Any, seed: int, budget: Any) -> pm.Front:
    """Three searches within the budget each, of which the last is returned."""
    return [
        pm.optimize(problem, SMALL.new_algorithm(problem), 6, seed=seed + i, progress=False)
        for i in range(3)
    ][-1]


def exiting(problem: Any, seed: int, budget: Any) -> np.ndarray:
    if seed == 1:
        sys.exit("enough")
    return good(problem, seed, budget)


def hopeless(problem: Any, seed: int, budget: Any) -> list[Any]:
    return []


def study(solvers: Any, problem: Any = None, **options: Any) -> pm.Study:
    options = {"seeds": 3, "budget": 60, "jobs": 1, "progress": False, **options}
    return pm.compare(small() if problem is None else problem, solvers, **options)
