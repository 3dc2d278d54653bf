"""The outside view of a release: its utility recomputed, and what the audit says of a measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import class_utility, information_loss, utility
from privmoo.measures.base import Measure
from privmoo.partition import PartitionRecoding
from privmoo.recoding import BlockRecoding, Recoding
from privmoo.table import Table

__all__ = ["loss_per_column", "outside_view", "utility_of"]

_UTILITY_NAMES = {
    ("loss", "geometric"): "loss_geometric",
    ("discernibility", True): "discernibility_star",
    ("il", "standard"): "il_standard",
}


def utility_of(
    table: Table, frame: pd.DataFrame, recoding: Recoding, order: NDArray[np.int64]
) -> dict[str, Any]:
    """Utility from original, release and the meanings of labels, by the audit's code."""
    target = table.target_name if table.target_name not in table.qi_names else None
    if isinstance(recoding, PartitionRecoding) and recoding.kind != "ranges":
        return _cluster_utility(table, frame, order, target)
    original = table.frame[table.qi_names].copy()
    for j, qi in enumerate(table.qis):
        if not qi.as_is:  # leaves are base intervals, or spelled otherwise than in the data
            leaves = np.array(qi.leaves, dtype=object)
            original[qi.name] = pd.Series(leaves[table.tuples[table.row_tuple, j]], dtype="str")
    return utility(
        original,
        frame,
        meanings=recoding.meanings(table),
        hierarchy_sizes={qi.name: qi.n_leaves for qi in table.qis},
        rows=order,
        weights={qi.name: qi.weight for qi in table.qis},
        levels=recoding.relative_levels() if isinstance(recoding, BlockRecoding) else None,
        target=target,
    )


def loss_per_column(
    table: Table, frame: pd.DataFrame, order: NDArray[np.int64]
) -> pd.Series[float]:
    """Information loss of every quasi-identifier on its own, where means and modes are released."""
    original, numeric = _as_measured(table)
    lost = {}
    for name in table.qi_names:
        kinds = ([name], []) if name in numeric else ([], [name])
        lost[name] = information_loss(
            original, frame, numeric=kinds[0], categorical=kinds[1], rows=order
        )
    return pd.Series(lost, name="loss")


def _as_measured(table: Table) -> tuple[pd.DataFrame, list[str]]:
    """The original quasi-identifiers as numbers and categories, and which are numbers."""
    original = table.frame[table.qi_names].copy()
    numeric = [qi.name for qi in table.qis if qi.numbers is not None]
    for j, qi in enumerate(table.qis):
        codes = table.tuples[table.row_tuple, j]
        if qi.numbers is not None:
            original[qi.name] = qi.numbers[codes]
        elif not qi.as_is:
            original[qi.name] = pd.Series(np.array(qi.leaves, dtype=object)[codes], dtype="str")
    return original, numeric


def _cluster_utility(
    table: Table, frame: pd.DataFrame, order: NDArray[np.int64], target: str | None
) -> dict[str, Any]:
    """What a release of means can be measured by: distances, and classes."""
    original, numeric = _as_measured(table)
    categorical = [name for name in table.qi_names if name not in numeric]
    lost = {
        name: information_loss(
            original, frame, numeric=numeric, categorical=categorical, rows=order, scale=scale
        )
        for name, scale in (("il", "raw"), ("il_standard", "standard"))
    }
    classes = class_utility(original, frame, quasi_identifiers=table.qi_names, target=target)
    return {**lost, **classes}


def outside_view(m: Measure, measured: Any, useful: Mapping[str, Any]) -> float | None:
    """The audit's value of a measure, or None where only the optimiser can know it."""
    if m.stage == "before":
        return None
    if m.audited:
        return float(measured.measure(m.name, **m.parameters))
    choices = [value for value in m.parameters.values() if isinstance(value, str | bool)]
    for choice in choices:
        if (m.name, choice) in _UTILITY_NAMES:
            return useful.get(_UTILITY_NAMES[(m.name, choice)])
    return useful.get(m.name)
