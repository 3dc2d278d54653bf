"""Releases side by side: risks and information loss in one table (Wei et al. 2025, Tables 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privmoo._util.data_frames import AnyFrame, is_frame
from privmoo.analysis.foreign import ForeignRelease, Meanings
from privmoo.analysis.usefulness import association_error, query_error
from privmoo.audit import Audit, audit, information_loss
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.learning.experiment import ORIGINAL
from privmoo.learning.values import Reading, check_release, read_original, read_released
from privmoo.measures import DisclosureRisk, QueryError
from privmoo.release.release import Release
from privmoo.release.utility import ReleasedRows

__all__ = ["disclosure_risks", "evaluate", "risk_name"]

_SEVERAL = "\0several"  # no value of the data


def evaluate(
    releases: Release | AnyFrame | Mapping[str, Release | AnyFrame],
    table: Table,
    *,
    taus: Sequence[float] = (0.05, 0.075, 0.1),
    original: bool = True,
    scale: str = "raw",
    queries: QueryError | None = None,
    meanings: Meanings | None = None,
) -> pd.DataFrame:
    """Measure releases from their rows alone, by `privmoo.audit`.

    Args:
        releases: One release, or several by the name of their method. Rows that another program
            released, such as ARX or sdcMicro, are a data frame; see `ForeignRelease`.
        table: The table they were made from.
        taus: Thresholds of re-identification: a record with QI-group g is at risk if 1/|g| > τ.
        original: Whether the first row is the untouched table.
        scale: Unit of numbers in IL: `"raw"` as in the paper's tables, or `"standard"` deviations.
        queries: Measure the error of these COUNT queries too, and the change of the associations between
            quasi-identifiers; not by default.
        meanings: What labels of other programs stand for, per column; see `ForeignRelease`.

    Returns:
        One row per release: method, records, suppressed, classes (distinct QI tuples), k, loss, IL,
        at_risk_05 (records, τ = 0.05) and so on for every τ, homogeneity (records in a group with one
        single value in any sensitive attribute; only for tables with such attributes), query_error and
        association_error (only with `queries`; see `privmoo.analysis.usefulness`). Where a
        subject column tells persons apart, k and risk go by persons.

        IL is the distance to the released values over the data's own deviation, see
        `privmoo.audit.information_loss`. A label stands for the mean of the numbers of its
        leaves; one that stands for several categories is a mismatch for every record. A
        suppressed record costs its own deviation. IL is nan where a number is missing, and for rows of
        other programs, because nobody knows which record became which row. Loss is that of
        `GeneralLoss`; it is nan where means or noise are published.

        `privmoo.explore([front, evaluate(rows, table, original=False)])` places such rows beside a front.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 22, 40, 42]})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0, 1, 0]]), seed=1)
    >>> evaluate({"pairs": release}, table=table, taus=[0.5]).round(4)
         method  records  suppressed  classes  k    loss      il  at_risk_50
    0  original        4           0        4  1  0.0000  0.0000            4
    1     pairs        4           0        2  2  0.3333  0.0099            0
    """
    single = isinstance(releases, Release) or is_frame(releases)
    release_by_name: Any = {"release": releases} if single else releases
    if not isinstance(release_by_name, Mapping):
        raise ProblemError(
            f"releases: expected a Release or releases by name, got {type(releases).__name__}"
        )
    if original and ORIGINAL in release_by_name:
        raise ProblemError(f"releases: the name {ORIGINAL!r} is the table's own; choose another")
    table.need_records("evaluate")
    rows = []
    if original:
        everyone = np.arange(table.n_records)
        row = _row(ORIGINAL, table, table.frame, everyone, (0.0, 0.0), taus)
        errors = {} if queries is None else {"query_error": 0.0, "association_error": 0.0}
        rows.append({**row, **errors})
    for name, release in release_by_name.items():
        if is_frame(release):
            rows.append(_foreign_row(name, ForeignRelease(table, release, meanings), taus))
            continue
        check_release(table, release, name)
        losses = _general_loss(release), _information_loss(table, release, scale)
        row = _row(name, table, release.frame, release.rows, losses, taus)
        rows.append({**row, **_usefulness(table, release, queries)})
    return pd.DataFrame(rows)


def disclosure_risks(
    table: Table, release: Release, *, known: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return how likely an attacker who counts rows finds each released person's sensitive values.

    The risks of `DisclosureRisk` are measured from original and release by the audit's code, person by
    person: they are for the publisher only.

    Args:
        table: The original.
        release: A release of it.
        known: The quasi-identifiers that the attacker knows; all by default.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 22, 40, 42], "ill": list("xxxy")})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0, 1, 0]]), shuffle=False)
    >>> disclosure_risks(table, release)["ill"].tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    check_release(table, release)
    DisclosureRisk(known=known).check(table)
    if release.recoding is None:
        raise ProblemError(
            "release: it does not know the recoding that made it; pass a release made by make_release"
        )
    rows = ReleasedRows(table, release.frame, release.recoding, release.rows)
    return pd.DataFrame(rows.disclosure(known))


def _row(
    name: str,
    table: Table,
    frame: pd.DataFrame,
    rows: Any,
    losses: tuple[float, float],
    taus: Sequence[float],
) -> dict[str, Any]:
    subject = table.subject_name
    report = audit(
        frame,
        quasi_identifiers=table.qi_names,
        sensitive=list(table.sensitive),
        subject=None if subject is None else table.frame[subject].to_numpy()[rows],
        taus=taus,
        missing=table.missing_sensitive,
    )
    return _figures(name, table, report, losses, taus)


def _figures(
    name: str, table: Table, report: Audit, losses: tuple[float, float], taus: Sequence[float]
) -> dict[str, Any]:
    """Return a row of the table; losses are general loss and IL."""
    result = {
        "method": name,
        "records": report.n_records,
        "suppressed": table.n_records - report.n_records,
        "classes": report.n_groups,
        "k": report.k,
        "loss": losses[0],
        "il": losses[1],
    }
    for tau in taus:
        result[risk_name(tau)] = int(report.measure("at_risk", tau=tau, count=True))
    if table.sensitive:
        result["homogeneity"] = int(report.measure("homogeneity", count=True))
    return result


def _foreign_row(name: str, release: ForeignRelease, taus: Sequence[float]) -> dict[str, Any]:
    losses = release.loss, float("nan")
    return _figures(name, release.table, release.audit, losses, taus)


def _general_loss(release: Release) -> float:
    """Return the loss that the certificate states; nan if it states none."""
    utility = {} if release.certificate is None else release.certificate.utility
    return float(utility.get("loss", "nan"))


def _usefulness(table: Table, release: Release, queries: QueryError | None) -> dict[str, float]:
    if queries is None:
        return {}
    association = association_error(table, release) if table.n_qis > 1 else 0.0
    return {"query_error": query_error(table, release, queries), "association_error": association}


def _information_loss(table: Table, release: Release, scale: str) -> float:
    before, after, numeric = {}, {}, []
    for qi in table.qis:
        readings = read_original(table, qi.name), read_released(table, qi.name, release)
        if qi.numbers is None:
            before[qi.name], after[qi.name] = map(_categories, readings)
            continue
        numeric.append(qi.name)
        before[qi.name], after[qi.name] = (reading.numbers() for reading in readings)
        if np.isnan(before[qi.name]).any() or np.isnan(after[qi.name]).any():
            return float("nan")
    return information_loss(
        pd.DataFrame(before),
        pd.DataFrame(after),
        numeric=numeric,
        categorical=[name for name in before if name not in numeric],
        rows=release.rows,
        scale=scale,
    )


def _categories(reading: Reading) -> Any:
    names = [
        reading.domain.leaves[leaves[0]] if len(leaves) == 1 else _SEVERAL
        for leaves in reading.leaves
    ]
    return np.array(names, dtype=object)[reading.codes]


def risk_name(tau: float) -> str:
    """Return the column of the records at risk: the digits of τ behind the point, at least two.

    >>> risk_name(0.05), risk_name(0.075), risk_name(0.1), risk_name(1.0)
    ('at_risk_05', 'at_risk_075', 'at_risk_10', 'at_risk_100')
    """
    digits = "100" if tau >= 1 else f"{tau:.9f}"[2:].rstrip("0").ljust(2, "0")
    return f"at_risk_{digits}"
