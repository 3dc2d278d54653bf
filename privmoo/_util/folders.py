"""Temporary folders that do not outlive their process: what a killed one left is removed by the next."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["new_folder", "remove_folder", "temporary_folder"]


@contextmanager
def temporary_folder(parent: Path | None, prefix: str) -> Iterator[Path]:
    """Make a folder that only its owner may read, and remove it at the end.

    Args:
        parent: The folder to make it in; by default that of the system.
        prefix: How its name begins; the machine and the process follow.

    >>> with temporary_folder(None, "privmoo-doctest-") as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    folder = new_folder(parent, prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)


def new_folder(parent: Path | None, prefix: str) -> Path:
    """Make a folder, and remove those with the same prefix that killed processes left.

    Args:
        parent: The folder to make it in; by default that of the system.
        prefix: How its name begins; the machine and the process follow.
    """
    place = Path(tempfile.gettempdir()) if parent is None else parent.absolute()
    here = f"{prefix}{re.sub(r'[^A-Za-z0-9_]', '_', socket.gethostname())}-"
    for folder in place.glob(f"{glob.escape(here)}*-*"):
        process = folder.name.removeprefix(here).split("-")[0]
        if re.fullmatch("[1-9][0-9]{0,8}", process) and not _runs(int(process)):
            remove_folder(folder)
    return Path(tempfile.mkdtemp(prefix=f"{here}{os.getpid()}-", dir=place))


def remove_folder(folder: Path) -> None:
    """Remove a folder, even while another process still writes to it.

    The folder is renamed first, so that the other process does not find it any more.
    """
    with contextlib.suppress(OSError):
        folder = folder.rename(folder.with_name(f"{folder.name}.gone"))
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _runs(process: int) -> bool:
    """Return whether a process of this machine runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, but is not ours
        return True
    return True
