"""No suppression: every record is released."""

from __future__ import annotations

from dataclasses import dataclass

from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression

__all__ = ["NoSuppression"]


@dataclass(frozen=True)
class NoSuppression(Suppression):
    """Every record is released.

    >>> NoSuppression().describe()
    {'policy': 'NoSuppression'}
    """

    def keep(self, groups: GroupBatch) -> None:
        """Keep all groups."""
        return
