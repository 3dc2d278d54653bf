"""Release: the anonymised table, made once, audited before anyone sees it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.digest import row_hashes
from privmoo._util.files import replacing
from privmoo.audit import audit, group_sizes, nearly_unique
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import Grouping
from privmoo.measures.base import Measure
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.classes import PartitionRecoding
from privmoo.recodings.recoding import Recoding
from privmoo.release.audited import Outside
from privmoo.release.certificate import Certificate
from privmoo.release.certify import certify, check_seed, confirm, other_releases, released_labels
from privmoo.suppression import ExplicitRecords, NoSuppression, Suppression

__all__ = [
    "Release",
    "ReleaseWarning",
    "in_a_line",
    "make_release",
    "released_frame",
    "sensitive_hierarchies",
]


class ReleaseWarning(UserWarning):
    """Something a publisher should look at before publishing."""


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
    meanings: Mapping[str, Mapping[str, list[str]]] = field(repr=False, default_factory=dict)
    """Per quasi-identifier and released label, the original values it stands for; a released number or
    value that is no label, such as the mean of a cluster, has no entry."""
    recoding: Recoding | None = field(repr=False, default=None)
    """What made it; never to be published with it."""

    def __len__(self) -> int:
        return len(self.frame)

    def to_csv(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as CSV (UTF-8), whole or not at all."""
        with replacing(path, force=force) as temporary:
            self.frame.to_csv(temporary, index=False)

    def to_parquet(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rows as Parquet, whole or not at all."""
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
    """A release in one line, from what its certificate states."""
    lost = "loss" if "loss" in utility else "il"
    return (
        f"Release of {privacy['n_records']:,} records in {privacy['n_groups']:,} QI-groups, "
        f"k = {privacy['k']}, {lost.replace('il', 'IL')} = {utility.get(lost, math.nan):.4g}"
    )


def make_release(
    table: Table,
    recoding: Recoding,
    *,
    suppression: Suppression | None = None,
    published: NDArray[np.bool_] | None = None,
    measures: Iterable[Measure] = (),
    claims: Mapping[str, float] | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    method: Mapping[str, Any] | None = None,
) -> Release:
    """Recode a table, leave out what the policy says, audit the result, and certify it.

    Args:
        table: The original records.
        recoding: What the quasi-identifiers become.
        suppression: The policy; none by default.
        published: Which records are published, where a solution chose them itself.
        measures: What the optimiser measured; audited ones are compared with the audit.
        claims: Its values by `Measure.key`; computed again if not given.
        shuffle: Whether rows change their order (their order links records to other files).
        seed: For the order; by default nobody can repeat it. It is mixed with the data, so that the
            seed alone does not bring the original order back.
        method: Further facts for the certificate, e.g. problem, algorithm and seed of the search.

    Raises:
        AuditError: An audited measure and the audit disagree; nothing is released.

    >>> from privmoo.hierarchy import Hierarchy
    >>> from privmoo.recodings.recoding import cut_recoding
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
    policy = suppression or (NoSuppression() if published is None else ExplicitRecords())
    if published is not None and not isinstance(policy, ExplicitRecords):
        raise ReleaseError(
            f"published: the records are chosen already, so {type(policy).__name__} would not be "
            "applied; give one of suppression and published"
        )
    if published is not None and isinstance(recoding, PartitionRecoding | CellRecoding):
        raise ReleaseError(
            "published: classes release means and ranges of all their records, so single records cannot "
            "be left out; suppress whole classes with a policy, or make the classes of the records alone"
        )
    wanted = list(measures)
    needs = {"labels"}.union(*(m.needs for m in wanted)) & {"labels", "counts", "target"}
    view = recoding.view(table)
    candidate = recoding.candidate(view)
    if published is not None:
        candidate = replace(candidate, published=published[None])
    before, after = Engine(view, suppression=policy, needs=needs, threads=1).groups(candidate)
    kept = _kept_rows(view, after[0], published)
    if not len(kept):
        raise ReleaseError(
            "release: all records would be suppressed, which is no release; choose another solution"
        )
    order = _shuffled(table, recoding, kept, seed) if shuffle else kept
    frame = released_frame(table, recoding, order)
    measured = audit(
        frame,
        quasi_identifiers=table.qi_names,
        sensitive=list(table.sensitive),
        subject=None
        if table.subject_name is None
        else table.frame[table.subject_name].to_numpy()[order],
        target=table.target_name if table.target_name not in table.qi_names else None,
        hierarchies=sensitive_hierarchies(table),
    )
    outside = Outside(table, frame, recoding, order, measured)
    useful = outside.utility
    confirmed = confirm(wanted, claims, before, after, outside.value_of)
    notes = [*_unique_columns(table, frame), *_other_releases(table, frame)]
    for note in notes:
        warnings.warn(note, ReleaseWarning, stacklevel=2)
    certificate = certify(
        table,
        recoding,
        policy,
        n_released=len(frame),
        labels=released_labels(table, frame),
        measured={**measured.to_dict(), **_without_noise(table, recoding, frame, measured.k)},
        useful=useful,
        claims=confirmed,
        notes=notes,
        shuffled=shuffle,
        method=method,
    )
    return Release(frame, certificate, order, recoding.meanings(table), recoding)


def _without_noise(table: Table, recoding: Recoding, frame: pd.DataFrame, k: int) -> dict[str, Any]:
    """K on the quasi-identifiers without noise, where some have it: two attackers, two numbers."""
    noised = recoding.noised()
    rest = [name for name in table.qi_names if name not in noised]
    if not noised or not rest:
        return {}
    return {
        "k_on": {
            "all quasi-identifiers": k,
            f"those without noise ({', '.join(rest)})": int(group_sizes(frame, rest).min()),
        }
    }


def _kept_rows(
    table: Table, groups: Grouping, published: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    if published is not None:
        return np.flatnonzero(published)
    return np.flatnonzero(groups.labels[table.row_tuple] >= 0)


def released_frame(table: Table, recoding: Recoding, order: NDArray[np.int64]) -> pd.DataFrame:
    """The columns that a release has, of some records in an order."""
    recoded = recoding.apply(table, order)
    original = table.frame
    columns = {}
    for name in table.released_columns:
        column = recoded[name] if name in recoded.columns else original[name].iloc[order]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.remove_unused_categories()  # those of suppressed records
        columns[name] = column.reset_index(drop=True)
    return pd.DataFrame(columns)


def sensitive_hierarchies(table: Table) -> dict[str, list[list[str]]]:
    """The hierarchies of sensitive attributes, as the audit reads them."""
    return {
        name: attribute.hierarchy.rows()
        for name, attribute in table.sensitive.items()
        if attribute.hierarchy is not None
    }


def _shuffled(
    table: Table, recoding: Recoding, kept: NDArray[np.int64], seed: int | None
) -> NDArray[np.int64]:
    if seed is None:
        return np.random.default_rng().permutation(kept)
    # Another order for another recoding: rows of two releases must not be linked by their places.
    secrets = [int(table.fingerprint, 16), int.from_bytes(recoding.key(), "big")]
    return np.random.default_rng([seed, *secrets]).permutation(kept)


def _unique_columns(table: Table, frame: pd.DataFrame) -> list[str]:
    """Columns that are released as they are and name nearly everybody."""
    return [
        f"{role} column {name!r} has a nearly unique value in every record: it may identify people "
        "whatever the quasi-identifiers say; make it identifying or a quasi-identifier"
        for role in ("insensitive", "sensitive")
        for name in nearly_unique(frame, table.columns_of(role))
    ]


def _other_releases(table: Table, frame: pd.DataFrame) -> list[str]:
    """A warning if this process has made another release of the same data."""
    rows = np.sort(row_hashes(frame))
    return other_releases(table, rows.tobytes())  # the same rows in another order tell nothing new
