"""The hybrid scheme on Adult against k-member clustering of all records, and on larger tables.

Run by `make bench`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from candidates import machine

import privmoo as pm
from privmoo import HybridScheme, hybrid
from privmoo.release.release import ReleaseWarning

NAMES = ["race", "native-country"]
K = 5


def seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def adult_like(n: int) -> pm.Table:
    """Adult's records drawn again, with ages moved by up to two years."""
    table = pm.datasets.adult("majeed")
    rng = np.random.default_rng(1)
    frame = table.frame.iloc[rng.integers(0, table.n_records, n)].reset_index(drop=True)
    frame["age"] = np.clip(frame["age"] + rng.integers(-2, 3, n), 17, 90)
    return pm.Table(
        frame,
        quasi_identifiers={qi.name: qi.hierarchy for qi in table.qis},
        sensitive="income",
        target="income",
    )


def spread_out(n: int) -> pm.Table:
    """Records that are nearly all different: a pay in cents."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "pay": rng.gamma(4, 50_000, n).round(2),
            "age": rng.integers(17, 91, n),
            "race": rng.choice(list("wabcd"), n, p=[0.85, 0.09, 0.03, 0.02, 0.01]),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.choice(["<=50K", ">50K"], n, p=[0.76, 0.24]),
        }
    )
    names = ["pay", "age", "race", "sex"]
    return pm.Table(frame, quasi_identifiers=names, sensitive="income")


def steps() -> None:
    """Every step of the scheme on Adult, and k-member clustering of all records."""
    table = pm.datasets.adult("majeed")
    scheme = HybridScheme(table, K, patterns=NAMES)
    rows = np.flatnonzero(scheme.split.violating)
    hybrid.member_clusters(table, K, rows[:100])  # compiled
    scheme.recoding(1)
    fresh = HybridScheme(table, K, patterns=NAMES)
    taken = {
        "random forest and shuffling (5 repeats)": seconds(lambda: hybrid.find_patterns(table)),
        "value classes and split": seconds(lambda: HybridScheme(table, K, patterns=NAMES).split),
        "k-member clusters, violating records": seconds(lambda: hybrid.member_clusters(table, K, rows)),
        "noise, levels, published cells": seconds(lambda: scheme.recoding(2)),
        "whole scheme but the forest": seconds(lambda: fresh.recoding(1)),
        "release with audit and certificate": seconds(lambda: scheme.run(1)),
        "k-member clusters, all records": seconds(lambda: hybrid.member_clusters(table, K)),
    }  # fmt: skip
    print(f"\n## Hybrid scheme on Adult ({table.n_records:,} records, k = {K})\n")
    print("| step | seconds |\n| --- | --- |")
    for name, value in taken.items():
        print(f"| {name} | {value:.3f} |")
    everyone = taken["k-member clusters, all records"]
    own = taken["whole scheme but the forest"]
    forest = taken["random forest and shuffling (5 repeats)"]
    print(
        f"\nClustering all records takes {everyone / own:.1f} times the scheme without the forest, "
        f"{everyone / (own + forest):.2f} times the scheme with it (published: 6.6 times)."
    )


def growth() -> None:
    """Seconds by the number of records: what is published, and the whole run with its audit."""
    print("\n## How the hybrid scheme grows (k = 5; strict clusters both partitions)\n")
    print("| table | records | distinct tuples | cells | run | strict: cells | strict: run |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, make, patterns in (
        ("Adult-like", adult_like, NAMES),
        ("nearly all different", spread_out, ["race"]),
    ):
        for n in (10_000, 100_000, 1_000_000):
            table = make(n)
            taken = []
            for strict in (False, True):
                scheme = HybridScheme(table, K, patterns=patterns, strict=strict)
                taken.append(seconds(partial(scheme.recoding, 1)))
                taken.append(seconds(partial(scheme.run, 1)))
            cells = " | ".join(f"{value:.1f} s" for value in taken)
            print(f"| {name} | {n:,} | {table.n_tuples:,} | {cells} |", flush=True)


def search() -> None:
    """Candidates of the problem per second, and a front against the published parameters."""
    table = pm.datasets.adult("majeed")
    problem = pm.problems.Hybrid(table, patterns=NAMES)
    X = problem.default_operators()["sampling"](
        problem, 50, random_state=np.random.default_rng(1)
    ).get("X")
    first = seconds(lambda: problem.evaluate_measures(X))
    X[:, 1] = np.clip(X[:, 1] * 1.1, 0.1, 10)
    again = seconds(lambda: problem.evaluate_measures(X))
    print("\n## Hybrid problem on Adult: 50 candidates, six measures\n")
    print(f"first time, with {len(np.unique(X[:, 0]))} k to cluster: {first:.1f} s; "
          f"then {again / len(X) * 1000:.1f} ms per candidate")  # fmt: skip


def main() -> None:
    print(machine())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        steps()
        search()
        growth()


if __name__ == "__main__":
    main()
