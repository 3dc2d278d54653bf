"""A Dask DataFrame is released as a folder of parts: the rows and the certificate of memory."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import Table
from privmoo.audit import canonical
from privmoo.engines.dask import copy as parts_module
from privmoo.errors import AuditError, FileError, PrivmooError, ReleaseError, TableError
from privmoo.release.copy import write_copy
from privmoo.release.plan import ReleasePlan
from tests.engines.test_dask import CUTS, cut, failing
from tests.engines.test_scanned_release import ROLES, flat, people, read, solution, spelled
from tests.engines.test_scanning import VALUES, tables
from tests.scenery.parameters import first_in_make_test
from tests.scenery.paths import environment

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


@pytest.fixture(autouse=True, scope="module")
def _one_after_the_other() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def more(n: int = 400) -> pd.DataFrame:
    """People with dates, too."""
    frame = people(n)
    rng = np.random.default_rng(5)
    frame["born"] = pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 20, n), "D")
    frame["seen"] = frame["born"] + pd.to_timedelta(rng.integers(0, 90000, n), "s")
    return frame


def scanned(frame: pd.DataFrame | None = None, n: int = 3, **roles: Any) -> Table:
    frame = more() if frame is None else frame
    return Table.scan(dd.from_pandas(frame, npartitions=n), **{**ROLES, **roles})


def rows_of(folder: Path) -> pd.DataFrame:
    return pd.concat([read(path) for path in sorted(folder.iterdir())], ignore_index=True)


@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("spreadsheets", first_in_make_test([False, True]))
def test_rows_and_certificate_are_those_of_memory(
    ending: str, missing: str, spreadsheets: bool, tmp_path: Path
) -> None:
    own = scanned(missing=missing)
    table = Table(own.source.frame.compute(), missing=missing, **ROLES)  # type: ignore[attr-defined]
    mine, other = solution(own), solution(table)
    assert np.array_equal(mine.x, other.x)
    options: dict[str, Any] = {"seed": 4, "spreadsheets": spreadsheets}
    written = mine.write(tmp_path / f"mine.{ending}", **options)
    expected = other.write(tmp_path / f"other.{ending}", **options)
    assert written[0].is_dir()
    names = [f"part-{i:05d}.{ending}" for i in range(3)]
    assert sorted(p.name for p in written[0].iterdir()) == names
    a, b = rows_of(written[0]), read(expected[0])
    assert list(a) == list(b)
    assert "name" not in a
    assert spelled(a) == spelled(b)
    told, known = (json.loads(p[1].read_text()) for p in (written, expected))
    assert told["release"]["sha256"] == {
        name: hashlib.sha256((written[0] / name).read_bytes()).hexdigest() for name in names
    }
    for one in (told, known):
        for key in ("file", "sha256"):
            one["release"].pop(key)
        for key in ("created", "fingerprint"):
            one["source"].pop(key, None)
    for section in ("source", "method", "release", "warnings", "not_guaranteed"):
        assert told[section] == known[section], section
    for section in ("privacy", "utility"):
        assert flat(told[section]) == pytest.approx(flat(known[section])), section
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


@pytest.mark.faults
@settings(deadline=None, max_examples=40)
@given(
    tables(tuple(VALUES)), CUTS, st.sampled_from(["csv", "parquet"]), st.booleans(), st.booleans()
)
def test_whatever_the_values(
    drawn: tuple[pd.DataFrame, dict[str, Any]],
    cuts: list[int],
    ending: str,
    shuffle: bool,
    spreadsheets: bool,
) -> None:
    frame, roles = drawn
    source = cut(frame, cuts)
    try:
        table, own = Table(source.compute(), **roles), Table.scan(source, **roles)
    except PrivmooError:
        return
    recoding = pm.recodings.identity_recoding(table)
    expected = pm.make_release(table, recoding, shuffle=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out.{ending}"
        expected.write(Path(folder) / f"memory.{ending}", spreadsheets=spreadsheets)
        options: dict[str, Any] = {"shuffle": shuffle, "spreadsheets": spreadsheets}
        write_copy(ReleasePlan.of(own, recoding), path, **options)
        found = [read_all(part) for part in sorted(path.iterdir())]
        wanted = read_all(Path(folder) / f"memory.{ending}")
    rows = [row for part in found for row in part]
    assert (sorted(rows) if shuffle else rows) == (sorted(wanted) if shuffle else wanted)


def read_all(path: Path) -> list[tuple[str, ...]]:
    """The rows as texts, in their order."""
    if path.suffix == ".csv":
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    else:
        frame = pd.read_parquet(path)
    return list(zip(*(frame[name].map(canonical) for name in frame), strict=True))


def test_a_seed_gives_one_order_and_no_seed_another(tmp_path: Path) -> None:
    own = solution(scanned())
    orders = []
    for i, seed in enumerate([1, 1, 2, None, None]):
        own.write(tmp_path / f"{i}.csv", seed=seed)
        folder = tmp_path / f"{i}.csv"
        orders.append(b"".join(p.read_bytes() for p in sorted(folder.iterdir())))
    assert orders[0] == orders[1]
    assert len(set(orders)) == 4


def test_rows_of_a_partition_are_everywhere(tmp_path: Path) -> None:
    frame = people(900).assign(grade=np.repeat([1, 2, 3], 300))
    solution(scanned(frame)).write(tmp_path / "out.parquet", seed=1)
    for path in sorted((tmp_path / "out.parquet").iterdir()):
        grades = pd.read_parquet(path)["grade"]
        assert 200 < len(grades) < 400
        assert grades.value_counts().min() > 60
        assert abs(np.corrcoef(np.arange(len(grades)), grades)[0, 1]) < 0.2


def test_existing_files_and_odd_names_are_refused(tmp_path: Path) -> None:
    own = solution(scanned())
    with pytest.raises(FileError, match=r"is written as \.csv or \.parquet"):
        own.write(tmp_path / "folder")
    with pytest.raises(FileError, match="there is no folder"):
        own.write(tmp_path / "no" / "out.parquet")
    own.write(tmp_path / "out.parquet", seed=1)
    before = [p.read_bytes() for p in sorted((tmp_path / "out.parquet").iterdir())]
    with pytest.raises(FileError, match="exists already"):
        own.write(tmp_path / "out.parquet", seed=2)
    assert [p.read_bytes() for p in sorted((tmp_path / "out.parquet").iterdir())] == before
    own.write(tmp_path / "out.parquet", seed=2, force=True)
    assert [p.read_bytes() for p in sorted((tmp_path / "out.parquet").iterdir())] != before
    (tmp_path / "out.parquet" / "mine.txt").write_text("mine")
    with pytest.raises(FileError, match="files that are not parts"):
        own.write(tmp_path / "out.parquet", seed=2, force=True)
    assert (tmp_path / "out.parquet" / "mine.txt").read_text() == "mine"
    (tmp_path / "file.parquet").write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        own.write(tmp_path / "file.parquet")
    own.write(tmp_path / "file.parquet", force=True)
    assert (tmp_path / "file.parquet").is_dir()


def test_a_wrong_copy_is_found_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = solution(scanned())
    join = parts_module._join

    def lossy(number: int, how: Any, path: Path, written: Any) -> None:
        join(number, how, path, written)
        part = path / f"part-{number:05d}.parquet"
        pd.read_parquet(part).iloc[1:].to_parquet(part, index=False)

    monkeypatch.setattr(parts_module, "_join", lossy)
    with pytest.raises(AuditError, match="can be read; nothing is released"):
        own.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = solution(scanned())
    join = parts_module._join

    def stopped(number: int, *args: Any) -> None:
        if number == 1:
            raise KeyboardInterrupt
        join(number, *args)

    monkeypatch.setattr(parts_module, "_join", stopped)
    with pytest.raises(KeyboardInterrupt):
        own.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_an_existing_release_stays_where_a_new_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = solution(scanned())
    own.write(tmp_path / "out.parquet", seed=1)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    rename = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name == "parts.parquet":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(FileError, match=r"cannot be written \(No space left"):
        own.write(tmp_path / "out.parquet", seed=2, force=True)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_partition_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    frame = people()
    sick: list[bool] = []

    def sometimes(part: pd.DataFrame) -> pd.DataFrame:
        return failing(part) if sick else part

    source = dd.from_pandas(frame, npartitions=5)
    source = source.map_partitions(sometimes, meta=source._meta)
    own = solution(Table.scan(source, **ROLES))
    sick.append(True)
    # The column `name` is not released, and so not read: here it must be.
    own.table.source.partitions.frame = source.assign(note=source["name"])
    with pytest.raises(TableError, match=r"partition 3 .*cannot be read"):
        own.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_what_only_some_partitions_have_fits_together(tmp_path: Path) -> None:
    frame = people(60)
    pieces = [frame.iloc[:30].copy(), frame.iloc[30:].copy()]
    pieces[0]["extra"] = range(30)
    pieces[1]["extra"] = [0.5, None] * 15
    pieces[0]["none"] = None
    pieces[1]["none"] = "text"
    source = dd.from_map(lambda i: pieces[i], range(2), meta=pieces[1].iloc[:0])
    own = solution(Table.scan(source, **ROLES))
    own.write(tmp_path / "out.parquet")
    rows = rows_of(tmp_path / "out.parquet")
    assert rows["extra"].dtype == float
    pieces[1]["extra"] = "text"
    own = solution(Table.scan(source, **ROLES))
    with pytest.raises(ReleaseError, match=r"column 'extra' has values of different types"):
        own.write(tmp_path / "other.parquet")
    assert not [p for p in tmp_path.iterdir() if "other" in p.name]


SCRIPT = """
import os, signal, sys
import dask, dask.dataframe as dd
from tests.engines.test_dask_release import scanned
from tests.engines.test_scanned_release import solution
from privmoo.engines.dask import copy
dask.config.set(scheduler="synchronous")
copy._join = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
options = {"temporary": sys.argv[2]} if sys.argv[2:] else {}
solution(scanned(**options)).write(sys.argv[1])
"""


@pytest.mark.parametrize("by_option", [False, True])
def test_what_a_killed_process_left_is_swept(
    tmp_path: Path, by_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Original values are in the temporary folder, never beside the publication."""
    public, temporary = tmp_path / "public", tmp_path / "temporary"
    public.mkdir()
    temporary.mkdir()
    options: dict[str, Any] = {"temporary": temporary} if by_option else {}
    command = [sys.executable, "-c", SCRIPT, str(public / "out.parquet")]
    variables = {} if by_option else {"TMPDIR": str(temporary)}
    ended = subprocess.run(
        [*command, *map(str, options.values())],
        env=environment(**variables),
        check=False,
    )
    assert ended.returncode == -9
    files = [p.name for p in public.rglob("*") if p.is_file()]
    assert files == ["privmoo-temporary"]  # not a single row
    folder = next(temporary.iterdir())
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {"released", "pieces"} <= {p.name for p in folder.iterdir()}
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    solution(scanned(**options)).write(public / "out.parquet")
    names = ["out.certificate.json", "out.certificate.txt", "out.parquet"]
    assert sorted(p.name for p in public.iterdir()) == names
    assert not list(temporary.iterdir())


def test_workers_that_do_not_reach_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = solution(scanned(temporary=tmp_path))
    spread = parts_module._spread

    def elsewhere(frame: pd.DataFrame, number: int, job: Any) -> Any:
        return spread(frame, number, replace(job, folder=Path("/nowhere/folder")))

    monkeypatch.setattr(parts_module, "_spread", elsewhere)
    with pytest.raises(ReleaseError, match="does not reach the temporary folder '/nowhere'"):
        own.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TableError, match="temporary: there is no folder"):
        scanned(temporary=tmp_path / "none")
