"""The audit: what a table discloses, measured from its rows alone.

It shares no code with the optimiser. It counts with plain pandas (`privmoo.audit.frame`) and computes
measures from those counts (`privmoo.audit.privacy`, `privmoo.audit.risk`). Utility is recomputed from
original and release (`privmoo.audit.utility`).
"""

from __future__ import annotations

from privmoo.audit import privacy, risk  # their functions become the audit's formulas
from privmoo.audit.counts import Counts, ValueCounts
from privmoo.audit.formulas import formula
from privmoo.audit.frame import Roles, count_frame, group_sizes
from privmoo.audit.labels import check_covers
from privmoo.audit.records import (
    StatedNoise,
    disclosure_risks,
    kept_values,
    mean_levels,
    numbers_of_labels,
)
from privmoo.audit.report import Audit, audit, is_nearly_unique, nearly_unique
from privmoo.audit.sizes import audit_sizes
from privmoo.audit.tables import count_tables
from privmoo.audit.uniqueness import fewest_unique, unique_together
from privmoo.audit.utility import class_utility, information_loss, utility
from privmoo.audit.values import MISSING, canonical

__all__ = [
    "MISSING",
    "Audit",
    "Counts",
    "Roles",
    "StatedNoise",
    "ValueCounts",
    "audit",
    "audit_sizes",
    "canonical",
    "check_covers",
    "class_utility",
    "count_frame",
    "count_tables",
    "disclosure_risks",
    "fewest_unique",
    "formula",
    "group_sizes",
    "information_loss",
    "is_nearly_unique",
    "kept_values",
    "mean_levels",
    "nearly_unique",
    "numbers_of_labels",
    "privacy",
    "risk",
    "unique_together",
    "utility",
]
