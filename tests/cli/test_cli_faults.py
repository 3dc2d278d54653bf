"""Nothing is lost: commands that are killed, interrupted or run out of room leave the old or the new."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.scenery.cli import (
    CommandLine,
    after,
    check_release,
    check_run,
    hash_of,
    small_job,
    state_of,
    when_there,
)

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL"),
]
Tried = Callable[[str], None]
SHORT, LONG = 6, 60
MANY = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, command: CommandLine
) -> tuple[Path, float]:
    """A folder with a job and its run in `out`, and how long the run took."""
    folder = tmp_path_factory.mktemp("undisturbed") / "job"
    small_job(folder)
    command(folder, "check", "job.toml")  # whatever is done once is done
    ended = command(folder, "run", "job.toml", "-o", "out", "-q")
    assert ended.code == 0, ended.err
    check_run(folder / "out")
    return folder, ended.seconds


def finish(command: CommandLine, folder: Path) -> None:
    """Do what the user of a run that was killed would do."""
    out = folder / "out"
    if (out / "checkpoint.log").exists():
        ended = command(folder, "run", "job.toml", "-o", "out", "-q", "--resume")
    elif (out / "run.json").exists():
        return
    else:  # it was killed before there was anything to continue
        ended = command(folder, "run", "job.toml", "-o", "out", "-q")
    assert ended.code == 0, ended.err


def same_front(folder: Path, undisturbed: Path) -> None:
    out = folder / "out"
    check_run(out)
    assert (out / "front.csv").read_bytes() == (undisturbed / "out" / "front.csv").read_bytes()
    assert sorted(p.name for p in out.iterdir()) == sorted(
        p.name for p in (undisturbed / "out").iterdir()
    )


@pytest.mark.parametrize("times", MANY)
def test_kill_during_run(
    tmp_path: Path,
    times: int,
    undisturbed: tuple[Path, float],
    command: CommandLine,
    tried: Tried,
) -> None:
    original, seconds = undisturbed
    patterns = [
        ".privmoo-*",
        ".privmoo-*/front.csv",
        ".privmoo-*/front.html",
        ".privmoo-*/new.npz",
        "front.npz",
    ]
    killed = 0
    for i in range(times):
        folder = tmp_path / str(i)
        small_job(folder)
        out = folder / "out"
        for again in range(2):  # the second one is killed as well
            if (out / "run.json").exists() and not (out / "checkpoint.log").exists():
                break
            resume = ["--resume"] if (out / "checkpoint.log").exists() else []
            if i % 2:
                pattern = patterns[(i // 2 + again) % len(patterns)]
                blow = when_there(out, pattern, random.random() * 0.01)
            else:
                blow = after(seconds * (i + random.random() * 2) / times * (0.7 if again else 1))
            ended = command(folder, "run", "job.toml", "-o", "out", "-q", *resume, meanwhile=blow)
            tried("faults: kill -9 run")
            assert ended.code in (0, -signal.SIGKILL), ended.err
            killed += ended.code != 0
            if (out / "run.json").exists():
                check_run(out)
        finish(command, folder)
        same_front(folder, original)
    assert killed  # how often depends on the machine


def test_kill_during_a_second_run_keeps_the_first(
    tmp_path: Path, undisturbed: tuple[Path, float], command: CommandLine, tried: Tried
) -> None:
    original, seconds = undisturbed
    folder = tmp_path / "job"
    shutil.copytree(original, folder)
    before = state_of(folder / "out")
    del before["PRIVATE.txt"]  # says the same of any run
    job = folder / "job.toml"
    job.write_text(job.read_text().replace("seed = 7", "seed = 8"))
    for share in (0.4, 0.7):
        ended = command(
            folder,
            "run",
            "job.toml",
            "-o",
            "out",
            "-q",
            "--force",
            meanwhile=after(seconds * share),
        )
        tried("faults: kill -9 run")
        if ended.code == -signal.SIGKILL:
            check_run(folder / "out")
            state = state_of(folder / "out")
            now = {name: state.get(name) for name in before}
            assert now == before or not set(now.values()) & set(before.values())
    ended = command(folder, "run", "job.toml", "-o", "out", "-q", "--force")
    assert ended.code == 0, ended.err
    check_run(folder / "out")


def test_kill_of_the_command_itself(
    tmp_path: Path, undisturbed: tuple[Path, float], command: CommandLine, tried: Tried
) -> None:
    """Once without the server of this test: the command as it is typed."""
    typed = [sys.executable, "-m", "privmoo.cli", "run", "job.toml", "-o", "out", "-q"]
    for attempt in range(20):  # on a busy machine the run may end before it is killed
        folder = tmp_path / str(attempt)
        small_job(folder)
        process = subprocess.Popen(typed, cwd=folder, stdout=subprocess.DEVNULL)
        while not (folder / "out" / "checkpoint.log").exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        tried("faults: kill -9 run")
        if process.wait() == -signal.SIGKILL and (folder / "out" / "checkpoint.log").exists():
            break
    else:
        pytest.fail("the run was never killed in the middle")
    done = subprocess.run([*typed, "--resume"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    same_front(folder, undisturbed[0])


@pytest.mark.parametrize("times", MANY)
@pytest.mark.parametrize("exists", [False, True], ids=["new", "over an old one"])
def test_kill_during_release(
    tmp_path: Path,
    times: int,
    exists: bool,
    undisturbed: tuple[Path, float],
    command: CommandLine,
    tried: Tried,
) -> None:
    original, _ = undisturbed
    folder = tmp_path / "job"
    shutil.copytree(original, folder)
    target = folder / "public" / "public.csv"
    target.parent.mkdir()
    arguments = ["release", "out", "--knee", "-o", "public/public.csv", "--force"]
    seconds = command(folder, *arguments).seconds
    patterns = [".privmoo-*/new.csv", ".privmoo-*/new.txt", "public.certificate.txt"]
    names = ["public.csv", "public.certificate.json", "public.certificate.txt"]
    killed = 0
    for i in range(times):
        for name in [] if exists else names:
            (target.parent / name).unlink(missing_ok=True)
        before = {name: state_of(target.parent).get(name) for name in names}
        if i % 2 and not (exists and patterns[i // 2 % 3] == names[2]):
            blow = when_there(target.parent, patterns[i // 2 % 3], random.random() * 0.01)
        else:
            blow = after(seconds * (i + random.random() * 2) / times)
        ended = command(folder, *arguments, meanwhile=blow)
        tried("faults: kill -9 release")
        assert ended.code in (0, -signal.SIGKILL), ended.err
        killed += ended.code != 0
        now = {name: state_of(target.parent).get(name) for name in names}
        if now != before and target.exists():
            check_release(target)
        elif exists:
            assert now == before
        remembered = folder / "out" / "released.json"
        assert isinstance(json.loads(remembered.read_text()), list)
    assert killed  # how often depends on the machine
    done = command(folder, *arguments)
    assert done.code == 0, done.err
    check_release(target)
    # What killed commands left behind is gone.
    assert sorted(p.name for p in target.parent.iterdir()) == sorted(names)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupted(
    tmp_path: Path,
    number: signal.Signals,
    undisturbed: tuple[Path, float],
    command: CommandLine,
    tried: Tried,
) -> None:
    for attempt in range(20):  # on a busy machine the run may end before it is interrupted
        out = tmp_path / str(attempt) / "out"
        small_job(out.parent)
        blow = when_there(out, "checkpoint.log", 0.02, number)
        ended = command(out.parent, "run", "job.toml", "-o", "out", "-q", meanwhile=blow)
        tried(f"faults: {number.name} run")
        if ended.code:
            break
    assert ended.code == 130, ended.err
    assert ended.err.splitlines()[-1].startswith("privmoo: stopped")
    assert [p.name for p in out.iterdir()] == ["checkpoint.log"]
    ended = command(out.parent, "run", "job.toml", "-o", "out", "-q", "--resume")
    assert ended.code == 0, ended.err
    same_front(out.parent, undisturbed[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_interrupted_at_any_moment(
    tmp_path: Path,
    number: signal.Signals,
    times: int,
    undisturbed: tuple[Path, float],
    command: CommandLine,
    tried: Tried,
) -> None:
    original, seconds = undisturbed
    for i in range(times):
        folder = tmp_path / str(i)
        small_job(folder)
        blow = after(0.05 + seconds * (i + random.random()) / times, number)
        ended = command(folder, "run", "job.toml", "-o", "out", "-q", meanwhile=blow)
        tried(f"faults: {number.name} run")
        # SIGTERM ends the process by itself where it comes before the command has begun.
        assert ended.code in (0, 130, -number), ended.err
        assert "Traceback" not in ended.err
        finish(command, folder)
        same_front(folder, original)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with little room; only the superuser can make one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = (
        shutil.which("mount") is not None
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True
        ).returncode
    )
    if not mounted:
        pytest.skip("a tmpfs cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(place: Path, leave: int) -> Path:
    """Use up the room of a disk but for so many bytes."""
    facts = os.statvfs(place)
    free = facts.f_bavail * facts.f_frsize
    filler = place / "filler"
    filler.write_bytes(bytes(max(0, free - leave)))
    return filler


def test_disk_full_during_run(
    small_disk: Path, undisturbed: tuple[Path, float], command: CommandLine, tried: Tried
) -> None:
    for leave in (0, 4096, 8192, 16384, 65536, 131072, 196608, 262144):
        folder = small_disk / f"job-{leave}"
        small_job(folder)
        (folder / "out").mkdir(mode=0o700)
        filler = fill(small_disk, leave)
        ended = command(folder, "run", "job.toml", "-o", "out", "-q")
        tried("faults: disk full run")
        if ended.code:
            assert ended.is_one_sentence(), ended
            assert "No space left" in ended.err
            left = {p.name for p in (folder / "out").iterdir()}
            assert left <= {"checkpoint.log"}, left
        else:
            assert leave > 100_000
        filler.unlink()
        finish(command, folder)
        same_front(folder, undisturbed[0])
        shutil.rmtree(folder)


def test_disk_full_during_release(
    small_disk: Path, undisturbed: tuple[Path, float], command: CommandLine, tried: Tried
) -> None:
    folder = small_disk / "job"
    shutil.copytree(undisturbed[0], folder)
    arguments = ["release", "out", "--knee", "-o", "public.csv"]
    for leave in (0, 4096, 8192, 16384, 32768, 65536, 131072):
        before = state_of(folder)
        filler = fill(small_disk, leave)
        ended = command(folder, *arguments)
        tried("faults: disk full release")
        filler.unlink()
        if ended.code:
            assert ended.is_one_sentence(), ended
            assert "No space left" in ended.err
            if (folder / "public.csv").exists():
                check_release(folder / "public.csv")  # only that it was made is not noted
                break
            assert state_of(folder) == before
        else:
            check_release(folder / "public.csv")
            break
    else:
        pytest.fail("no release fitted")
    assert command(folder, *arguments, "--force").code == 0
    check_release(folder / "public.csv")


@pytest.mark.parametrize("most", [0, 100, 1000, 5000, 20_000, 60_000])
def test_files_that_may_not_grow(
    tmp_path: Path,
    most: int,
    undisturbed: tuple[Path, float],
    command: CommandLine,
    tried: Tried,
) -> None:
    """The same by a limit of the process, which needs no rights; output goes to a device."""
    folder = tmp_path / "job"
    small_job(folder)
    limits, nowhere = {"RLIMIT_FSIZE": most}, {"out": os.devnull, "err": os.devnull}
    ended = command(folder, "run", "job.toml", "-o", "out", "-q", limits=limits, **nowhere)
    tried("faults: file too large run")
    assert ended.code == 2
    left = {p.name for p in (folder / "out").iterdir()} if (folder / "out").exists() else set()
    assert left <= {"checkpoint.log"}, left
    finish(command, folder)
    same_front(folder, undisturbed[0])
    before = state_of(folder)
    ended = command(
        folder, "release", "out", "--knee", "-o", "public.csv", limits=limits, **nowhere
    )
    tried("faults: file too large release")
    if ended.code:
        assert ended.code == 2
        assert state_of(folder) == before
    else:
        check_release(folder / "public.csv")


def test_output_that_cannot_be_written(
    undisturbed: tuple[Path, float], command: CommandLine, tried: Tried
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs the device /dev/full")
    for arguments in (
        ["datasets"],
        ["choose", "out", "--knee"],
        ["choose", "out"],
        ["check", "job.toml"],
    ):
        ended = command(undisturbed[0], *arguments, out="/dev/full")
        tried("faults: disk full output")
        assert ended.is_one_sentence(), ended


def test_a_run_whose_records_change_meanwhile_is_not_taken_for_theirs(
    tmp_path: Path, command: CommandLine, tried: Tried
) -> None:
    folder = tmp_path / "job"
    small_job(folder)

    def change(process: int) -> None:
        when_there(folder / "out", "checkpoint.log", 0, 0)(process)
        with (folder / "people.csv").open("a") as file:
            file.write("person-x,33,a,f,flu\n")

    ended = command(folder, "run", "job.toml", "-o", "out", "-q", meanwhile=change)
    tried("faults: input changed run")
    assert ended.code == 0, ended.err
    facts = json.loads((folder / "out" / "run.json").read_text())
    assert facts["inputs"]["people.csv"] != hash_of(folder / "people.csv")
    ended = command(folder, "choose", "out", "--knee")
    assert ended.is_one_sentence() and "has changed since the run" in ended.err
