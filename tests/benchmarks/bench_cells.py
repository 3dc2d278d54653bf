"""Cells that are kept or blanked: regions of flat hierarchies beside greedy local suppression.

Run by `make bench`. SPARCS is the evaluation data's; without it, only Adult is measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from candidates import machine

import privmoo as pm
from privmoo.recodings.classes import PartitionRecoding, as_classes
from privmoo.release.release import ReleaseWarning
from privmoo.spaces.regions import Publish

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SPARCS = DATA / "sparcs" / "sparcs_2016_western_ny_first10000.csv.gz"
COLUMNS = (
    "Hospital County",
    "Age Group",
    "Zip Code - 3 digits",
    "Gender",
    "Race",
    "Ethnicity",
    "Length of Stay",
    "Type of Admission",
)
KS = (3, 5, 10)
GENERATIONS = 10
Baseline = Callable[[pm.Table, int], PartitionRecoding]
Method = Callable[[pm.Table], dict[int, PartitionRecoding]]


def flat(frame: pd.DataFrame, columns: tuple[str, ...]) -> pm.Table:
    """Return records of which every cell is kept or blanked."""
    texts = frame[list(columns)].astype(object).fillna("unknown").astype(str)
    trees = {name: pm.Hierarchy.flat(sorted(texts[name].unique())) for name in columns}
    return pm.Table(texts, quasi_identifiers=trees)


def tables() -> dict[str, pm.Table]:
    adult = pm.datasets.adult("dewri")
    result = {"Adult, 9 columns": flat(adult.frame, tuple(adult.qi_names))}
    if SPARCS.exists():
        result["SPARCS, 8 columns"] = flat(pd.read_csv(SPARCS, dtype=str), COLUMNS)
    return result


def blanked(table: pm.Table, recoding: PartitionRecoding, k: int) -> float:
    """Return the share of blanked cells among the released rows, if k holds there."""
    release = pm.make_release(table, recoding, seed=1)
    cells = release.frame[list(table.qi_names)]
    assert cells.value_counts().min() >= k
    return float((cells == "*").to_numpy().mean())


def searched(publish: Publish, baseline: Baseline | None = None) -> Method:
    def search(table: pm.Table) -> dict[int, PartitionRecoding]:
        problem = pm.problems.Regions(table, publish=publish)
        start = [] if baseline is None else [baseline(table, k) for k in KS]
        front = pm.optimize(
            problem, budget=GENERATIONS, seed=1, progress=False, start=start or None
        )
        return {k: as_classes(front.where(min_k=k).best("loss").recoding, table) for k in KS}

    return search


def each(baseline: Baseline) -> Method:
    return lambda table: {k: baseline(table, k) for k in KS}


METHODS: dict[str, Method] = {
    "`baselines.local_suppression`": each(pm.baselines.local_suppression),
    "greedy splits, bounds": each(lambda t, k: pm.baselines.mondrian(t, k, split="loss")),
    "greedy splits, tight": each(
        lambda t, k: pm.baselines.mondrian(t, k, split="loss", publish="tight")
    ),
    f"`Regions`, bounds, {GENERATIONS} generations": searched("region"),
    f"`Regions`, tight, {GENERATIONS} generations": searched("tight"),
    "the same from local suppression": searched("tight", pm.baselines.local_suppression),
}


def main() -> None:
    warnings.simplefilter("ignore", ReleaseWarning)
    print(f"# Benchmarks of cells\n\n{machine()}")
    small = pm.datasets.adult("dewri").sample(300, seed=1)
    for method in METHODS.values():  # compiles
        method(flat(small.frame, tuple(small.qi_names)))
    for name, table in tables().items():
        print(f"\n## {name}, {table.n_records:,} records, {table.n_tuples:,} tuples\n")
        print("| method | " + " | ".join(f"k ≥ {k}" for k in KS) + " | CPU seconds, all three |")
        print("| --- " * (len(KS) + 2) + "|")
        for title, method in METHODS.items():
            begin = time.process_time()
            recodings = method(table)
            seconds = time.process_time() - begin
            shares = [f"{100 * blanked(table, recodings[k], k):.2f}" for k in KS]
            print(f"| {title} | {' | '.join(shares)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
