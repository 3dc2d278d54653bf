"""Release: the anonymised table, made once, audited before anyone sees it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.digest import row_hashes
from privmoo._util.files import replacing
from privmoo._util.wording import count_noun
from privmoo.audit import Audit, audit, group_sizes, nearly_unique
from privmoo.data.memory import MemorySource
from privmoo.data.source import CopyPlan
from privmoo.data.table import Table
from privmoo.measures.base import Measure
from privmoo.recodings.base import Recoding
from privmoo.release.certificate import Certificate, Homogeneity, k_by_columns
from privmoo.release.check import AuditedValues
from privmoo.release.evidence import (
    Evidence,
    ReleaseWarning,
    certified,
    released_labels,
    sensitive_hierarchies,
)
from privmoo.release.plan import Origin, ReleasePlan, check_seed
from privmoo.release.utility import ReleasedRows
from privmoo.suppression import Suppression

__all__ = [
    "Origin",
    "Release",
    "ReleaseWarning",
    "in_a_line",
    "make_release",
    "released_frame",
]


@dataclass(frozen=True)
class Release:
    """The anonymised table with its certificate; made by `make_release` or `Solution.release`.

    Attributes:
        frame: The released rows: generalised quasi-identifiers, other columns as they were,
            identifying columns and suppressed records gone, a new index, rows shuffled.
        certificate: What was done and what was measured.
    """

    frame: pd.DataFrame
    certificate: Certificate
    rows: NDArray[np.int64] = field(repr=False)
    """The original row of every released row: never to be published with it."""
    meanings: Mapping[str, Mapping[str, Sequence[str]]] = field(repr=False, default_factory=dict)
    """Per quasi-identifier and released label, the original values it stands for; a number or value that
    stands for itself, such as the mean of a cluster, has no entry."""
    recoding: Recoding | None = field(repr=False, default=None)
    """What made it: never to be published with it."""

    def __len__(self) -> int:
        return len(self.frame)

    def to_csv(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as CSV (UTF-8), whole or not at all.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        with replacing(path, force=force) as temporary:
            self.frame.to_csv(temporary, index=False)

    def to_parquet(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as Parquet, whole or not at all.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        with replacing(path, force=force) as temporary:
            self.frame.to_parquet(temporary, index=False)

    def write(
        self, path: str | Path, *, force: bool = False, spreadsheets: bool = False
    ) -> list[Path]:
        """Write rows (`.csv` or `.parquet`) and certificate (`.json`, `.txt`): all files or none.

        The rows are read back before any file is moved into place: nothing is published whose groups on
        the disk are smaller than certified. The certificate names the file and its SHA-256.

        Args:
            path: Where the rows go; the certificate goes beside them.
            force: Whether files that exist are replaced.
            spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.
        """
        from privmoo.release.files import write

        return write(self, Path(path), force=force, spreadsheets=spreadsheets)

    def __repr__(self) -> str:
        return in_a_line(self.certificate.privacy, self.certificate.utility)

    def _repr_html_(self) -> str:
        preview = "<p>Rows are not shown: the released k is 1.</p>"
        if self.certificate.privacy["k"] > 1:
            preview = self.frame.head(5).to_html(index=False, escape=True)
        return f"{preview}{self.certificate._repr_html_()}"


def in_a_line(privacy: Mapping[str, Any], utility: Mapping[str, Any]) -> str:
    """Describe a release in one line, from what its certificate states.

    Args:
        privacy: The measured privacy.
        utility: The measured utility.
    """
    label, key = ("loss", "loss") if "loss" in utility else ("IL", "il")
    return (
        f"Release of {count_noun(privacy['n_records'], 'record')} in "
        f"{count_noun(privacy['n_groups'], 'QI-group')}, "
        f"k = {privacy['k']:,}, {label} = {utility.get(key, math.nan):.4g}"
    )


def make_release(
    table: Table,
    recoding: Recoding,
    *,
    suppression: Suppression | NDArray[np.bool_] | None = None,
    measures: Iterable[Measure] = (),
    origin: Origin | None = None,
    shuffle: bool = True,
    seed: int | None = None,
) -> Release:
    """Recode a table, leave out what the policy says, audit the result, and certify it.

    Args:
        table: The original records.
        recoding: What the quasi-identifiers become.
        suppression: The policy, or of every record whether it is published; no record is left out by
            default.
        measures: What the optimiser measured; audited ones are compared with the audit.
        origin: How the recoding was found: claimed values, and facts for the certificate.
        shuffle: Whether rows change their order (their order links records to other files).
        seed: For the order; by default nobody can repeat it. It is mixed with the data, so that the
            seed alone does not bring the original order back.

    Raises:
        AuditError: An audited measure and the audit disagree; nothing is released.

    >>> from privmoo.hierarchy import Hierarchy
    >>> from privmoo.recodings.blocks import cut_recoding
    >>> df = pd.DataFrame({"name": list("abcd"), "age": [20, 21, 40, 41]})
    >>> table = Table(df, quasi_identifiers={"age": Hierarchy.ordered()}, identifiers="name")
    >>> release = make_release(table, cut_recoding(table, [[0, 1, 0]]), seed=1)
    >>> release
    Release of 4 records in 2 QI-groups, k = 2, loss = 0.3333
    >>> sorted(set(release.frame["age"])), list(release.frame)
    (['20–21', '40–41'], ['age'])
    """
    table.need_records("a release in memory", "use write(path)")
    check_seed(seed)
    plan = ReleasePlan.of(
        table, recoding, suppression=suppression, measures=list(measures), origin=origin
    )
    order = plan.kept(plan.view.row_tuple)
    if shuffle:
        order = _shuffled(table, recoding, order, seed)
    rows = ReleasedRows(table, released_frame(table, recoding, order), recoding, order)
    certificate = certified(plan, _evidence(rows), shuffled=shuffle)
    return Release(rows.frame, certificate, order, recoding.meanings(), recoding)


def _evidence(rows: ReleasedRows) -> Evidence:
    """What the audit measures on released rows in memory."""
    table, frame = rows.table, rows.frame
    audited = _audit(rows)
    privacy = audited.to_dict()
    noised = rows.recoding.noised()
    exact = [name for name in table.qi_names if name not in noised]
    if noised and exact:  # two attackers, two numbers
        k_without_noise = int(group_sizes(frame, exact).min())
        privacy["k_on"] = k_by_columns(audited.k, k_without_noise, exact)
    as_they_are = [*table.columns_of("insensitive"), *table.columns_of("sensitive")]
    return Evidence(
        n_records=len(frame),
        privacy=privacy,
        utility=rows.utility,
        homogeneity=Homogeneity.of(audited, table.qi_names),
        audited=AuditedValues(rows, audited),
        labels=released_labels(table, frame),
        unique=[str(name) for name in nearly_unique(frame, as_they_are)],
        key=np.sort(row_hashes(frame)).tobytes(),
    )


def _audit(rows: ReleasedRows) -> Audit:
    """The audit of released rows in memory."""
    table, subject = rows.table, rows.table.subject_name
    return audit(
        rows.frame,
        quasi_identifiers=table.qi_names,
        sensitive=list(table.sensitive),
        subject=None if subject is None else table.frame[subject].to_numpy()[rows.order],
        target=table.target_name if table.target_name not in table.qi_names else None,
        hierarchies=sensitive_hierarchies(table),
    )


def released_frame(table: Table, recoding: Recoding, order: NDArray[np.int64]) -> pd.DataFrame:
    """Return the columns that a release has, of some records in an order.

    Args:
        table: The original.
        recoding: What the quasi-identifiers become.
        order: The original row of every released row.
    """
    recoded = recoding.apply(table, order)
    values = {name: recoded[name] for name in table.qi_names}
    plan = CopyPlan(rows=order, values=values, columns=table.released_columns)
    return MemorySource(table.records.frame).released(plan)


def _shuffled(
    table: Table, recoding: Recoding, rows: NDArray[np.int64], seed: int | None
) -> NDArray[np.int64]:
    if seed is None:
        return np.random.default_rng().permutation(rows)
    # Another order for another recoding: rows of two releases must not be linked by their places.
    secrets = [int(table.fingerprint, 16), int.from_bytes(recoding.key(), "big")]
    return np.random.default_rng([seed, *secrets]).permutation(rows)
