"""Tables of 1, 10 and 100 million rows: scan, optimise and release, beside the bare queries.

Run by `make bench-scale`, not by `make bench`: it writes about 20 bytes per row, twice, to a folder of
the system's temporary one. Every step is a process of its own, whose largest memory is told.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from candidates import machine

EVALUATIONS = 5_000
BATCH = 1_000_000
MEMORY = "1GB"


def generate(path: Path, n_rows: int) -> dict[str, Any]:
    """Adult resampled with replacement, batch by batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import privmoo as pm

    rows = pa.Table.from_pandas(pm.datasets.adult("dewri").frame, preserve_index=False)
    rng = np.random.default_rng(20)
    begin = time.perf_counter()
    with pq.ParquetWriter(path, rows.schema) as writer:
        for start in range(0, n_rows, BATCH):
            chosen = rng.integers(len(rows), size=min(BATCH, n_rows - start))
            writer.write_table(rows.take(pa.array(chosen)))
    return {"seconds": time.perf_counter() - begin, "bytes": path.stat().st_size}


@cache
def roles() -> dict[str, Any]:
    import privmoo as pm

    known = pm.datasets.adult("dewri")
    return {
        "quasi_identifiers": {qi.name: qi.hierarchy for qi in known.qis},
        "sensitive": {name: a.hierarchy for name, a in known.sensitive.items()},
        "target": known.target_name,
        "others": "insensitive",
        "memory": MEMORY,
    }


def scanned(path: Path) -> Any:
    import privmoo as pm

    return pm.Table.scan(path, **roles())


def scan(path: Path) -> dict[str, Any]:
    scanned(small(path))  # what is loaded at the first use is not part of a scan
    begin = time.perf_counter()
    table = scanned(path)
    return {"seconds": time.perf_counter() - begin, "tuples": table.n_tuples}


def small(path: Path) -> Path:
    """A table of as few rows as there can be."""
    few = path.with_name("few.parquet")
    if not few.exists():
        generate(few, 1000)
    return few


def optimise(path: Path) -> dict[str, Any]:
    import privmoo as pm

    table = scanned(path)
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
    pm.optimize(problem, budget=pm.Evaluations(400), seed=2, progress=False)  # compiles
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
    begin = time.perf_counter()
    front = pm.optimize(problem, budget=pm.Evaluations(EVALUATIONS), seed=1, progress=False)
    seconds = time.perf_counter() - begin
    np.save(path.with_suffix(".npy"), front.X[len(front) // 2])
    return {"seconds": seconds, "front": len(front)}


def release(path: Path) -> dict[str, Any]:
    import privmoo as pm

    table = scanned(path)
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
    chosen = pm.Front.of(problem, [np.load(path.with_suffix(".npy"))])[0]
    begin = time.perf_counter()
    written = chosen.write(path.with_name("release.parquet"), seed=1, force=True)
    seconds = time.perf_counter() - begin
    told = json.loads(written[1].read_text())
    return {"seconds": seconds, "records": told["release"]["records"], "k": told["privacy"]["k"]}


def noise(path: Path) -> dict[str, Any]:
    """The hybrid scheme: clusters of tuples, and numbers with noise."""
    import privmoo as pm

    def made(source: Path) -> Any:
        qis = {n: own for n, own in roles()["quasi_identifiers"].items() if n != "income"}
        own = {**roles(), "quasi_identifiers": qis, "sensitive": "income"}
        return pm.HybridScheme(pm.Table.scan(source, **own), 10, patterns=["race"])

    made(small(path)).write(path.with_name("few noised.parquet"), force=True)  # compiles
    scheme = made(path)
    begin = time.perf_counter()
    written = scheme.write(path.with_name("noised.parquet"), seed=1, force=True)
    seconds = time.perf_counter() - begin
    told = json.loads(written[1].read_text())
    return {"seconds": seconds, "groups": told["privacy"]["n_groups"], "k": told["privacy"]["k"]}


def bare_group(path: Path) -> dict[str, Any]:
    """The same columns, counted by DuckDB and nothing else."""
    import privmoo as pm

    known = pm.datasets.adult("dewri")
    others = [*known.sensitive, *([known.target_name] if known.target_name else [])]
    columns = ", ".join(f'"{name}"' for name in dict.fromkeys([*known.qi_names, *others]))
    connection = connect(path)
    begin = time.perf_counter()
    connection.sql(
        f"SELECT {columns}, count(*) FROM read_parquet('{path}') GROUP BY ALL"
    ).to_arrow_table()
    return {"seconds": time.perf_counter() - begin}


def bare_copy(path: Path, order: str = "") -> dict[str, Any]:
    """A join with a table of all distinct combinations, and a copy; nothing is checked."""
    import privmoo as pm

    names = pm.datasets.adult("dewri").qi_names
    columns = ", ".join(f'"{name}"' for name in names)
    match = " AND ".join(f's."{name}" = m."{name}"' for name in names)
    connection = connect(path)
    connection.execute(
        f"CREATE TABLE m AS SELECT DISTINCT {columns}, 'x' AS label FROM read_parquet('{path}')"
    )
    begin = time.perf_counter()
    connection.execute(
        f"COPY (SELECT s.*, m.label FROM read_parquet('{path}') s JOIN m ON {match}{order}) "
        f"TO '{path.with_name('copy.parquet')}' (FORMAT parquet)"
    )
    return {"seconds": time.perf_counter() - begin}


def bare_shuffle(path: Path) -> dict[str, Any]:
    """The same in a random order."""
    return bare_copy(path, " ORDER BY random()")


def connect(path: Path) -> Any:
    import duckdb

    folder = path.with_name("spilled")
    return duckdb.connect(
        ":memory:", config={"memory_limit": MEMORY, "temp_directory": str(folder)}
    )


STEPS = (generate, scan, optimise, release, noise, bare_group, bare_copy, bare_shuffle)


def step(name: str, path: Path, *arguments: str) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, __file__, name, str(path), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak() -> float:
    """The largest memory of this process, in MB; not that of the process it was forked from."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return float("nan")


def report(sizes: list[int]) -> str:
    lines = [
        f"\n## Scan, optimise ({EVALUATIONS:,} evaluations of P2) and release, by rows\n",
        f"{machine()}; Adult resampled, Parquet in and out, DuckDB with {MEMORY}; every step in a "
        "process of its own, seconds and largest memory (MB)\n",
        "| rows | file | distinct tuples | scan | bare GROUP BY | × | optimise | release | bare COPY with "
        "a join | × | the same, shuffled | × | release with noise | groups by its numbers |",
        "| --- " * 14 + "|",
    ]
    for n_rows in sizes:
        with tempfile.TemporaryDirectory(prefix="privmoo-scale-") as folder:
            path = Path(folder) / "adult.parquet"
            made = step("generate", path, str(n_rows))
            rounds = 3 if n_rows <= 10_000_000 else 1
            best: dict[str, dict[str, Any]] = {}
            for name in ("bare_group", "scan"):
                tries = [step(name, path) for _ in range(rounds)]
                best[name] = min(tries, key=lambda found: found["seconds"])
            for name in ("optimise", "release", "bare_copy", "bare_shuffle", "noise"):
                best[name] = step(name, path)
        lines.append(row(n_rows, made, best))
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def row(n_rows: int, made: dict[str, Any], best: dict[str, dict[str, Any]]) -> str:
    def shown(name: str) -> str:
        return f"{best[name]['seconds']:.2f} s, {best[name]['peak']:,.0f} MB"

    def times(name: str, other: str) -> str:
        return f"{best[name]['seconds'] / best[other]['seconds']:.2f}"

    cells = [
        f"{n_rows:,}",
        f"{made['bytes'] / 1e6:,.0f} MB",
        f"{best['scan']['tuples']:,}",
        shown("scan"),
        shown("bare_group"),
        times("scan", "bare_group"),
        shown("optimise"),
        shown("release"),
        shown("bare_copy"),
        times("release", "bare_copy"),
        shown("bare_shuffle"),
        times("release", "bare_shuffle"),
        shown("noise"),
        f"{best['noise']['groups']:,}",
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> None:
    own = {function.__name__: function for function in STEPS}
    if arguments and arguments[0] in own:
        name, path, *rest = arguments
        found = own[name](Path(path), *(int(value) for value in rest))
        print(json.dumps({**found, "peak": peak()}))
        return
    sizes = [int(float(value)) for value in arguments] or [10**6, 10**7, 10**8]
    text = report(sizes)
    results = Path(__file__).with_name("RESULTS.md")
    before, title, reading = results.read_text(encoding="utf-8").partition("## Reading the figures")
    results.write_text(f"{before}{text.strip()}\n\n{title}{reading}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
