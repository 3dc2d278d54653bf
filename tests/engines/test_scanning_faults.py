"""Whatever happens to files, disk or patience: a whole result, or one sentence and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo import Hierarchy, Table
from privmoo.errors import PrivmooError, TableError
from tests.engines.test_scanned_release import ROLES, people, solution
from tests.scenery.paths import TOP, environment
from tests.scenery.scanning import scans

pytest.importorskip("duckdb")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Four Parquet files in a folder."""
    return scans(people(4000), tmp_path / "in", n_parts=4)["parquet parts"]


@pytest.fixture
def spilled(tmp_path: Path) -> Path:
    folder = tmp_path / "spilled"
    folder.mkdir()
    return folder


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def scrambled(path: Path) -> None:
    """The end of the file, which tells the columns, stays as it is."""
    data = bytearray(path.read_bytes())
    noise = np.random.default_rng(1).integers(0, 256, len(data) // 2, dtype=np.uint8)
    data[4 : 4 + len(noise)] = noise.tobytes()
    path.write_bytes(bytes(data))


def other_type(path: Path) -> None:
    frame = pd.read_parquet(path)
    frame.assign(age=frame["age"].astype(str)).to_parquet(path, index=False)


def fewer_columns(path: Path) -> None:
    pd.read_parquet(path).drop(columns="zip").to_parquet(path, index=False)


def more_columns(path: Path) -> None:
    pd.read_parquet(path).assign(more=1).to_parquet(path, index=False)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (truncated, "part-2.parquet is not a readable Parquet file"),
        (scrambled, "parquet"),
        (other_type, "part-2.parquet: column 'age' is .*string, but int64 in .*part-0.parquet"),
        (fewer_columns, "part-2.parquet lacks the column 'zip' that .*part-0.parquet has"),
        (more_columns, "part-2.parquet has a column 'more' that .*part-0.parquet lacks"),
    ],
)
def test_a_damaged_part(
    damage: Callable[[Path], None], said: str, parts: Path, spilled: Path
) -> None:
    damage(parts / "part-2.parquet")
    with pytest.raises(TableError, match=said) as caught:
        Table.scan(parts, temporary=spilled, **ROLES)
    assert "\n" not in str(caught.value)
    assert not list(spilled.iterdir())


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_a_part_that_breaks_after_the_scan(parts: Path, spilled: Path, tmp_path: Path) -> None:
    chosen = solution(Table.scan(parts, temporary=spilled, **ROLES))
    scrambled(parts / "part-2.parquet")
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(PrivmooError) as caught:
        chosen.write(out / "release.parquet")
    assert "\n" not in str(caught.value)
    assert not list(out.iterdir())
    assert not list(spilled.iterdir())


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_a_part_that_changes_after_the_scan(parts: Path, tmp_path: Path) -> None:
    chosen = solution(Table.scan(parts, **ROLES))
    people(1000, seed=9).to_parquet(parts / "part-2.parquet", index=False)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(PrivmooError, match="nothing is released"):
        chosen.write(out / "release.parquet")
    assert not list(out.iterdir())


def test_no_files(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"the folder has no .parquet and no .csv file"):
        Table.scan(tmp_path, **ROLES)
    with pytest.raises(TableError, match="no such file"):
        Table.scan(tmp_path / "none.csv", **ROLES)
    with pytest.raises(TableError, match="no such file"):
        Table.scan(str(tmp_path / "*.parquet"), **ROLES)
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(TableError, match=r"only .parquet and .csv files can be scanned"):
        Table.scan(tmp_path / "a.xlsx", **ROLES)
    with pytest.raises(
        TableError, match=r"must be .*a file, a folder, a pattern or .*, got DataFrame"
    ):
        Table.scan(people(3), **ROLES)
    scans(people(10), tmp_path)
    with pytest.raises(TableError, match="has Parquet and CSV files; scan one kind"):
        Table.scan(tmp_path, **ROLES)
    people(10).iloc[:0].to_parquet(tmp_path / "none.parquet", index=False)
    with pytest.raises(TableError, match="has columns but no rows"):
        Table.scan(tmp_path / "none.parquet", **ROLES)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3\n",
        "a,b\n1,2\n3,4,5\n",
        "a,b\n",
        "",
        "a,a\n1,2\n",
        "a,b\n1,2\n1,2\n",
    ],
)
def test_csv_files_are_refused_as_in_memory(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    said = []
    for make in (Table.read_csv, Table.scan):
        try:
            make(path, quasi_identifiers=["a"], sensitive=["b"])
        except TableError as error:
            said.append(str(error))
    assert len(said) == 2
    assert said[0] == said[1]


def test_csv_messages_quote_no_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text in (b'a,b\n1,2\n"secret,4\n', b"a,b\n1,secret\xff\n3,4\n", b'a,b\n"secret"x,2\n'):
        path.write_bytes(text)
        with pytest.raises(TableError) as caught:
            Table.scan(path, quasi_identifiers=["a"])
        assert "secret" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith(str(path))


def test_headers_must_agree(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(
        TableError, match=r"2.csv: its header differs from that of .*1.csv \(column 'c'\)"
    ):
        Table.scan(tmp_path, quasi_identifiers=["a"])


def test_ctrl_c_ends_a_query_and_leaves_nothing(spilled: Path) -> None:
    from privmoo.engines.duckdb.session import Limits, session

    limits = Limits(temporary=spilled, threads=1)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])

    def query() -> None:
        with session("long", limits) as duckdb:
            timer.start()
            duckdb.arrow(  # hours, if nothing ends it
                "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range < b.range % 7"
            )

    with pytest.raises(KeyboardInterrupt):
        query()
    assert not list(spilled.iterdir())


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_an_interrupted_release_leaves_nothing(
    parts: Path, spilled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privmoo.engines.duckdb.source import DuckSource

    chosen = solution(Table.scan(parts, temporary=spilled, **ROLES))
    out = tmp_path / "out"
    out.mkdir()

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckSource, "recount", interrupted)
    with pytest.raises(KeyboardInterrupt):
        chosen.write(out / "release.parquet")
    assert not list(out.iterdir())
    assert not list(spilled.iterdir())


@pytest.mark.faults
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_full_disk(ending: str, parts: Path, spilled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = f"""
        import resource, warnings
        from tests.engines.test_scanned_release import ROLES, solution
        from privmoo import Table
        from privmoo.errors import PrivmooError
        warnings.simplefilter("ignore")
        chosen = solution(Table.scan({str(parts)!r}, temporary={str(spilled)!r}, **ROLES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        try:
            chosen.write({str(out / "release")!r} + ".{ending}")
        except PrivmooError as error:
            print("said:", error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=TOP,
        env=environment(),
        check=False,
    )
    assert "said: " in done.stdout, done.stderr[-2000:]
    assert "cannot be written (the disk is full, there or in the" in done.stdout
    assert not list(out.iterdir())
    assert not list(spilled.iterdir())


def test_too_many_tuples_are_foreseen(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    n = 20_000
    frame = pd.DataFrame(
        {"zip": [f"{v:06d}" for v in rng.integers(0, 10**6, n)], "sex": rng.choice(["f", "m"], n)}
    )
    for kind, path in scans(frame, tmp_path).items():
        with pytest.raises(TableError) as caught:
            Table.scan(
                path,
                quasi_identifiers={"zip": Hierarchy.masking(), "sex": None},
                max_tuples=2000,
            )
        said = str(caught.value)
        assert "distinct combinations of quasi-identifiers, and at most 2,000 would fit" in said, (
            kind
        )
        assert "granulate 'zip'" in said
        assert "there would be about 2 combinations without it" in said
        assert "of its hierarchy instead" in said


def test_too_many_tuples_that_a_sample_did_not_show(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.r_[np.zeros(5000, int), np.arange(5000)]})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(TableError, match="more than 1,000 distinct combinations"):
        Table.scan(path, quasi_identifiers=["a"], max_tuples=1000)
    assert Table.scan(path, quasi_identifiers=["a"], max_tuples=6000).n_tuples == 5000


@pytest.mark.faults
@pytest.mark.parametrize("n_parts", [1, 3])
def test_rows_of_csv_files_are_foreseen(n_parts: int, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": np.arange(250_000), "b": "some text"})
    folder = scans(frame, tmp_path, n_parts)["csv parts"]
    assert Table.scan(folder, quasi_identifiers=["a"], max_tuples=300_000).n_tuples == 250_000
    with pytest.raises(TableError, match=r"has about 2[2-5]\d,\d{3} distinct combinations"):
        Table.scan(folder, quasi_identifiers=["a"], max_tuples=150_000)


def test_a_file_that_is_not_packed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_text("secret\n1\n2\n")
    for read in (Table.read_csv, Table.scan):
        with pytest.raises(TableError, match="not packed by gzip") as caught:
            read(path, quasi_identifiers=["a"])
        assert "se" not in str(caught.value).split("file:")[1]


def test_wrong_limits(tmp_path: Path) -> None:
    path = scans(people(20), tmp_path)["parquet"]
    for wrong in (
        {"memory": "much"},
        {"memory": "1MB"},
        {"memory": "9999999TB"},
        {"threads": 0},
        {"threads": 1.5},
        {"threads": "2"},
        {"temporary": tmp_path / "none"},
        {"max_tuples": 0},
        {"missing": "maybe"},
    ):
        with pytest.raises(TableError, match=next(iter(wrong))):
            Table.scan(path, **{**ROLES, **wrong})


def test_an_engine_that_does_not_start_leaves_nothing(
    parts: Path, spilled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise duckdb.InvalidInputException("no such setting")

    monkeypatch.setattr(duckdb, "connect", fails)
    with pytest.raises(TableError, match=r"cannot be read \(InvalidInputException\)"):
        Table.scan(parts, temporary=spilled, **ROLES)
    assert not list(spilled.iterdir())


def test_wrong_separators_and_long_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,note\n1,a\n2,b\n")
    for read in (Table.read_csv, Table.scan):
        with pytest.raises(TableError, match="separator: must be one character, got '::'"):
            read(path, separator="::", quasi_identifiers=["age"])
    path.write_text("age,note\n1," + "a" * 2_500_000 + "\n2,b\n")
    with pytest.raises(TableError, match="a line is longer than DuckDB reads"):
        Table.scan(path, quasi_identifiers=["age"])


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scans(people(20), tmp_path)["parquet"]
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(TableError, match=r"install privmoo\[duckdb\]"):
        Table.scan(path, **ROLES)


def test_what_a_killed_process_spilled_is_removed(tmp_path: Path) -> None:
    from privmoo._util.folders import TemporaryFolder

    frame = pd.DataFrame({"a": [1, 2]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    place = tmp_path / "spilled"
    place.mkdir()
    script = (
        "import os, sys, pathlib; from privmoo._util.folders import TemporaryFolder; "
        "(TemporaryFolder(pathlib.Path(sys.argv[1])).path / 'records').touch(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(place)], check=False)
    mine = TemporaryFolder(place).path  # of a process that lives
    assert [path for path in place.iterdir() if path != mine] == []
    for name in (".privmoo-notes", ".privmoo-0123456789abcdef"):
        (place / name).mkdir()
        (place / name / "records").touch()
    Table.scan(tmp_path / "t.csv", quasi_identifiers=["a"], temporary=place)
    left = {mine.name, ".privmoo-notes", ".privmoo-0123456789abcdef"}
    assert {path.name for path in place.iterdir()} == left
