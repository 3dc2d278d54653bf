"""The release of a scanned table: copied by the engine, counted again from the file, then certified."""

from __future__ import annotations

import hashlib
import secrets
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import Audit, canonical, count_tables
from privmoo.certificate import Certificate
from privmoo.certifying import certify, confirm, other_releases, released_labels
from privmoo.columns import no_records
from privmoo.engine import Engine
from privmoo.errors import AuditError, ReleaseError
from privmoo.grouping import GroupBatch
from privmoo.measures.base import Measure
from privmoo.outside import audited_value, utility_of
from privmoo.recoding import Recoding
from privmoo.release import ReleaseWarning, sensitive_hierarchies
from privmoo.release_files import write_release
from privmoo.scanning.folder import write_folder
from privmoo.scanning.scanned import ScannedTable
from privmoo.scanning.session import DiskFullError
from privmoo.scanning.source import Counted, Mapped
from privmoo.suppression import NoSuppression, Suppression

__all__ = ["write_scanned"]

_NEARLY = 0.9


def write_scanned(
    table: ScannedTable,
    recoding: Recoding,
    path: str | Path,
    *,
    suppression: Suppression | None = None,
    measures: Iterable[Measure] = (),
    claims: Mapping[str, float] | None = None,
    seed: int | None = None,
    shuffle: bool = True,
    method: Mapping[str, Any] | None = None,
    force: bool = False,
    spreadsheets: bool = False,
) -> list[Path]:
    """Write rows and certificate of a scanned table, all files or none, in little memory.

    The arguments are those of `make_release` and `Release.write`; a Dask DataFrame becomes a folder of
    parts. The certificate is measured on the
    written file, by a second scan of it.

    Raises:
        AuditError: An audited measure and the audit disagree; nothing is written.
    """
    if not recoding.whole_tuples:
        raise no_records(type(recoding).__name__)
    making = _Making(table, recoding, suppression or NoSuppression(), list(measures))
    target = Path(path)
    certificate: list[Certificate] = []

    def write_rows(temporary: Path) -> Mapping[str, str]:
        mapped = making.mapped(
            seed if shuffle else None, shuffle=shuffle, spreadsheets=spreadsheets
        )
        try:
            written = table.source.copy(table.counted, mapped, temporary)
            certificate.append(
                making.certificate(temporary, written, claims, shuffle=shuffle, method=method)
            )
        except DiskFullError:
            raise ReleaseError(f"{target}: cannot be written (the disk is full)") from None
        return getattr(written, "sha256", {})

    write = write_folder if table.source.in_parts else write_release
    return write(target, write_rows, lambda: certificate[0], force=force, spreadsheets=spreadsheets)


class _Making:
    """A recoding of a scanned table: what becomes of every combination of original values."""

    def __init__(
        self,
        table: ScannedTable,
        recoding: Recoding,
        policy: Suppression,
        measures: list[Measure],
    ) -> None:
        self.table, self.recoding, self.policy, self.measures = table, recoding, policy, measures
        needs = {"labels"}.union(*(m.needs for m in measures)) & {"labels", "counts", "target"}
        engine = Engine(table, suppression=policy, needs=needs, threads=1)
        found: tuple[GroupBatch, GroupBatch] = engine.groups(recoding.candidate(table))
        self.before, self.after = found
        kept = self.after[0].labels[table.raw.tuples] >= 0
        self.kept: NDArray[np.int64] = np.flatnonzero(kept)
        if not len(self.kept):
            raise ReleaseError(
                "release: all records would be suppressed, which is no release; choose another solution"
            )
        self.rows, _ = table.rows()
        self.values = recoding.apply(self.rows, self.kept)

    def mapped(self, seed: int | None, *, shuffle: bool, spreadsheets: bool) -> Mapped:
        """What the engine must know for the copy."""
        secret = None
        if shuffle:
            # Mixed with the data, so that the seed alone does not bring the original order back.
            known = f"{seed}|{self.table.fingerprint}".encode()
            secret = secrets.token_hex(16) if seed is None else hashlib.sha256(known).hexdigest()
        return Mapped(
            rows=self.table.raw.rows[self.kept],
            values={name: self.values[name] for name in self.table.qi_names},
            columns=self.table.released_columns,
            complete=self.table.complete,
            secret=secret,
            spreadsheets=spreadsheets,
        )

    def certificate(
        self,
        path: Path,
        written: Any,
        claims: Mapping[str, float] | None,
        *,
        shuffle: bool,
        method: Mapping[str, Any] | None,
    ) -> Certificate:
        """Count the file, and measure what it gives away and what it is worth."""
        table = self.table
        names, attributes = table.qi_names, list(table.counted.attributes)
        used = {*names, *attributes}
        rest = [name for name in table.released_columns if name not in used]
        counted, spread = table.source.recount(path, written, names, attributes, rest)
        self._check(counted)
        measured = Audit(
            count_tables(
                counted.tables(names),
                quasi_identifiers=names,
                sensitive=list(table.sensitive),
                target=table.target_name if table.target_name not in names else None,
                hierarchies=sensitive_hierarchies(table),
            )
        )
        raw = table.raw
        useful = utility_of(self.rows, self.values, self.recoding, self.kept, raw.weights)
        if measured.counts.target is not None:
            gone = table.n_records - measured.n_records
            wrong = measured.measure("classification") * measured.n_records
            useful["classification"] = (gone + wrong) / table.n_records
        confirmed = confirm(
            self.measures,
            claims,
            self.before,
            self.after,
            lambda m: audited_value(m, measured, useful),
        )
        for name in attributes:
            part = counted.parts[name]
            present = counted.attributes[name].notna().to_numpy()
            spread[name] = (
                counted.attributes[name].nunique(),
                int(counted.counts[part][present].sum()),
            )
        notes = [*_unique_columns(table, spread), *other_releases(table, _key(counted))]
        for note in notes:
            warnings.warn(note, ReleaseWarning, stacklevel=2)
        return certify(
            table,
            self.recoding,
            self.policy,
            n_released=measured.n_records,
            labels=released_labels(table, self.values),
            measured=measured.to_dict(),
            useful=useful,
            claims=confirmed,
            notes=notes,
            shuffled=shuffle,
            method=method,
        )

    def _check(self, counted: Counted) -> None:
        """Raise unless the file has just the records that the recoding says."""
        part = next(iter(counted.parts.values()))
        names = self.table.qi_names
        found = pd.DataFrame({n: counted.keys[n].iloc[part].map(canonical) for n in names})
        told = pd.DataFrame({n: self.values[n].map(canonical) for n in names})
        sums = [
            frame.assign(records=records).groupby(names, sort=True)["records"].sum()
            for frame, records in (
                (found, counted.counts[part]),
                (told, self.table.raw.weights[self.kept]),
            )
        ]
        if int(sums[0].sum()) != int(sums[1].sum()):
            raise AuditError(
                f"release: {int(sums[1].sum()):,} rows were to be written, {int(sums[0].sum()):,} can be "
                "read; nothing is released"
            )
        if not sums[0].equals(sums[1]):
            raise AuditError(
                "release: the groups in the written file are not those of the recoding; nothing is "
                "released"
            )


def _unique_columns(table: ScannedTable, spread: Mapping[str, tuple[int, int]]) -> list[str]:
    """Columns that are released as they are and name nearly everybody."""
    return [
        f"{role} column {name!r} has a nearly unique value in every record: it may identify people "
        "whatever the quasi-identifiers say; make it identifying or a quasi-identifier"
        for role in ("insensitive", "sensitive")
        for name in table.columns_of(role)
        if name in spread and spread[name][1] and spread[name][0] >= _NEARLY * spread[name][1]
    ]


def _key(counted: Counted) -> bytes:
    """Tells releases of the same table apart, whatever the order of their rows."""
    part = next(iter(counted.parts.values()))
    frame = pd.DataFrame({n: v.iloc[part].map(canonical) for n, v in counted.keys.items()})
    frame["\0count"] = counted.counts[part]
    hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return bytes(np.sort(hashes).tobytes())
