"""ExplicitRecords: the candidate itself chooses the released records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.groups.groups import GroupBatch
from privmoo.suppression.base import Suppression
from privmoo.suppression.ranks import above_thresholds

__all__ = ["ExplicitRecords"]


@dataclass(frozen=True)
class ExplicitRecords(Suppression):
    """Release the records that the candidate itself selects (Jahan et al., vector B).

    >>> ExplicitRecords().describe()
    {'policy': 'ExplicitRecords'}
    """

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    @classmethod
    def from_description(cls, parameters: Mapping[str, Any]) -> Self:
        """Raise a ProblemError: files do not state which records were chosen."""
        raise ProblemError(
            "suppression: ExplicitRecords belongs to problems whose candidates choose records, such as "
            "LevelsAndSuppression; name the problem instead"
        )

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        """Keep the groups that have a record left."""
        return above_thresholds(groups, np.ones(len(groups)))
