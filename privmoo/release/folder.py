"""A release that is a folder of parts: it appears whole, with its certificate, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from privmoo._util.files import REPLACE, check_place, named_errors, write_all
from privmoo._util.folders import temporary_folder
from privmoo.errors import FileError
from privmoo.release.files import certificate_files

if TYPE_CHECKING:
    from privmoo.release.certificate import Certificate

__all__ = ["write_folder"]

_PART = re.compile(r"part-\d{5,}\.(csv|parquet)")


def write_folder(
    target: Path,
    write_rows: Callable[[Path], Mapping[str, str]],
    certificate: Callable[[], Certificate],
    *,
    force: bool,
    spreadsheets: bool,
) -> list[Path]:
    """Write parts and certificate, all or none.

    The parts stay in a hidden folder next to the target until everything has been checked. A hidden folder
    that a killed process left there is removed.

    Args:
        target: The folder of the parts; the certificate is written next to it.
        write_rows: A function that writes the parts to a temporary folder, and returns the hash of every
            part.
        certificate: A function that returns the certificate once the parts are written.
        force: Whether a folder of parts that exists is replaced.
        spreadsheets: Whether texts that a spreadsheet would read as a formula have an apostrophe.

    Returns:
        The folder, and the files of the certificate.
    """
    as_json, as_text, facts = certificate_files(target, spreadsheets=spreadsheets)
    _check(target, force=force)
    for path in (as_json, as_text):
        check_place(path, force=force)
    with named_errors(target), temporary_folder(target.parent) as room:
        parts = room / f"parts{target.suffix}"
        parts.mkdir()
        facts["sha256"] = dict(write_rows(parts))
        folder_certificate = certificate().of_file(facts)
        with ExitStack() as undoing:
            for path in (as_json, as_text):
                undoing.callback(_put_back, path, path.read_bytes() if path.exists() else None)
            # The certificate comes first: rows are never seen without it.
            write_all(
                {
                    as_json: lambda path: _write(path, folder_certificate.to_json()),
                    as_text: lambda path: _write(path, folder_certificate.to_text()),
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
    """Raise unless a folder that would be replaced contains nothing but parts."""
    if target.is_dir() and not target.is_symlink():
        if not force:
            raise FileError(f"{target} exists already", hint=REPLACE)
        if any(not _PART.fullmatch(path.name) for path in target.iterdir()):
            raise FileError(
                f"{target} is a folder with files that are not parts of a release; choose another name"
            )
        return
    check_place(target, force=force)
