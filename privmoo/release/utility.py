"""The utility of a release, recomputed from original and released rows by the code of the audit.

What can be measured depends on the kinds of the published columns, not on how the recoding was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit import (
    StatedNoise,
    class_utility,
    disclosure_risks,
    information_loss,
    kept_values,
    mean_levels,
    numbers_of_labels,
    utility,
)
from privmoo.data.table import Table
from privmoo.hierarchy.canonical import canonical
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import Intervals, Labels, Noised, PublishedColumn, Values
from privmoo.recodings.nodes import numeric_columns

__all__ = ["ReleasedRows", "loss_of_labels"]

IntArray = NDArray[np.int64]
_SCALES = (("il", "raw"), ("il_standard", "standard"))
_SEVERAL = "\0several"
"""The one value of a label that stands for several; no value of the data looks like it."""


@dataclass(frozen=True)
class ReleasedRows:
    """Released rows with the original rows that they were made from.

    Attributes:
        table: The original.
        frame: The released rows.
        recoding: The recoding that produced them.
        order: The row of `Table.originals` of every released row.
    """

    table: Table
    frame: pd.DataFrame
    recoding: Recoding
    order: IntArray

    @property
    def records(self) -> IntArray | None:
        """The records that every original row stands for; None if every row is one record."""
        return self.table.originals.weights

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """The published columns."""
        return self.recoding.columns

    @cached_property
    def utility(self) -> dict[str, Any]:
        """Utility by the name of its measure."""
        if all(isinstance(c, Labels) and c.scope != "record" for c in self.columns):
            return self._utility_of_labels()
        if all(isinstance(column, Values) for column in self.columns):
            return self._utility_of_values()
        return self._utility_of_cells()

    @property
    def _target(self) -> str | None:
        """The target column, where rows are records."""
        table = self.table
        is_qi = table.target_name in table.qi_names
        return None if is_qi or self.records is not None else table.target_name

    def _utility_of_labels(self) -> dict[str, Any]:
        table, leaves = self.table, self._leaves()
        original = table.originals.frame[table.qi_names].copy()
        for qi in table.qis:
            if not qi.as_is:  # leaves are base intervals, or spelled otherwise than in the data
                original[qi.name] = leaves[qi.name]
        return utility(
            original,
            self.frame,
            meanings=self.recoding.meanings(),
            hierarchy_sizes={qi.name: qi.n_leaves for qi in table.qis},
            rows=self.order,
            weights={qi.name: qi.weight for qi in table.qis},
            levels=self.recoding.relative_levels() or None,
            target=self._target,
            records=self.records,
        )

    def _utility_of_values(self) -> dict[str, Any]:
        """Distances to the released values, and classes."""
        original, numeric = self._leaf_values()
        categorical = [name for name in self.table.qi_names if name not in numeric]
        distances = {
            name: information_loss(
                original,
                self.frame,
                numeric=numeric,
                categorical=categorical,
                rows=self.order,
                scale=scale,
                records=self.records,
            )
            for name, scale in _SCALES
        }
        classes = class_utility(
            original,
            self.frame,
            quasi_identifiers=self.table.qi_names,
            target=self._target,
            rows=self.order,
            records=self.records,
        )
        return {**distances, **classes}

    def _utility_of_cells(self) -> dict[str, Any]:
        """Return what can be measured record by record, whatever the columns are."""
        table, original = self.table, self._original_values()
        n, weights = table.n_records, np.array([qi.weight for qi in table.qis])
        levels = mean_levels(self.frame, self.recoding.relative_levels(), table.qi_names).to_numpy()
        height = (levels * len(self.frame) + n - len(self.frame)) / n
        numeric = self._numeric()
        categorical = [name for name in table.qi_names if name not in numeric]
        values = self._single_values()
        distances = {
            name: information_loss(
                original,
                values,
                numeric=numeric,
                categorical=categorical,
                rows=self.order,
                scale=scale,
            )
            for name, scale in _SCALES
        }
        return {
            **distances,
            "originality": float(self.unchanged_cells().to_numpy().sum()) / (n * table.n_qis),
            "distortion": float(weights @ height),
            **class_utility(
                original, self.frame, quasi_identifiers=table.qi_names, target=self._target
            ),
        }

    def unchanged_cells(self) -> pd.DataFrame:
        """Return, per released row and column, whether the original value is published unchanged."""
        numeric = self._numeric()
        unchanged = kept_values(
            self._original_values(),
            self.frame,
            meanings=self.recoding.meanings(),
            numeric=numeric,
            rows=self.order,
        )
        for qi in self.table.qis:
            if not qi.exact and qi.name not in numeric:
                unchanged[qi.name] = False  # a base interval is not a value of the data
        return unchanged

    def loss_per_column(self) -> pd.Series[float]:
        """Compute the loss of every single column; a suppressed record counts as completely lost.

        A label loses (leaves - 1) / (all leaves - 1). Values such as means lose their distance from the
        originals, divided by the deviation of the column. A number with noise, or an interval, loses the
        width that covers both it and the original number, divided by the width of the domain.
        """
        n_records = self.table.n_records
        weights = self.table.originals.row_weights[self.order]
        loss_by_attribute = {}
        for j, column in enumerate(self.columns):
            if isinstance(column, Values):
                loss_by_attribute[column.name] = self._distance(column.name)
                continue
            width = self._widths(j, column)
            loss_by_attribute[column.name] = (
                float(width @ weights) + n_records - weights.sum()
            ) / n_records
        return pd.Series(loss_by_attribute, name="loss")

    def _distance(self, name: str) -> float:
        original, numeric = self._leaf_values()
        numbers, categories = ([name], []) if name in numeric else ([], [name])
        return information_loss(
            original,
            self.frame,
            numeric=numbers,
            categorical=categories,
            rows=self.order,
            records=self.records,
        )

    def _widths(self, j: int, column: PublishedColumn) -> NDArray[np.float64]:
        """The share of the domain that every released cell covers, together with the original value."""
        qi, frame = self.table.qis[j], self.frame
        if not isinstance(column, Noised | Intervals):
            leaves = {label: len(leaves) for label, leaves in (column.meanings() or {}).items()}
            return (frame[qi.name].astype("str").map(leaves).to_numpy() - 1) / max(
                qi.n_leaves - 1, 1
            )
        numbers = np.asarray(numeric_columns(self.table)[j])
        original = numbers[self.order]
        low, high = numbers_of_labels(frame[qi.name], qi.name)
        domain = np.append(np.asarray(qi.numbers), numbers)
        span = float(np.nanmax(domain) - np.nanmin(domain)) or 1.0
        return np.asarray((np.maximum(high, original) - np.minimum(low, original)) / span)

    def disclosure(self, known: Sequence[str] | None = None) -> dict[str, NDArray[np.float64]]:
        """Compute the disclosure risk of every released person, per sensitive attribute.

        Args:
            known: The quasi-identifiers that the attacker knows; all by default.
        """
        names = self.table.qi_names if known is None else list(known)
        original, numeric = self._original_values()[names], self._numeric()
        noise = {
            column.name: StatedNoise(
                column.noise.scale_of(self.order),
                column.noise.step,
                column.noise.low,
                column.noise.high,
            )
            for column in self.columns
            if column.noise is not None
        }
        return {
            attribute: disclosure_risks(
                original,
                self.frame,
                sensitive=attribute,
                meanings=self.recoding.meanings(),
                numeric=[name for name in names if name in numeric],
                rows=self.order,
                noise=noise,
            )
            for attribute in self.table.sensitive
        }

    def _numeric(self) -> list[str]:
        """The columns that publish numbers of records, or intervals of such numbers."""
        return [column.name for column in self.columns if isinstance(column, Noised | Intervals)]

    def _leaves(self) -> pd.DataFrame:
        """The leaf of every original value."""
        table, columns = self.table, {}
        for j, qi in enumerate(table.qis):
            names = pd.array(list(qi.leaves), dtype="str")
            columns[qi.name] = pd.Series(names.take(table.tuples[table.originals.tuples, j]))
        return pd.DataFrame(columns)

    def _leaf_values(self) -> tuple[pd.DataFrame, list[str]]:
        """The original quasi-identifiers as numbers of leaves and categories, and which are numbers."""
        table, leaves = self.table, self._leaves()
        original = table.originals.frame[table.qi_names].copy()
        for j, qi in enumerate(table.qis):
            if qi.numbers is not None:
                original[qi.name] = qi.numbers[table.tuples[table.originals.tuples, j]]
            elif not qi.as_is:
                original[qi.name] = leaves[qi.name]
        return original, [qi.name for qi in table.qis if qi.numbers is not None]

    def _original_values(self) -> pd.DataFrame:
        """Original numbers where numbers are published, and leaves in the other columns."""
        original, numeric = self._leaves(), self._numeric()
        for qi, numbers in zip(self.table.qis, numeric_columns(self.table), strict=True):
            if qi.name in numeric:
                original[qi.name] = numbers
        return original

    def _single_values(self) -> pd.DataFrame:
        """Released cells as one value each: the middle of an interval, the only leaf of a label."""
        values: dict[str, pd.Series[Any]] = {}
        for column in self.columns:
            column_values = self.frame[column.name]
            if isinstance(column, Noised | Intervals):
                low, high = numbers_of_labels(column_values, column.name)
                values[column.name] = pd.Series((low + high) / 2)
                continue
            meanings = column.meanings()
            if meanings is None:
                values[column.name] = column_values.map(canonical).astype("str")
                continue
            single = {
                label: leaves[0] if len(leaves) == 1 else _SEVERAL
                for label, leaves in meanings.items()
            }
            values[column.name] = column_values.map(single).astype("str")
        return pd.DataFrame(values)


def loss_of_labels(
    table: Table, columns: Sequence[Labels], records: NDArray[np.int64]
) -> pd.Series[float]:
    """Compute the loss of columns in which every value has one label, from counts alone.

    Args:
        table: The original.
        columns: The published columns.
        records: The released records of every distinct tuple.
    """
    loss_by_attribute = {}
    for j, column in enumerate(columns):
        leaf_loss = (column.widths[column.codes] - 1) / max(column.qi.n_leaves - 1, 1)
        total = (leaf_loss[table.tuples[:, j]] * records).sum()
        loss_by_attribute[column.name] = (total + table.n_records - records.sum()) / table.n_records
    return pd.Series(loss_by_attribute, name="loss")
