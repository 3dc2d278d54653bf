"""The audit of group sizes alone, for tables with too many groups to list."""

from __future__ import annotations

from typing import Any

from privmoo.audit.counts import Counts, IntArray
from privmoo.audit.report import Audit

__all__ = ["audit_sizes"]


def audit_sizes(sizes: IntArray, groups: IntArray) -> dict[str, Any]:
    """Return the part of `Audit.to_dict` that depends on group sizes only.

    Args:
        sizes: The different sizes of groups.
        groups: How many groups have each size.

    >>> import numpy as np
    >>> report = audit_sizes(np.array([1, 4]), np.array([2, 1]))
    >>> report["k"], report["n_groups"], report["average_k"], report["prosecutor_risk"]["average"]
    (1, 3, 2.0, 0.5)
    """
    # All groups of one size count as one group, whose records hide among that many persons.
    report = Audit(Counts(sizes * groups, persons=sizes)).to_dict()
    n_groups = int(groups.sum())
    return report | {"n_groups": n_groups, "average_k": report["n_records"] / n_groups}
