"""Hierarchy: the ordered values of one quasi-identifier, the tree above them, and its levels."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_frames import AnyFrame
from privmoo.errors import HierarchyError
from privmoo.hierarchy import arx_files, builders
from privmoo.hierarchy.canonical import MISSING, Distinct, canonical, distinct
from privmoo.hierarchy.definition import Definition, flat
from privmoo.hierarchy.rules import Dates, Flat, Intervals, Masking, Ordered, Rule
from privmoo.hierarchy.structure import Structure

__all__ = ["Deferred", "Hierarchy"]

_NEEDS_DATA = {"leaves", "level_blocks", "constrained", "_index", "_names", "_bounds", "_outside"}


class Hierarchy(Structure):
    """The ordered leaves of one quasi-identifier, the tree above them, and its levels.

    Build one with `tree`, `levels`, `intervals`, `masking`, `ordered`, `flat` or `read_csv`. Some of
    these need the data (`is_bound` is False until then); `bind` returns the concrete hierarchy.

    Attributes:
        leaves: The values in canonical spelling, ordered so that every node is a range of them.
        level_blocks: For each level and leaf the number of the node above the leaf, counted from
            the left; level 0 are the leaves, the last level is one node.
        constrained: True if a block of a cut must be a node; False if any neighbours may merge.
        source: The file it came from, for messages.

    >>> marital = Hierarchy.tree({"Married": ["civil", "church"], "Single": ["never", "divorced"]})
    >>> marital
    Hierarchy(4 leaves, 3 levels, tree: civil … divorced)
    >>> marital.level_blocks.tolist()
    [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    >>> marital.label(0, 2), marital.label(0, 1), marital.label(0, 4)
    ('Married', 'civil', '*')
    >>> marital.is_valid_cut([0, 1, 1]), marital.is_valid_cut([1, 0, 1])
    (True, False)
    """

    is_bound: bool = True
    """False as long as the hierarchy needs the data."""

    @property
    def takes_domain_of_data(self) -> bool:
        """Whether its leaves will be the values of the data, so that its ends are values of real people.

        >>> Hierarchy.flat().takes_domain_of_data, Hierarchy.flat(["f", "m"]).takes_domain_of_data
        (True, False)
        """
        return False

    # Builders -----------------------------------------------------------------------------------

    @classmethod
    def tree(cls, spec: object, *, root: str = "*") -> Hierarchy:
        """Build a tree from nested dicts {label: children} and lists of leaves, sub-lists or dicts.

        A list without a name is labelled by its leaves. In a tree of uneven depth, a shallow leaf stays as
        it is up to the level below its parent.

        Args:
            spec: The nested dicts and lists.
            root: The label of the root.

        >>> Hierarchy.tree([["a", "b"], "c"]).label(0, 2)
        '{a, b}'
        """
        return Hierarchy(builders.tree(spec, root=root))

    @classmethod
    def levels(cls, table: AnyFrame | Mapping[Any, Any]) -> Hierarchy:
        """Build a tree from its levels.

        Args:
            table: One column per level, leaf first; or a mapping from each leaf to its labels upwards.


        >>> Hierarchy.levels({"a": ["x", "*"], "b": ["x", "*"], "c": ["y", "*"]}).label(0, 2)
        'x'
        """
        return Hierarchy(builders.levels(table))

    @classmethod
    def intervals(
        cls,
        low: float,
        high: float,
        *,
        widths: Sequence[float] | None = None,
        edges: Sequence[Sequence[float]] | None = None,
        origin: float | None = None,
        open_ends: bool = False,
    ) -> Hierarchy:
        """Build nested intervals of the numbers from `low` to `high`, both included; needs the data.

        The leaves are the whole numbers from low to high if all data are whole numbers and there are at
        most 100,000 of them; otherwise they are the values that occur.

        Args:
            low: The smallest number.
            high: The largest number.
            widths: The width of the intervals at each level above the leaves; each divides the next.
            edges: Instead of widths, for each level the points between low and high at which intervals
                begin; the points of a level must be among those of the level below.
            origin: A point where an interval of every width begins; default 0: 15–19, 20–24.
            open_ends: Whether smaller and larger values belong to the leaves "<low" and ">high"; otherwise
                they are refused.

        >>> age = Hierarchy.intervals(17, 90, widths=[5, 10, 20]).bind([23, 41])
        >>> age.n_leaves, age.n_levels, age.label(0, 3)
        (74, 5, '17–19')
        """
        return Deferred(
            Intervals(low, high, widths=widths, edges=edges, origin=origin, open_ends=open_ends)
        )

    @classmethod
    def masking(
        cls,
        steps: Sequence[int] | None = None,
        *,
        symbol: str = "*",
        side: Literal["left", "right"] = "right",
    ) -> Hierarchy:
        """Mask characters, one more per level, as for ZIP codes and dates; needs the data.

        Dates (also ISO dates in text) lose time, day, month, then the last two digits of the year.

        Args:
            steps: How many characters are masked at each level, ascending; default 1, 2, 3, ...
            symbol: The character that replaces a masked one.
            side: Where masking begins.

        >>> zips = Hierarchy.masking().bind(["14260", "14221", "90210"])
        >>> zips.label(0, 2), zips.n_levels
        ('142**', 6)
        """
        return Deferred(Masking(steps, symbol=symbol, side=side))

    @classmethod
    def dates(
        cls, *, order: Literal["year first", "day first", "month first"] = "year first"
    ) -> Hierarchy:
        """Build days under month, quarter, year, five years and decade; needs the data.

        Args:
            order: How texts spell dates: `2021-05-31`, `31.05.2021` or `05/31/2021`. Times of the day are
                the first to go.

        >>> days = Hierarchy.dates().bind(["2021-05-31", "2021-06-02", "2023-01-01", "2030-01-01"])
        >>> [days.label(0, stop) for stop in (1, 2, 3)]
        ['2021-05-31', '2021 Q2', '2020–2024']
        """
        return Deferred(Dates(order=order))

    @classmethod
    def ordered(
        cls,
        values: Iterable[Any] | None = None,
        *,
        step: float | None = None,
        start: float | None = None,
        labels: Literal["range", "set"] = "range",
    ) -> Hierarchy:
        """Build an order without a tree: any neighbours may merge; levels are the leaves and "*".

        Args:
            values: The values in order; default: those of the data, sorted (an ordered categorical
                keeps its order).
            step: If set, the leaves are the intervals [start + i·step, start + (i+1)·step) of a
                number.
            start: Where the first interval begins; default: the multiple of `step` at or below the
                smallest number.
            labels: "range" ("17–29", "first–last") or "set" ("{a, b, c}").

        >>> size = Hierarchy.ordered(["small", "medium", "large"])
        >>> size.label(0, 2), size.is_valid_cut([0, 1]), size.constrained
        ('small–medium', True, False)
        >>> Hierarchy.ordered(step=5).bind([15, 23]).leaves
        ('15–19', '20–24')
        """
        rule = Ordered(step=step, start=start, labels=labels)
        if values is None:
            return Deferred(rule)
        if step is not None:
            return Deferred(rule).bind(distinct(values, "values"))
        return Hierarchy(rule.of_values(values))

    @classmethod
    def flat(cls, values: Iterable[Any] | None = None) -> Hierarchy:
        """Build a hierarchy of the values and "*", with nothing in between.

        Args:
            values: The values; by default those of the data, which are then needed.

        >>> Hierarchy.flat(["f", "m"]).level_blocks.tolist()
        [[0, 1], [0, 0]]
        """
        return Deferred(Flat()) if values is None else Hierarchy(Flat().of_values(values))

    @classmethod
    def read_csv(cls, path: str | PathLike[str] | IO[Any]) -> Hierarchy:
        r"""Read a hierarchy in ARX's format: no header, one line per leaf, leaf first, "*" last.

        Fields are separated by `;` or `,` and may be quoted; a file named .gz is decompressed.

        Args:
            path: The file, or an open file.

        >>> import io
        >>> Hierarchy.read_csv(io.StringIO("a;x;*\nb;x;*\nc;y;*\n")).label(0, 2)
        'x'
        """
        return Hierarchy(arx_files.read_csv(path))

    def to_csv(self, path: str | PathLike[str] | IO[str], *, delimiter: str = ";") -> None:
        """Write the hierarchy in ARX's format; an order without a tree becomes leaf and "*".

        Args:
            path: The file, or an open file; a file named .gz is compressed.
            delimiter: The character between the fields, `;` or `,`.

        >>> import sys
        >>> Hierarchy.flat(["f", "m"]).to_csv(sys.stdout)
        f;*
        m;*
        """
        arx_files.to_csv(self.rows(), path, delimiter=delimiter)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Hierarchy:
        """Return the hierarchy that `to_json` described, after checking it.

        >>> Hierarchy.from_json(Hierarchy.flat(["f", "m"]).to_json()).leaves
        ('f', 'm')
        """
        return Hierarchy(builders.from_json(data))

    # Data ---------------------------------------------------------------------------------------

    def bind(
        self, values: pd.Series[Any] | Iterable[Any] | Distinct, *, column: str | None = None
    ) -> Hierarchy:
        """Return the concrete hierarchy of all values of these data, with a leaf "missing" if needed.

        Args:
            values: The values of a column.
            column: The column's name, for messages.

        >>> Hierarchy.flat().bind(["f", "m", None], column="sex").leaves
        ('f', 'm', 'missing')
        """
        return self._bind(distinct(values, column))

    def _bind(self, data: Distinct) -> Hierarchy:
        self._codes(data)
        return self.with_missing() if data.has_missing else self

    def encode(
        self, values: pd.Series[Any] | Iterable[Any] | Distinct, *, column: str | None = None
    ) -> NDArray[np.int32]:
        """Return the leaf number of every row.

        Args:
            values: The values of a column.
            column: The column's name, for messages.

        >>> Hierarchy.flat(["f", "m"]).encode(["m", "f", "m"]).tolist()
        [1, 0, 1]
        """
        data = distinct(values, column)
        codes = self._codes(data)
        missing = self._index.get(MISSING, -1)
        if missing < 0 and data.has_missing:
            raise HierarchyError(
                f"{data.where(-1)}: the value is missing and {self._title()} has no leaf for it; call bind "
                "first, which adds one"
            ).at(data.column, data.row(-1))
        # -1 marks a missing row and indexes the last entry
        lookup: NDArray[np.int32] = np.append(codes, missing).astype(np.int32)
        return lookup[data.codes]

    def code_of(self, value: object) -> int | None:
        """Return the number of the leaf that a value belongs to, None if there is none.

        >>> Hierarchy.ordered(step=5).bind([15, 23]).code_of(21)
        1
        """
        data = distinct([value], "value")
        code = int(self._find(data)[0]) if data.values else self._index.get(MISSING, -1)
        return code if code >= 0 else None

    def _codes(self, data: Distinct) -> NDArray[np.int64]:
        """Return the leaf of each distinct value, or raise if one has none."""
        codes = self._find(data)
        unknown = np.flatnonzero(codes < 0)
        if unknown.size:
            rows = data.records(unknown)
            raise HierarchyError(
                f"{data.where(int(unknown[0]))}: the value is not in {self._title()} "
                f"({unknown.size} distinct values in {rows} rows are not); "
                "add them to it or recode the column"
            ).at(data.column, data.row(int(unknown[0])))
        return codes

    def _find(self, data: Distinct) -> NDArray[np.int64]:
        """Return the leaf of each distinct value, -1 if it has none."""
        if self._bounds is not None and data.kind == "number":
            intervals = np.flatnonzero(~np.isnan(self._bounds[0]))
            low, high = self._bounds[:, intervals]
            numbers = data.floats()
            at = np.searchsorted(low, numbers, side="right") - 1
            inside = (at >= 0) & (numbers < high[at])
            codes = np.where(inside, intervals[at], -1)
        else:
            get = self._index.get
            codes = np.array([get(value, -1) for value in data.spellings()], dtype=np.int64)
            if self._outside is not None and data.kind == "number":
                low, high = self._outside
                numbers = data.floats()
                codes[numbers < low] = get(f"<{canonical(low)}", -1)
                codes[numbers > high] = get(f">{canonical(high)}", -1)
        return codes

    def with_missing(self) -> Hierarchy:
        """Return this hierarchy with a leaf for missing values under the root, unless it has one.

        >>> Hierarchy.tree([["a", "b"], "c"]).with_missing().level_blocks.tolist()
        [[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0]]
        """
        if MISSING in self._index:
            return self
        n, names = self.n_leaves, [list(level) for level in self._names]
        blocks = self.level_blocks
        if self.height == 0:
            blocks, names = blocks[[0, 0]], [["*"]]
        # the root may be repeated below the last level: the new leaf joins where it appears first
        joins = len(names)
        while joins > 1 and names[joins - 2] == names[-1]:
            joins -= 1
        missing = blocks[:, -1:] + 1
        missing[joins:] = 0
        for level in names[: joins - 1]:
            level.append(MISSING)
        blocks = np.hstack([blocks, missing])
        return self._like((*self.leaves, MISSING), blocks, names, np.append(np.arange(n), -1))

    def observed(self, values: pd.Series[Any] | Iterable[Any] | Distinct) -> Hierarchy:
        """Return this hierarchy without the leaves that do not occur; levels and labels stay.

        >>> Hierarchy.intervals(17, 90, widths=[10]).bind([23, 41]).observed([23, 41]).leaves
        ('23', '41')
        """
        keep = np.unique(self.encode(values)).astype(np.int64)
        if not keep.size:
            raise HierarchyError("a hierarchy needs at least one observed value, got none")
        nodes = self.level_blocks[:, keep]
        names = [
            [level[i] for i in np.unique(row)]
            for level, row in zip(self._names, nodes[1:], strict=True)
        ]
        blocks = np.cumsum(np.diff(nodes, axis=1, prepend=nodes[:, :1]) != 0, axis=1)
        return self._like([self.leaves[i] for i in keep], blocks, names, keep)

    def _like(
        self,
        leaves: Sequence[str],
        blocks: npt.ArrayLike,
        names: Sequence[Sequence[str]],
        origin: NDArray[np.int64],
    ) -> Hierarchy:
        bounds = self._bounds
        if bounds is not None:
            bounds = np.hstack([bounds, np.full((2, 1), np.nan)])[:, origin]
        return Hierarchy(
            Definition(
                leaves,
                blocks,
                names,
                constrained=self.constrained,
                style=self._style,
                bounds=bounds,
                integral=self._integral,
                outside=self._outside,
                source=self.source,
            )
        )


class Deferred(Hierarchy):
    """A hierarchy that needs the data; `bind` makes it concrete.

    >>> waiting = Hierarchy.intervals(0, 9, widths=[5])
    >>> waiting.is_bound, waiting.bind([3, 7]).is_bound
    (False, True)
    """

    is_bound = False

    def __init__(self, rule: Rule) -> None:
        self.rule, self.source = rule, ""

    @property
    def takes_domain_of_data(self) -> bool:
        """Whether its rule states no ends."""
        return self.rule.takes_domain_of_data

    def __getattr__(self, name: str) -> Any:
        if name in _NEEDS_DATA:
            raise HierarchyError(f"{self!r} needs the data; call bind(values) first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _bind(self, data: Distinct) -> Hierarchy:
        if not len(data.codes):
            raise HierarchyError(f"column {data.column!r} is empty: a hierarchy needs values")
        if not data.values:
            return Hierarchy(flat([MISSING]))
        hierarchy = Hierarchy(self.rule.definition(data))
        return hierarchy.with_missing() if data.has_missing else hierarchy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Deferred) and self.rule == other.rule

    def __hash__(self) -> int:
        return hash(self.rule)

    def __repr__(self) -> str:
        return repr(self.rule)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))} (needs the data)</p>"
