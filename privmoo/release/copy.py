"""Writing a release: its source copies the rows, the copy is counted, and the counts are certified."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from privmoo.data.source import DiskFullError
from privmoo.errors import FileError, Hint
from privmoo.release.certificate import Certificate
from privmoo.release.draft import Draft
from privmoo.release.evidence import Evidence, certify_plan
from privmoo.release.files import write_release
from privmoo.release.folder import write_folder
from privmoo.release.plan import ReleasePlan

__all__ = ["copy_rows", "write_copy", "write_draft"]

_log = logging.getLogger("privmoo.release")

_SPILL_ELSEWHERE = Hint("make room", parameter="temporary", call="Table.scan")


def write_copy(
    plan: ReleasePlan,
    path: str | Path,
    *,
    seed: int | None = None,
    shuffle: bool = True,
    force: bool = False,
    spreadsheets: bool = False,
) -> list[Path]:
    """Write the rows and the certificate of a release, all files or none.

    A scanned table is copied with little memory; a Dask DataFrame becomes a folder of parts. The
    certificate is measured on the written file, which is read once more.

    Args:
        plan: What is to be released.
        path: Where the rows go, `.csv` or `.parquet`; the certificate goes beside them.
        seed: Seeds order and noise, mixed with the data; by default neither can be repeated.
        shuffle: Whether rows change their order.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.

    Returns:
        The files that were written.

    Raises:
        AuditError: An audited measure and the audit disagree; nothing is written.
        FileError: The files cannot be written there.
    """
    draft = Draft.of(plan, seed=seed, shuffle=shuffle)
    certify = partial(certify_plan, plan, shuffled=shuffle)
    return write_draft(draft, Path(path), certify, force=force, spreadsheets=spreadsheets)


def write_draft(
    draft: Draft,
    target: Path,
    certify: Callable[[Evidence], Certificate],
    *,
    force: bool,
    spreadsheets: bool,
) -> list[Path]:
    """Write the rows of a draft and their certificate, all files or none.

    Args:
        draft: The rows.
        target: Where they go.
        certify: Returns the certificate of what was measured on the file, or raises.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.

    Returns:
        The files that were written.
    """
    source = draft.table.source
    if target.exists() and any(target.samefile(p) for p in source.paths if p.exists()):
        raise FileError(f"{target}: the table is read from this file; choose another name")
    certificate: list[Certificate] = []

    def write_rows(temporary: Path) -> Mapping[str, str]:
        try:
            evidence, hashes = copy_rows(draft, temporary, spreadsheets=spreadsheets)
        except DiskFullError:
            raise FileError(
                f"{target} cannot be written (the disk is full, there or in the temporary folder)",
                hint=_SPILL_ELSEWHERE,
            ) from None
        certificate.append(certify(evidence))
        _log.info("%d rows were written, read back and audited", evidence.n_records)
        return hashes

    write = write_folder if source.in_parts else write_release
    return write(target, write_rows, lambda: certificate[0], force=force, spreadsheets=spreadsheets)


def copy_rows(
    draft: Draft, path: Path, *, spreadsheets: bool = False
) -> tuple[Evidence, Mapping[str, str]]:
    """Copy the rows of a draft, count the copy, and measure what was counted.

    Args:
        draft: The rows.
        path: Where they go; see `Source.copy`.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.

    Returns:
        What was measured, and the hashes of the parts where the copy has parts.
    """
    source = draft.table.source
    copy_plan = draft.for_spreadsheets(spreadsheets)
    handle = source.copy(draft.table.counts, copy_plan, path)
    counts = source.recount(path, handle, draft.keys, draft.attributes, draft.others)
    if copy_plan.noise:
        sizes = source.group_sizes(path, handle, draft.table.qi_names)
        counts = replace(counts, sizes=sizes)
    return draft.evidence(counts), counts.sha256
