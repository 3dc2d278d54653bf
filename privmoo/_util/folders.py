"""Temporary folders that do not outlive their process: what a killed one left is removed by the next.

Such a folder has a record inside: a file that says which folder it belongs to, and that its process keeps
locked. Nothing is removed by its name alone: a folder with anything in it stays, unless it has a record
that names this very folder and that no process holds.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["TemporaryFolder", "remove_leftovers", "temporary_folder"]

_PREFIX = ".privmoo-"
_NAME = re.compile(r"\.privmoo-[0-9a-f]{16}(\.gone)?")
_RECORD = "privmoo-temporary"


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that only its owner may read, and remove it at the end.

    Args:
        parent: The folder to make it in; by default that of the system.

    >>> with temporary_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    folder = TemporaryFolder(parent)
    try:
        yield folder.path
    finally:
        folder.remove()


class TemporaryFolder:
    """A folder that only its owner may read; making one removes those that killed processes left.

    Args:
        parent: The folder to make it in; by default that of the system.

    Attributes:
        path: The folder; its record is inside.
    """

    def __init__(self, parent: Path | None = None) -> None:
        place = Path(tempfile.gettempdir()) if parent is None else parent.absolute()
        remove_leftovers(place)
        record = None
        while record is None:  # another process may take an empty one for that of a killed process
            self.path = place / f"{_PREFIX}{secrets.token_hex(8)}"
            self.path.mkdir(mode=0o700)
            try:
                record = _new_record(self.path)
            except OSError:  # such as a full disk
                shutil.rmtree(self.path, ignore_errors=True)
                raise
        self._record = record

    def remove(self) -> None:
        """Remove the folder, even while another process still writes to it.

        It is renamed first, so that the other process does not find it any more.
        """
        folder = self.path
        with contextlib.suppress(OSError):
            folder = folder.rename(folder.with_name(f"{folder.name}.gone"))
        _remove(folder)
        os.close(self._record)


def remove_leftovers(place: Path) -> None:
    """Remove the temporary folders that killed processes left in a folder.

    Args:
        place: The folder; only what is directly in it is looked at.
    """
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(place) if _NAME.fullmatch(name)]
        for name in names:
            with contextlib.suppress(OSError):
                _remove_leftover(place / name)


def _remove_leftover(folder: Path) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != _user():
        return
    if not os.listdir(folder):
        folder.rmdir()  # its process was killed before it wrote the record
        return
    record = os.open(folder / _RECORD, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        if not _lock(record):
            return
        content = os.read(record, 1000)
        if content == _content(folder) or (not content and os.listdir(folder) == [_RECORD]):
            _remove(folder)
    finally:
        os.close(record)


def _new_record(folder: Path) -> int | None:
    """Open the record of a folder, locked; None if another process has removed the folder."""
    try:
        record = os.open(folder / _RECORD, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except FileNotFoundError:
        return None
    try:
        _lock(record)  # before it says anything: from now on, nobody else removes the folder
        os.write(record, _content(folder))
        if os.path.samestat(os.fstat(record), (folder / _RECORD).lstat()):
            return record
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(record)
        raise
    os.close(record)
    return None


def _user() -> int:
    """Return the number of the user, which is 0 for all files where the system has no such numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _content(folder: Path) -> bytes:
    """Return what the record of a folder says; a copy of the folder is another one, whatever its name."""
    facts = folder.lstat()
    return f"a temporary folder of privmoo: {facts.st_dev} {facts.st_ino}\n".encode()


def _lock(handle: int) -> bool:
    """Lock a file; return False if the system has no locks.

    Raises:
        BlockingIOError: Another process has locked it.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):
        return False
    return True


def _remove(folder: Path) -> None:
    """Remove a folder, its record last: where that ends too early, the next process goes on."""
    for _ in range(3):
        others = [folder / name for name in _names(folder) if name != _RECORD]
        for path in others:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    path.unlink()
        if not others:
            break
    shutil.rmtree(folder, ignore_errors=True)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
