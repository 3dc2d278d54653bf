"""Regions against the best that other programs reached: one run each, three seeds.

Run by `make bench`; with names such as `adult arx credit diversity outliers` some parts are run.
The losses of ARX's tables are counted on the written rows, by the hierarchy files alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import pandas as pd
from candidates import machine

import privmoo as pm
from privmoo.release.release import ReleaseWarning
from privmoo.search.budgets import RunBudget, RunState
from tests.scenery.goals import credit_cards
from tests.scenery.written_loss import loss_of_rows

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SEEDS = tuple(map(int, os.environ.get("SEEDS", "1 2 3").split()))
KS = (5, 10, 25, 50, 100)
TO_BEAT = {"region": (9.4, 11.7, 15.5, 18.9, 24.1), "tight": (4.0, 6.7, 11.1, 15.3, 20.4)}
ARX = (5.25, 7.62, 11.39, 14.90, 19.23)


def line(cells: Iterable[Any]) -> None:
    """Print one row of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*names: str) -> None:
    """Print the head of a table."""
    line(names)
    line(["---"] * len(names))


@dataclass
class ProcessorSeconds(RunBudget):
    """A time in seconds of CPU, which other work on the machine does not shorten.

    Attributes:
        number: The seconds, of all threads together.
        begin: When the run began.
    """

    number: float
    begin: float = field(default_factory=time.process_time)
    reproducible = False

    def fraction(self, state: RunState) -> float:
        """Return the share of the time that is used."""
        return (time.process_time() - self.begin) / self.number


def search(problem: pm.AnonymizationProblem, seed: int, seconds: float) -> tuple[pm.Front, str]:
    """Return the front of one run, and how long it took: by the clock, and of CPU."""
    clock, processor = time.perf_counter(), time.process_time()
    front = pm.optimize(problem, budget=ProcessorSeconds(seconds), seed=seed, progress=False)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return front, f"{clock:.0f} / {processor:.0f}"


def least(front: pm.Front, **bounds: float) -> str:
    """Return the least loss within bounds, in percent."""
    solutions = front.where(**bounds)
    return f"{100 * solutions.best('loss').loss:.2f}" if len(solutions) else "–"


def adult() -> None:
    """Adult with nine quasi-identifiers, for both kinds of published ranges."""
    print(
        "\n## Regions on Adult, nine quasi-identifiers: least loss in percent, 60 seconds of CPU\n"
    )
    head("publish", "seed", *(f"k ≥ {k}" for k in KS), "seconds, clock / CPU")
    table = pm.datasets.adult("dewri")
    for publish in ("region", "tight"):
        line([publish, "to beat", *TO_BEAT[publish], ""])
        for seed in SEEDS:
            front, took = search(pm.problems.Regions(table, publish=publish), seed, 60)
            line([publish, seed, *(least(front, min_k=k) for k in KS), took])


def outliers() -> None:
    """Adult, where some records may be left out: three local searches for each k and share in turn.

    Each share begins with the regions of the smaller one, so a larger budget never loses more.
    """
    print(
        "\n## Regions on Adult by the share that may be left out: loss in percent (records left out)\n"
    )
    head(
        "publish",
        "largest share",
        *(f"k ≥ {k}" for k in KS),
        "CPU seconds, from the first share on",
    )
    table = pm.datasets.adult("dewri")
    shares = (0.0, 0.01, 0.05, 0.1)
    for publish in ("region", "tight"):
        problem = pm.problems.Regions(table, publish=publish, max_suppression=shares[-1], threads=1)
        space, processor = problem.space, time.process_time()
        targets = [replace(space.demands.loosest, k=k) for k in KS]
        rows = list(space.grow(targets, np.empty(0, np.int64)))
        for share in shares:
            cells = []
            for i, target in enumerate(targets):
                for seed in SEEDS:
                    rows[i] = space.improved(
                        rows[i], target, 8.0 * table.n_tuples, seed, share=share / shares[-1]
                    )
                values = problem.evaluate_measures(rows[i][None])
                number = int(values["records_suppressed"][0])
                cells.append(f"{100 * values['loss'][0]:.2f} ({number})")
            line([publish, f"{share:.0%}", *cells, f"{time.process_time() - processor:.0f}"])


def on_written_rows(
    title: str, table: pm.Table, folder: Path, seconds: float, left_out: int = 0
) -> None:
    """Print losses of tight regions, each counted on the rows of a written release."""
    print(f"\n## {title}: loss of the written rows in percent, {seconds:.0f} seconds\n")
    head("seed", *(f"k ≥ {k}" for k in KS), "records left out", "seconds, clock / CPU")
    for seed in SEEDS:
        share = left_out / table.n_records
        problem = pm.problems.Regions(table, publish="tight", max_suppression=share)
        front, took = search(problem, seed, seconds)
        losses, numbers = [], []
        for k in KS:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "released.csv"
                front.where(min_k=k).best("loss").write(path)
                rows = pd.read_csv(path, dtype=str, keep_default_na=False)
            sizes = rows.groupby(list(table.qi_names)).size()
            if sizes.min() < k:
                raise AssertionError(f"a group of {sizes.min()} for k = {k}")
            loss = loss_of_rows(rows, folder, table.qi_names, table.n_records)
            losses.append(f"{100 * loss:.2f}")
            numbers.append(table.n_records - len(rows))
        line([seed, *losses, max(numbers), took])


def arx() -> None:
    """ARX's Adult with its hierarchies."""
    if not (DATA / "arx_adult").is_dir():
        print("arx: the data are not here")
        return
    table = pm.datasets.load_arx(DATA / "arx_adult")
    title = f"ARX's Adult, to beat {ARX}, up to 55 left out"
    on_written_rows(title, table, DATA / "arx_adult" / "hierarchies", 28, 55)


def credit() -> None:
    """30,000 clients by 24 columns, with ARX's hierarchies."""
    if not (DATA / "arx_creditcard").is_dir():
        print("credit: the data are not here")
        return
    folder = DATA / "arx_creditcard" / "hierarchies"
    on_written_rows("Credit cards, 24 columns", credit_cards(), folder, 120)


def diversity() -> None:
    """Adult with occupation as the sensitive attribute: k and ℓ, and closeness."""
    print("\n## Regions on Adult with constraints: least loss in percent, 60 seconds\n")
    t = "k ≥ 5, t ≤ 0.2"
    head("seed", "k ≥ 5, ℓ ≥ 2", "k ≥ 20, ℓ ≥ 2", "k ≥ 20, ℓ ≥ 3", t, f"{t}, tight")
    table = pm.datasets.adult("dewri-kl")
    pairs = ((5, 2), (20, 2), (20, 3))
    for seed in SEEDS:
        losses = []
        for k, diverse in pairs:
            demands = [pm.KAnonymity() >= k, pm.FrequencyDiversity() >= diverse]
            problem = pm.problems.Regions(table, constraints=demands)
            losses.append(least(search(problem, seed, 60)[0], min_k=k))
        close = [pm.KAnonymity() >= 5, pm.TCloseness() <= 0.2]
        for publish in ("region", "tight"):
            problem = pm.problems.Regions(table, publish=publish, constraints=close)
            losses.append(least(search(problem, seed, 60)[0], min_k=5))
        line([seed, *losses])
    front = pm.optimize(pm.problems.KLSafe(table), seed=1, progress=False)
    line(["KLSafe", *(least(front, min_k=k, min_l=diverse) for k, diverse in pairs), "–", "–"])


PARTS = {
    "adult": adult,
    "arx": arx,
    "credit": credit,
    "diversity": diversity,
    "outliers": outliers,
}


def main(names: Sequence[str]) -> None:
    """Run the parts that are named, or all."""
    warnings.simplefilter("ignore", ReleaseWarning)
    print(f"# Regions\n\n{machine()}")
    small = pm.datasets.adult("dewri").sample(500, seed=1)
    for publish in ("region", "tight"):  # compiles
        search(pm.problems.Regions(small, publish=publish), 1, 1)
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
