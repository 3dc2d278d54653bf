"""Rules that make a hierarchy from the values of the data: flat, ordered, intervals, masking, dates."""

from __future__ import annotations

import decimal
import itertools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import HierarchyError, Hint
from privmoo.hierarchy.canonical import Distinct, canonical
from privmoo.hierarchy.definition import MAX_DEPTH, Definition, assemble, flat, refuse_repeated
from privmoo.hierarchy.labels import interval_label, parse_numbers

__all__ = ["Dates", "Flat", "Intervals", "Masking", "Ordered", "Rule"]

MAX_INTERVALS = 100_000

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class Rule(ABC):
    """A rule that makes a hierarchy from the values that occur in the data."""

    takes_domain_of_data: ClassVar[bool] = True
    """Whether the first and the last leaf are those of the data."""

    @abstractmethod
    def definition(self, data: Distinct) -> Definition:
        """Return the hierarchy of values of which at least one is not missing."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({parameters})"


def _sorted_leaves(data: Distinct) -> list[str]:
    """Return the distinct values in canonical spelling, in the order of the column's type."""
    if data.ordered:
        return list(dict.fromkeys(data.spellings()))
    if data.kind == "other":
        return list(dict.fromkeys(canonical(value) for value in sorted(data.values)))
    leaves = sorted(set(data.spellings()))
    numbers = parse_numbers(leaves)
    if numbers is not None:
        return [leaves[i] for i in np.argsort(numbers, kind="stable")]
    return leaves


def _listed_leaves(values: Iterable[Any], where: str) -> list[str]:
    leaves = [canonical(value) for value in values]
    if not leaves:
        raise HierarchyError(f"{where} needs at least one value, got none")
    refuse_repeated(leaves, where)
    return leaves


class Flat(Rule):
    """Every value or "*"; see `Hierarchy.flat`."""

    def definition(self, data: Distinct) -> Definition:
        """Return the sorted values under the root."""
        return flat(_sorted_leaves(data))

    def of_values(self, values: Iterable[Any]) -> Definition:
        """Return the listed values under the root, numbers by size."""
        leaves = _listed_leaves(values, "flat")
        return assemble(leaves, [np.zeros(len(leaves), dtype=np.int64)], [["*"]])


class Ordered(Rule):
    """Any cut of an order; see `Hierarchy.ordered`."""

    def __init__(self, *, step: float | None, start: float | None, labels: str) -> None:
        if labels not in ("range", "set"):
            raise HierarchyError(f"labels must be 'range' or 'set', got {labels!r}")
        if step is not None and not _finite(step) > 0:
            raise HierarchyError(f"step must be greater than 0, got {step!r}")
        if start is not None and step is None:
            raise HierarchyError("start needs a step: give both or neither")
        self.step = step
        self.start = None if start is None else _finite(start)
        self.labels = labels

    def of_values(self, values: Iterable[Any]) -> Definition:
        """Return the order of the listed values, as they are listed."""
        return self._order(_listed_leaves(values, "ordered"))

    def definition(self, data: Distinct) -> Definition:
        """Return the order of the values, or of the intervals that hold them."""
        if self.step is None:
            return self._order(_sorted_leaves(data))
        numbers = _numbers_of(data, "a step")
        edges = self._edges(numbers, data)
        whole_numbers = bool((numbers % 1 == 0).all() and (edges % 1 == 0).all())
        bounds = np.array([edges[:-1], edges[1:]])
        leaves = [
            interval_label(low, high, integral=whole_numbers) for low, high in bounds.T.tolist()
        ]
        return self._order(leaves, bounds=bounds, integral=whole_numbers)

    def _edges(self, numbers: NDArray[np.float64], data: Distinct) -> NDArray[np.float64]:
        """Return where the intervals begin, and where the last one ends."""
        step, low, high = _decimals(self.step, numbers.min(), numbers.max())
        if self.start is None:
            start = _floor(low, step) * step
        else:
            (start,) = _decimals(self.start)
            if low < start:
                smallest = int(np.argmin(numbers))
                raise HierarchyError(
                    f"{data.where(smallest)}: the number is below start={canonical(self.start)}; "
                    "lower start"
                ).at(data.column, data.row(smallest))
        count = _floor(high - start, step) + 1
        if count > MAX_INTERVALS:
            raise HierarchyError(
                f"step={self.step} gives {count} intervals, more than {MAX_INTERVALS}; "
                "take a larger step"
            )
        return np.array([float(start + i * step) for i in range(count + 1)])

    def _order(self, leaves: list[str], **bounds: Any) -> Definition:
        n = len(leaves)
        blocks = np.array([np.arange(n), np.zeros(n)])
        return Definition(leaves, blocks, [["*"]], constrained=False, style=self.labels, **bounds)


def _finite(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise HierarchyError(f"a number was expected, got {value!r}") from error
    if not math.isfinite(number):
        raise HierarchyError(f"a finite number was expected, got {value!r}")
    return number


def _decimals(*values: object) -> tuple[Decimal, ...]:
    # in binary, 3 · 0.1 would be the edge 0.30000000000000004
    return tuple(Decimal(str(value)) for value in values)


def _floor(number: Decimal, width: Decimal) -> int:
    """Return how many widths fit below the number."""
    try:
        with decimal.localcontext(prec=50):
            return math.floor(number / width)
    except (decimal.DecimalException, OverflowError) as error:
        raise HierarchyError(f"a width of {width} is too small for numbers like these") from error


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(float(str(value)))
    except ValueError:
        return False


def _numbers_of(data: Distinct, what: str) -> NDArray[np.float64]:
    if data.kind != "number":
        row = next((data.row(i) for i, v in enumerate(data.values) if not _is_number(v)), 0)
        raise HierarchyError(
            f"column {data.column!r} holds {data.kind} values, such as in row {row} (counted from 0), but "
            f"{what} needs numbers; convert it with pandas.to_numeric"
        ).at(data.column, row)
    return data.floats()


class Intervals(Rule):
    """Nested intervals of a number; see `Hierarchy.intervals`."""

    takes_domain_of_data = False

    def __init__(
        self,
        low: float,
        high: float,
        *,
        widths: Sequence[float] | None,
        edges: Sequence[Sequence[float]] | None,
        origin: float | None,
        open_ends: bool,
    ) -> None:
        self.low, self.high = _finite(low), _finite(high)
        if self.low > self.high:
            raise HierarchyError(f"intervals need low <= high, got {low} and {high}")
        if (widths is None) == (edges is None):
            raise HierarchyError("intervals need either widths or edges")
        self.widths = None if widths is None else _checked_widths(widths)
        self.edges = None if edges is None else _checked_edges(edges, self.low, self.high)
        if origin is not None and edges is not None:
            raise HierarchyError("origin goes with widths, not with edges")
        self.origin = 0.0 if origin is None else _finite(origin)
        self.open_ends = bool(open_ends)

    def definition(self, data: Distinct) -> Definition:
        """Return the intervals over the whole numbers from low to high, or over the values."""
        numbers = _numbers_of(data, "an interval")
        outside = np.flatnonzero((numbers < self.low) | (numbers > self.high))
        if outside.size and not self.open_ends:
            raise HierarchyError(
                f"{data.where(int(outside[0]))}: the number is outside the intervals from "
                f"{canonical(self.low)} to {canonical(self.high)}",
                hint=Hint("widen them", parameter="open_ends", value=True),
            ).at(data.column, data.row(int(outside[0])))
        inside = np.unique(numbers[(numbers >= self.low) & (numbers <= self.high)])
        whole_numbers = bool((numbers % 1 == 0).all())
        first, last = math.ceil(self.low), math.floor(self.high)
        if whole_numbers and 0 <= last - first < MAX_INTERVALS:
            inside = np.arange(first, last + 1, dtype=np.float64)
        leaves = [canonical(float(v)) for v in inside]
        cuts = self._cuts()
        codes = [np.searchsorted(cut, inside, side="right").astype(np.int64) for cut in cuts]
        names = [self._labels(cut, inside, whole_numbers) for cut in cuts]
        if not self.open_ends:
            return assemble(leaves, codes, names)
        below, above = f"<{canonical(self.low)}", f">{canonical(self.high)}"
        codes = [
            np.concatenate(([0], code + 1, [len(cut) + 2]))
            for code, cut in zip(codes, cuts, strict=True)
        ]
        names = [[below, *level, above] for level in names]
        ends = (self.low, self.high)
        return assemble([below, *leaves, above], codes, names, outside=ends)

    def _cuts(self) -> list[NDArray[np.float64]]:
        """Return per level the points in (low, high] at which an interval begins."""
        if self.edges is not None:
            return [np.array(points) for points in self.edges]
        low, high, origin = _decimals(self.low, self.high, self.origin)
        cuts = []
        for width in _decimals(*(self.widths or ())):
            first, last = _floor(low - origin, width) + 1, _floor(high - origin, width)
            if last - first > MAX_INTERVALS:
                raise HierarchyError(
                    f"width {width} gives more than {MAX_INTERVALS} intervals; take a larger one"
                )
            cuts.append(np.array([float(origin + i * width) for i in range(first, last + 1)]))
        return cuts

    def _labels(
        self, cut: NDArray[np.float64], inside: NDArray[np.float64], whole_numbers: bool
    ) -> list[str]:
        if whole_numbers:
            first = np.searchsorted(inside, [-np.inf, *cut])
            last = np.append(first[1:], len(inside))
            return [
                f"{canonical(inside[a])}–{canonical(inside[b - 1])}" if b > a else ""
                for a, b in zip(first, last, strict=True)
            ]
        points = [canonical(v) for v in (self.low, *cut.tolist(), self.high)]
        closing = [")"] * len(cut) + ["]"]
        return [
            f"[{a}, {b}{end}" for a, b, end in zip(points[:-1], points[1:], closing, strict=True)
        ]


def _checked_widths(widths: Sequence[float]) -> tuple[float, ...]:
    numbers = tuple(_finite(width) for width in widths)
    if not numbers or min(numbers) <= 0:
        raise HierarchyError(f"widths must be greater than 0, got {list(widths)}")
    for narrow, wide in itertools.pairwise(numbers):
        small, large = _decimals(narrow, wide)
        if _floor(large, small) * small != large:
            raise HierarchyError(
                f"widths do not nest: {canonical(wide)} is not a multiple of {canonical(narrow)}"
            )
    return numbers


def _checked_edges(
    edges: Sequence[Sequence[float]], low: float, high: float
) -> tuple[tuple[float, ...], ...]:
    levels: list[tuple[float, ...]] = []
    for number, points in enumerate(edges, start=1):
        level = [_finite(point) for point in points]
        if level != sorted(set(level)):
            raise HierarchyError(f"edges of level {number} must ascend, got {list(points)}")
        if level and not low <= level[0] <= level[-1] <= high:
            raise HierarchyError(
                f"edges of level {number} must lie between {low} and {high}, got {list(points)}"
            )
        inner = tuple(point for point in level if low < point < high)
        new = set(inner) - set(levels[-1]) if levels else set()
        if new:
            raise HierarchyError(
                f"edges do not nest: {canonical(min(new))} of level {number} "
                f"is not an edge of level {number - 1}"
            )
        levels.append(inner)
    if not levels:
        raise HierarchyError("edges are empty: give one list of points per level")
    return tuple(levels)


class Masking(Rule):
    """Characters replaced by a symbol, more at every level; see `Hierarchy.masking`."""

    def __init__(self, steps: Sequence[int] | None, *, symbol: str, side: str) -> None:
        if side not in ("left", "right"):
            raise HierarchyError(f"side must be 'left' or 'right', got {side!r}")
        if not isinstance(symbol, str) or len(symbol) != 1:
            raise HierarchyError(f"symbol must be one character, got {symbol!r}")
        if steps is not None:
            steps = tuple(int(step) for step in steps)
            if not steps or list(steps) != sorted(set(steps)) or steps[0] < 1:
                raise HierarchyError(f"steps must ascend from 1 or more, got {list(steps)}")
        self.steps, self.symbol, self.side = steps, symbol, side

    def definition(self, data: Distinct) -> Definition:
        """Return the values under their masked spellings."""
        leaves = _sorted_leaves(data)
        dates = data.kind == "date" or all(_ISO_DATE.fullmatch(leaf) for leaf in leaves)
        columns: list[list[str]] = []
        if dates and self.steps is None and self.side == "right":
            days = [leaf[:10] for leaf in leaves]
            if days != leaves:
                columns.append(days)
            columns += [
                [self._mask_characters(day, step, "-") for day in days] for step in (3, 6, 7, 8)
            ]
        else:
            longest = max(map(len, leaves))
            if longest > MAX_DEPTH and self.steps is None:
                raise HierarchyError(
                    f"column {data.column!r} has values of {longest} characters; "
                    "give masking its steps"
                )
            steps = self.steps or range(1, longest)
            keep = "-" if dates else ""
            columns = [
                [self._mask_characters(v, step, keep) for v in leaves]
                for step in steps
                if step < longest
            ]
        factors = [pd.factorize(np.array(column, dtype=object)) for column in columns]
        codes = [numbers.astype(np.int64) for numbers, _ in factors]
        names = [[str(name) for name in labels] for _, labels in factors]
        codes.append(np.zeros(len(leaves), dtype=np.int64))
        return assemble(leaves, codes, [*names, ["*"]])

    def _mask_characters(self, value: str, count: int, keep: str) -> str:
        cut = max(len(value) - count, 0)
        if self.side == "left":
            cut = len(value) - cut
            return self._mask(value[:cut], keep) + value[cut:]
        return value[:cut] + self._mask(value[cut:], keep)

    def _mask(self, hidden: str, keep: str) -> str:
        return "".join(sign if sign == keep else self.symbol for sign in hidden)


class Dates(Rule):
    """Days under month, quarter, year, five years and decade; see `Hierarchy.dates`."""

    def __init__(self, *, order: str) -> None:
        if order not in _DATE_FORMATS:
            raise HierarchyError(
                f"order must be one of {', '.join(map(repr, _DATE_FORMATS))}, got {order!r}"
            )
        self.order = order

    def definition(self, data: Distinct) -> Definition:
        """Return the days in the order of time, under their periods."""
        leaves = _sorted_leaves(data)
        texts = pd.Series(leaves, dtype="str")
        days = texts.str.slice(0, 10).str.replace(r"[./]", "-", regex=True)
        times = pd.to_datetime(days, format=_DATE_FORMATS[self.order], errors="coerce")
        if times.isna().any():
            raise HierarchyError(
                f"column {data.column!r} has a value that is not a date with the {self.order}; "
                "convert it, or give another order"
            )
        order = times.argsort(kind="stable").to_numpy()
        times, ordered = times.iloc[order].reset_index(drop=True), [leaves[i] for i in order]
        columns = _periods(times)
        if len(set(columns[0])) == len(ordered):
            columns = columns[1:]  # days already
        factors = [pd.factorize(np.array(column, dtype=object)) for column in columns]
        codes = [numbers.astype(np.int64) for numbers, _ in factors]
        names = [[str(name) for name in labels] for _, labels in factors]
        codes.append(np.zeros(len(leaves), dtype=np.int64))
        return assemble(ordered, codes, [*names, ["*"]])


_DATE_FORMATS = {"year first": "%Y-%m-%d", "day first": "%d-%m-%Y", "month first": "%m-%d-%Y"}


def _periods(times: pd.Series[Any]) -> list[list[str]]:
    """Return day, month, quarter, year, five years and decade of some dates, as labels."""
    years = times.dt.year.tolist()
    return [
        times.dt.strftime("%Y-%m-%d").tolist(),
        times.dt.strftime("%Y-%m").tolist(),
        [f"{year} Q{quarter}" for year, quarter in zip(years, times.dt.quarter, strict=True)],
        [str(year) for year in years],
        [f"{year // 5 * 5}–{year // 5 * 5 + 4}" for year in years],
        [f"{year // 10 * 10}s" for year in years],
    ]
