"""A release on disk: rows and certificate, all files or none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from privmoo._util.files import write_all
from privmoo.errors import FileError
from privmoo.release.certificate import Certificate, file_facts

__all__ = ["certificate_files", "write_release"]


def write_release(
    target: Path,
    write_rows: Callable[[Path], object],
    certificate: Callable[[], Certificate],
    *,
    force: bool,
    spreadsheets: bool,
) -> list[Path]:
    """Write rows and certificate, all files or none.

    Args:
        target: The file of the rows; the certificate is written next to it.
        write_rows: A function that writes the rows to a temporary path.
        certificate: A function that returns the certificate once the rows are written.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would read as a formula have an apostrophe.

    Returns:
        The files that were written.
    """
    as_json, as_text, facts = certificate_files(target, spreadsheets=spreadsheets)

    def hashed_rows(path: Path) -> None:
        write_rows(path)
        with path.open("rb") as file:
            facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()

    def write_certificate(path: Path) -> None:
        file_certificate = certificate().of_file(facts)
        text = file_certificate.to_json() if path.suffix == ".json" else file_certificate.to_text()
        path.write_text(text + "\n", encoding="utf-8")

    # The rows are written first, because the certificate names their hash, and appear last.
    write_all(
        {as_json: write_certificate, as_text: write_certificate, target: hashed_rows}, force=force
    )
    return [target, as_json, as_text]


def certificate_files(target: Path, *, spreadsheets: bool) -> tuple[Path, Path, dict[str, Any]]:
    """Return the paths of the certificate, as JSON and as text, and what it says about the rows.

    Args:
        target: The file of the rows.
        spreadsheets: Whether texts that a spreadsheet would read as a formula have an apostrophe.

    Raises:
        FileError: The rows would be written neither as CSV nor as Parquet.
    """
    if target.suffix not in (".csv", ".parquet"):
        raise FileError(
            f"{target}: a release is written as .csv or .parquet; choose one of these endings"
        )
    as_json = target.with_name(target.stem + ".certificate.json")
    facts = file_facts(target.name, spreadsheets=spreadsheets)
    return as_json, as_json.with_suffix(".txt"), facts
