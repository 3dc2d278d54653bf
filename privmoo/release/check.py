"""The check of a release: what the optimiser claims against what the audit measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.audit import Audit
from privmoo.errors import AuditError
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Measure
from privmoo.measures.disclosure import DisclosureRisk
from privmoo.release.certificate import Claim
from privmoo.release.utility import ReleasedRows

__all__ = ["AuditedValues", "confirm"]

_TOLERANCE = 1e-9
_UTILITY_NAMES = {
    ("loss", "geometric"): "loss_geometric",
    ("discernibility", True): "discernibility_star",
    ("il", "standard"): "il_standard",
}


class AuditedValues:
    """The audit's values of measures, each computed once.

    Args:
        rows: The released rows.
        audit: The audit of the released rows.
        utility: The utility of the released rows.
    """

    def __init__(self, rows: ReleasedRows, audit: Audit, utility: Mapping[str, Any]) -> None:
        self._rows, self._audit, self._utility = rows, audit, utility
        self._risks: dict[tuple[str, ...] | None, dict[str, NDArray[np.float64]]] = {}

    def __call__(self, m: Measure) -> float | None:
        """Return the audit's value of a measure; None if only the optimiser can know it."""
        if m.stage == "before":
            return None
        if isinstance(m, DisclosureRisk):
            names = None if m.known is None else tuple(m.known)
            if names not in self._risks:
                self._risks[names] = self._rows.disclosure(names)
            risks = self._risks[names].values()
            return max(float(r.max() if m.aggregate == "max" else r.mean()) for r in risks)
        return _audited_value(m, self._audit, self._utility)


def _audited_value(m: Measure, audit: Audit, utility: Mapping[str, Any]) -> float | None:
    """Return the audit's value of a measure.

    Args:
        m: The measure.
        audit: The audit of the released rows.
        utility: The utility recomputed from the released rows.

    Returns:
        The value, or None if only the optimiser can know it.
    """
    if m.stage == "before":
        return None
    if m.audited:
        return float(audit.measure(m.name, **m.parameters))
    for choice in m.parameters.values():
        if isinstance(choice, str | bool) and (m.name, choice) in _UTILITY_NAMES:
            return utility.get(_UTILITY_NAMES[(m.name, choice)])
    return utility.get(m.name)


def confirm(
    measures: Iterable[Measure],
    claims: Mapping[str, float] | None,
    groups: tuple[GroupBatch, GroupBatch],
    audited: Callable[[Measure], float | None],
) -> tuple[Claim, ...]:
    """Compare the optimiser's values with the audit's.

    Args:
        measures: What the optimiser measured.
        claims: Its values by `Measure.key`; computed again if not given.
        groups: The QI-groups before and after suppression.
        audited: Returns the audit's value of a measure, or None if there is none.

    Returns:
        The values that the audit confirmed.

    Raises:
        AuditError: The optimiser and the audit disagree.
    """
    values = dict(claims or {})
    before, after = groups
    result = []
    for m in measures:
        new_value = float(m.values(before if m.stage == "before" else after)[0])
        claimed = values.get(m.key, new_value)
        audit_value = audited(m)
        if audit_value is None:
            continue
        for value in (claimed, new_value):
            if not math.isclose(value, audit_value, rel_tol=_TOLERANCE, abs_tol=1e-12):
                raise AuditError(
                    f"{m.name}: the optimiser claims {value:.10g}, the audit of the released rows "
                    f"measures {audit_value:.10g}; nothing is released"
                )
        result.append(Claim(m.name, m.parameters, claimed, audit_value, m.audited))
    return tuple(result)
