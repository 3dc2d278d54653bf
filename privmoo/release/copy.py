"""The release of a table that stays where it is: its source copies it, and the copy is counted."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import (
    Audit,
    audit_sizes,
    canonical,
    count_tables,
    is_nearly_unique,
    mean_levels,
)
from privmoo.data.columns import no_records
from privmoo.data.noise import RowNoise
from privmoo.data.source import WEIGHT, CopyPlan, Counts, DiskFullError
from privmoo.errors import AuditError, FileError, Hint, ReleaseError
from privmoo.recodings.columns import Labels, Noised, RoundedLaplace
from privmoo.recodings.nodes import numeric_columns
from privmoo.release.certificate import Certificate, Homogeneity, k_by_columns
from privmoo.release.check import audited_value
from privmoo.release.evidence import (
    Evidence,
    certified,
    released_labels,
    sensitive_hierarchies,
)
from privmoo.release.files import write_release
from privmoo.release.folder import write_folder
from privmoo.release.plan import ReleasePlan, check_seed
from privmoo.release.utility import ReleasedRows

__all__ = ["write_copy"]

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
    """Write rows and certificate of a scanned table, all files or none, in little memory.

    A Dask DataFrame becomes a folder of parts. The certificate is measured on the written file, by a
    second scan of it.

    Args:
        plan: What is to be released.
        path: Where the rows go, `.csv` or `.parquet`; the certificate goes beside them.
        seed: For order and noise, mixed with the data; by default nobody can repeat them.
        shuffle: Whether rows change their order.
        force: Whether files that exist are replaced.
        spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.

    Returns:
        The files that were written.

    Raises:
        AuditError: An audited measure and the audit disagree; nothing is written.
        FileError: The files cannot be written there.
    """
    copy = _Copy(plan)
    source, target = plan.table.source, Path(path)
    files = [file for file in source.paths if file.exists()]
    if target.exists() and any(target.samefile(file) for file in files):
        raise FileError(f"{target}: the table is read from this file; choose another name")
    check_seed(seed)
    certificate: list[Certificate] = []

    def write_rows(temporary: Path) -> Mapping[str, str]:
        copy_plan = copy.plan_copy(seed, shuffle=shuffle, spreadsheets=spreadsheets)
        try:
            written = source.copy(plan.table.counts, copy_plan, temporary)
            evidence = copy.evidence(temporary, written, copy_plan)
        except DiskFullError:
            place = "" if source.in_parts else ", there or where the engine spills"
            raise FileError(
                f"{target}: cannot be written (the disk is full{place})",
                hint=None if source.in_parts else _SPILL_ELSEWHERE,
            ) from None
        certificate.append(certified(plan, evidence, shuffled=shuffle))
        return getattr(written, "sha256", {})

    write = write_folder if source.in_parts else write_release
    return write(target, write_rows, lambda: certificate[0], force=force, spreadsheets=spreadsheets)


class _Copy:
    """A copy of a table: what becomes of every distinct combination of original values.

    Attributes:
        exact: The quasi-identifiers without noise: what the file says of them is known beforehand.
        noised: The columns whose noise is drawn when the records are written.
    """

    def __init__(self, plan: ReleasePlan) -> None:
        table, recoding = plan.table, plan.recoding
        self.plan, self.table, self.recoding = plan, table, recoding
        self.noised = {
            column.name: column
            for column in recoding.columns
            if isinstance(column, Noised) and not column.is_drawn
        }
        if not recoding.whole_tuples and not self.noised:
            raise no_records(type(recoding).__name__)
        self.kept = plan.kept(table.originals.tuples)
        self.rows = ReleasedRows(table, recoding.apply(table, self.kept), recoding, self.kept)
        noised = recoding.noised()
        self.exact = [name for name in table.qi_names if name not in noised]

    def _secret(self, seed: int | None, purpose: str) -> str:
        """A secret mixed with data and recoding: the seed alone does not bring order or noise back.

        Another recoding has another order and other noise: what is used twice could be undone.
        """
        if seed is None:
            return secrets.token_hex(16)
        text = f"{purpose}|{self.recoding.key().hex()}|{seed}|{self.table.fingerprint}"
        return hashlib.sha256(text.encode()).hexdigest()

    def plan_copy(self, seed: int | None, *, shuffle: bool, spreadsheets: bool) -> CopyPlan:
        """Return what the source must know for the copy.

        Args:
            seed: For order and noise.
            shuffle: Whether rows change their order.
            spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.
        """
        noise_secret = self._secret(seed, "noise")
        return CopyPlan(
            rows=self.table.originals.rows[self.kept],
            values={name: self.rows.frame[name] for name in self.table.qi_names},
            columns=self.table.released_columns,
            complete=self.table.complete,
            secret=self._secret(seed, "order") if shuffle else None,
            spreadsheets=spreadsheets,
            noise=self._noise(noise_secret),
            noise_secret=noise_secret,
        )

    def _noise(self, secret: str) -> dict[str, RowNoise]:
        if not self.noised:
            return {}
        salts = self._salts(secret)
        tuples = self.table.originals.tuples[self.kept]
        noise = {}
        for name, column in self.noised.items():
            laplace = column.noise
            if not isinstance(laplace, RoundedLaplace):
                raise ReleaseError(
                    f"recoding: the noise of {name!r} cannot be drawn without its step and bounds"
                )
            noise[name] = RowNoise(
                laplace.scale_of(tuples),
                salts,
                laplace.step,
                laplace.low,
                laplace.high,
                column.whole,
            )
        return noise

    def _salts(self, secret: str) -> NDArray[np.uint64]:
        """A secret number for every kept combination of original values."""
        frame = self.table.originals.frame.iloc[self.kept]
        rows = zip(*(frame[name].map(canonical) for name in self.table.qi_names), strict=True)
        salts = [
            hashlib.blake2b(repr(row).encode(), key=secret.encode(), digest_size=8).digest()
            for row in rows
        ]
        return np.frombuffer(b"".join(salts), "<u8").astype(np.uint64)

    def evidence(self, path: Path, written: Any, copy_plan: CopyPlan) -> Evidence:
        """Count the file, and measure what it gives away and what it is worth.

        Args:
            path: The copy.
            written: What the source returned when it wrote the copy.
            copy_plan: How it was copied.
        """
        table = self.table
        attributes = list(table.counts.attributes)
        used = {*table.qi_names, *attributes}
        rest = [name for name in table.released_columns if name not in used]
        counts, spread = table.source.recount(path, written, self.exact, attributes, rest)
        self._check(counts)
        audit = Audit(
            count_tables(
                counts.frames(self.exact),
                quasi_identifiers=self.exact,
                sensitive=list(table.sensitive),
                target=table.target_name if table.target_name not in self.exact else None,
                hierarchies=sensitive_hierarchies(table),
                count=WEIGHT,
            )
        )
        utility = self._utility(counts, audit)
        privacy = audit.to_dict()
        if self.noised:
            privacy = self._privacy(audit, *table.source.group_sizes(path, written, table.qi_names))
        secret = copy_plan.noise_secret.encode() if self.noised else b""
        return Evidence(
            n_records=audit.n_records,
            privacy=privacy,
            utility=utility,
            homogeneity=Homogeneity.of(audit, self.exact),
            audited=partial(audited_value, audit=audit, utility=utility),
            labels=released_labels(table, self.rows.frame),
            unique=[n for n, v in {**spread, **_spread(counts)}.items() if is_nearly_unique(*v)],
            key=_key(counts) + secret,
        )

    def _utility(self, counts: Counts, audit: Audit) -> dict[str, Any]:
        """The utility of the copy; numbers with noise are measured in the mean over noise."""
        table = self.table
        if not self.noised:
            utility = self.rows.utility
            if audit.counts.target is not None:
                gone = table.n_records - audit.n_records
                wrong = audit.measure("classification") * audit.n_records
                utility = {**utility, "classification": (gone + wrong) / table.n_records}
            return utility
        part = counts.first_part
        frame = pd.DataFrame({n: counts.keys[n].iloc[part] for n in self.exact})
        levels = mean_levels(
            frame, self.recoding.relative_levels(), self.exact, counts.weights[part]
        )
        weight = np.array([table.qis[table.qi_names.index(name)].weight for name in self.exact])
        return {
            "originality_expected": self._expected_originality(),
            "distortion": float(weight @ levels.to_numpy()),
        }

    def _expected_originality(self) -> float:
        """The share of cells that are published unchanged, in the mean over noise."""
        table = self.table
        tuples, weights = table.originals.tuples, table.originals.row_weights
        unchanged = 0.0
        for column, numbers in zip(self.recoding.columns, numeric_columns(table), strict=True):
            if isinstance(column, Labels):
                share = ((column.widths == 1) & column.qi.exact)[column.codes[tuples]]
            elif isinstance(column.noise, RoundedLaplace):
                share = column.noise.unchanged(np.asarray(numbers), tuples)
            else:
                share = np.zeros(len(weights))
            unchanged += float(weights @ share)
        return unchanged / (int(weights.sum()) * table.n_qis)

    def _privacy(
        self, audit: Audit, sizes: NDArray[np.int64], groups: NDArray[np.int64]
    ) -> dict[str, Any]:
        """The sizes of groups by all quasi-identifiers, and the audit by those without noise.

        Numbers with noise may make as many groups as there are records, which nobody counts in memory.
        """
        by_all = audit_sizes(sizes, groups)
        return {
            **by_all,
            "k_on": k_by_columns(by_all["k"], audit.k, self.exact),
            "on_those_without_noise": audit.to_dict(),
        }

    def _check(self, counts: Counts) -> None:
        """Raise unless the file has just the records that the recoding says."""
        part = counts.first_part
        weights = self.table.originals.row_weights[self.kept]
        expected = _sums({n: self.rows.frame[n] for n in self.exact}, weights)
        written = _sums({n: counts.keys[n].iloc[part] for n in self.exact}, counts.weights[part])
        if int(written.sum()) != int(expected.sum()):
            raise AuditError(
                f"release: {int(expected.sum()):,} rows were to be written, {int(written.sum()):,} can be "
                "read; nothing is released"
            )
        if not written.equals(expected):
            raise AuditError(
                "release: the groups in the written file are not those of the recoding; nothing is "
                "released"
            )


def _sums(columns: Mapping[str, pd.Series[Any]], records: NDArray[np.int64]) -> pd.Series[Any]:
    """The records of every combination of values."""
    frame = pd.DataFrame({n: _in_utc(values).map(canonical) for n, values in columns.items()})
    return frame.assign(**{WEIGHT: records}).groupby(list(columns), sort=True)[WEIGHT].sum()


def _in_utc(values: pd.Series[Any]) -> pd.Series[Any]:
    """Points in time in UTC, as engines write them; without a zone they stay as they are."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        return pd.Series(values.dt.tz_convert("UTC"))
    return values


def _spread(counts: Counts) -> dict[str, tuple[int, int]]:
    """Distinct and present values of every attribute."""
    spread = {}
    for name, values in counts.attributes.items():
        present = values.notna().to_numpy()
        records = counts.weights[counts.parts[name]]
        spread[name] = (values.nunique(), int(records[present].sum()))
    return spread


def _key(counts: Counts) -> bytes:
    """Bytes that tell releases of the same table apart, whatever the order of their rows."""
    part = counts.first_part
    frame = pd.DataFrame({n: v.iloc[part].map(canonical) for n, v in counts.keys.items()})
    frame["\0count"] = counts.weights[part]
    hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return bytes(np.sort(hashes).tobytes())
