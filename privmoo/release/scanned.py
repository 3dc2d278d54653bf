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

from privmoo.audit import Audit, audit_sizes, canonical, count_tables, mean_levels
from privmoo.data.columns import no_records
from privmoo.data.noise import RowNoise
from privmoo.data.source import WEIGHT, CopyPlan, Counts, DiskFullError
from privmoo.data.table import Table
from privmoo.errors import AuditError, ReleaseError
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Measure
from privmoo.recodings.noised import NoisedTuples
from privmoo.recodings.recoding import Recoding
from privmoo.release.audited import audited_value, utility_of
from privmoo.release.certificate import Certificate
from privmoo.release.certify import certify, check_seed, confirm, other_releases, released_labels
from privmoo.release.files import write_release
from privmoo.release.folder import write_folder
from privmoo.release.release import ReleaseWarning, sensitive_hierarchies
from privmoo.suppression import NoSuppression, Suppression

__all__ = ["write_scanned"]

_NEARLY = 0.9


def write_scanned(
    table: Table,
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
    if not (recoding.whole_tuples or isinstance(recoding, NoisedTuples)):
        raise no_records(type(recoding).__name__)
    making = _Making(table, recoding, suppression or NoSuppression(), list(measures))
    target = Path(path)
    files = [own for own in table.source.paths if own.exists()]
    if target.exists() and any(target.samefile(own) for own in files):
        raise ReleaseError(f"{target}: the table is read from this file; choose another name")
    check_seed(seed)
    certificate: list[Certificate] = []

    def write_rows(temporary: Path) -> Mapping[str, str]:
        mapped = making.mapped(seed, shuffle=shuffle, spreadsheets=spreadsheets)
        try:
            written = table.source.copy(table.counts, mapped, temporary)
            certificate.append(
                making.certificate(temporary, written, mapped, claims, method=method)
            )
        except DiskFullError:
            spilled = ", there or where the engine spills: see temporary= of Table.scan"
            place = "" if table.source.in_parts else spilled
            raise ReleaseError(f"{target}: cannot be written (the disk is full{place})") from None
        return getattr(written, "sha256", {})

    write = write_folder if table.source.in_parts else write_release
    return write(target, write_rows, lambda: certificate[0], force=force, spreadsheets=spreadsheets)


class _Making:
    """A recoding of a scanned table: what becomes of every combination of original values."""

    def __init__(
        self,
        table: Table,
        recoding: Recoding,
        policy: Suppression,
        measures: list[Measure],
    ) -> None:
        self.table, self.recoding, self.policy, self.measures = table, recoding, policy, measures
        needs = {"labels"}.union(*(m.needs for m in measures)) & {"labels", "counts", "target"}
        engine = Engine(table, suppression=policy, needs=needs, threads=1)
        found: tuple[GroupBatch, GroupBatch] = engine.groups(recoding.candidate(table))
        self.before, self.after = found
        kept = self.after[0].labels[table.originals.tuples] >= 0
        self.kept: NDArray[np.int64] = np.flatnonzero(kept)
        if not len(self.kept):
            raise ReleaseError(
                "release: all records would be suppressed, which is no release; choose another solution"
            )
        self.values = recoding.apply(table, self.kept)
        noised = recoding.noised()
        self.exact = [name for name in table.qi_names if name not in noised]
        """The quasi-identifiers without noise: what the file says of them is known beforehand."""

    def _secret(self, seed: int | None, what: str = "") -> str:
        """Mixed with the data, so that the seed alone does not bring order or noise back."""
        if seed is None:
            return secrets.token_hex(16)
        return hashlib.sha256(f"{what}{seed}|{self.table.fingerprint}".encode()).hexdigest()

    def mapped(self, seed: int | None, *, shuffle: bool, spreadsheets: bool) -> CopyPlan:
        """What the engine must know for the copy."""
        noise = {}
        # Another order and other noise for another recoding: what is used twice could be undone.
        key = self.recoding.key().hex()
        noise_secret = self._secret(seed, f"noise|{key}|")
        if isinstance(self.recoding, NoisedTuples):
            salts = self._salts(noise_secret)
            parts = self.recoding.parts[self.table.originals.tuples[self.kept]]
            noise = {
                self.table.qi_names[j]: RowNoise(
                    np.array(own.scales)[parts],
                    salts,
                    own.step,
                    own.low,
                    own.high,
                    self.recoding.whole[j],
                )
                for j, own in self.recoding.noise.items()
            }
        return CopyPlan(
            rows=self.table.originals.rows[self.kept],
            values={name: self.values[name] for name in self.table.qi_names},
            columns=self.table.released_columns,
            complete=self.table.complete,
            secret=self._secret(seed, f"order|{key}|") if shuffle else None,
            spreadsheets=spreadsheets,
            noise=noise,
            noise_secret=noise_secret,
        )

    def _salts(self, secret: str) -> NDArray[np.uint64]:
        """A secret number for every kept combination of original values."""
        frame = self.table.originals.frame.iloc[self.kept]
        rows = zip(*(frame[name].map(canonical) for name in self.table.qi_names), strict=True)
        salts = [
            hashlib.blake2b(repr(row).encode(), key=secret.encode(), digest_size=8).digest()
            for row in rows
        ]
        return np.frombuffer(b"".join(salts), "<u8").astype(np.uint64)

    def certificate(
        self,
        path: Path,
        written: Any,
        mapped: CopyPlan,
        claims: Mapping[str, float] | None,
        *,
        method: Mapping[str, Any] | None,
    ) -> Certificate:
        """Count the file, and measure what it gives away and what it is worth."""
        table = self.table
        names, attributes = self.exact, list(table.counts.attributes)
        used = {*table.qi_names, *attributes}
        rest = [name for name in table.released_columns if name not in used]
        counted, spread = table.source.recount(path, written, names, attributes, rest)
        self._check(counted)
        measured = Audit(
            count_tables(
                counted.frames(names),
                quasi_identifiers=names,
                sensitive=list(table.sensitive),
                target=table.target_name if table.target_name not in names else None,
                hierarchies=sensitive_hierarchies(table),
                count=WEIGHT,
            )
        )
        useful = self._utility(counted)
        if measured.counts.target is not None and not mapped.noise:
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
                int(counted.weights[part][present].sum()),
            )
        key = _key(counted) + (mapped.noise_secret.encode() if mapped.noise else b"")
        notes = [*_unique_columns(table, spread), *other_releases(table, key)]
        for note in notes:
            warnings.warn(note, ReleaseWarning, stacklevel=2)
        return certify(
            table,
            self.recoding,
            self.policy,
            n_released=measured.n_records,
            labels=released_labels(table, self.values),
            measured=self._privacy(measured, path, written) if mapped.noise else measured.to_dict(),
            useful=useful,
            claims=confirmed,
            notes=notes,
            shuffled=mapped.secret is not None,
            method=method,
        )

    def _utility(self, counted: Counts) -> dict[str, Any]:
        """What the copy is worth; numbers with noise are told in the mean over noise."""
        table = self.table
        if not isinstance(self.recoding, NoisedTuples):
            return utility_of(table, self.values, self.recoding, self.kept)
        part = counted.first_part
        frame = pd.DataFrame({n: counted.keys[n].iloc[part] for n in self.exact})
        levels = mean_levels(
            frame, self.recoding.relative_levels(), self.exact, counted.weights[part]
        )
        weight = np.array([table.qis[table.qi_names.index(name)].weight for name in self.exact])
        return {
            "originality_expected": self.recoding.expected_originality(table),
            "distortion": float(weight @ levels.to_numpy()),
        }

    def _privacy(self, measured: Audit, path: Path, written: Any) -> dict[str, Any]:
        """Sizes of groups by all quasi-identifiers, and all there is of those without noise.

        Numbers with noise may make as many groups as there are records, which nobody counts in memory.
        """
        table = self.table
        found = audit_sizes(*table.source.group_sizes(path, written, table.qi_names))
        rest = f"those without noise ({', '.join(self.exact)})"
        return {
            **found,
            "k_on": {"all quasi-identifiers": found["k"], rest: measured.k},
            "on_those_without_noise": measured.to_dict(),
        }

    def _check(self, counted: Counts) -> None:
        """Raise unless the file has just the records that the recoding says."""
        part, names = counted.first_part, self.exact
        weights = self.table.originals.row_weights
        found = pd.DataFrame({n: _in_utc(counted.keys[n].iloc[part]).map(canonical) for n in names})
        told = pd.DataFrame({n: _in_utc(self.values[n]).map(canonical) for n in names})
        sums = [
            frame.assign(**{WEIGHT: records}).groupby(names, sort=True)[WEIGHT].sum()
            for frame, records in (
                (found, counted.weights[part]),
                (told, weights[self.kept]),
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


def _in_utc(values: pd.Series[Any]) -> pd.Series[Any]:
    """Points in time with a zone are the same in another; engines write them in UTC."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return pd.Series(values.dt.tz_convert("UTC"))
    return values


def _unique_columns(table: Table, spread: Mapping[str, tuple[int, int]]) -> list[str]:
    """Columns that are released as they are and name nearly everybody."""
    return [
        f"{role} column {name!r} has a nearly unique value in every record: it may identify people "
        "whatever the quasi-identifiers say; make it identifying or a quasi-identifier"
        for role in ("insensitive", "sensitive")
        for name in table.columns_of(role)
        if name in spread and spread[name][1] and spread[name][0] >= _NEARLY * spread[name][1]
    ]


def _key(counted: Counts) -> bytes:
    """Tells releases of the same table apart, whatever the order of their rows."""
    part = counted.first_part
    frame = pd.DataFrame({n: v.iloc[part].map(canonical) for n, v in counted.keys.items()})
    frame["\0count"] = counted.weights[part]
    hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return bytes(np.sort(hashes).tobytes())
