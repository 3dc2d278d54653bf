"""Files are written whole or not at all, several of them all or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from privmoo._util.files import replacing, write_all, write_text
from privmoo.errors import FileError


def say(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write


def state(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text() if p.is_file() else "folder" for p in folder.iterdir()}


def test_all_files_are_written(tmp_path: Path) -> None:
    write_all({tmp_path / name: say(name) for name in "abc"}, force=False)
    assert state(tmp_path) == {"a": "a", "b": "b", "c": "c"}
    write_all({tmp_path / name: say("new") for name in "bcd"}, force=True)
    assert state(tmp_path) == {"a": "a", "b": "new", "c": "new", "d": "new"}
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o666 & ~umask
    write_all({}, force=False)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_writer_that_fails_leaves_everything_as_it_was(tmp_path: Path, place: int) -> None:
    (tmp_path / "b").write_text("old")

    def full(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    writers = {tmp_path / name: full if i == place else say("new") for i, name in enumerate("abc")}
    with pytest.raises(FileError) as raised:
        write_all(writers, force=True)
    target = tmp_path / "abc"[place]
    assert str(raised.value) == f"{target} cannot be written (No space left on device)"
    assert state(tmp_path) == {"b": "old"}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_move_that_fails_is_undone(
    tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").write_text("old")
    replace, bad = Path.replace, tmp_path / "abc"[place]

    def failing(self: Path, target: Path) -> Path:
        if Path(target) == bad and self.read_text() == "new":
            raise PermissionError(errno.EPERM, "Operation not permitted", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(FileError, match=rf"^{bad} cannot be written \(Operation not"):
        write_all({tmp_path / name: say("new") for name in "abc"}, force=True)
    assert state(tmp_path) == {"b": "old"}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_target_that_cannot_be_replaced_is_told_before_anything_is_written(
    tmp_path: Path, place: int
) -> None:
    (tmp_path / "abc"[place]).mkdir()
    called: list[Path] = []
    with pytest.raises(FileError, match=f"/{'abc'[place]} is a folder"):
        write_all({tmp_path / name: called.append for name in "abc"}, force=True)
    assert not called and state(tmp_path) == {"abc"[place]: "folder"}


def test_the_last_file_is_complained_about_first(tmp_path: Path) -> None:
    files = [tmp_path / "data.certificate.json", tmp_path / "data.csv"]
    for file in files:
        file.write_text("old")
    with pytest.raises(FileError, match=r"data\.csv exists already"):
        write_all({file: say("new") for file in files}, force=False)


def test_folders_that_cannot_be_written_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        write_text(tmp_path / "no" / "a.txt", "a", force=False)
    (tmp_path / "file").write_text("old")
    with pytest.raises(FileError, match="there is no folder"):
        write_text(tmp_path / "file" / "a.txt", "a", force=False)
    with pytest.raises(FileError, match=r"xx cannot be written \(File name too long"):
        write_text(tmp_path / ("x" * 300), "a", force=False)
    with pytest.raises(FileError, match="is not a valid file name"):
        write_text(tmp_path / "a\0b", "a", force=False)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="not yours to write in"):
        write_text(tmp_path / "a.txt", "a", force=False)
    assert state(tmp_path) == {"file": "old"}


def test_a_file_of_a_system_that_refuses_names_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", ".hidden")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError) as raised:
        write_text(tmp_path / "a.txt", "a", force=False)
    assert str(raised.value) == f"{tmp_path / 'a.txt'} cannot be written (Permission denied)"


def test_an_error_inside_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path, force=True) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert state(tmp_path) == {"a.txt": "old"}
    with pytest.raises(FileError, match="exists already"):
        write_text(path, "new", force=False)
    write_text(path, "new", force=True)
    assert state(tmp_path) == {"a.txt": "new"}
