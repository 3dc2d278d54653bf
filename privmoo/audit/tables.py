"""Layer one of the audit where an engine has counted: its tables of counts instead of rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.frame import group_numbers, value_counts
from privmoo.errors import AuditError

__all__ = ["count_tables"]


def count_tables(
    tables: Mapping[Any, pd.DataFrame],
    *,
    quasi_identifiers: Sequence[Hashable],
    sensitive: Sequence[Hashable] = (),
    target: Hashable | None = None,
    hierarchies: Mapping[Any, pd.DataFrame | Iterable[Sequence[object]]] | None = None,
    count: Hashable = "count",
) -> Counts:
    """Put together counts that a database has made with GROUP BY.

    Args:
        tables: Per attribute a table with the quasi-identifiers, the attribute and how many records
            have them; where there is no attribute, one table called "". All count the same records.
        quasi_identifiers: Columns an attacker may know.
        sensitive: Attributes an attacker wants to learn.
        target: An attribute to predict.
        hierarchies: As for `privmoo.audit.audit`.
        count: The column that counts.

    >>> counted = pd.DataFrame({"age": [20, 20, 30], "job": ["a", "b", "a"], "count": [4, 1, 3]})
    >>> count_tables({"job": counted}, quasi_identifiers=["age"], sensitive=["job"]).sizes
    array([5, 3])
    """
    if not tables:
        raise AuditError("no rows to audit: there is no table of counts")
    names = list(quasi_identifiers)
    joined = pd.concat([table[names] for table in tables.values()], ignore_index=True)
    if not len(joined):
        raise AuditError("no rows to audit: the table is empty")
    group = group_numbers(joined, names)
    n_groups = int(group.max()) + 1
    counted: dict[Hashable, ValueCounts] = {}
    sizes, start = None, 0
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
                f"tables: that of {str(name)!r} does not count the records of the first"
            )
        if name in table.columns and name in {*sensitive, target}:
            tree = (hierarchies or {}).get(name)
            counted[name] = value_counts(
                table[name], name, table_groups, sizes, tree, records=records
            )
    assert sizes is not None  # noqa: S101, there is a table
    lacking = [name for name in (*sensitive, target) if name is not None and name not in counted]
    if lacking:
        raise AuditError(f"tables: there is none for the attribute {str(lacking[0])!r}")
    return Counts(
        sizes,
        {name: counted[name] for name in sensitive},
        target=None if target is None else counted[target],
    )
