"""Evidence: what was measured on released rows, and the certificate that follows from it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.data.table_sketch import TableSketch
from privmoo.hierarchy.canonical import canonical
from privmoo.measures.base import Measure
from privmoo.release.certificate import (
    Certificate,
    Findings,
    Homogeneity,
    certify,
    columns_unique_together,
    release_of_similar_table,
    repeated_release,
    unique_column,
)
from privmoo.release.check import confirm
from privmoo.release.lost_values import LostValues
from privmoo.release.plan import ReleasePlan

__all__ = [
    "Evidence",
    "ReleaseWarning",
    "certify_plan",
    "released_labels",
    "sensitive_hierarchies",
]

_lock = threading.Lock()


class ReleaseWarning(UserWarning):
    """A release has something that its publisher should look at before publishing."""


@dataclass
class _Earlier:
    """The releases of one table in this process."""

    keys: set[bytes] = field(default_factory=set)
    sketch: TableSketch | None = None

    def count(self, key: bytes) -> int:
        """Add a release, and return its number, counted from 1.

        A repeated release of the same rows reveals nothing new and does not count.
        """
        number = len(self.keys - {key}) + 1
        self.keys.add(key)
        return number


_releases: dict[str, _Earlier] = {}


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The measurements of released rows, wherever they are.

    Attributes:
        n_records: The number of released records.
        privacy: Privacy and risk, by the audit.
        utility: Utility, by the audit.
        homogeneity: How many records are in groups with one sensitive value.
        audited: A function that returns the audit's value of a measure, or None if there is none.
        labels: For each quasi-identifier, the released values with the number of their records.
        lost: For each quasi-identifier, the values that no released record may have, if there are any.
        unique: The columns whose values are nearly all different.
        unique_together: Insensitive columns whose combinations of values are nearly all different.
        key: Bytes that are equal for releases of the same rows, whatever their order.
    """

    n_records: int
    privacy: Mapping[str, Any]
    utility: Mapping[str, Any]
    homogeneity: Homogeneity
    audited: Callable[[Measure], float | None]
    labels: Mapping[str, Mapping[str, int]]
    lost: Mapping[str, LostValues]
    unique: Sequence[str]
    unique_together: Sequence[str]
    key: bytes


def certify_plan(plan: ReleasePlan, evidence: Evidence, *, shuffled: bool) -> Certificate:
    """Confirm the claims of a plan, warn the publisher where necessary, and write the certificate.

    Args:
        plan: What was to be released.
        evidence: What was measured on the released rows.
        shuffled: Whether the rows were shuffled.

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
            lost={
                name: values.records / plan.table.n_records
                for name, values in evidence.lost.items()
            },
            shuffled=shuffled,
            method=plan.origin.method,
        )
    )


def _warnings(table: Table, evidence: Evidence) -> list[str]:
    """Warn of columns that are released as they are and nearly unique, and of earlier releases."""
    sentences = [
        unique_column(role, name)
        for role in ("insensitive", "sensitive")
        for name in table.columns_of(role)
        if name in evidence.unique
    ]
    if evidence.unique_together:
        sentences.append(columns_unique_together(evidence.unique_together))
    with _lock:
        number = _releases.setdefault(table.content, _Earlier()).count(evidence.key)
        if number > 1:
            sentences.append(repeated_release(number))
        if _resembles_another(table):
            sentences.append(release_of_similar_table())
    return sentences


def _resembles_another(table: Table) -> bool:
    """Return whether another table with nearly the same records was released in this process."""
    current = _releases[table.content]
    if current.sketch is None:
        current.sketch = TableSketch.of(table)
    others = [earlier.sketch for earlier in _releases.values() if earlier is not current]
    return any(like is not None and current.sketch.resembles(like) for like in others)


def released_labels(
    table: Table, frame: pd.DataFrame, rows: NDArray[np.int64]
) -> dict[str, dict[str, int]]:
    """Count the records of every released label, per quasi-identifier.

    Args:
        table: The original.
        frame: The released rows.
        rows: The row of `Table.originals` of every released row.
    """
    records = table.originals.row_weights[rows]
    labels: dict[str, dict[str, int]] = {}
    for name in table.qi_names:
        codes, values = pd.factorize(frame[name], use_na_sentinel=False)
        counts = np.bincount(codes, records, len(values)).astype(np.int64).tolist()
        labels[name] = {}
        for label, n in zip(map(canonical, values), counts, strict=True):
            labels[name][label] = labels[name].get(label, 0) + n
    return labels


def sensitive_hierarchies(table: Table) -> dict[str, list[list[str]]]:
    """Return the hierarchies of sensitive attributes, as the audit reads them."""
    return {
        name: attribute.hierarchy.rows()
        for name, attribute in table.sensitive.items()
        if attribute.hierarchy is not None
    }
