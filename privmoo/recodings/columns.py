"""Published columns: what a release publishes of one quasi-identifier, by kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.wording import count_noun
from privmoo.data.columns import QIColumn
from privmoo.data.table import Table
from privmoo.hierarchy.canonical import canonical
from privmoo.recodings.nodes import NodeCells, node_cells, whole_columns
from privmoo.recodings.noise import Laplace

__all__ = [
    "Intervals",
    "Labels",
    "Noised",
    "PublishedColumn",
    "Scope",
    "Values",
    "nearest_leaves",
]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Scope = Literal["value", "class", "tuple", "record"]
_WORDS_OF_SCOPE = {
    "class": "range of each class's members",
    "tuple": "value or node of its hierarchy, tuple by tuple",
    "record": "value or node of its hierarchy, record by record",
}
_UNITS = {"class": "classes", "tuple": "tuples", "record": "cells"}


@dataclass(frozen=True, kw_only=True)
class PublishedColumn(ABC):
    """What a recoding publishes of one quasi-identifier.

    A column has distinct cells. `codes` says which cell every unit is published as; `scope` says what
    the units are: leaves of the hierarchy, classes, distinct tuples or records.

    Attributes:
        qi: The quasi-identifier.
        codes: The cell of every unit.
        scope: The unit that has one cell: a `"value"`, a `"class"`, a `"tuple"` or a `"record"`.
        noise: The distribution of the noise; None if there is no noise or if it is not known.
    """

    qi: QIColumn
    codes: NDArray[Any]
    scope: Scope = "record"
    noise: Laplace | None = None

    @property
    def name(self) -> str:
        """The name of the quasi-identifier."""
        return self.qi.name

    @property
    def shows_values(self) -> bool:
        """Whether a reader finds original values in it, or labels that stand for them."""
        return False

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """The number of cells."""

    @abstractmethod
    def series(self, codes: NDArray[Any]) -> pd.Series[Any]:
        """Return the published values of some cells."""

    @abstractmethod
    def describe(self, released: Mapping[str, int] | None = None) -> str:
        """Describe in words what is published.

        Args:
            released: The values that are released, with the number of their records; all values of the
                column by default. A certificate must not name a value that only suppressed records have.
        """

    @abstractmethod
    def summarise(self, released: Mapping[str, int]) -> str:
        """Say in a few words what becomes of the values, for a table of choices.

        Args:
            released: The values that are released, with the number of their records.
        """

    def keeps_values(self, released: Mapping[str, int]) -> bool:
        """Return whether every released record has its original value.

        Args:
            released: The values that are released, with the number of their records.
        """
        return False

    def meanings(self) -> Mapping[str, Sequence[str]] | None:
        """Return the leaves that every published label stands for; None if values are published."""
        return None

    def mapping(self) -> Mapping[str, str] | None:
        """Return the label of every leaf; None if it depends on more than the value."""
        return None

    @abstractmethod
    def leaf_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the first leaf that every cell may stand for, and one after the last."""

    def level_shares(self) -> FloatArray | None:
        """Return level over height of every cell; None if cells are not nodes of a hierarchy."""
        return None

    def levels(self) -> dict[str, float] | None:
        """Return level over height of every published label; None if there is none."""
        return None

    def _count(self, released: Mapping[str, int] | None) -> int:
        """The number of different published values."""
        return len(np.unique(self.codes)) if released is None else len(released)


@dataclass(frozen=True, kw_only=True)
class Labels(PublishedColumn):
    """Labels that stand for neighbouring leaves.

    Attributes:
        labels: The text of every cell.
        start: The first leaf of every cell.
        stop: The leaf after its last one.
        shares: Level over height of every cell; None if labels are not of levels.
        of_regions: Whether the ranges of classes are the bounds of their regions.
    """

    labels: Sequence[str]
    start: IntArray
    stop: IntArray
    shares: FloatArray | None = None
    of_regions: bool = False

    @classmethod
    def of_nodes(
        cls, table: Table, j: int, codes: NDArray[np.int32], scope: Scope = "record"
    ) -> Labels:
        """Publish nodes of a hierarchy.

        Args:
            table: The table of the quasi-identifier.
            j: The place of the quasi-identifier.
            codes: The node of every unit, numbered as in `node_cells`.
            scope: The unit that has one node.
        """
        nodes = node_cells(table)[j]
        shares = np.asarray(nodes.level / max(nodes.height, 1))
        return cls(
            qi=table.qis[j],
            codes=codes,
            scope=scope,
            labels=nodes.labels,
            start=nodes.start,
            stop=nodes.stop,
            shares=shares,
        )

    @property
    def n_cells(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def shows_values(self) -> bool:
        """True: every label stands for values."""
        return True

    @property
    def is_local(self) -> bool:
        """Whether one value may have several labels, so that labels may overlap."""
        return self.scope != "value"

    @property
    def widths(self) -> IntArray:
        """The number of leaves of every cell."""
        return np.asarray(self.stop - self.start)

    def series(self, codes: NDArray[Any]) -> pd.Series[Any]:
        """Return the labels of some cells."""
        return pd.Series(np.array(self.labels, dtype=object)[codes], dtype="str")

    def describe(self, released: Mapping[str, int] | None = None) -> str:
        """List the blocks, such as `17–29 | 30–44 | 45–90`, or sum up labels that differ by region."""
        if self.is_local:
            words = "range of each region" if self.of_regions else _WORDS_OF_SCOPE[self.scope]
            return f"{words}: {self._spread(released)}"
        labels = [label for label in self.labels if released is None or label in released]
        if self.n_cells == 1 and self.qi.n_leaves > 1:
            return "* (fully suppressed)"
        if self.n_cells == self.qi.n_leaves:
            if self.qi.exact:
                return f"as it is ({count_noun(len(labels), 'value')})"
            return f"base intervals as they are ({len(labels)})"
        return " | ".join(labels)

    def summarise(self, released: Mapping[str, int]) -> str:
        """Say whether values are unchanged, in ranges or groups, or replaced by one label.

        >>> import pandas as pd
        >>> from privmoo.hierarchy import Hierarchy
        >>> from privmoo.recodings.blocks import cut_recoding
        >>> ages = pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]})
        >>> table = Table(ages, quasi_identifiers={"age": Hierarchy.ordered()})
        >>> column = cut_recoding(table, [[0, 0, 1, 0, 0]]).columns[0]
        >>> column.summarise({"20–22": 3, "40–60": 3}), column.summarise({"20–22": 3})
        ('ranges of 3 to 21', 'ranges of 3')
        """
        cells = self._cells(released)
        records = np.array([released[self.labels[i]] for i in cells], np.int64)
        if not records.sum():
            return "nothing is released"
        widths, leaf = self.widths[cells], "value" if self.qi.exact else "base interval"
        if (widths == 1).all():
            return "unchanged" if self.qi.exact else "in base intervals"
        if (widths == self.qi.n_leaves).all():
            return "*"
        if not self.is_local and self.qi.numbers is None:
            return f"{count_noun(int(widths.sum()), leaf)} in {count_noun(len(cells), 'group')}"
        recoded = widths > 1 if self.is_local else widths > 0
        blocks = self._words_of_blocks(cells[recoded], records[recoded] / records.sum())
        share = round(100 * records[widths == 1].sum() / records.sum())
        if not self.is_local or not share:
            return blocks
        as_it_is = "unchanged" if self.qi.exact else f"in {leaf}s"
        return f"{min(share, 99)} % {as_it_is}, else {blocks}"

    def keeps_values(self, released: Mapping[str, int]) -> bool:
        """Return whether every released label is one value of the data."""
        return self.qi.exact and bool((self.widths[self._cells(released)] == 1).all())

    def _cells(self, released: Mapping[str, int]) -> IntArray:
        """Return the cells that are released."""
        places = [i for i, label in enumerate(self.labels) if label in released]
        return np.array(places, np.int64)

    def _words_of_blocks(self, cells: IntArray, shares: FloatArray) -> str:
        """Say how wide some labels are: in numbers if the column has them, else in values.

        Args:
            cells: The labels.
            shares: The share of the released records that have each of them.
        """
        whole = self.widths[cells] == self.qi.n_leaves
        if whole.all():
            return "*"
        sizes, noun = self._sizes(cells)
        some = sizes[~whole]
        low, high = (f"{float(f'{size:.4g}'):,.15g}" for size in (some.min(), some.max()))
        words = noun.format(low if low == high else f"{low} to {high}")
        stars = min(max(round(100 * shares[whole].sum()), 1), 99)
        return f"{words}, and * for {stars} %" if whole.any() else words

    def _sizes(self, cells: IntArray) -> tuple[NDArray[Any], str]:
        """Return the sizes of some labels, and how to speak of them."""
        numbers = self.qi.numbers
        if numbers is not None:
            steps = np.diff(np.unique(numbers[~np.isnan(numbers)]))
            ends = numbers[self.start[cells]], numbers[self.stop[cells] - 1]
            sizes = ends[1] - ends[0] + (steps.min() if len(steps) else 0.0)
            if np.isfinite(sizes).all():
                return sizes, "ranges of {}"
        return self.widths[cells], f"groups of {{}} {'values' if self.qi.exact else 'intervals'}"

    def _spread(self, released: Mapping[str, int] | None) -> str:
        """Say how many labels differ, how many values they stand for, and which share is unchanged."""
        cells, records = np.unique(self.codes, return_counts=True)
        if released is not None:
            cells = np.array([i for i in cells if self.labels[i] in released], np.int64)
            records = np.array([released[self.labels[i]] for i in cells], np.int64)
        total = records.sum()
        if not total:
            return "nothing is released"
        widths, n = self.widths[cells], self.qi.n_leaves
        units = _UNITS[self.scope] if released is None else "cells"
        values = "values" if self.qi.exact else "base intervals"
        as_it_is = "unchanged" if self.qi.exact else "in their base interval"
        labels = f"{len(cells):,} different labels" if len(cells) > 1 else "one label"
        unchanged, blank = (records[widths == width].sum() / total for width in (1, n))
        if unchanged == 1:
            return f"{labels}, all {units} {as_it_is}"
        stars = f", {100 * blank:.3g} % are *" if blank else ""
        shares = f"{100 * unchanged:.3g} % of {units} {as_it_is}{stars}"
        if unchanged + blank == 1:
            return f"{labels}; {shares}"
        order = np.argsort(widths, kind="stable")
        median = widths[order[np.searchsorted(np.cumsum(records[order]), total / 2)]]
        half = f", half of the {units} for at most {median:,}" if median > 1 else ""
        return (
            f"{labels} for {widths.min():,} to {widths.max():,} of {n:,} {values}{half}; {shares}"
        )

    def meanings(self) -> dict[str, Sequence[str]]:
        """Return the leaves of every label that is used."""
        return {
            self.labels[cell]: list(self.qi.leaves[self.start[cell] : self.stop[cell]])
            for cell in np.unique(self.codes)
        }

    def mapping(self) -> dict[str, str] | None:
        """Return the label of every leaf; None if labels differ by class, tuple or record."""
        if self.is_local:
            return None
        return {
            leaf: self.labels[cell]
            for leaf, cell in zip(self.qi.leaves, self.codes.tolist(), strict=True)
        }

    def leaf_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the leaves of every label."""
        return self.start, self.stop

    def level_shares(self) -> FloatArray | None:
        """Return level over height of every label."""
        return self.shares

    def levels(self) -> dict[str, float] | None:
        """Return level over height by label."""
        if self.shares is None:
            return None
        return dict(zip(self.labels, self.shares.tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class Values(PublishedColumn):
    """Values that stand for themselves, such as the mean of a class.

    Attributes:
        values: The value of every class.
        statistic: What the value is of its class, such as `"mean"`.
    """

    values: NDArray[Any]
    statistic: str
    scope: Scope = "class"

    @property
    def shows_values(self) -> bool:
        """Whether the values are categories; a mean is a number that nobody may have."""
        return bool(self.values.dtype == object)

    @property
    def n_cells(self) -> int:
        """The number of classes."""
        return len(self.values)

    def series(self, codes: NDArray[Any]) -> pd.Series[Any]:
        """Return the values of some classes."""
        values = self.values[codes]
        return pd.Series(values, dtype="str" if values.dtype == object else None)

    def describe(self, released: Mapping[str, int] | None = None) -> str:
        """Name the statistic, with the number of values or, for categories, the values."""
        values = [str(value) for value in pd.unique(self.values)]
        count = len(values) if released is None else len(released)
        if self.values.dtype != object:
            return f"{self.statistic} of each class ({count} different)"
        if released is not None:
            values = [value for value in values if value in released]
        return f"{self.statistic} of each class ({', '.join(sorted(values))})"

    def summarise(self, released: Mapping[str, int]) -> str:
        """Name the statistic."""
        return f"{self.statistic} of each class"

    def leaf_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the leaf of every category, and the leaf nearest to every number."""
        if self.values.dtype == object or self.qi.numbers is None:
            place = {leaf: code for code, leaf in enumerate(self.qi.leaves)}
            leaves = np.array([place[str(value)] for value in self.values], np.int64)
        else:
            leaves = nearest_leaves(self.qi.numbers, self.values).astype(np.int64)
        return leaves, leaves + 1


@dataclass(frozen=True, kw_only=True)
class Noised(PublishedColumn):
    """Numbers with noise.

    Attributes:
        numbers: The number of every cell; None if noise is drawn when the records are written.
        whole: Whether whole numbers are published.
    """

    numbers: FloatArray | None
    whole: bool = False

    @classmethod
    def of_numbers(
        cls,
        table: Table,
        j: int,
        values: FloatArray,
        *,
        step: float | None = None,
        noise: Laplace | None = None,
    ) -> Noised:
        """Publish one number per record, as whole numbers if the column's are and all of them are.

        Args:
            table: The table of the quasi-identifier.
            j: The place of the quasi-identifier.
            values: The number of every record.
            step: If the numbers are multiples of it, this spares the search for equal ones.
            noise: The distribution of the noise.
        """
        low, high = float(values.min()), float(values.max())
        if step == 1.0 and high - low < len(values):
            numbers = np.asarray(low + np.arange(int(high - low) + 1), np.float64)
            codes = np.rint(values - low).astype(np.int32)
        else:
            numbers, inverse = np.unique(values, return_inverse=True)
            codes = inverse.astype(np.int32)
        whole = bool(whole_columns(table)[j] and (numbers == np.rint(numbers)).all())
        return cls(qi=table.qis[j], codes=codes, noise=noise, numbers=numbers, whole=whole)

    @property
    def is_drawn(self) -> bool:
        """Whether the noise is drawn already."""
        return self.numbers is not None

    @property
    def n_cells(self) -> int:
        """The number of different numbers."""
        return 0 if self.numbers is None else len(self.numbers)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Both ends of every cell: the number itself."""
        numbers = np.empty(0) if self.numbers is None else self.numbers
        return numbers, numbers

    def series(self, codes: NDArray[Any]) -> pd.Series[Any]:
        """Return some numbers; those of whole-number columns are whole numbers."""
        numbers = self.ends[0][codes]
        return pd.Series(numbers.astype(np.int64) if self.whole else numbers)

    def describe(self, released: Mapping[str, int] | None = None) -> str:
        """Say that there is noise, and how many numbers differ if they are drawn."""
        count = f" ({self._count(released)} different)" if self.is_drawn else ""
        return f"number with noise{count}"

    def summarise(self, released: Mapping[str, int]) -> str:
        """Say that there is noise."""
        return "with noise"

    def leaf_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the leaf that is nearest to every number."""
        leaves = nearest_leaves(np.asarray(self.qi.numbers), self.ends[0]).astype(np.int64)
        return leaves, leaves + 1

    def level_shares(self) -> FloatArray:
        """Return 0 for every number."""
        return np.zeros(self.n_cells)


@dataclass(frozen=True, kw_only=True)
class Intervals(PublishedColumn):
    """Intervals of numbers with noise.

    Attributes:
        low: The lower end of every interval.
        high: The upper end of every interval.
        nodes: The nodes of the hierarchy.
    """

    low: FloatArray
    high: FloatArray
    nodes: NodeCells

    @classmethod
    def of_classes(
        cls,
        table: Table,
        j: int,
        ends: tuple[FloatArray, FloatArray],
        classes: IntArray,
        *,
        noise: Laplace | None = None,
    ) -> Intervals:
        """Publish the interval of every record's class.

        Args:
            table: The table of the quasi-identifier.
            j: The place of the quasi-identifier.
            ends: The lower and the upper end of every class.
            classes: The class of every record.
            noise: The distribution of the noise on the numbers that the intervals cover.
        """
        distinct, place = np.unique(np.column_stack(ends), axis=0, return_inverse=True)
        codes = place.ravel()[classes].astype(np.int32)
        return cls(
            qi=table.qis[j],
            codes=codes,
            noise=noise,
            low=distinct[:, 0].copy(),
            high=distinct[:, 1].copy(),
            nodes=node_cells(table)[j],
        )

    @property
    def n_cells(self) -> int:
        """The number of different intervals."""
        return len(self.low)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Both ends of every cell."""
        return self.low, self.high

    def labels(self) -> list[str]:
        """Return the text of every cell."""
        return [
            canonical(a) if a == b else f"{canonical(a)}–{canonical(b)}"
            for a, b in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]

    def series(self, codes: NDArray[Any]) -> pd.Series[Any]:
        """Return some intervals as text."""
        return pd.Series(np.array(self.labels(), dtype=object)[codes], dtype="str")

    def describe(self, released: Mapping[str, int] | None = None) -> str:
        """Say that there is noise, and how many intervals differ."""
        return f"interval of numbers with noise ({self._count(released)} different)"

    def summarise(self, released: Mapping[str, int]) -> str:
        """Say that there is noise."""
        return "intervals with noise"

    def meanings(self) -> dict[str, Sequence[str]]:
        """Return the leaves in every interval, or the nearest leaf if the interval has none."""
        order, first, last = self._covered_places()
        return {
            label: _LeafRange(self.qi.leaves, order, int(a), int(b))
            for label, a, b in zip(self.labels(), first, last, strict=True)
        }

    def _covered_places(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the leaves in the order of their numbers, and which of them every interval covers."""
        numbers = np.asarray(self.qi.numbers)
        order = np.argsort(numbers, kind="stable")[: int((~np.isnan(numbers)).sum())]
        in_order = numbers[order]
        first = np.searchsorted(in_order, self.low)
        last = np.searchsorted(in_order, self.high, "right")
        place = np.empty(len(numbers), np.int64)
        place[order] = np.arange(len(order))
        nearest = place[nearest_leaves(numbers, (self.low + self.high) / 2)]
        is_empty = first >= last
        first, last = np.where(is_empty, nearest, first), np.where(is_empty, nearest + 1, last)
        return order, first, last

    def leaf_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the leaves in every interval, and those between them if the leaves have another order."""
        order, first, last = self._covered_places()
        ranges = [order[a:b] for a, b in zip(first, last, strict=True)]
        low = np.array([leaves.min() for leaves in ranges], np.int64)
        return low, np.array([leaves.max() + 1 for leaves in ranges], np.int64)

    def level_shares(self) -> FloatArray:
        """Return the lowest level at which one node covers both ends, over height."""
        numbers, nodes = np.asarray(self.qi.numbers), self.nodes
        low, high = (nearest_leaves(numbers, ends) for ends in self.ends)
        differ = nodes.start[nodes.ids[:, low]] != nodes.start[nodes.ids[:, high]]
        levels = np.where(self.low == self.high, 0, np.maximum(differ.sum(axis=0), 1))
        return np.asarray(levels / max(nodes.height, 1))

    def levels(self) -> dict[str, float]:
        """Return level over height by label."""
        return dict(zip(self.labels(), self.level_shares().tolist(), strict=True))


class _LeafRange(Sequence[str]):
    """Some neighbouring leaves, without a copy for each of many intervals."""

    def __init__(
        self, leaves: Sequence[str], order: NDArray[np.intp], start: int, stop: int
    ) -> None:
        self._leaves, self._order, self._range = leaves, order, range(start, stop)

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self._leaves[self._order[place]] for place in self._range[i]]
        return self._leaves[self._order[self._range[i]]]


def nearest_leaves(numbers: FloatArray, values: FloatArray) -> NDArray[np.intp]:
    """Return the leaf whose number is nearest to every value.

    Args:
        numbers: The number of every leaf; nan for a missing one.
        values: The values.

    >>> nearest_leaves(np.array([1.0, 5.0, np.nan]), np.array([2.0, 4.0])).tolist()
    [0, 1]
    """
    order = np.argsort(numbers, kind="stable")
    order = order[~np.isnan(numbers[order])]
    in_order = numbers[order]
    right = np.clip(np.searchsorted(in_order, values), 1, max(len(in_order) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(in_order) - 1)
    closer = np.abs(values - in_order[left]) <= np.abs(values - in_order[right])
    return np.asarray(order[np.where(closer, left, right)])
