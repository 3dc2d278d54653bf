"""A table of PostgreSQL is scanned where it is, and is what the same records in memory are."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privmoo as pm
from privmoo.engines.duckdb.database import _without_password, is_address
from privmoo.errors import TableError
from tests.scenery.scanning import same

ROLES: dict[str, Any] = {
    "quasi_identifiers": {"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()},
    "sensitive": ["ill"],
    "insensitive": ["weight"],
}
ROWS = [
    (20 + i % 5, ["f", "m", None][i % 3], ["flu", "cold"][i % 2], 50 + i % 4) for i in range(60)
]
FRAME = pd.DataFrame(ROWS, columns=["age", "sex", "ill", "weight"])
CREATE = "CREATE TABLE people (age int, sex text, ill varchar(9), weight float);"


def _as_server(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program; a server of PostgreSQL refuses to run as root."""
    if os.getuid() == 0:
        account = pwd.getpwnam("nobody")
        options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The address of a database with a table, a view and a schema."""
    pytest.importorskip("duckdb")
    pytest.importorskip("duckdb_extension_postgres_scanner")
    programs = {name: shutil.which(name) for name in ("initdb", "postgres", "psql")}
    if None in programs.values():
        pytest.skip("PostgreSQL is not installed")
    # The path of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.getuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    try:
        data = str(folder / "data")
        create = [str(programs["initdb"]), "-D", data, "-A", "trust", "-U", "reader", "-N"]
        if _as_server(create, cwd=folder).wait(120):
            pytest.skip("PostgreSQL cannot create a database here")
        options = ["-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        server = _as_server([str(programs["postgres"]), "-D", data, *options], cwd=folder)
        try:
            yield _filled(str(programs["psql"]), folder, server)
        finally:
            server.terminate()
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _filled(psql: str, folder: Path, server: subprocess.Popen[bytes]) -> str:
    values = ", ".join(
        f"({age}, {'NULL' if sex is None else repr(sex)}, {ill!r}, {weight})"
        for age, sex, ill, weight in ROWS
    )
    sql = (
        f"{CREATE} INSERT INTO people VALUES {values};"  # noqa: S608
        "CREATE VIEW adults AS SELECT * FROM people WHERE age > 21;"
        "CREATE SCHEMA other; CREATE TABLE other.people AS SELECT * FROM people;"
        "CREATE TABLE nobody (age int);"
    )
    command = [psql, "-h", str(folder), "-U", "reader", "-d", "postgres", "-qc", sql]
    while subprocess.run(command, capture_output=True, check=False).returncode:
        assert server.poll() is None
        time.sleep(0.2)
    return f"postgresql://reader@/postgres?host={folder}"


def test_a_table_is_what_it_is_in_memory(database: str) -> None:
    table = pm.Table(FRAME, **ROLES)
    for name in ("people", "public.people", "other.people"):
        same(pm.Table.scan(database, table=name, **ROLES), table)
    complete = pm.Table.scan(database, table="people", missing="drop", **ROLES)
    assert complete.n_dropped == 20


def test_a_view_is_scanned_and_sampled(database: str) -> None:
    table = pm.Table.scan(database, table="adults", **ROLES)
    assert table.n_records == 36
    sample = table.sample(10, seed=1)
    assert sample.n_records == 10 and set(sample.frame["age"]) <= {22, 23, 24}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_is_written(database: str, tmp_path: Path, ending: str) -> None:
    table = pm.Table.scan(database, table="people", **ROLES)
    problem = pm.problems.Cuts(table)
    front = pm.optimize(problem, budget=3, seed=1, progress=False)
    path = tmp_path / f"public.{ending}"
    front.where(min_k=3).best("loss").write(path)
    rows = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    assert sorted(rows["weight"]) == sorted(FRAME["weight"])
    assert pm.audit.audit(rows, quasi_identifiers=["age", "sex"]).k >= 3


def test_a_table_that_changes_is_not_released(database: str, tmp_path: Path) -> None:
    folder = database.partition("host=")[2]
    psql = str(shutil.which("psql"))
    execute = [psql, "-h", folder, "-U", "reader", "-d", "postgres", "-qc"]
    subprocess.run([*execute, "CREATE TABLE moving AS SELECT * FROM people"], check=True)
    table = pm.Table.scan(database, table="moving", **ROLES)
    solution = pm.optimize(pm.problems.Cuts(table), budget=2, seed=1, progress=False).best("loss")
    subprocess.run([*execute, "DELETE FROM moving WHERE age = 20"], check=True)
    with pytest.raises(pm.errors.AuditError, match="nothing is released"):
        solution.write(tmp_path / "public.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "table: a database has several; name one"),
        ({"table": "persons"}, "there is no such table"),
        ({"table": "nobody"}, "has columns but no rows"),
        ({"table": "people", "separator": ";"}, "separator is for CSV files"),
    ],
)
def test_errors_are_one_sentence(database: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(TableError, match=message):
        pm.Table.scan(database, **options, quasi_identifiers=["age"])


def test_a_database_that_is_not_there() -> None:
    pytest.importorskip("duckdb_extension_postgres_scanner")
    address = "postgresql://reader:secret@localhost:1/census"
    with pytest.raises(TableError, match="the database cannot be reached") as caught:
        pm.Table.scan(address, table="people", quasi_identifiers=["age"])
    assert "secret" not in str(caught.value) and "reader@localhost:1" in str(caught.value)


def test_addresses(tmp_path: Path) -> None:
    assert is_address("postgres://localhost/a") and not is_address("a.parquet")
    assert not is_address(tmp_path) and not is_address("s3://bucket/a.parquet")
    assert _without_password("postgres://a:b@h/d") == "postgres://a@h/d"
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    pytest.importorskip("duckdb")
    with pytest.raises(TableError, match="table is for databases, and this is a file"):
        pm.Table.scan(tmp_path / "a.csv", table="people", quasi_identifiers=["age"])
