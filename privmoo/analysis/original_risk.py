"""What the original records of a table reveal as they are."""

from __future__ import annotations

from privmoo.audit import Audit, audit, count_tables
from privmoo.data.source import WEIGHT
from privmoo.data.table import Table

__all__ = ["audit_table"]


def audit_table(table: Table) -> Audit:
    """Measure the original records of a table by their counts; persons by single records."""
    names, sensitive = table.qi_names, list(table.sensitive)
    if table.subject_name is None:
        counts = count_tables(
            table.counts.frames(names),
            quasi_identifiers=names,
            sensitive=sensitive,
            count=WEIGHT,
            missing=table.missing_sensitive,
        )
        return Audit(counts)
    frame = table.records.frame
    return audit(
        frame[[*names, *(name for name in sensitive if name not in names)]],
        quasi_identifiers=names,
        sensitive=sensitive,
        subject=frame[table.subject_name].to_numpy(),
        missing=table.missing_sensitive,
    )
