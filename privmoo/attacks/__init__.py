"""Attacks: what somebody learns from a release who uses more than the counts of its rows.

Arrays and rows go in, numbers come out. Nothing here knows how a release was computed.
"""

from __future__ import annotations

from privmoo.attacks.composition import Composition, compose
from privmoo.attacks.downcoding import child_counts, downcode
from privmoo.attacks.fit import Rows, read_rows
from privmoo.attacks.linkage import Outcome, infer_values, link_tables, single_out
from privmoo.attacks.minimality import minimality
from privmoo.attacks.partial_knowledge import largest_share, smallest_support
from privmoo.attacks.special_uniques import SpecialUniques, special_uniques
from privmoo.attacks.worlds import Posterior

__all__ = [
    "Composition",
    "Outcome",
    "Posterior",
    "Rows",
    "SpecialUniques",
    "child_counts",
    "compose",
    "downcode",
    "infer_values",
    "largest_share",
    "link_tables",
    "minimality",
    "read_rows",
    "single_out",
    "smallest_support",
    "special_uniques",
]
