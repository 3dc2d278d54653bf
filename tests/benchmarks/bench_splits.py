"""Greedy splits of many distinct tuples: time and memory, and a scanned table's release.

Run by `make bench` with 10⁵ and 10⁶ tuples of ten columns; other sizes are its arguments, such as `1e7`.
Every size is a process of its own, whose largest memory is told.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from candidates import machine

import privmoo as pm
from privmoo.recodings.classes import PartitionRecoding
from privmoo.release.release import ReleaseWarning
from privmoo.spaces.regions import RegionSpace

SIZES = (10**5, 10**6)
WIDTHS = (100, 1000, 24, 16, 50, 80, 200, 365, 12, 500)
TREES = (2, 3)
K = 10
FIFTY = tuple(range(2, 52))


def people(n: int) -> pd.DataFrame:
    """Ten columns that hang together a little; nearly all rows are different."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=n).astype(np.float32)
    columns: dict[str, Any] = {}
    for j, width in enumerate(WIDTHS):
        values = 0.5 * common + rng.normal(size=n).astype(np.float32)
        columns[f"c{j}"] = np.clip(values * width / 8 + width / 2, 0, width - 1).astype(np.int16)
    for j in TREES:
        columns[f"c{j}"] = pd.Categorical(columns[f"c{j}"].astype(str))
    return pd.DataFrame(columns)


def roles() -> dict[str, pm.Hierarchy]:
    """Trees of fours for two columns, orders for the others."""
    trees: dict[str, pm.Hierarchy] = {}
    for j, width in enumerate(WIDTHS):
        trees[f"c{j}"] = pm.Hierarchy.ordered(range(width))
        if j in TREES:
            fours = range(0, width, 4)
            trees[f"c{j}"] = pm.Hierarchy.tree(
                {f"from {a}": [str(v) for v in range(a, min(a + 4, width))] for a in fours}
            )
    return trees


class Clock:
    """CPU seconds since the last look."""

    def __init__(self) -> None:
        self.last = time.process_time()

    def look(self) -> str:
        before, self.last = self.last, time.process_time()
        return f"{self.last - before:.1f}"


def peak() -> str:
    """The largest memory of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return f"{int(line.split()[1]) / 1000:,.0f}"
    return "–"


def split(n: int, publish: str) -> str:
    """Split a table in memory; return a row of the report."""
    pm.baselines.mondrian(table_of(500), K, split="loss", publish=publish)  # compiles
    clock = Clock()
    table = table_of(n)
    cells = [publish, f"{table.n_tuples:,}", clock.look()]
    space = RegionSpace(table, publish=publish, constraints=[pm.KAnonymity() >= K])
    [row] = space.grow([space.demands.loosest], np.zeros(0, np.int64))
    cells.append(clock.look())
    recoding = space.recoding(row)
    cells += [clock.look(), f"{recoding.n_classes:,}", f"{100 * loss(table, recoding):.2f}", peak()]
    return " | ".join(cells)


def table_of(n: int) -> pm.Table:
    return pm.Table(people(n), quasi_identifiers=roles())


def loss(table: pm.Table, recoding: PartitionRecoding) -> float:
    """The general loss, from the published ranges."""
    widths = np.asarray(recoding.ends) - recoding.centres - 1
    return float(recoding.sizes @ (widths / (np.array(WIDTHS) - 1)).mean(axis=1) / table.n_records)


def scan(n: int, publish: str) -> str:
    """Split a scanned table and write its release batch by batch; return a row of the report."""
    warnings.simplefilter("ignore", ReleaseWarning)
    with tempfile.TemporaryDirectory(prefix="privmoo-splits-") as folder:
        path = Path(folder) / "people.parquet"
        people(n).to_parquet(path, index=False)
        clock = Clock()
        table = pm.Table.scan(path, quasi_identifiers=roles(), memory="1GB")
        cells = [publish, f"{table.n_tuples:,}", clock.look()]
        problem = pm.problems.Regions(table, publish=publish, constraints=[pm.KAnonymity() >= K])
        space = problem.space
        rows = space.grow([space.demands.loosest], np.zeros(0, np.int64))
        cells.append(clock.look())
        chosen = pm.Front.of(problem, rows)[0]
        chosen.write(Path(folder) / "public.parquet", seed=1)
        cells += [clock.look(), f"{chosen.k:,.0f}", f"{100 * chosen.loss:.2f}", peak()]
    return " | ".join(cells)


def fifty(_: int, publish: str) -> str:
    """Split Adult for fifty k at once, and for each of them alone; return a row of the report."""
    table = pm.datasets.adult("dewri")
    problem = pm.problems.Regions(table, publish=publish, constraints=[pm.KAnonymity() >= 2])
    space, none = problem.space, np.zeros(0, np.int64)
    targets = [replace(space.demands.loosest, k=k) for k in FIFTY]
    space.grow(targets[:1], none)  # compiles
    clock = Clock()
    together = space.grow(targets, none)
    cells = [publish, clock.look()]
    alone = np.concatenate([space.grow([target], none) for target in targets])
    assert np.array_equal(together, alone)
    cells.append(clock.look())
    front = pm.Front.of(problem, together)
    return " | ".join([*cells, clock.look(), str(len(front))])


STEPS = {"split": split, "scan": scan, "fifty": fifty}
HEADS = {
    "split": "publish | tuples | table | splits | ranges | regions | loss, % | MB at most",
    "scan": "publish | tuples | scan | splits | audited release | k | loss, % | MB at most",
    "fifty": "publish | fifty k at once | one by one | evaluation | solutions",
}


def main(arguments: list[str]) -> None:
    if arguments and arguments[0] in STEPS:
        print(STEPS[arguments[0]](int(arguments[1]), arguments[2]))
        return
    sizes = [int(float(value)) for value in arguments] or list(SIZES)
    print(f"# Benchmarks of splits\n\n{machine()}; CPU seconds, k = {K}")
    runs = [("split", n) for n in sizes] + [("scan", max(sizes)), ("fifty", 0)]
    last = ""
    for name, n in runs:
        if name != last:
            print(f"\n| {HEADS[name]} |\n" + "| --- " * (HEADS[name].count("|") + 1) + "|")
            last = name
        for publish in ("region", "tight"):
            command = [sys.executable, __file__, name, str(n), publish]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(f"| {done.stdout.splitlines()[-1]} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
