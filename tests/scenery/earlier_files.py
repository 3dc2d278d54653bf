"""The tables, problems and jobs behind the files that earlier versions wrote.

`tests/compatibility/write_files.py` wrote the files with these problems under the earlier version; the
tests beside it build the same problems under the current one. Both must run this module, so it uses only
public names that both versions have. Do not change what it computes: the files cannot be written again.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import privmoo as pm

JOB = """
[data]
file = "people.csv"

[columns]
name = "identifying"
ill = "sensitive"
sex = { role = "quasi-identifying", hierarchy = "flat" }
job = { role = "quasi-identifying", hierarchy = "job.csv", weight = 2.0 }

[columns.age]
role = "quasi-identifying"
hierarchy = { kind = "intervals", low = 20, high = 59, widths = [5, 10, 20] }

[problem]
name = "Cuts"
objectives = ["k", "loss"]
constraints = ["k >= 2"]
suppression = { policy = "Budget", fraction = 0.1 }

[search]
algorithm = "nsga2"
population = 20
generations = 8
seed = 7
"""
JOB_OF_LEVELS = """
[data]
file = "people.csv"

[columns]
ill = "sensitive"
sex = { role = "quasi-identifying", hierarchy = "flat" }
job = { role = "quasi-identifying", hierarchy = "job.csv" }

[columns.age]
role = "quasi-identifying"
hierarchy = { kind = "intervals", low = 20, high = 59, widths = [5, 10, 20] }

[problem]
name = "Levels"
max_suppression = 0.1

[search]
algorithm = "exact"
"""
TREE_OF_JOBS = "a;x;*\nb;x;*\nc;x;*\nd;y;*\ne;y;*\nf;y;*\n"


def people(rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "name": [f"person-{i}" for i in range(rows)],
            "age": rng.integers(20, 60, rows),
            "job": rng.choice(list("abcdef"), rows),
            "sex": rng.choice(list("fm"), rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )


def table() -> pm.Table:
    """Three quasi-identifiers with hierarchies."""
    return pm.Table(
        people(),
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(20, 59, widths=[5, 10, 20]),
            "job": pm.Hierarchy.tree({"x": ["a", "b", "c"], "y": ["d", "e", "f"]}),
            "sex": pm.Hierarchy.flat(),
        },
        sensitive="ill",
        identifiers="name",
    )


def plain_table() -> pm.Table:
    """The same records without hierarchies."""
    return pm.Table(people(), quasi_identifiers=["age", "job", "sex"], sensitive="ill")


def _hybrid() -> Any:
    # The seed that version 0.1 took by default.
    return pm.problems.Hybrid(pm.testing.example_hybrid_table(), patterns=["race"], noise_seed=0)


# Every formulation, and among them every policy of suppression that a file can name.
PROBLEMS: dict[str, Callable[[], Any]] = {
    "cuts": lambda: pm.problems.Cuts(table(), suppression=pm.Budget(0.1)),
    "cuts_below_average": lambda: pm.problems.AnySuppression(table()),
    "cuts_kl_safe": lambda: pm.problems.KLSafe(table(), max_suppression=0.2, prefer="k"),
    "cuts_zero_suppression": lambda: pm.problems.ZeroSuppression(table()),
    "levels": lambda: pm.problems.Levels(table(), suppression=pm.BelowThreshold(3)),
    "levels_threshold": lambda: pm.problems.Levels(table(), max_suppression=0.1),
    "levels_records": lambda: pm.problems.LevelsAndSuppression(table()),
    "clusters": lambda: pm.problems.Clusters(plain_table(), 12, k=3, assignment="balanced"),
    "clusters_moobam": lambda: pm.problems.MOOBAM(
        plain_table(), n_clusters=12, k=3, assignment="balanced"
    ),
    "hybrid": _hybrid,
}


def search(name: str, generations: int = 6, **options: Any) -> pm.Front:
    """The seeded search of which `name`.front is the result."""
    problem = PROBLEMS[name]()
    problem.default_population = 12
    return pm.optimize(problem, budget=generations, seed=5, progress=False, **options)


def digest_of_release(front: pm.Front) -> str:
    """The rows of one release of a front, as a digest that any changed cell changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = front[len(front) // 2].release(seed=2)
    rows = release.frame.to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(rows.encode()).hexdigest()


def baseline(problem: Any, seed: int, budget: Any) -> np.ndarray:
    """A solver of one's own: random cuts."""
    return np.random.default_rng(seed).random((30, problem.n_var)) < 0.5


def study(**options: Any) -> pm.Study:
    """The comparison of which small.study is the result."""
    problem = PROBLEMS["cuts"]()
    solvers = {
        "small": pm.Solver.algorithm("nsga2", population=10, name="small"),
        "mine": baseline,
    }
    return pm.compare(problem, solvers, seeds=3, budget=60, jobs=1, progress=False, **options)
