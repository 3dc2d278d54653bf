"""One Dask worker against two: the scan, the release and islands of a few million rows, same result."""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from candidates import machine

PARTITIONS = 16
EVALUATIONS = 3_000
SEEDS = 4


def generate(folder: Path, n_rows: int) -> None:
    """Adult resampled with replacement, one file for every partition."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import privmoo as pm

    rows = pa.Table.from_pandas(pm.datasets.adult("dewri").frame, preserve_index=False)
    rng = np.random.default_rng(20)
    for i, part in enumerate(np.array_split(np.arange(n_rows), PARTITIONS)):
        chosen = rng.integers(len(rows), size=len(part))
        pq.write_table(rows.take(pa.array(chosen)), folder / f"part-{i:02d}.parquet")


def peak() -> float:
    """The largest memory of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    return float("nan")


def measure(folder: Path, n_workers: int) -> dict[str, Any]:
    import dask.dataframe as dd
    import distributed

    import privmoo as pm

    known = pm.datasets.adult("dewri")
    roles: dict[str, Any] = {
        "quasi_identifiers": {qi.name: qi.hierarchy for qi in known.qis},
        "sensitive": {name: a.hierarchy for name, a in known.sensitive.items()},
        "target": known.target_name,
        "others": "insensitive",
    }
    cluster = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    found: dict[str, Any] = {}
    with cluster, distributed.Client(cluster) as client:
        source = dd.read_parquet(str(folder / "part-*.parquet"))
        # What workers load at the first use is not part of a scan.
        first = dd.from_pandas(known.frame, npartitions=4 * n_workers)
        pm.Table.scan(first, **roles)
        begin = time.perf_counter()
        table = pm.Table.scan(source, **roles)
        found["scan"] = time.perf_counter() - begin

        def search(evaluations: int) -> pm.Front:
            problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
            return pm.study.optimize_islands(
                problem,
                budget=pm.Evaluations(evaluations),
                seeds=SEEDS,
                client=client,
                progress=False,
            )

        search(400)  # compiles
        begin = time.perf_counter()
        front = search(EVALUATIONS)
        found["islands"] = time.perf_counter() - begin
        target = folder / f"release-{n_workers}.parquet"
        begin = time.perf_counter()
        front[len(front) // 2].write(target, seed=1)
        found["release"] = time.perf_counter() - begin
        found["peak"] = max(client.run(peak).values())
    digest = hashlib.sha256(front.values.tobytes() + table.fingerprint.encode())
    for path in sorted(target.iterdir()):
        digest.update(path.read_bytes())
    return {**found, "tuples": table.n_tuples, "result": digest.hexdigest()}


def report(n_rows: int) -> str:
    with tempfile.TemporaryDirectory(prefix="privmoo-dask-") as name:
        folder = Path(name)
        generate(folder, n_rows)
        runs = {n: measure(folder, n) for n in (1, 2)}
    same = "the same" if len({run["result"] for run in runs.values()}) == 1 else "NOT the same"
    lines = [
        f"\n## One Dask worker against two: {n_rows:,} rows of Adult, {PARTITIONS} partitions, "
        f"{runs[1]['tuples']:,} distinct tuples\n",
        f"{machine()}; worker processes of one thread; islands: {SEEDS} seeds of {EVALUATIONS:,} "
        "evaluations of P2; largest memory of a worker\n",
        "| workers | scan | islands | release | memory |",
        "| --- | --- | --- | --- | --- |",
    ]
    for n, run in runs.items():
        times = " | ".join(f"{run[step]:.2f} s" for step in ("scan", "islands", "release"))
        lines.append(f"| {n} | {times} | {run['peak']:,.0f} MB |")
    ratios = " | ".join(
        f"{runs[1][step] / runs[2][step]:.2f} ×" for step in ("scan", "islands", "release")
    )
    lines += [f"| 1 : 2 | {ratios} | |", f"\nTuples, front and released bytes are {same}.\n"]
    return "\n".join(lines)


if __name__ == "__main__":
    print(report(int(float(sys.argv[1])) if len(sys.argv) > 1 else 2_000_000))
