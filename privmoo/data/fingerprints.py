"""Digests that distinguish tables."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from privmoo._util.digest import row_hashes
from privmoo.hierarchy.canonical import canonical

if TYPE_CHECKING:
    from privmoo.data.table import Table

__all__ = ["content_digest", "fingerprint_digest"]


def content_digest(table: Table) -> str:
    """Return the digest of a table's original values, whatever roles and hierarchies they have."""
    if table.has_records:
        digest = hashlib.sha256()
        for name in sorted(table.released_columns):
            digest.update(name.encode())
            digest.update(row_hashes(table.records.frame[name]).tobytes())
        return digest.hexdigest()
    digest = hashlib.sha256(repr(table.source.facts).encode())
    for name in sorted(table.qi_names):
        values = table.counts.keys[name].drop_duplicates()
        digest.update(repr((name, sorted(canonical(v) for v in values))).encode())
    digest.update(table.n_records.to_bytes(8, "little"))
    return digest.hexdigest()


def fingerprint_digest(table: Table) -> str:
    """Return the digest of roles and hierarchies, and of all records or counts of a table."""
    digest = hashlib.sha256()
    _add_roles(digest, table)
    if table.has_records:
        _add_records(digest, table)
    else:
        _add_counts(digest, table)
    return digest.hexdigest()


def _add_roles(digest: Any, table: Table) -> None:
    """Add what distinguishes tables besides their records."""
    roles = sorted(table.roles.items())
    digest.update(repr((roles, table.target_name, table.subject_name)).encode())
    for qi in table.qis:
        digest.update(repr((qi.name, qi.leaves, qi.weight, qi.min_level, qi.max_level)).encode())
        digest.update(repr(qi.fixed_cuts).encode())
        digest.update(b"" if qi.hierarchy is None else qi.hierarchy.fingerprint)
    unknown = [name for name, a in table.sensitive.items() if a.unknown is not None]
    if unknown:  # Without them the digest is that of version 0.1.
        digest.update(repr(("missing values are unknown", unknown)).encode())
    for array in (table.tuples, table.weights):
        digest.update(np.ascontiguousarray(array).tobytes())


def _add_records(digest: Any, table: Table) -> None:
    records = table.records
    digest.update(np.ascontiguousarray(records.tuples).tobytes())
    for name in table.released_columns:
        if name not in table.qi_names:
            digest.update(name.encode())
            digest.update(row_hashes(records.frame[name]).tobytes())
    if table.subjects is not None:
        digest.update(table.subjects.row_subject.tobytes())


def _add_counts(digest: Any, table: Table) -> None:
    digest.update(repr((table.source.facts, table.n_dropped)).encode())
    for attribute in [*table.sensitive.values(), *([table.target] if table.target else [])]:
        digest.update(repr((attribute.name, attribute.values)).encode())
        for array in (attribute.offsets, attribute.codes, attribute.counts):
            digest.update(np.ascontiguousarray(array).tobytes())
