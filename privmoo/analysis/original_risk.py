"""What the original records of a table reveal as they are."""

from __future__ import annotations

from privmoo.audit import Audit, audit, count_tables
from privmoo.data.source import WEIGHT
from privmoo.data.table import Table

__all__ = ["audit_table"]


def audit_table(table: Table) -> Audit:
    """Measure the original records of a table; those of a scanned table by their counts."""
    names, sensitive = table.qi_names, list(table.sensitive)
    if not table.has_records:
        counts = count_tables(
            table.counts.frames(names), quasi_identifiers=names, sensitive=sensitive, count=WEIGHT
        )
        return Audit(counts)
    frame, subject = table.records.frame, table.subject_name
    return audit(
        frame[[*names, *(name for name in sensitive if name not in names)]],
        quasi_identifiers=names,
        sensitive=sensitive,
        subject=None if subject is None else frame[subject].to_numpy(),
    )
