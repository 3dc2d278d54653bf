"""Release: the anonymised table, audited before anyone sees it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_frames import to_backend
from privmoo._util.files import replacing
from privmoo._util.wording import count_noun
from privmoo.data.table import Table
from privmoo.errors import AuditError, ReleaseError
from privmoo.measures.base import Measure
from privmoo.recodings.base import Recoding
from privmoo.release.certificate import Certificate
from privmoo.release.copy import copy_rows, write_draft
from privmoo.release.draft import Draft
from privmoo.release.evidence import Evidence, ReleaseWarning, certify_plan
from privmoo.release.plan import Origin, ReleasePlan
from privmoo.suppression import Suppression

__all__ = [
    "Origin",
    "Release",
    "ReleaseWarning",
    "in_a_line",
    "make_release",
]


@dataclass(frozen=True)
class Release:
    """The anonymised table with its certificate; made by `make_release` or `Solution.release`.

    Attributes:
        frame: The released rows, shuffled, with a new index. Quasi-identifiers are generalised, other
            columns are as they were; identifying columns and suppressed records are left out.
        certificate: What was done and what was measured.
    """

    frame: pd.DataFrame
    certificate: Certificate
    rows: NDArray[np.int64] = field(repr=False)
    """The original row of every released row; never publish it with the rows."""
    meanings: Mapping[str, Mapping[str, Sequence[str]]] = field(repr=False, default_factory=dict)
    """Per quasi-identifier and released label, the original values it stands for; a number or value that
    stands for itself, such as the mean of a cluster, has no entry."""
    recoding: Recoding | None = field(repr=False, default=None)
    """The recoding that made it; never publish it with the rows."""
    draft: Draft | None = field(repr=False, default=None)
    """The rows before they were copied, with the originals; never publish it with the rows."""
    backend: str = field(repr=False, default="pandas")
    """The library of the data frame that the table was made of."""

    def __len__(self) -> int:
        return len(self.frame)

    def to_native(self) -> Any:
        """Return the rows as the kind of data frame that the table was made of, such as one of polars.

        >>> import pyarrow as pa
        >>> from privmoo.recodings import identity_recoding
        >>> table = Table(pa.table({"age": [31, 31]}), quasi_identifiers=["age"])
        >>> make_release(table, identity_recoding(table)).to_native().column("age").to_pylist()
        [31, 31]
        """
        return to_backend(self.frame, self.backend)

    def to_csv(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as CSV (UTF-8), whole or not at all.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        self._write_rows(path, ".csv", force=force)

    def to_parquet(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as Parquet, whole or not at all.

        Args:
            path: The file.
            force: Whether a file that exists is replaced.
        """
        self._write_rows(path, ".parquet", force=force)

    def _write_rows(self, path: str | Path, kind: str, *, force: bool) -> None:
        with replacing(path, force=force) as temporary:
            rows = temporary.with_name(f"rows{kind}")
            evidence, _ = copy_rows(self._draft(), rows)
            self._confirm_certificate(evidence)
            rows.replace(temporary)

    def _draft(self) -> Draft:
        if self.draft is None:
            raise ReleaseError(
                "release: it has only rows and certificate, because it was pickled; make it again with "
                "Solution.release or make_release"
            )
        return self.draft

    def _confirm_certificate(self, evidence: Evidence) -> Certificate:
        """Return the certificate, or raise if it contradicts what was measured on a file."""
        certificate = self.certificate
        for figures, certified in (
            (evidence.privacy, certificate.privacy),
            (evidence.utility, certificate.utility),
        ):
            if repr(figures) != repr(certified):  # not-a-number is equal to itself here
                raise AuditError(
                    "release: the written rows are not those of the certificate; nothing is released"
                )
        return certificate

    def __getstate__(self) -> dict[str, Any]:
        """Keep only rows and certificate, so that a pickled release contains nothing of the original.

        It leaves out the draft with the original records, the original position of each row, the recoding
        (which may state the class of every original record), the original values behind labels, and the
        digits of the certificate that are not published.
        """
        return {
            **vars(self),
            "rows": np.empty(0, dtype=np.int64),
            "meanings": {},
            "recoding": None,
            "draft": None,
            "certificate": self.certificate.published(),
        }

    def write(
        self, path: str | Path, *, force: bool = False, spreadsheets: bool = False
    ) -> list[Path]:
        """Write rows (`.csv` or `.parquet`) and certificate (`.json`, `.txt`): all files or none.

        The rows are read back and audited before any file is moved into place: nothing is published
        that differs from the certificate. The certificate names the file and its SHA-256.

        Args:
            path: The file of the rows; the certificate is written next to it.
            force: Whether files that exist are replaced.
            spreadsheets: Whether texts that a spreadsheet would read as a formula get an apostrophe.
        """
        return write_draft(
            self._draft(),
            Path(path),
            self._confirm_certificate,
            force=force,
            spreadsheets=spreadsheets,
        )

    def __repr__(self) -> str:
        return in_a_line(self.certificate.privacy, self.certificate.utility)

    def _repr_html_(self) -> str:
        preview = "<p>Rows are not shown: the released k is 1.</p>"
        if self.certificate.privacy["k"] > 1:
            preview = self.frame.head(5).to_html(index=False, escape=True)
        return f"{preview}{self.certificate._repr_html_()}"


def in_a_line(privacy: Mapping[str, Any], utility: Mapping[str, Any]) -> str:
    """Describe a release in one line, from the facts in its certificate.

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
    """Recode a table, leave out the records that the policy suppresses, audit the result and certify it.

    Args:
        table: The original records.
        recoding: What the quasi-identifiers become.
        suppression: A policy, or a mask of the records to publish; by default all are published.
        measures: The measures of the optimiser; audited ones are compared with the audit.
        origin: How the recoding was found: claimed values, and facts for the certificate.
        shuffle: Whether the rows are shuffled; their original order would link records to other files.
        seed: The seed of the order; by default the order is random and cannot be repeated. It is mixed with
            the data, so the seed alone does not restore the original order.

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
    plan = ReleasePlan.of(
        table, recoding, suppression=suppression, measures=list(measures), origin=origin
    )
    draft = Draft.of(plan, seed=seed, shuffle=shuffle)
    certificate = certify_plan(plan, draft.evidence(draft.counts_in_memory()), shuffled=shuffle)
    rows = draft.rows
    return Release(
        rows.frame, certificate, rows.order, recoding.meanings(), recoding, draft, table.backend
    )
