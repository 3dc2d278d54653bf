"""Whatever stands in the files: exit code 2 and one sentence, no traceback, nothing left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scenery.bad_inputs import DATA, FINE, JOBS
from tests.scenery.cli import CommandLine, here, small_job

Tried = Callable[[str], None]
AUDIT = ["--qi", "age,job", "--sensitive", "ill"]
# With every verb, and through a process of its own, only in the long run.
COMMANDS: dict[str, list[str]] = {
    "check": ["check", "job.toml"],
    "run": ["run", "job.toml", "-o", "out"],
    "analyse": ["analyse", "job.toml"],
}


def audit_of(folder: Path) -> list[str]:
    names = [p.name for p in folder.glob("people.*")]
    return ["audit", names[0] if names else "people.csv", *AUDIT]


def files(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", DATA)
def test_records(
    tmp_path: Path,
    name: str,
    tried: Tried,
) -> None:
    folder = tmp_path / "job"
    small_job(folder)
    DATA[name](folder)
    before = files(folder)
    for arguments in (COMMANDS["check"], audit_of(folder)):
        ended = here(folder, *arguments)
        tried("inputs: records")
        assert ended.is_one_sentence(), ended
        assert "person-" not in ended.said
    assert files(folder) == before


@pytest.mark.parametrize("name", [name for name in JOBS if name not in FINE])
def test_jobs(
    tmp_path: Path,
    name: str,
    tried: Tried,
) -> None:
    folder = tmp_path / "job"
    small_job(folder)
    JOBS[name](folder)
    before = files(folder)
    ended = here(folder, *COMMANDS["check"])
    tried("inputs: jobs")
    assert ended.is_one_sentence(), ended
    assert "person-" not in ended.said
    assert files(folder) == before


@pytest.mark.parametrize("name", FINE)
def test_jobs_that_look_wrong_and_are_not(
    tmp_path: Path,
    name: str,
    tried: Tried,
) -> None:
    small_job(tmp_path / "job")
    JOBS[name](tmp_path / "job")
    ended = here(tmp_path / "job", *COMMANDS["check"])
    tried("inputs: jobs")
    assert ended.code == 0 and not ended.err, ended


SOME = ["binary", "a gigantic field", "a gigantic line without end", "truncated gzip", "a pipe"]


def through_processes(
    folder: Path,
    spoil: Callable[[Path], None],
    verbs: list[str],
    command: CommandLine,
    tried: Tried,
) -> None:
    small_job(folder)
    spoil(folder)
    before = files(folder)
    for verb in verbs:
        arguments = audit_of(folder) if verb == "audit" else COMMANDS[verb]
        # Two gigabytes of addresses beyond what is there, and a minute, must do.
        ended = command(folder, *arguments, limits={"RLIMIT_CPU": 60})
        tried("inputs: through processes")
        assert ended.is_one_sentence(), (verb, ended)
        assert files(folder) == before


@pytest.mark.faults
@pytest.mark.parametrize("name", SOME)
def test_some_through_processes(
    tmp_path: Path, name: str, command: CommandLine, tried: Tried
) -> None:
    through_processes(tmp_path / "job", DATA[name], ["run", "audit"], command, tried)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DATA, *(name for name in JOBS if name not in FINE)])
def test_all_through_processes(
    tmp_path: Path, name: str, command: CommandLine, tried: Tried
) -> None:
    spoil = {**DATA, **JOBS}[name]
    verbs = [*COMMANDS, "audit"] if name in DATA else ["check", "run"]
    through_processes(tmp_path / "job", spoil, verbs, command, tried)


@pytest.mark.faults
def test_ten_thousand_columns_are_no_problem(
    tmp_path: Path, command: CommandLine, tried: Tried
) -> None:
    names = [f"c{i}" for i in range(10_000)]
    rows = ["age,job,sex,ill," + ",".join(names)]
    rows += [
        f"{20 + i % 40},{'abcdef'[i % 6]},{'fm'[i % 2]},{'xyz'[i % 3]}" + ",1" * 10_000
        for i in range(20)
    ]
    folder = tmp_path / "job"
    job = small_job(folder)
    job.write_text(job.read_text().replace('name = "identifying"\n', ""))
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    for arguments in (COMMANDS["check"], audit_of(folder)):
        ended = command(folder, *arguments, limits={"RLIMIT_CPU": 60})
        tried("inputs: records")
        assert ended.code == 0, ended.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
def test_a_byte_order_mark_is_no_part_of_a_name(
    tmp_path: Path,
    encoding: str,
    tried: Tried,
) -> None:
    folder = tmp_path / "job"
    job = small_job(folder)
    text = (folder / "people.csv").read_text()
    (folder / "people.csv").write_text(text.replace("name,age", "age,name", 1), encoding=encoding)
    job.write_text(job.read_text(), encoding=encoding)
    (folder / "job.csv").write_text((folder / "job.csv").read_text(), encoding=encoding)
    ended = here(folder, *audit_of(folder))
    tried("inputs: records")
    assert ended.code == 0, ended.err
