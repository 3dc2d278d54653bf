"""How fast candidates are grouped: against pandas and numpy, in threads, and how the cost grows.

Run by `make bench`. Every figure is a ratio of two things measured in the same run, beside the
microseconds per candidate.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from candidates import KINDS, candidates, fastest, machine

import privmoo as pm
from privmoo.evaluation.engine import Engine

COUNT = 1000
SLOW_COUNT = 15


def ours(
    table: pm.Table,
    population: pm.recodings.Candidates,
    *,
    threads: int = 1,
    needs: tuple[str, ...] = (),
) -> float:
    """Microseconds per candidate: sizes and loss of every group."""
    engine = Engine(table, needs=needs, threads=threads)
    run = lambda: engine.map(population, lambda before, after: None)  # noqa: E731
    return float(fastest(run) / len(population) * 1e6)


def _rows(table: pm.Table) -> np.ndarray:
    return table.tuples[table.row_tuple]


def _recoded(table: pm.Table, blocks: np.ndarray, rows: np.ndarray) -> tuple[list[Any], list[Any]]:
    columns, losses, begin = [], [], 0
    for j, qi in enumerate(table.qis):
        own = blocks[begin : begin + qi.n_leaves]
        begin += qi.n_leaves
        lost = (np.bincount(own)[own] - 1) / max(qi.n_leaves - 1, 1)
        columns.append(own.astype(np.uint8)[rows[:, j]])
        losses.append(lost[rows[:, j]])
    return columns, losses


def with_pandas(table: pm.Table, population: pm.recodings.Candidates) -> float:
    rows = _rows(table)
    blocks_of_all = population.blocks
    assert blocks_of_all is not None

    def run() -> None:
        for blocks in blocks_of_all:
            columns, losses = _recoded(table, blocks, rows)
            frame = pd.DataFrame({str(j): c for j, c in enumerate(columns)})
            frame["loss"] = sum(losses)
            frame.groupby([str(j) for j in range(len(columns))], sort=False)["loss"].agg(
                ["size", "sum"]
            )

    return float(fastest(run, rounds=3) / len(population) * 1e6)


def with_numpy(table: pm.Table, population: pm.recodings.Candidates) -> float:
    rows = _rows(table)
    blocks_of_all = population.blocks
    assert blocks_of_all is not None

    def run() -> None:
        for blocks in blocks_of_all:
            columns, losses = _recoded(table, blocks, rows)
            key = np.zeros(len(rows), np.int64)
            for column in columns:
                key = key * (int(column.max()) + 1) + column
            _, first, sizes = np.unique(key, return_index=True, return_counts=True)
            sum(loss[first] for loss in losses) * sizes

    return float(fastest(run, rounds=3) / len(population) * 1e6)


def against_others() -> None:
    table = pm.datasets.adult("dewri")
    print(
        f"\n## Sizes and loss, Adult {table.n_records:,} × {table.n_qis}, {table.n_tuples:,} tuples\n"
    )
    print(
        "| candidates | µs, one thread | ns per tuple | × pandas | × np.unique | two threads × one |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        many, few = candidates(table, kind, COUNT), candidates(table, kind, SLOW_COUNT, seed=1)
        one, two = ours(table, many), ours(table, many, threads=2)
        slow, numpy = with_pandas(table, few), with_numpy(table, few)
        print(
            f"| {kind} | {one:.1f} | {one / table.n_tuples * 1e3:.2f} | {slow / one:.0f} "
            f"({slow:,.0f} µs) | {numpy / one:.0f} ({numpy:,.0f} µs) | {one / two:.2f} |"
        )


def with_counts() -> None:
    table = pm.datasets.adult("dewri-kl")
    print(
        f"\n## With the counts of occupation per group, {table.n_qis} QIs, {table.n_tuples:,} tuples\n"
    )
    print("| candidates | µs without | µs with | ratio |\n| --- | --- | --- | --- |")
    for kind in KINDS:
        many = candidates(table, kind, COUNT)
        plain, counted = ours(table, many), ours(table, many, needs=("counts",))
        print(f"| {kind} | {plain:.1f} | {counted:.1f} | {counted / plain:.2f} |")


def _synthetic(n_tuples: int, n_qis: int) -> pm.Table:
    rng = np.random.default_rng(0)
    sizes = [72, 41, 16, 14, 7, 7, 5, 2, 2]
    data = {}
    for j in range(n_qis):
        size = sizes[j % len(sizes)]
        skewed = np.minimum(rng.geometric(min(0.9, 3 / size), int(n_tuples * 1.5)) - 1, size - 1)
        data[f"q{j}"] = skewed.astype(np.int16)
    frame = pd.DataFrame(data).drop_duplicates().head(n_tuples)
    return pm.Table(frame, quasi_identifiers={str(c): pm.Hierarchy.ordered() for c in frame})


def growth() -> None:
    print("\n## How the cost grows, bits p = .5, one thread\n")
    print("| distinct tuples | QIs | µs per candidate | ns per tuple |\n| --- | --- | --- | --- |")
    for n_tuples, n_qis, count in (
        (10_000, 9, 200),
        (100_000, 9, 40),
        (1_000_000, 9, 6),
        (10_000, 4, 200),
        (20_000, 20, 100),
        (20_000, 50, 60),
    ):
        table = _synthetic(n_tuples, n_qis)
        each = ours(table, candidates(table, KINDS[1], count))
        print(f"| {table.n_tuples:,} | {n_qis} | {each:,.0f} | {each / table.n_tuples * 1e3:.2f} |")


def measures() -> None:
    table = pm.datasets.adult("dewri")
    many = candidates(table, KINDS[1], 200)

    @pm.measure(sense="min", bounds=(0, 1))
    def small_groups(groups: pm.groups.Grouping) -> float:
        return float(groups.sizes[groups.sizes < 10].sum() / groups.n_records)

    print("\n## Candidates per second with different measures, one thread, bits p = .5\n")
    print("| measures | candidates per second |\n| --- | --- |")
    for name, chosen in (
        ("k and general loss (built in)", [pm.KAnonymity(), pm.GeneralLoss()]),
        ("a plain Python function of the sizes", [small_groups]),
    ):
        engine = Engine(table, threads=1)
        run = lambda: engine.map(many, lambda b, a: [m.values(a) for m in chosen])  # noqa: B023, E731
        print(f"| {name} | {len(many) / fastest(run):,.0f} |")


def starts() -> None:
    code = (
        "import time; t = time.perf_counter(); import privmoo as pm; table = pm.datasets.german_credit();"
        "p = pm.problems.ZeroSuppression(table); p.evaluate_measures(p.space.finest()[None]);"
        "print(time.perf_counter() - t)"
    )
    import os
    import tempfile

    print("\n## From starting Python to the first evaluated candidate\n")
    print("| start | seconds |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as empty:
        for name in ("cold: kernels are compiled and stored", "warm: kernels are loaded"):
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code],
                check=True,
                capture_output=True,
                env={**os.environ, "NUMBA_CACHE_DIR": empty},
            )
            print(f"| {name} | {time.perf_counter() - begin:.1f} |")


if __name__ == "__main__":
    print(f"# Benchmarks of the evaluation\n\n{machine()}")
    against_others()
    with_counts()
    growth()
    measures()
    starts()
