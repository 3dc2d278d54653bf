"""Evidence: what was measured on released rows, and the certificate that follows from it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from privmoo.data.table import Table
from privmoo.hierarchy.canonical import canonical
from privmoo.measures.base import Measure
from privmoo.release.certificate import (
    Certificate,
    Findings,
    Homogeneity,
    certify,
    repeated_release,
    unique_column,
)
from privmoo.release.check import confirm
from privmoo.release.plan import ReleasePlan

__all__ = [
    "Evidence",
    "ReleaseWarning",
    "certified",
    "released_labels",
    "sensitive_hierarchies",
]

_releases: dict[str, set[bytes]] = {}
_lock = threading.Lock()


class ReleaseWarning(UserWarning):
    """Something a publisher should look at before publishing."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was measured on released rows, wherever they are.

    Attributes:
        n_records: The number of released records.
        privacy: Privacy and risk, by the audit.
        utility: Utility, by the audit.
        homogeneity: How many records are in groups with one sensitive value.
        audited: Returns the audit's value of a measure, or None where it has none.
        labels: Per quasi-identifier the values that are released.
        unique: The columns whose values are nearly all different.
        key: Bytes that are equal for releases of the same rows, whatever their order.
    """

    n_records: int
    privacy: Mapping[str, Any]
    utility: Mapping[str, Any]
    homogeneity: Homogeneity
    audited: Callable[[Measure], float | None]
    labels: Mapping[str, set[str]]
    unique: Sequence[str]
    key: bytes


def certified(plan: ReleasePlan, evidence: Evidence, *, shuffled: bool) -> Certificate:
    """Confirm the claims of a plan, warn of what a publisher should look at, and certify.

    Args:
        plan: What was to be released.
        evidence: What was measured on the released rows.
        shuffled: Whether the rows changed their order.

    Raises:
        AuditError: An audited measure and the audit disagree.
    """
    claims = confirm(plan.measures, plan.origin.claims, plan.groups, evidence.audited)
    sentences = _warnings(plan.table, evidence)
    for sentence in sentences:
        warnings.warn(sentence, ReleaseWarning, stacklevel=3)
    return certify(
        Findings(
            table=plan.table,
            recoding=plan.recoding,
            suppression=plan.policy,
            n_released=evidence.n_records,
            labels=evidence.labels,
            privacy=evidence.privacy,
            utility=evidence.utility,
            homogeneity=evidence.homogeneity,
            claims=claims,
            warnings=sentences,
            shuffled=shuffled,
            method=plan.origin.method,
        )
    )


def _warnings(table: Table, evidence: Evidence) -> list[str]:
    """Columns that are released as they are and name nearly everybody, and earlier releases."""
    sentences = [
        unique_column(role, name)
        for role in ("insensitive", "sensitive")
        for name in table.columns_of(role)
        if name in evidence.unique
    ]
    number = _number_of_release(table.content, evidence.key)
    return sentences if number == 1 else [*sentences, repeated_release(number)]


def _number_of_release(content: str, key: bytes) -> int:
    """Which release of the same data it is in this process, counted from 1.

    The same rows once more tell nothing new and do not count.
    """
    with _lock:
        earlier = _releases.setdefault(content, set())
        number = len(earlier - {key}) + 1
        earlier.add(key)
    return number


def released_labels(table: Table, frame: pd.DataFrame) -> dict[str, set[str]]:
    """Return per quasi-identifier the labels that are released.

    Args:
        table: The original.
        frame: The released rows.
    """
    return {name: {canonical(value) for value in frame[name].unique()} for name in table.qi_names}


def sensitive_hierarchies(table: Table) -> dict[str, list[list[str]]]:
    """Return the hierarchies of sensitive attributes, as the audit reads them."""
    return {
        name: attribute.hierarchy.rows()
        for name, attribute in table.sensitive.items()
        if attribute.hierarchy is not None
    }
