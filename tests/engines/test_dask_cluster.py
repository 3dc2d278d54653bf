"""Scans, releases and searches on a cluster of processes: the complete result, or none and one sentence."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo import Table
from privmoo.errors import FileError, TableError
from tests.engines.test_scanned_release import ROLES, people, solution
from tests.scenery.dask import always_deadly, cluster, deadly, small_files, unreadable
from tests.scenery.runs import small
from tests.scenery.scanning import same

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")
# Dask's own closing of loops and sockets is not ours to judge.
pytestmark = [
    pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NAMES = ["out.certificate.json", "out.certificate.txt", "out.parquet"]


@pytest.fixture(scope="module")
def client() -> Any:
    with cluster(2) as made:
        yield made


def source(work: Any = None, *args: Any, n: int = 6) -> Any:
    frame = dd.from_pandas(people(600), npartitions=n)
    if work is None:
        return frame
    return frame.map_partitions(work, *args, meta=frame._meta)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def expected(tmp_path: Path) -> tuple[Table, dict[str, bytes]]:
    """The table, and the parts that one process writes."""
    with dask.config.set(scheduler="synchronous"):
        table = Table.scan(source(), **ROLES)
        place = tmp_path / "expected"
        place.mkdir()
        solution(table).write(place / "out.parquet", seed=3)
    return table, content(place / "out.parquet")


def test_two_processes_give_what_one_gives(client: Any, tmp_path: Path) -> None:
    table, parts = expected(tmp_path)
    found = Table.scan(source(), **ROLES)
    same(found, table)
    same(found, Table(people(600), **ROLES))
    assert found.fingerprint == table.fingerprint
    place = tmp_path / "out"
    place.mkdir()
    solution(found).write(place / "out.parquet", seed=3)
    assert content(place / "out.parquet") == parts
    assert sorted(p.name for p in place.iterdir()) == NAMES


@pytest.mark.slow  # clusters of their own
def test_one_worker_gives_what_two_give(tmp_path: Path) -> None:
    table, parts = expected(tmp_path)
    for n in (1, 2):
        with cluster(n):
            found = Table.scan(source(), **ROLES)
            same(found, table)
            path = tmp_path / f"{n}.parquet"
            solution(found).write(path, seed=3)
            assert content(path) == parts


@pytest.mark.faults
def test_a_worker_is_killed_in_a_scan_and_in_a_release(client: Any, tmp_path: Path) -> None:
    table, parts = expected(tmp_path)
    armed, mark = tmp_path / "armed", tmp_path / "mark"
    armed.touch()
    frame = source(deadly, str(mark), str(armed), n=6)
    before = set(client.run(os.getpid).values())
    found = Table.scan(frame, **ROLES)
    assert mark.exists()
    same(found, table)
    armed.unlink()
    chosen = solution(found)
    mark.unlink()
    armed.touch()
    place = tmp_path / "out"
    place.mkdir()
    chosen.write(place / "out.parquet", seed=3)
    assert mark.exists()
    assert content(place / "out.parquet") == parts
    assert sorted(p.name for p in place.iterdir()) == NAMES
    client.wait_for_workers(2, timeout=300)
    assert set(client.run(os.getpid).values()) != before


@pytest.mark.faults
def test_noise_is_the_same_after_a_worker_was_killed(client: Any, tmp_path: Path) -> None:
    def write(table: Table, name: str) -> dict[str, bytes]:
        scheme = pm.HybridScheme(table, 5, patterns=["zip"], thresholds=(0.1, 0.05, 0.01))
        scheme.write(tmp_path / name, seed=3)
        return content(tmp_path / name)

    roles = {**ROLES, "missing": "drop"}  # missing numbers take no noise
    with dask.config.set(scheduler="synchronous"):
        parts = write(Table.scan(source(), **roles), "one.parquet")
    armed, mark = tmp_path / "armed", tmp_path / "mark"
    found = Table.scan(source(deadly, str(mark), str(armed), n=6), **roles)
    armed.touch()
    assert write(found, "two.parquet") == parts
    assert mark.exists()
    client.wait_for_workers(2, timeout=300)


@pytest.mark.slow  # workers are killed until the scheduler gives up
def test_a_partition_that_kills_every_worker(client: Any) -> None:
    with pytest.raises(TableError, match="workers were lost repeatedly"):
        Table.scan(source(always_deadly, n=2), **ROLES)
    client.wait_for_workers(2, timeout=300)


@pytest.mark.faults
def test_a_partition_that_cannot_be_read_leaves_nothing(client: Any, tmp_path: Path) -> None:
    armed = tmp_path / "armed"
    frame = source(unreadable, str(armed))
    found = Table.scan(frame, **ROLES)
    chosen = solution(found)
    armed.touch()
    said = r"^the Dask DataFrame: partition 1 \(counted from 0\) cannot be read \(OSError\)"
    with pytest.raises(TableError, match=said):
        Table.scan(frame, **ROLES)
    place = tmp_path / "out"
    place.mkdir()
    with pytest.raises(TableError, match=said):
        chosen.write(place / "out.parquet", seed=3)
    assert not list(place.iterdir())
    armed.unlink()
    chosen.write(place / "out.parquet", seed=3)
    assert sorted(p.name for p in place.iterdir()) == NAMES


def test_progress_is_shown(client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same(Table.scan(source(), progress=True, **ROLES), Table.scan(source(), **ROLES))
    assert "100% Completed" in capsys.readouterr().out
    armed = tmp_path / "armed"
    armed.touch()
    with pytest.raises(TableError, match="partition 1"):
        Table.scan(source(unreadable, str(armed)), progress=True, **ROLES)


@pytest.mark.faults
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_full_disk_leaves_nothing(client: Any, tmp_path: Path, ending: str) -> None:
    chosen = solution(Table.scan(source(), **ROLES))
    place = tmp_path / "out"
    place.mkdir()
    client.run(small_files, 2_000)
    try:
        with pytest.raises(FileError, match=r"out\.\w+ cannot be written \(the disk is full, "):
            chosen.write(place / f"out.{ending}", seed=3)
        assert not list(place.iterdir())
    finally:
        client.run(small_files, None)
    chosen.write(place / f"out.{ending}", seed=3)
    assert len(list(place.iterdir())) == 3


@pytest.mark.faults
def test_islands_on_a_cluster(client: Any) -> None:
    options: dict[str, Any] = {"budget": 5, "seeds": [4, 2, 9], "progress": False}
    one = pm.study.optimize_islands(small(), jobs=1, **options)
    two = pm.study.optimize_islands(small(), client=client, **options)
    assert one == two
    assert [run["seed"] for run in two.run["merged"]] == [4, 2, 9]


@pytest.mark.slow  # longer searches, one of them begun again
def test_islands_of_which_a_worker_is_killed(client: Any) -> None:
    options: dict[str, Any] = {"budget": 150, "seeds": 6, "progress": False}
    pid = next(iter(client.run(os.getpid).values()))

    def kill() -> None:
        time.sleep(1.5)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    two = pm.study.optimize_islands(small(), client=client, **options)
    killer.join()
    assert two == pm.study.optimize_islands(small(), jobs=1, **options)
    client.wait_for_workers(2, timeout=300)


@pytest.mark.slow  # more rows, a worker killed from outside while it writes
def test_a_worker_is_killed_from_outside(client: Any, tmp_path: Path) -> None:
    big = pd.concat([people(20_000, seed) for seed in range(10)], ignore_index=True)
    for i in range(20):
        big.iloc[i * 10_000 : (i + 1) * 10_000].to_parquet(tmp_path / f"in-{i:02d}.parquet")
    frame = dd.read_parquet(str(tmp_path / "in-*.parquet"))
    chosen = solution(Table.scan(frame, **ROLES))
    chosen.write(tmp_path / "first.parquet", seed=1)
    pid = next(iter(client.run(os.getpid).values()))
    seen: list[int] = []

    def kill() -> None:
        for _ in range(2000):
            written = list(tmp_path.glob(".privmoo-*/parts.parquet/part-*"))
            if len(written) >= 3:
                os.kill(pid, signal.SIGKILL)
                seen.append(len(written))
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    chosen.write(tmp_path / "out.parquet", seed=1)
    killer.join()
    assert seen and seen[0] < 20
    assert content(tmp_path / "out.parquet") == content(tmp_path / "first.parquet")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    client.wait_for_workers(2, timeout=300)
    k = pd.concat([pd.read_parquet(p) for p in (tmp_path / "out.parquet").iterdir()])
    sizes = k.groupby(["age", "zip", "size"], dropna=False, observed=True).size()
    assert sizes.min() >= int(np.floor(chosen.values["k"]))
