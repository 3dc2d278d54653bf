"""A release that is a folder of parts: it appears whole, with its certificate, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from privmoo._util.files import REPLACE, alive, check_place, named_errors, write_all
from privmoo.errors import FileError
from privmoo.release.files import certificate_files

if TYPE_CHECKING:
    from privmoo.release.certificate import Certificate

__all__ = ["write_folder"]

_OWNER = "owner.json"
_ENDING = ".writing"
_PART = re.compile(r"part-\d{5,}\.(csv|parquet)")


def write_folder(
    target: Path,
    write_rows: Callable[[Path], Mapping[str, str]],
    certificate: Callable[[], Certificate],
    *,
    force: bool,
    spreadsheets: bool,
) -> list[Path]:
    """Write parts and certificate, all or none; `write_rows` gives the hash of every part.

    Pieces and parts lie in a hidden folder beside the target until all is known to be right. One that a
    killed process left there is removed.
    """
    as_json, as_text, facts = certificate_files(target, spreadsheets=spreadsheets)
    _check(target, force=force)
    for path in (as_json, as_text):
        check_place(path, force=force)
    _sweep(target)
    with named_errors(target), _room(target) as room:
        parts = room / f"parts{target.suffix}"
        parts.mkdir()
        facts["sha256"] = dict(write_rows(parts))
        own = certificate()
        stated = replace(own, release={**own.release, **facts})
        with ExitStack() as undoing:
            for path in (as_json, as_text):
                undoing.callback(_put_back, path, path.read_bytes() if path.exists() else None)
            # The certificate comes first: rows are never seen without it.
            write_all(
                {
                    as_json: lambda path: _write(path, stated.to_json()),
                    as_text: lambda path: _write(path, stated.to_text()),
                },
                force=force,
            )
            if os.path.lexists(target):
                target.rename(room / "earlier")
                undoing.callback((room / "earlier").rename, target)
            parts.rename(target)
            undoing.pop_all()
    return [target, as_json, as_text]


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")


def _put_back(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(content)


def _check(target: Path, *, force: bool) -> None:
    """A folder is replaced only if nothing but parts is in it."""
    if target.is_dir() and not target.is_symlink():
        if not force:
            raise FileError(f"{target}: exists already", hint=REPLACE)
        if any(not _PART.fullmatch(path.name) for path in target.iterdir()):
            raise FileError(
                f"{target}: is a folder with other files than parts of a release; choose another name"
            )
        return
    check_place(target, force=force)


@contextmanager
def _room(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target, gone at the end."""
    room = Path(
        tempfile.mkdtemp(dir=target.parent.absolute(), prefix=f".{target.name}.", suffix=_ENDING)
    )
    try:
        owner = {"host": socket.gethostname(), "process": os.getpid()}
        (room / _OWNER).write_text(json.dumps(owner), encoding="utf-8")
        yield room
    finally:
        _remove(room)


def _remove(room: Path) -> None:
    """Remove a folder, also while a worker still writes there: it finds no folder of that name."""
    gone = room.with_name(f"{room.name}.gone")
    with contextlib.suppress(OSError):
        room = room.rename(gone)
    for _ in range(3):
        shutil.rmtree(room, ignore_errors=True)
        if not room.exists():
            return


def _sweep(target: Path) -> None:
    """Remove what processes left that were killed while they wrote the same release."""
    for ending in (_ENDING, f"{_ENDING}.gone"):
        for room in target.parent.glob(f".{_escaped(target.name)}.*{ending}"):
            try:
                owner = json.loads((room / _OWNER).read_text(encoding="utf-8"))
                here = owner["host"] == socket.gethostname()
                if here and not alive(int(owner["process"])):
                    _remove(room)
            except (OSError, ValueError, LookupError, TypeError):
                continue  # not one of ours, or just being made


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)
