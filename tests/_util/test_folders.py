"""Temporary folders: what killed processes left is removed, and nothing else, whatever it looks like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from privmoo._util.files import write_all, write_text
from privmoo._util.folders import TemporaryFolder, remove_leftovers, temporary_folder

KILLED = (
    "import os, sys, pathlib; from privmoo._util.folders import TemporaryFolder; "
    "folder = TemporaryFolder(pathlib.Path(sys.argv[1])).path; (folder / 'rows').write_text('x'); "
    "(folder / 'more').mkdir(); (folder / 'more' / 'rows').touch(); print(folder.name); os._exit(9)"
)


def leftover(place: Path) -> Path:
    """The folder of a process that was killed."""
    command = [sys.executable, "-c", KILLED, str(place)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    return place / ended.stdout.strip()


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_a_folder_is_private_and_goes(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "a").mkdir()
        (folder / "a" / "b").touch()
        with temporary_folder(tmp_path) as second:  # does not remove the first one
            assert folder.exists() and second.exists()
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    folder = leftover(tmp_path)
    assert (folder / "rows").exists()
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere / folder.name)
    folder.rename(folder.with_name(f"{folder.name}.gone"))  # killed while it removed the folder
    with temporary_folder(tmp_path):
        pass
    assert names(tmp_path) == ["elsewhere"]
    remove_leftovers(elsewhere)  # a copy that somebody made is theirs
    assert names(elsewhere) == [folder.name]


def test_killed_at_the_very_beginning(tmp_path: Path) -> None:
    (tmp_path / ".privmoo-0123456789abcdef").mkdir()
    (tmp_path / ".privmoo-1123456789abcdef").mkdir()
    (tmp_path / ".privmoo-1123456789abcdef" / "privmoo-temporary").touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["public.csv", "public.certificate.json"])
def test_files_of_the_user_stay_whatever_their_names(tmp_path: Path, name: str) -> None:
    theirs = [f".{name}.20240101{Path(name).suffix}", f".{name}.abcdefgh", ".privmoo-notes.txt"]
    for text in theirs:
        (tmp_path / text).write_text("mine")
    for text in (".new-thesis", ".privmoo-notes", ".privmoo-0123456789abcdef", f".{name}.x-1-y"):
        (tmp_path / text).mkdir()
        (tmp_path / text / "chapter").write_text("mine")
    before = names(tmp_path)
    write_text(tmp_path / name, "new", force=False)
    write_all({tmp_path / name: lambda path: path.touch()}, force=True)
    assert names(tmp_path) == sorted([*before, name])


def test_a_record_does_not_speak_for_other_folders(tmp_path: Path) -> None:
    folder = leftover(tmp_path)
    victim = tmp_path / ".privmoo-0123456789abcdef"
    victim.mkdir()
    (victim / "thesis").write_text("mine")
    shutil.copy(folder / "privmoo-temporary", victim)
    linked = tmp_path / ".privmoo-1123456789abcdef"
    linked.symlink_to(victim)
    by_link = tmp_path / ".privmoo-2123456789abcdef"
    by_link.mkdir()
    (by_link / "thesis").write_text("mine")
    (by_link / "privmoo-temporary").symlink_to(folder / "privmoo-temporary")
    inside = leftover(tmp_path)  # removes the first one
    (inside / "link").symlink_to(victim)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted([victim.name, linked.name, by_link.name])
    assert (victim / "thesis").exists() and (by_link / "thesis").exists()


def test_folders_of_other_users_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = leftover(tmp_path)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [folder.name]
    monkeypatch.undo()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_many_processes_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from privmoo._util.folders import temporary_folder\n"
        "for _ in range(200):\n"
        "    with temporary_folder(pathlib.Path(sys.argv[1])) as folder:\n"
        "        (folder / 'a').touch(); assert (folder / 'a').exists()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert names(tmp_path) == []


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = leftover(tmp_path)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    mine = TemporaryFolder(tmp_path)
    assert folder.exists()
    mine.remove()
    assert names(tmp_path) == [folder.name]
    assert os.listdir(folder)
