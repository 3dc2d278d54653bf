"""Rows that another program released, such as ARX or sdcMicro, read with the hierarchies of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_frames import AnyFrame, as_pandas
from privmoo.audit import Audit, audit
from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.errors import AuditError, ReleaseError, nearest
from privmoo.hierarchy.canonical import MISSING, canonical

__all__ = ["ForeignRelease", "Meanings"]

Meanings = Mapping[str, Mapping[str, Sequence[Any]]]
IntArray = NDArray[np.int64]
STAR = "*"
_NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"
# 20-29 and 20–29; [20, 30[, [20, 30) and [20, 29]; ≥ 65 and < 20.
_RANGE = re.compile(rf"(?P<open>[\[(\]])?{_NUMBER}(?:,|;|-|–|to|\.\.){_NUMBER}(?P<close>[\])\[])?")
_HALF = re.compile(rf"(?P<sign>>=|≥|>|<=|≤|<){_NUMBER}")
_SET = re.compile(r"\{(.*)\}", re.DOTALL)


@dataclass(frozen=True)
class ForeignRelease:
    """Rows that another program made of a table; their order and their origin are not known.

    A cell is understood as a value of the table, a label of its hierarchies, a range such as `20-29` or
    `[20, 30[`, a set such as `{a, b}`, a masked code such as `142**`, or `*`. A missing cell is a missing
    value where the table has some, and `*` elsewhere. A number that is not a value of the table, such as a
    mean, stands for itself, and the loss of such rows is not known. Rows in which every quasi-identifier
    is `*` count as left out, unless all rows are such.

    Args:
        table: The original.
        rows: The rows; quasi-identifiers, sensitive columns and the subject column, if there is one, have
            the names of the table.
        meanings: Per column, the values that a label stands for, where none of these rules fits.

    >>> import privmoo as pm
    >>> ages = pd.DataFrame({"age": [20, 22, 40, 42]})
    >>> table = pm.Table(ages, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> foreign = ForeignRelease(table, pd.DataFrame({"age": ["20-29", "20-29", "*", "*"]}))
    >>> foreign.n_records, foreign.audit.k, round(foreign.loss, 3)
    (2, 2, 0.667)
    """

    table: Table
    rows: AnyFrame
    meanings: Meanings | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows as pandas holds them, those included that are left out."""
        frame = as_pandas(self.rows, what="rows", error=ReleaseError).reset_index(drop=True)
        for name in self.meanings or {}:
            if name not in self.table.qi_names:
                raise ReleaseError(
                    f"meanings: {name!r} is not a quasi-identifier{nearest(name, self.table.qi_names)}"
                )
        for name in (*self.table.qi_names, *self.table.sensitive):
            if name not in frame.columns:
                raise ReleaseError(
                    f"rows: there is no column {name!r}{nearest(name, frame.columns)}"
                )
        if not len(frame) or len(frame) > self.table.n_records:
            raise ReleaseError(
                f"rows: there are {len(frame):,}, and the table has {self.table.n_records:,} records; pass "
                "rows that were made of this table"
            )
        return frame

    @cached_property
    def released(self) -> NDArray[np.bool_]:
        """Which rows are released: not `*` in every quasi-identifier."""
        n_leaves = np.array([qi.n_leaves for qi in self.table.qis])
        blank = (self._widths == n_leaves).all(axis=1)
        return np.ones(len(blank), np.bool_) if blank.all() else ~blank

    @property
    def n_records(self) -> int:
        """The number of released rows."""
        return int(self.released.sum())

    @cached_property
    def _widths(self) -> IntArray:
        """The number of values that every cell stands for."""
        return np.column_stack([self._column_widths(qi) for qi in self.table.qis])

    def _column_widths(self, qi: QIColumn) -> IntArray:
        codes, values = pd.factorize(self.frame[qi.name], use_na_sentinel=False)
        labels = _Labels(qi, (self.meanings or {}).get(qi.name, {}))
        widths = np.array([labels.width(value) for value in values], np.int64)
        if (widths == 0).any():
            row = int(np.flatnonzero(widths[codes] == 0)[0])
            raise ReleaseError(
                f"rows: column {qi.name!r}, row {row} (counted from 0): the label is neither a value nor a "
                "range of values of the table; say what it stands for with meanings=..."
            ).at(qi.name, row)
        return widths[codes]

    @cached_property
    def audit(self) -> Audit:
        """The audit of the released rows."""
        table, missing = self.table, self.table.missing_sensitive
        names, subject = [*table.qi_names, *table.sensitive], table.subject_name
        if subject is not None and subject not in self.frame.columns:
            raise ReleaseError(
                f"rows: k counts persons in this table; keep the column {subject!r}, which tells them apart"
            )
        return audit(
            self.frame[names][self.released].reset_index(drop=True),
            quasi_identifiers=table.qi_names,
            sensitive=list(table.sensitive),
            missing=missing,
            subject=None if subject is None else self.frame[subject].to_numpy()[self.released],
        )

    @property
    def suppression(self) -> float:
        """The share of the table's records that are not released."""
        return 1.0 - self.n_records / self.table.n_records

    @property
    def loss(self) -> float:
        """The general loss: (b - 1)/(|Σ| - 1) per released cell, 1 per cell of a record that is left out.

        It is not-a-number if a cell stands for itself, such as a mean.
        """
        if (self._widths < 0).any():
            return float("nan")
        leaves = np.array([qi.n_leaves for qi in self.table.qis])
        weights = np.array([qi.weight for qi in self.table.qis])
        cells = (self._widths[self.released] - 1) / np.maximum(leaves - 1, 1)
        left_out = self.table.n_records - self.n_records
        columns = (cells.sum(axis=0) + left_out) / self.table.n_records
        return float(weights @ columns / weights.sum())

    def value(self, name: str, parameters: Mapping[str, Any] | None = None) -> float:
        """Measure the rows; not-a-number if only somebody who knows the origin of rows can.

        Args:
            name: The name of a measure, such as `k` or `loss`.
            parameters: The parameters of the measure.
        """
        if name == "loss" and (parameters or {}).get("aggregate", "arithmetic") == "arithmetic":
            return self.loss
        if name == "suppression":
            return self.suppression
        if name == "records_suppressed":
            return float(self.table.n_records - self.n_records)
        try:
            return float(self.audit.measure(name, **(parameters or {})))
        except AuditError:
            return float("nan")


class _Labels:
    """What the labels of one column stand for."""

    def __init__(self, qi: QIColumn, meanings: Mapping[str, Sequence[Any]]) -> None:
        self.qi = qi
        self.meanings = meanings
        self.leaves = set(qi.leaves)
        self.nodes: dict[str, int] = {}
        if qi.hierarchy is not None:
            for level in range(qi.hierarchy.n_levels):
                labels = qi.hierarchy.level_labels(level)
                sizes = np.bincount(qi.hierarchy.level_blocks[level], minlength=len(labels))
                for label, size in zip(labels, sizes.tolist(), strict=True):
                    self.nodes.setdefault(label, size)

    def width(self, value: object) -> int:
        """Return how many values a cell stands for; 0 if it is not understood, -1 if it is a mean."""
        text = canonical(value).strip()
        if text in self.meanings:
            values = self.meanings[text]
            leaves = {canonical(v) for v in ([values] if isinstance(values, str) else values)}
            return len(leaves & self.leaves)
        if text in self.leaves:
            return 1
        if text in self.nodes:
            return self.nodes[text]
        if text in (STAR, "", MISSING):
            return self.qi.n_leaves
        return self._of_set(text) or self._of_range(text) or self._of_mask(text) or self._near(text)

    def _of_set(self, text: str) -> int:
        members = _SET.fullmatch(text)
        if members is None:
            return 0
        widths = [self.width(part) for part in members[1].split(",")]
        return min(sum(widths), self.qi.n_leaves) if min(widths) > 0 else 0

    def _of_range(self, text: str) -> int:
        numbers = self.qi.numbers
        if numbers is None:
            return 0
        half, interval = _HALF.fullmatch(text), _RANGE.fullmatch(text)
        if half is not None:
            limit = float(half[2])
            inside = {">=": numbers >= limit, "≥": numbers >= limit, ">": numbers > limit}
            inside |= {"<=": numbers <= limit, "≤": numbers <= limit, "<": numbers < limit}
            return int(inside[half["sign"]].sum())
        if interval is None:
            return 0
        low, high = float(interval[2]), float(interval[3])
        above = numbers > low if interval["open"] in ("(", "]") else numbers >= low
        below = numbers < high if interval["close"] in (")", "[") else numbers <= high
        return int((above & below).sum())

    def _of_mask(self, text: str) -> int:
        prefix = text.rstrip(STAR)
        if prefix == text:
            return 0
        return sum(len(leaf) == len(text) and leaf.startswith(prefix) for leaf in self.qi.leaves)

    def _near(self, text: str) -> int:
        """Return -1 for a number inside the domain, such as a mean, and 0 for anything else."""
        numbers = self.qi.numbers
        try:
            number = float(text)
        except ValueError:
            return 0
        return -int(numbers is not None and np.nanmin(numbers) <= number <= np.nanmax(numbers))
