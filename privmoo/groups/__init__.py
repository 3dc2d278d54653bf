"""The QI-groups of a population of candidates."""

from __future__ import annotations

from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch, Grouping

__all__ = ["GroupBatch", "Grouping", "diversity_of_groups"]
