"""Layer one of the audit for engines: read their tables of counts instead of rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.frame import (
    group_numbers,
    labels_of_groups,
    members_of_groups,
    unknown_or_value,
    value_counts,
)
from privmoo.errors import AuditError

__all__ = ["count_tables"]


def count_tables(
    tables: Mapping[Any, pd.DataFrame],
    *,
    quasi_identifiers: Sequence[Hashable],
    sensitive: Sequence[Hashable] = (),
    target: Hashable | None = None,
    subject: Hashable | None = None,
    hierarchies: Mapping[Any, pd.DataFrame | Iterable[Sequence[object]]] | None = None,
    count: Hashable = "count",
    missing: str = "unknown",
) -> Counts:
    """Combine counts that a database computed with GROUP BY.

    Args:
        tables: Per attribute a table with the quasi-identifiers, the attribute and the number of records
            that have them; without attributes, one table called "". All count the same records.
        quasi_identifiers: Columns an attacker may know.
        sensitive: Attributes an attacker wants to learn.
        target: An attribute to predict.
        subject: The attribute that says whose record it is; k then counts persons.
        hierarchies: As for `privmoo.audit.audit`.
        count: The column that counts.
        missing: What a missing sensitive value is, as for `privmoo.audit.audit`.

    >>> counted = pd.DataFrame({"age": [20, 20, 30], "job": ["a", "b", "a"], "count": [4, 1, 3]})
    >>> count_tables({"job": counted}, quasi_identifiers=["age"], sensitive=["job"]).sizes
    array([5, 3])
    """
    if not tables:
        raise AuditError("no rows to audit: there is no table of counts")
    names = list(quasi_identifiers)
    all_rows = pd.concat([table[names] for table in tables.values()], ignore_index=True)
    if not len(all_rows):
        raise AuditError("no rows to audit: the table is empty")
    group = group_numbers(all_rows, names)
    n_groups = int(group.max()) + 1
    values_of: dict[Hashable, ValueCounts] = {}
    sizes, members, start = None, None, 0
    for name, table in tables.items():
        table_groups = group[start : start + len(table)]
        start += len(table)
        records = table[count].to_numpy(np.int64)
        here = np.zeros(n_groups, dtype=np.int64)
        np.add.at(here, table_groups, records)
        if sizes is None:
            sizes = here
        elif not np.array_equal(sizes, here):
            raise AuditError(
                f"tables: the table of {str(name)!r} does not count the same records as the first"
            )
        if name == subject and subject is not None:
            members = members_of_groups(table, subject, names, table_groups)
        if name in table.columns and name in {*sensitive, target}:
            tree = (hierarchies or {}).get(name)
            values_of[name] = value_counts(
                table[name], name, table_groups, sizes, tree, records=records
            )
    assert sizes is not None  # noqa: S101, there is a table
    lacking = [name for name in (*sensitive, target) if name is not None and name not in values_of]
    if subject is not None and members is None:
        lacking.append(subject)
    if lacking:
        raise AuditError(f"tables: there is no table for the attribute {str(lacking[0])!r}")
    return Counts(
        sizes,
        unknown_or_value({name: values_of[name] for name in sensitive}, missing),
        None if members is None else np.bincount(members["group"], minlength=n_groups),
        target=None if target is None else values_of[target],
        labels=labels_of_groups(all_rows, names, group),
        members=members,
    )
