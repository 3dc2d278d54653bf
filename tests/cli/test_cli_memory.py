"""Whether a file fits into memory is foreseen, and the estimate is near what a run takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import privmoo as pm
from privmoo.cli import memory
from tests.scenery.cli import here, people, small_job

MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def test_too_little_memory_is_told_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_job(tmp_path, generations=2)
    monkeypatch.setattr(memory, "available", lambda: 100 << 20)
    ended = here(tmp_path, "run", "job.toml", "-o", "out", "-q")
    assert ended.code == 0, ended.err
    assert ended.out.startswith(
        "Reading people.csv needs about 0.3 GB of memory, and 0.1 GB are free"
    )
    for enough in (8 << 30, None):
        monkeypatch.setattr(memory, "available", lambda enough=enough: enough)
        ended = here(tmp_path, "run", "job.toml", "-o", "out", "-q", "--force")
        assert ended.code == 0 and "memory" not in ended.said


def test_what_is_there_is_known(tmp_path: Path) -> None:
    free = memory.available()
    assert free is None or free > 1 << 20
    memory.warn_if_too_large(tmp_path / "no such file.csv")  # reading it says what is wrong


def test_compressed_files_count_as_what_is_in_them(tmp_path: Path) -> None:
    frame = pd.concat([people(2000)] * 20)
    for name in ("a.csv", "a.csv.gz"):
        frame.to_csv(tmp_path / name, index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    assert memory.estimate_memory(tmp_path / "a.csv") == memory.estimate_memory(
        tmp_path / "a.csv.gz"
    )
    assert (tmp_path / "a.parquet").stat().st_size < (tmp_path / "a.csv").stat().st_size / 2
    by_cells = memory.estimate_memory(tmp_path / "a.parquet") - memory._BASE
    assert by_cells > frame.size * memory._PER_CELL
    (tmp_path / "bad.parquet").write_bytes(b"x" * 1000)
    assert memory.estimate_memory(tmp_path / "bad.parquet") == memory._BASE + 4000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory otherwise")
@pytest.mark.parametrize("rows", [300_000, 1_000_000])
@pytest.mark.parametrize("name", ["adult.csv", "adult.csv.gz", "adult.parquet"])
def test_the_estimate_is_within_a_factor_of_two(tmp_path: Path, rows: int, name: str) -> None:
    table = pm.datasets.adult("dewri")
    frame = table.frame.sample(rows, replace=True, random_state=1)
    if name.endswith("parquet"):
        frame.to_parquet(tmp_path / name, index=False)
    else:
        frame.to_csv(tmp_path / name, index=False)
    columns = [
        f'"{qi}" = {{ role = "quasi-identifying", hierarchy = "{kind}" }}'
        for qi in table.qi_names
        for kind in ["ordered" if pd.api.types.is_numeric_dtype(frame[qi]) else "flat"]
    ]
    (tmp_path / "job.toml").write_text(
        "\n".join(["[data]", f'file = "{name}"', "[columns]", *columns])
        + "\n[search]\npopulation = 20\ngenerations = 3\nseed = 1\n"
    )
    typed = [sys.executable, "-m", "privmoo.cli", "run", "job.toml", "-o", "out", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *typed], cwd=tmp_path, capture_output=True, text=True
    )
    code, peak = map(int, done.stdout.split())
    assert code == 0, done.stderr
    assert 0.5 < memory.estimate_memory(tmp_path / name) / peak < 2
