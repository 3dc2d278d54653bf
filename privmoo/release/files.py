"""A release on the disk: rows and certificate, read back before anybody can see them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmoo._util.files import write_all
from privmoo._util.reading import read_parquet, read_strings
from privmoo.audit import group_sizes
from privmoo.data.frame_files import write_frame
from privmoo.errors import AuditError, ReleaseError
from privmoo.release.certificate import Certificate, file_facts

if TYPE_CHECKING:
    from privmoo.release.release import Release

__all__ = ["certificate_files", "write", "write_release"]


def write(release: Release, target: Path, *, force: bool, spreadsheets: bool) -> list[Path]:
    """Write a release and its certificate; see `Release.write`.

    Args:
        release: The release.
        target: Where the rows go.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.
    """

    def write_rows(path: Path) -> None:
        written = write_frame(release.frame, path, spreadsheets=spreadsheets)
        _check(release, path, list(written.dtypes))

    return write_release(
        target, write_rows, lambda: release.certificate, force=force, spreadsheets=spreadsheets
    )


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
        target: Where the rows go; the certificate goes beside them.
        write_rows: Writes the rows to a temporary path.
        certificate: Returns the certificate, once the rows are written.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would take for a formula have an apostrophe.

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
    """Return where the certificate goes, as JSON and as text, and what it says of the file.

    Args:
        target: Where the rows go.
        spreadsheets: Whether texts that a spreadsheet would take for a formula have an apostrophe.

    Raises:
        ReleaseError: The rows would be written neither as CSV nor as Parquet.
    """
    if target.suffix not in (".csv", ".parquet"):
        raise ReleaseError(f"{target}: a release is written as .csv or .parquet")
    as_json = target.with_name(target.stem + ".certificate.json")
    facts = file_facts(target.name, spreadsheets=spreadsheets)
    return as_json, as_json.with_suffix(".txt"), facts


def _check(release: Release, path: Path, columns: list[str]) -> None:
    """Raise where the rows in a file are others, or less protected, than certified."""
    written = read_strings(path, separator=",") if path.suffix == ".csv" else read_parquet(path)
    if len(written) != len(release):
        raise AuditError(
            f"release: {len(release):,} rows were written, {len(written):,} can be read; nothing is "
            "released"
        )
    roles = release.certificate.release["columns"]
    places = [i for i, name in enumerate(release.frame) if roles[name] == "quasi-identifying"]
    k = int(group_sizes(written, [columns[i] for i in places]).min())
    # Where k counts persons, a group has at least as many rows.
    if k < int(release.certificate.privacy["k"]):
        raise AuditError(
            f"release: the certificate says k = {release.certificate.privacy['k']}, the written rows "
            f"have {k}; nothing is released"
        )
