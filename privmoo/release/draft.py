"""Draft: the rows of a release before they are copied, and what their copy must be."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.digest import row_hashes
from privmoo.audit import (
    MISSING,
    Audit,
    audit_sizes,
    canonical,
    count_tables,
    fewest_unique,
    is_nearly_unique,
    mean_levels,
)
from privmoo.data.columns import no_records
from privmoo.data.memory import MemorySource
from privmoo.data.noise import RowNoise
from privmoo.data.source import SUBJECT, WEIGHT, CopyCounts, CopyPlan, Counts
from privmoo.data.table import Table
from privmoo.errors import AuditError, ReleaseError
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import Labels, Noised
from privmoo.recodings.nodes import numeric_columns
from privmoo.release.certificate import Homogeneity, k_by_columns
from privmoo.release.check import AuditedValues
from privmoo.release.evidence import Evidence, released_labels, sensitive_hierarchies
from privmoo.release.lost_values import lost_values
from privmoo.release.plan import ReleasePlan, check_seed
from privmoo.release.utility import ReleasedRows

__all__ = ["Draft", "released_frame"]


@dataclass(frozen=True)
class Draft:
    """The rows of a release: single records in their order, or combinations of original values.

    Attributes:
        plan: What is to be released.
        rows: The rows, as far as they are known before the source copies them.
        copy_plan: What the source must know for the copy.
        shuffled: Whether rows change their order.
    """

    plan: ReleasePlan
    rows: ReleasedRows
    copy_plan: CopyPlan
    shuffled: bool

    @classmethod
    def of(cls, plan: ReleasePlan, *, seed: int | None = None, shuffle: bool = True) -> Draft:
        """Choose and recode the rows of a plan.

        Single records are put into their order here. Where only counts are known, the source sorts by a
        secret while it copies.

        Args:
            plan: What is to be released.
            seed: Seeds order and noise, mixed with the data; by default neither can be repeated.
            shuffle: Whether rows change their order.

        Raises:
            ReleaseError: All records would be suppressed.
            TableError: The recoding needs single records, and only counts are known.
        """
        check_seed(seed)
        table, recoding, originals = plan.table, plan.recoding, plan.table.originals
        noised = _noised_columns(recoding)
        if not originals.are_records and not recoding.whole_tuples and not noised:
            raise no_records(type(recoding).__name__)
        order = plan.kept_rows(plan.view.originals.tuples)
        if shuffle and originals.are_records:
            order = _permute_rows(plan, order, seed)
        rows = ReleasedRows(table, released_frame(table, recoding, order), recoding, order)
        noise_secret = _secret(plan, seed, "noise")
        subject = table.subject_name
        copy_plan = CopyPlan(
            rows=originals.rows[order],
            values={name: rows.frame[name] for name in table.qi_names},
            columns=table.released_columns,
            complete=table.complete,
            secret=_secret(plan, seed, "order") if shuffle and not originals.are_records else None,
            noise=_noise(plan, noised, order, noise_secret),
            noise_secret=noise_secret,
            subject=None if subject is None else table.records.frame[subject].iloc[order],
        )
        return cls(plan, rows, copy_plan, shuffle)

    def for_spreadsheets(self, spreadsheets: bool) -> CopyPlan:
        """Return the plan of a copy in which texts are safe for spreadsheets, or as they are."""
        return replace(self.copy_plan, spreadsheets=spreadsheets)

    # What is counted

    @property
    def table(self) -> Table:
        """The original."""
        return self.plan.table

    @property
    def keys(self) -> list[str]:
        """The quasi-identifiers whose released values are known before the copy."""
        return [name for name in self.table.qi_names if name not in self.copy_plan.noise]

    @property
    def attributes(self) -> list[str]:
        """What is counted with the quasi-identifiers: sensitive attributes, the target, and persons."""
        persons = [] if self.copy_plan.subject is None else [SUBJECT]
        return [*self.table.attributes, *persons]

    @property
    def others(self) -> list[str]:
        """The columns that are only copied."""
        columns = {*self.table.qi_names, *self.table.attributes}
        return [name for name in self.table.released_columns if name not in columns]

    def counts_in_memory(self) -> CopyCounts:
        """Count the rows as they are in memory, where they are single records."""
        self.table.need_records("a release in memory", "use write(path)")
        frame, subject = self.rows.frame, self.copy_plan.subject
        return MemorySource(frame).count_copy(subject, self.keys, self.attributes, self.others)

    # What the counts of a copy say

    def evidence(self, copy: CopyCounts) -> Evidence:
        """Check the counts of a copy, and measure its privacy and its utility.

        Args:
            copy: What was counted in the copy.

        Raises:
            AuditError: The copy has other groups than the draft.
        """
        table, counts = self.table, copy.counts
        self._check(counts)
        target = table.target_name
        audit = Audit(
            count_tables(
                {
                    name: self._restore_categories(name, frame)
                    for name, frame in counts.frames(self.keys).items()
                },
                quasi_identifiers=self.keys,
                sensitive=list(table.sensitive),
                target=target if target not in table.qi_names else None,
                subject=None if self.copy_plan.subject is None else SUBJECT,
                hierarchies=sensitive_hierarchies(table),
                count=WEIGHT,
                missing=table.missing_sensitive,
            )
        )
        spread = {**copy.spread, **_spread(counts)}
        utility = self._utility(counts, audit)
        return Evidence(
            n_records=audit.n_records,
            privacy=self._privacy(copy, audit),
            utility=utility,
            homogeneity=Homogeneity.of(audit, self.keys),
            audited=AuditedValues(self.rows, audit, utility),
            labels=released_labels(table, self.rows.frame, self.rows.order),
            lost=lost_values(table, self.plan.recoding, self.rows.order),
            unique=[name for name, values in spread.items() if is_nearly_unique(*values)],
            unique_together=_unique_together(copy),
            key=self._key,
        )

    def _restore_categories(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Return counts with the categories of the original, because a file does not keep their order."""
        if name not in self.table.attributes:
            return frame
        dtype = self.table.counts.attributes[name].dtype
        if not isinstance(dtype, pd.CategoricalDtype) or frame[name].dtype == dtype:
            return frame
        places = {canonical(value): i for i, value in enumerate(dtype.categories)}
        spellings = _spellings(frame[name])
        codes = np.array([places.get(text, -1) for text in spellings], np.int64)
        if (frame[name].notna().to_numpy() & (codes < 0)).any():
            raise AuditError(
                f"release: the written file has a value in column {name!r} that the table does not have; "
                "nothing is released"
            )
        return frame.assign(**{name: pd.Categorical.from_codes(codes, dtype=dtype)})

    def _privacy(self, copy: CopyCounts, audit: Audit) -> dict[str, Any]:
        """Return the audit by all quasi-identifiers; if some have noise, also k by the others.

        Numbers with noise from a source may form as many groups as there are records, too many to count
        in memory. Then only the sizes of these groups are known.
        """
        noised = self.plan.recoding.noised()
        exact = [name for name in self.table.qi_names if name not in noised]
        if copy.sizes is not None:
            by_all = audit_sizes(*copy.sizes)
            return {
                **by_all,
                "k_on": k_by_columns(by_all["k"], audit.k, exact),
                "on_those_without_noise": audit.to_dict(),
            }
        privacy = audit.to_dict()
        if noised and exact:  # two attackers, two numbers
            tables = {"": next(iter(copy.counts.frames(exact).values()))}
            by_exact = count_tables(tables, quasi_identifiers=exact, count=WEIGHT)
            privacy["k_on"] = k_by_columns(audit.k, int(by_exact.sizes.min()), exact)
        return privacy

    def _utility(self, counts: Counts, audit: Audit) -> dict[str, Any]:
        """Return the utility of the rows; if a source draws the noise, the mean over noise."""
        table, recoding = self.table, self.plan.recoding
        if self.copy_plan.noise:
            part = counts.first_part
            frame = pd.DataFrame({n: counts.keys[n].iloc[part] for n in self.keys})
            levels = mean_levels(frame, recoding.relative_levels(), self.keys, counts.weights[part])
            weight = np.array([table.qis[table.qi_names.index(name)].weight for name in self.keys])
            return {
                "originality_expected": self._expected_originality(),
                "distortion": float(weight @ levels.to_numpy()),
            }
        utility = self.rows.utility
        if audit.counts.target is None or "classification" in utility:
            return utility
        n_suppressed = table.n_records - audit.n_records
        wrong = audit.measure("classification") * audit.n_records
        return {**utility, "classification": (n_suppressed + wrong) / table.n_records}

    def _expected_originality(self) -> float:
        """Return the expected share of cells that are published unchanged."""
        table = self.table
        tuples, weights = table.originals.tuples, table.originals.row_weights
        share_unchanged = 0.0
        for column, numbers in zip(self.plan.recoding.columns, numeric_columns(table), strict=True):
            if isinstance(column, Labels):
                share = ((column.widths == 1) & column.qi.exact)[column.codes[tuples]]
            elif column.noise is not None:
                share = column.noise.unchanged(np.asarray(numbers), tuples)
            else:
                share = np.zeros(len(weights))
            share_unchanged += float(weights @ share)
        return share_unchanged / (int(weights.sum()) * table.n_qis)

    @cached_property
    def _key(self) -> bytes:
        """Return bytes that distinguish releases of the same table, whatever the order of their rows."""
        frame, weights = self.rows.frame, self.table.originals.weights
        if weights is not None:
            frame = frame.assign(**{WEIGHT: weights[self.rows.order]})
        secret = self.copy_plan.noise_secret.encode() if self.copy_plan.noise else b""
        return np.sort(row_hashes(frame)).tobytes() + secret

    def _check(self, counts: Counts) -> None:
        """Raise unless the copy has exactly the records of the draft."""
        part = counts.first_part
        weights = self.table.originals.row_weights[self.rows.order]
        expected = _sums({n: self.rows.frame[n] for n in self.keys}, weights)
        copied = _sums({n: counts.keys[n].iloc[part] for n in self.keys}, counts.weights[part])
        if int(copied.sum()) != int(expected.sum()):
            raise AuditError(
                f"release: {int(expected.sum()):,} rows should be in the file, but "
                f"{int(copied.sum()):,} can be read; nothing is released"
            )
        if not copied.equals(expected):
            raise AuditError(
                "release: the groups in the written file are not those of the recoding; nothing is "
                "released"
            )


def released_frame(table: Table, recoding: Recoding, order: NDArray[np.int64]) -> pd.DataFrame:
    """Return the columns that a release has, of some rows in an order.

    Where only counts are known, there are only quasi-identifiers.

    Args:
        table: The original.
        recoding: What the quasi-identifiers become.
        order: The row of `Table.originals` of every released row.
    """
    recoded_columns, frame = recoding.apply(table, order), table.originals.frame
    values = {name: recoded_columns[name] for name in table.qi_names}
    columns = [name for name in table.released_columns if name in values or name in frame]
    return MemorySource(frame).copied_rows(CopyPlan(rows=order, values=values, columns=columns))


def _noised_columns(recoding: Recoding) -> dict[str, Noised]:
    """Return the columns whose noise is drawn when the records are copied."""
    return {
        column.name: column
        for column in recoding.columns
        if isinstance(column, Noised) and not column.is_drawn
    }


def _permute_rows(
    plan: ReleasePlan, rows: NDArray[np.int64], seed: int | None
) -> NDArray[np.int64]:
    if seed is None:
        return np.random.default_rng().permutation(rows)
    # Another order for another recoding: rows of two releases must not be linked by their places.
    secret_numbers = [int(plan.table.fingerprint, 16), int.from_bytes(plan.recoding.key(), "big")]
    return np.random.default_rng([seed, *secret_numbers]).permutation(rows)


def _secret(plan: ReleasePlan, seed: int | None, purpose: str) -> str:
    """Return a secret mixed with data and recoding: the seed alone does not restore order or noise.

    Another recoding has another order and other noise, because noise that is used twice could be
    undone.
    """
    if seed is None:
        return secrets.token_hex(16)
    text = f"{purpose}|{plan.recoding.key().hex()}|{seed}|{plan.table.fingerprint}"
    return hashlib.sha256(text.encode()).hexdigest()


def _noise(
    plan: ReleasePlan, noised: Mapping[str, Noised], order: NDArray[np.int64], secret: str
) -> dict[str, RowNoise]:
    if not noised:
        return {}
    salts = _salts(plan.table, order, secret)
    tuples = plan.table.originals.tuples[order]
    noise = {}
    for name, column in noised.items():
        laplace = column.noise
        if laplace is None:
            raise ReleaseError(
                f"recoding: the noise of {name!r} is not known, so it cannot be drawn"
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


def _salts(table: Table, order: NDArray[np.int64], secret: str) -> NDArray[np.uint64]:
    """Return a secret number for every kept combination of original values."""
    frame = table.originals.frame.iloc[order]
    rows = zip(*(frame[name].map(canonical) for name in table.qi_names), strict=True)
    salts = [
        hashlib.blake2b(repr(row).encode(), key=secret.encode(), digest_size=8).digest()
        for row in rows
    ]
    return np.frombuffer(b"".join(salts), "<u8").astype(np.uint64)


def _sums(columns: Mapping[str, pd.Series[Any]], records: NDArray[np.int64]) -> pd.Series[Any]:
    """Return the number of records of every combination of values."""
    frame = pd.DataFrame({name: _spellings(values) for name, values in columns.items()})
    return frame.assign(**{WEIGHT: records}).groupby(list(columns), sort=True)[WEIGHT].sum()


def _spellings(values: pd.Series[Any]) -> NDArray[np.object_]:
    """Spell every value; points in time are in UTC, as engines write them."""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        values = values.dt.tz_convert("UTC")
    if values.dtype == object:  # here pandas would take 1 and True for one value
        return np.array([canonical(value) for value in values], dtype=object)
    codes, distinct = pd.factorize(values)
    return np.array([*map(canonical, distinct), MISSING], dtype=object)[codes]


def _unique_together(copy: CopyCounts) -> list[str]:
    """Return a few further columns whose combinations are nearly unique though none alone is."""
    spread = {
        name: distinct
        for name, (distinct, present) in copy.spread.items()
        if not is_nearly_unique(distinct, present)
    }
    return fewest_unique(spread, copy.combinations)


def _spread(counts: Counts) -> dict[str, tuple[int, int]]:
    """Return the numbers of distinct and of present values of every attribute."""
    spread = {}
    for name, values in counts.attributes.items():
        present = values.notna().to_numpy()
        records = counts.weights[counts.parts[name]]
        spread[name] = (values.nunique(), int(records[present].sum()))
    return spread
