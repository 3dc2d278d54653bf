"""Attack releases of Adult: 10,000 people are in the table, 10,000 others are the control group.

Run it with `python tests/benchmarks/bench_attacks.py [kind ...]`; kept figures are in RESULTS.md. Regions
are Mondrian's, clusters are MDAV's, and levels and cuts are the cheapest solutions of a search.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import privmoo as pm
from privmoo.analysis import attack
from privmoo.datasets.adult import adult_frame, adult_hierarchies

COLUMNS = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]


def people(number: int = 10_000, seed: int = 0) -> tuple[pm.Table, pd.DataFrame]:
    """Return a table of some complete records of Adult, and as many of other people."""
    everyone = adult_frame("all", complete=True)
    order = np.random.default_rng(seed).permutation(len(everyone))
    inside, outside = (
        everyone.iloc[part].reset_index(drop=True)
        for part in (order[:number], order[number : 2 * number])
    )
    trees = adult_hierarchies()
    table = pm.Table(
        inside,
        quasi_identifiers={name: trees[name] for name in COLUMNS},
        sensitive="occupation",
        others="insensitive",
    )
    return table, outside


def cheapest(problem: pm.AnonymizationProblem, k: int, budget: int) -> pm.Release:
    """Search, and release the solution with the least loss for k."""
    front = pm.optimize(problem, None, budget, seed=1, progress=False)
    return front.where(min_k=k).best("loss").release()


def releases(table: pm.Table, k: int) -> dict[str, Callable[[], pm.Release]]:
    """Return how to make a release of every kind."""
    limit = pm.Budget(0.05)
    goals = {"objectives": [pm.KAnonymity(), pm.GeneralLoss()]}
    return {
        "levels": lambda: cheapest(pm.problems.Levels(table, suppression=limit, **goals), k, 200),
        "cuts": lambda: cheapest(pm.problems.Cuts(table, suppression=limit, **goals), k, 200),
        "regions": lambda: pm.make_release(table, pm.baselines.mondrian(table, k), seed=1),
        "tight regions": lambda: pm.make_release(
            table, pm.baselines.mondrian(table, k, publish="tight"), seed=1
        ),
        "clusters": lambda: pm.make_release(table, pm.baselines.mdav(table, k), seed=1),
        "hybrid": lambda: pm.HybridScheme(table, k, patterns=["race"]).run(seed=1),
    }


def main() -> None:
    """Print success less control in points for every release and attack, and who gains beyond chance."""
    warnings.simplefilter("ignore")
    table, outside = people()
    only = set(sys.argv[1:])
    for k in (5, 25):
        for name, make in releases(table, k).items():
            if only and name not in only:
                continue
            start = time.process_time()
            release = make()
            report = attack(release, table, outside, attempts=2000)
            print(f"\n{name}, k = {k}: {time.process_time() - start:.0f} CPU s", flush=True)
            print(f"certified k: {release.certificate.privacy['k']}")
            print(report.round(3).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
