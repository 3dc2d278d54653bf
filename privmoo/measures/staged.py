"""Staged: a measure of the QI-groups before or after suppression."""

from __future__ import annotations

from privmoo._util.checks import choice
from privmoo.errors import MeasureError
from privmoo.groups.groups import Stage
from privmoo.measures.base import Measure

__all__ = ["Staged"]


class Staged(Measure):
    """A measure of the groups after suppression or, on request, before it.

    Only released records can be audited, so a measure of the groups before suppression is not audited.

    Args:
        stage: `"after"` or `"before"` suppression.
    """

    def __init__(self, *, stage: Stage = "after") -> None:
        super().__init__()
        self.stage = choice("stage", stage, ("after", "before"), error=MeasureError)
        if stage == "before":
            self.audited = False
