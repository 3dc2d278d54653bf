"""The outside view of a release: its utility recomputed, and what the audit says of a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import (
    class_utility,
    disclosure_risks,
    information_loss,
    kept_values,
    mean_levels,
    numbers_of_labels,
    utility,
)
from privmoo.data.table import Table
from privmoo.measures.base import Measure
from privmoo.measures.disclosure import DisclosureRisk
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.classes import PartitionRecoding
from privmoo.recodings.nodes import numeric_columns
from privmoo.recodings.recoding import BlockRecoding, Recoding

__all__ = [
    "Outside",
    "audited_value",
    "disclosure_of",
    "kept_cells",
    "loss_per_column",
    "utility_of",
]

_UTILITY_NAMES = {
    ("loss", "geometric"): "loss_geometric",
    ("discernibility", True): "discernibility_star",
    ("il", "standard"): "il_standard",
}


def utility_of(
    table: Table,
    frame: pd.DataFrame,
    recoding: Recoding,
    order: NDArray[np.int64],
) -> dict[str, Any]:
    """Utility from original, release and the meanings of labels, by the audit's code.

    `order` has rows of `Table.originals`; where these have weights, the target is left out.
    """
    records = table.originals.weights
    target = table.target_name if table.target_name not in table.qi_names else None
    if isinstance(recoding, CellRecoding):
        return _cell_utility(table, frame, recoding, order, target)
    if isinstance(recoding, PartitionRecoding) and recoding.kind != "ranges":
        return _cluster_utility(table, frame, order, target, records)
    original = table.originals.frame[table.qi_names].copy()
    leaves = _leaves(table)
    for qi in table.qis:
        if not qi.as_is:  # leaves are base intervals, or spelled otherwise than in the data
            original[qi.name] = leaves[qi.name]
    return utility(
        original,
        frame,
        meanings=recoding.meanings(table),
        hierarchy_sizes={qi.name: qi.n_leaves for qi in table.qis},
        rows=order,
        weights={qi.name: qi.weight for qi in table.qis},
        levels=recoding.relative_levels() if isinstance(recoding, BlockRecoding) else None,
        target=target if records is None else None,
        records=records,
    )


def loss_per_column(
    table: Table,
    frame: pd.DataFrame,
    order: NDArray[np.int64],
    recoding: Recoding,
) -> pd.Series[float]:
    """The loss of every quasi-identifier on its own, where values are released: means, or noised ones.

    `order` has rows of `Table.originals`.
    """
    records = table.originals.weights
    if isinstance(recoding, CellRecoding):
        return _widths(table, frame, order, recoding)
    original, numeric = _as_measured(table)
    lost = {}
    for name in table.qi_names:
        kinds = ([name], []) if name in numeric else ([], [name])
        lost[name] = information_loss(
            original, frame, numeric=kinds[0], categorical=kinds[1], rows=order, records=records
        )
    return pd.Series(lost, name="loss")


def _widths(
    table: Table, frame: pd.DataFrame, order: NDArray[np.int64], recoding: CellRecoding
) -> pd.Series[float]:
    """Mean width, over that of the domain, of what covers both the original value and the released one.

    For a label that is the general loss (b - 1)/(|Σ| - 1), for a number with noise how far it is off.
    """
    original, numeric = own_values(table)
    meanings = recoding.meanings(table)
    lost = {}
    for qi in table.qis:
        if qi.name in numeric:
            own = original[qi.name].to_numpy()
            low, high = numbers_of_labels(frame[qi.name], qi.name)
            known = np.append(np.asarray(qi.numbers), own)
            span = float(np.nanmax(known) - np.nanmin(known)) or 1.0
            width = (np.maximum(high, own[order]) - np.minimum(low, own[order])) / span
        else:
            sizes = {label: len(leaves) for label, leaves in meanings[qi.name].items()}
            width = (frame[qi.name].map(sizes).to_numpy() - 1) / max(qi.n_leaves - 1, 1)
        lost[qi.name] = (float(width.sum()) + table.n_records - len(frame)) / table.n_records
    return pd.Series(lost, name="loss")


def _as_measured(table: Table) -> tuple[pd.DataFrame, list[str]]:
    """The original quasi-identifiers as numbers and categories, and which are numbers."""
    original = table.originals.frame[table.qi_names].copy()
    numeric = [qi.name for qi in table.qis if qi.numbers is not None]
    leaves = _leaves(table)
    for j, qi in enumerate(table.qis):
        if qi.numbers is not None:
            original[qi.name] = qi.numbers[table.tuples[table.originals.tuples, j]]
        elif not qi.as_is:
            original[qi.name] = leaves[qi.name]
    return original, numeric


def _leaves(table: Table) -> pd.DataFrame:
    """The leaf of every original value."""
    columns = {}
    for j, qi in enumerate(table.qis):
        names = pd.array(list(qi.leaves), dtype="str")
        columns[qi.name] = pd.Series(names.take(table.tuples[table.originals.tuples, j]))
    return pd.DataFrame(columns)


def _cluster_utility(
    table: Table,
    frame: pd.DataFrame,
    order: NDArray[np.int64],
    target: str | None,
    records: NDArray[np.int64] | None,
) -> dict[str, Any]:
    """What a release of means can be measured by: distances, and classes."""
    original, numeric = _as_measured(table)
    categorical = [name for name in table.qi_names if name not in numeric]
    lost = {
        name: information_loss(
            original,
            frame,
            numeric=numeric,
            categorical=categorical,
            rows=order,
            scale=scale,
            records=records,
        )
        for name, scale in (("il", "raw"), ("il_standard", "standard"))
    }
    classes = class_utility(
        original,
        frame,
        quasi_identifiers=table.qi_names,
        target=target if records is None else None,
        rows=order,
        records=records,
    )
    return {**lost, **classes}


def _cell_utility(
    table: Table,
    frame: pd.DataFrame,
    recoding: CellRecoding,
    order: NDArray[np.int64],
    target: str | None,
) -> dict[str, Any]:
    """What a release of noised numbers and nodes can be measured by, record by record."""
    original, numeric = own_values(table)
    n, weights = table.n_records, np.array([qi.weight for qi in table.qis])
    kept = kept_cells(table, frame, recoding, order)
    levels = mean_levels(frame, recoding.relative_levels(), table.qi_names).to_numpy()
    height = (levels * len(frame) + n - len(frame)) / n
    shown = _cells_as_values(table, frame, recoding)
    categorical = [name for name in table.qi_names if name not in numeric]
    lost = {
        name: information_loss(
            original, shown, numeric=numeric, categorical=categorical, rows=order, scale=scale
        )
        for name, scale in (("il", "raw"), ("il_standard", "standard"))
    }
    return {
        **lost,
        "originality": float(kept.to_numpy().sum()) / (n * table.n_qis),
        "distortion": float(weights @ height),
        **class_utility(original, frame, quasi_identifiers=table.qi_names, target=target),
    }


def kept_cells(
    table: Table, frame: pd.DataFrame, recoding: CellRecoding, order: NDArray[np.int64]
) -> pd.DataFrame:
    """Per released row and quasi-identifier, whether the original value is published unchanged."""
    original, numeric = own_values(table)
    kept = kept_values(
        original, frame, meanings=recoding.meanings(table), numeric=numeric, rows=order
    )
    for qi in table.qis:
        if not qi.exact and qi.name not in numeric:
            kept[qi.name] = False  # a base interval is no value of the data
    return kept


def own_values(table: Table) -> tuple[pd.DataFrame, list[str]]:
    """Original numbers, and the leaves of other columns; and which are numbers."""
    original, numeric = _leaves(table), []
    for qi, own in zip(table.qis, numeric_columns(table), strict=True):
        if own is not None:
            original[qi.name] = own
            numeric.append(qi.name)
    return original, numeric


def _cells_as_values(table: Table, frame: pd.DataFrame, recoding: CellRecoding) -> pd.DataFrame:
    """Released cells as one value each: the middle of an interval, the only leaf of a label.

    A label that stands for several values is none of them.
    """
    meanings = recoding.meanings(table)
    shown: dict[str, pd.Series[Any]] = {}
    for qi, own in zip(table.qis, numeric_columns(table), strict=True):
        if own is not None:
            low, high = numbers_of_labels(frame[qi.name], qi.name)
            shown[qi.name] = pd.Series((low + high) / 2)
            continue
        several = "\0several"  # no value of the data
        alone = {
            label: leaves[0] if len(leaves) == 1 else several
            for label, leaves in meanings[qi.name].items()
        }
        shown[qi.name] = frame[qi.name].map(alone).astype("str")
    return pd.DataFrame(shown)


def disclosure_of(
    table: Table,
    frame: pd.DataFrame,
    recoding: Recoding,
    order: NDArray[np.int64],
    known: Sequence[str] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Per sensitive attribute the disclosure risk of every released person, by the audit's code."""
    original, numeric = own_values(table)
    noise = {}
    if isinstance(recoding, CellRecoding):
        for qi, column in zip(table.qis, recoding.columns, strict=True):
            if column.scales:
                noise[qi.name] = np.array(column.scales)[recoding.parts[order]]
    else:  # generalised numbers are labels of leaves
        original, numeric = _leaves(table), []
    names = table.qi_names if known is None else list(known)
    return {
        name: disclosure_risks(
            original[names],
            frame,
            sensitive=name,
            meanings=recoding.meanings(table),
            numeric=[n for n in names if n in numeric],
            rows=order,
            noise=noise,
        )
        for name in table.sensitive
    }


class Outside:
    """What the audit's code says of a release, each thing computed once.

    Args:
        table: The original.
        frame: The released rows.
        recoding: What made them.
        order: The original row of every released row.
        measured: The audit of the released rows.
    """

    def __init__(
        self,
        table: Table,
        frame: pd.DataFrame,
        recoding: Recoding,
        order: NDArray[np.int64],
        measured: Any,
    ) -> None:
        self._release = (table, frame, recoding, order)
        self._measured = measured
        self.utility = utility_of(*self._release)
        self._risks: dict[tuple[str, ...] | None, dict[str, NDArray[np.float64]]] = {}

    def value_of(self, m: Measure) -> float | None:
        """The audit's value of a measure, or None where only the optimiser can know it."""
        if m.stage == "before":
            return None
        if isinstance(m, DisclosureRisk):
            known = None if m.known is None else tuple(m.known)
            if known not in self._risks:
                self._risks[known] = disclosure_of(*self._release, known)
            risks = self._risks[known].values()
            return max(float(r.max() if m.aggregate == "max" else r.mean()) for r in risks)
        return audited_value(m, self._measured, self.utility)


def audited_value(m: Measure, measured: Any, useful: Mapping[str, Any]) -> float | None:
    """What the audit of the released rows, or the utility recomputed from them, says of a measure."""
    if m.stage == "before":
        return None
    if m.audited:
        return float(measured.measure(m.name, **m.parameters))
    for choice in m.parameters.values():
        if isinstance(choice, str | bool) and (m.name, choice) in _UTILITY_NAMES:
            return useful.get(_UTILITY_NAMES[(m.name, choice)])
    return useful.get(m.name)
