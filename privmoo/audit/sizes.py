"""The audit of group sizes alone, where there are too many groups to list."""

from __future__ import annotations

from typing import Any

from privmoo.audit.counts import Counts, IntArray
from privmoo.audit.report import Audit

__all__ = ["audit_sizes"]


def audit_sizes(sizes: IntArray, groups: IntArray) -> dict[str, Any]:
    """What `Audit.to_dict` says of sizes, from how many groups have each size.

    >>> import numpy as np
    >>> found = audit_sizes(np.array([1, 4]), np.array([2, 1]))
    >>> found["k"], found["n_groups"], found["average_k"], found["prosecutor_risk"]["average"]
    (1, 3, 2.0, 0.5)
    """
    # Groups of one size are as one whose records hide among so many.
    found = Audit(Counts(sizes * groups, persons=sizes)).to_dict()
    n_groups = int(groups.sum())
    return found | {"n_groups": n_groups, "average_k": found["n_records"] / n_groups}
