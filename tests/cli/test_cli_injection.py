"""Every call to the system fails once, in turn: files are the old ones or the complete new ones."""

from __future__ import annotations

import builtins
import errno
import os
import pathlib
import shutil
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from privmoo._util.files import write_text
from privmoo.cli.run_folder import RunFolder, hashes
from privmoo.config import Config
from privmoo.errors import PrivmooError
from privmoo.front import Front
from tests.scenery.cli import check_release, check_run, here, small_job, state_of

Tried = Callable[[str], None]
CALLS = ("replace", "link", "fsync", "open", "chmod", "unlink", "mkdir", "rename")


class Failing:
    """Lets the call with a number fail, among those that touch files below a folder."""

    def __init__(self, folder: Path, number: int, kind: str) -> None:
        self.folder, self.number, self.kind = str(folder), number, kind
        self.count = 0

    def hit(self, kind: str, where: object) -> bool:
        ours = isinstance(where, int) or str(where).startswith(self.folder)
        if kind != self.kind or not ours:
            return False
        self.count += 1
        return self.count == self.number

    @contextmanager
    def patched(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        def wrap(kind: str, function: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                if self.hit(kind, args[0]):
                    raise OSError(errno.EIO, os.strerror(errno.EIO), str(args[0]))
                return function(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for kind in CALLS:
                patch.setattr(os, kind, wrap(kind, getattr(os, kind)))
            opening = wrap("open", builtins.open)
            patch.setattr(builtins, "open", opening)
            patch.setattr(pathlib.io, "open", opening)  # type: ignore[attr-defined]
            yield


def every_failure(
    folder: Path,
    act: Callable[[], object],
    whole: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    tried: Tried,
) -> int:
    """Act again and again, a later call failing each time; returns how many failures there were."""
    failures = 0
    kept = folder.parent / "kept"
    shutil.copytree(folder, kept)
    for kind in CALLS:
        for number in range(1, 200):
            shutil.rmtree(folder)
            shutil.copytree(kept, folder)
            before = state_of(folder)
            failing = Failing(folder, number, kind)
            failed = False
            with failing.patched(monkeypatch):
                try:
                    act()
                except (PrivmooError, OSError):
                    failed = True
            if failing.count < number:
                assert not failed
                break
            tried("faults: a call of the system fails")
            failures += 1
            after = {
                n: h for n, h in state_of(folder).items() if not n.split("/")[-1].startswith(".")
            }
            if failed and after == before:
                continue
            whole()
    return failures


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("done") / "job"
    small_job(folder, generations=3)
    assert here(folder, "run", "job.toml", "-o", "out", "-q").code == 0
    return folder


@pytest.mark.faults
@pytest.mark.parametrize("exists", [False, True], ids=["new", "over an old one"])
def test_release(
    done: Path, tmp_path: Path, exists: bool, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    _, front = RunFolder(done / "out").load()
    made = front.knee().release()
    target = tmp_path / "public" / "public.csv"
    target.parent.mkdir()
    if exists:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is the second release
            front.best("k").release().write(target)
    failures = every_failure(
        target.parent,
        lambda: made.write(target, force=True),
        lambda: check_release(target),
        monkeypatch,
        tried,
    )
    assert failures > 15


@pytest.mark.faults
@pytest.mark.parametrize("exists", [False, True], ids=["new", "over an old one"])
def test_results_of_a_run(
    done: Path, tmp_path: Path, exists: bool, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    config = Config.load(done / "job.toml")
    front = Front.load(done / "out" / "front.npz", problem=config.problem)
    inputs = hashes(config)
    out = tmp_path / "out"
    out.mkdir()
    if exists:
        shutil.copytree(done / "out", out, dirs_exist_ok=True)
    (out / "checkpoint.log").write_bytes(b"x")
    # Pictures take a second each, and how they are written does not matter here.
    monkeypatch.setattr("privmoo.cli.run_folder._write_views", pretend)
    failures = every_failure(
        out,
        lambda: RunFolder(out).finish(config, front, inputs),
        lambda: check_run(out),
        monkeypatch,
        tried,
    )
    assert failures > 20


def pretend(front: Front, folder: Path) -> None:
    front.save(folder / "front.npz")
    for name in ("front.csv", "front.png", "front.html"):
        write_text(folder / name, f"new {name}", force=False)


def test_folders_of_the_user_beside_results_stay(tmp_path: Path) -> None:
    out = tmp_path / "out2"
    (out / ".new-thesis").mkdir(parents=True)
    (out / ".new-thesis" / "chapter.txt").write_text("mine")
    RunFolder(out).begin(resume=False, force=False)
    assert (out / ".new-thesis" / "chapter.txt").read_text() == "mine"
