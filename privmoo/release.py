"""Release: the anonymised table, made once, audited before anyone sees it."""

from __future__ import annotations

import datetime
import math
import threading
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import Audit, audit, group_sizes, nearly_unique
from privmoo.canonical import canonical
from privmoo.cells import CellRecoding
from privmoo.certificate import NOT_GUARANTEED, Certificate, Claim
from privmoo.engine import Engine
from privmoo.errors import AuditError, ReleaseError
from privmoo.grouping import Grouping
from privmoo.measures.base import Measure
from privmoo.outside import Outside
from privmoo.partition import PartitionRecoding
from privmoo.recoding import Recoding
from privmoo.suppression import ExplicitRecords, NoSuppression, Suppression
from privmoo.table import Table
from privmoo.writing import replacing

__all__ = ["Release", "ReleaseWarning", "make_release", "released_frame"]

_TOLERANCE = 1e-9
_made: dict[str, set[bytes]] = {}
_made_lock = threading.Lock()


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
        from privmoo.release_files import write

        return write(self, Path(path), force=force, spreadsheets=spreadsheets)

    def __repr__(self) -> str:
        privacy = self.certificate.privacy
        lost = "loss" if "loss" in self.certificate.utility else "il"
        value = self.certificate.utility.get(lost, math.nan)
        return (
            f"Release of {len(self.frame):,} records in {privacy['n_groups']:,} QI-groups, "
            f"k = {privacy['k']}, {lost.replace('il', 'IL')} = {value:.4g}"
        )

    def _repr_html_(self) -> str:
        preview = "<p>Rows are not shown: the released k is 1.</p>"
        if self.certificate.privacy["k"] > 1:
            preview = self.frame.head(5).to_html(index=False, escape=True)
        return f"{preview}{self.certificate._repr_html_()}"


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
    >>> from privmoo.recoding import cut_recoding
    >>> df = pd.DataFrame({"name": list("abcd"), "age": [20, 21, 40, 41]})
    >>> table = Table(df, quasi_identifiers={"age": Hierarchy.ordered()}, identifiers="name")
    >>> release = make_release(table, cut_recoding(table, [[0, 1, 0]]), seed=1)
    >>> release
    Release of 4 records in 2 QI-groups, k = 2, loss = 0.3333
    >>> sorted(set(release.frame["age"])), list(release.frame)
    (['20–21', '40–41'], ['age'])
    """
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
    order = _shuffled(table, kept, seed) if shuffle else kept
    frame = released_frame(table, recoding, order)
    measured = audit(
        frame,
        quasi_identifiers=table.qi_names,
        sensitive=list(table.sensitive),
        subject=None
        if table.subject_name is None
        else table.frame[table.subject_name].to_numpy()[order],
        target=table.target_name if table.target_name not in table.qi_names else None,
        hierarchies=_sensitive_hierarchies(table),
    )
    outside = Outside(table, frame, recoding, order, measured)
    useful = outside.utility
    values = dict(claims or {})
    confirmed = []
    for m in wanted:
        stage = before if m.stage == "before" else after
        own = float(m.values(stage)[0])
        claimed = values.get(m.key, own)
        found = outside.value_of(m)
        for what in (claimed, own):
            if found is not None and not math.isclose(
                what, found, rel_tol=_TOLERANCE, abs_tol=1e-12
            ):
                raise AuditError(
                    f"{m.name}: the optimiser claims {what:.10g}, the audit of the released rows "
                    f"measures {found:.10g}; nothing is released"
                )
        if found is not None:
            confirmed.append(Claim(m.name, m.parameters, claimed, found))
    notes = [*_unique_columns(table, frame), *_other_releases(table, frame)]
    for note in notes:
        warnings.warn(note, ReleaseWarning, stacklevel=2)
    notes += _remarks(table, measured)
    certificate = Certificate(
        source={
            "privmoo": _version(),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "records": table.n_records,
            **({} if table.subjects is None else {"persons": table.n_persons}),
            **({"rows_dropped_for_missing_values": table.n_dropped} if table.n_dropped else {}),
        },
        method={
            **dict(method or {}),
            "quasi_identifiers": recoding.describe(_released_labels(table, frame)),
            **recoding.facts(),
            **_units_of_loss(table, useful),
            "suppression": policy.describe(),
            "rows_shuffled": shuffle,
            **(
                {}
                if table.subjects is None
                else {"k_counts": "persons, by a key that is not released"}
            ),
        },
        release={
            "records": len(frame),
            "records_suppressed": table.n_records - len(frame),
            "share_suppressed": (table.n_records - len(frame)) / table.n_records,
            "columns": {name: table.roles[name] for name in frame.columns},
            "columns_left_out": [c for c in table.frame.columns if c not in frame.columns],
        },
        privacy={**measured.to_dict(), **_without_noise(table, recoding, frame, measured.k)},
        utility=useful,
        claims=tuple(confirmed),
        warnings=tuple(notes),
        not_guaranteed=(*recoding.cautions(), *NOT_GUARANTEED),
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


def _units_of_loss(table: Table, useful: Mapping[str, Any]) -> dict[str, Any]:
    if "loss" not in useful:
        return {"il_is_counted_in": "squared differences of numbers, and changed values"}
    return {
        "loss_is_counted_in": {
            qi.name: f"{qi.n_leaves} {'values' if qi.exact else 'base intervals'}"
            + (" that occur" if table.domain == "observed" else "")
            for qi in table.qis
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


def _sensitive_hierarchies(table: Table) -> dict[str, list[list[str]]]:
    return {
        name: attribute.hierarchy.rows()
        for name, attribute in table.sensitive.items()
        if attribute.hierarchy is not None
    }


def _shuffled(table: Table, kept: NDArray[np.int64], seed: int | None) -> NDArray[np.int64]:
    if seed is None:
        return np.random.default_rng().permutation(kept)
    secret = int(table.fingerprint, 16)
    return np.random.default_rng([seed, secret]).permutation(kept)


def _released_labels(table: Table, frame: pd.DataFrame) -> dict[str, set[str]]:
    return {name: {canonical(value) for value in frame[name].unique()} for name in table.qi_names}


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
    rows = np.sort(pd.util.hash_pandas_object(frame, index=False).to_numpy())
    key = rows.tobytes()  # the same rows in another order tell nothing new
    with _made_lock:
        earlier = _made.setdefault(table.content, set())
        others = earlier - {key}
        earlier.add(key)
    if not others:
        return []
    return [
        f"this is release number {len(others) + 1} of the same table: releases that differ can be "
        "intersected, so that k of each does not hold for both together"
    ]


def _remarks(table: Table, measured: Audit) -> list[str]:
    remarks = []
    if measured.k < 2:
        remarks.append("k is 1: at least one record is alone in its group and can be singled out.")
    for name, values in measured.to_dict().get("sensitive", {}).items():
        if values["homogeneity"] > 0 and name not in table.qi_names:
            remarks.append(
                f"{100 * values['homogeneity']:.3g} % of the records are in groups where all have the "
                f"same value of {name!r}: whoever finds a person's group learns it."
            )
    if table.subjects is not None and table.sensitive:
        remarks.append(
            "k and the risks count persons; ℓ, t and the other measures of sensitive values count rows, "
            "so that several rows of one person can look like diversity."
        )
    return remarks


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("privmoo")
    except PackageNotFoundError:
        return "unknown"
