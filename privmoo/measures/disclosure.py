"""DR: what an attacker who knows some quasi-identifiers of a person learns of the sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from privmoo.cells import CellRecoding, numeric_columns
from privmoo.columns import Attribute
from privmoo.errors import MeasureError, nearest
from privmoo.grouping import GroupBatch, Stage
from privmoo.kernels.matching import match_known
from privmoo.measures.parts import FloatArray, Staged, check_choice, leaf_offsets
from privmoo.measures.records import kept_records
from privmoo.table import Table

__all__ = ["DisclosureRisk"]

Aggregate = Literal["mean", "max"]
IntArray = NDArray[np.int64]


class DisclosureRisk(Staged):
    """DR: with what probability an attacker who knows some quasi-identifiers tells the sensitive value.

    Majeed & Hwang 2023, Eq. 2. The attacker knows the original values of a released person and looks
    at all released records that fit them: labels that cover a known category, numbers within
    `tolerance` of the known one. The probability is the share of these records that have the person's
    sensitive value; where none fits, that of the value in the whole release. It is computed for every
    person, not for a sample. Of several sensitive attributes the riskiest counts. Less is better.

    Args:
        known: The quasi-identifiers that the attacker knows; all by default.
        aggregate: The `"mean"` over persons, as in the paper's tables, or the `"max"`, as in Eq. 2.
        tolerance: How far a released number may be from the known one, in the unit of its column.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2], "ill": list("xxyy")})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive="ill")
    >>> round(DisclosureRisk()(pm.group(table)), 4), DisclosureRisk(aggregate="max")(pm.group(table))
    (0.6667, 1.0)
    """

    name = "disclosure_risk"
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "labels"})

    def __init__(
        self,
        *,
        known: Sequence[str] | None = None,
        aggregate: Aggregate = "mean",
        tolerance: float = 0.0,
        stage: Stage = "after",
    ) -> None:
        check_choice("aggregate", aggregate, ("mean", "max"))
        if isinstance(known, str):
            known = [known]
        if known is not None and not known:
            raise MeasureError("known: name at least one quasi-identifier, or leave it out for all")
        is_number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
        if not (is_number and 0 <= tolerance < float("inf")):
            raise MeasureError(f"tolerance: must be a finite number from 0, got {tolerance!r}")
        self.known = None if known is None else list(dict.fromkeys(known))
        self.aggregate: Aggregate = aggregate
        self.tolerance = float(tolerance)
        super().__init__(stage=stage)

    def check(self, table: Table) -> None:
        """A sensitive attribute is needed, and what is known must be quasi-identifiers."""
        super().check(table)
        if not table.sensitive:
            raise MeasureError(
                f"{self.name}: the table has no sensitive attribute; "
                "name one in Table(..., sensitive=...)"
            )
        self._columns(table)

    def _columns(self, table: Table) -> list[int]:
        names = table.qi_names
        for name in self.known or ():
            if name not in names:
                raise MeasureError(
                    f"known: {name!r} is no quasi-identifier of the table{nearest(name, names)}"
                )
        return [j for j, name in enumerate(names) if self.known is None or name in self.known]

    def batch(self, groups: GroupBatch) -> FloatArray:
        """The risk of every candidate."""
        self.check(groups.table)
        columns = self._columns(groups.table)
        risks = np.zeros(len(groups))
        for c, rows in enumerate(kept_records(groups, self.name)):
            for attribute in groups.table.sensitive.values() if len(rows) else ():
                if groups.cells is None:
                    blocks = groups.need_blocks(self.name)[c]
                    shares, persons = _by_blocks(groups.table, blocks, rows, attribute, columns)
                else:
                    shares, persons = _by_cells(
                        groups.table, groups.cells[c], rows, attribute, columns, self.tolerance
                    )
                own = shares.max() if self.aggregate == "max" else shares @ persons / len(rows)
                risks[c] = max(risks[c], own)
        return risks

    def range(self, table: Table) -> tuple[float, float]:
        """From nothing told to certainty."""
        return 0.0, 1.0


def _by_blocks(
    table: Table,
    blocks: NDArray[np.uint32],
    rows: IntArray,
    attribute: Attribute,
    columns: list[int],
) -> tuple[FloatArray, IntArray]:
    """Shares and persons; blocks do not overlap: what fits a person are records in the same blocks."""
    offsets = leaf_offsets(table)
    keys = np.zeros(table.n_tuples, np.int64)
    for j in columns:
        own = blocks[offsets[j] : offsets[j + 1]].astype(np.int64)
        keys = keys * (int(own[-1]) + 1) + own[table.tuples[:, j]]
        _, keys = np.unique(keys, return_inverse=True)
    of_row = keys[table.row_tuple[rows]]
    pairs, persons = np.unique(_with_values(of_row, rows, attribute), return_counts=True)
    return persons / np.bincount(of_row)[pairs // attribute.n_values], persons


def _by_cells(
    table: Table,
    cells: CellRecoding,
    rows: IntArray,
    attribute: Attribute,
    columns: list[int],
    tolerance: float,
) -> tuple[FloatArray, IntArray]:
    """Shares and persons, for every group of persons that know the same and have the same value."""
    everyone = len(rows) == table.n_records
    asking = (attribute.name, *columns, tolerance)
    if everyone and asking in (remembered := _answers.setdefault(cells, {})):
        return remembered[asking]  # the mean was asked before, now the largest is
    nodes = [j for j in columns if cells.columns[j].kind == "nodes"]
    numbers = [j for j in columns if cells.columns[j].kind != "nodes"]
    known = _known(table, rows, tuple(nodes), tuple(numbers))
    shown = {j: cells.columns[j].codes[rows] for j in columns}
    sizes = [len(cells.nodes[j].labels) for j in nodes], [len(cells.columns[j]) for j in numbers]
    published = _distinct([shown[j] for j in nodes], [shown[j] for j in numbers], *sizes)
    n, n_known, n_published = attribute.n_values, len(known.first), len(published.first)
    asked, persons = _counted(_with_values(known.of_row, rows, attribute), n * n_known)
    entries, counts = _counted(_with_values(published.of_row, rows, attribute), n * n_published)
    own = numeric_columns(table)
    leaves = table.tuples[table.row_tuple[rows[known.first_of_kind]]]
    ends = {j: cells.columns[j].ends for j in numbers}
    kinds = {j: shown[j][published.first_of_kind] for j in nodes}
    shares = np.empty(len(asked))
    match_known(
        _matrix([np.asarray(own[j])[rows[known.first]] for j in numbers], n_known),
        known.kind,
        _matrix([leaves[:, j] for j in nodes], len(leaves)),
        _matrix([ends[j][0][shown[j][published.first]] for j in numbers], n_published) - tolerance,
        _matrix([ends[j][1][shown[j][published.first]] for j in numbers], n_published) + tolerance,
        _starts(published.kind, len(published.first_of_kind)),
        _matrix([cells.nodes[j].start[kinds[j]] for j in nodes], len(published.first_of_kind)),
        _matrix([cells.nodes[j].stop[kinds[j]] - 1 for j in nodes], len(published.first_of_kind)),
        _starts(entries // n, n_published),
        entries % n,
        counts,
        _starts(asked // n, n_known),
        asked % n,
        np.bincount(attribute.row_codes[rows], minlength=n) / len(rows),
        shares,
    )
    if everyone:
        _answers[cells][asking] = shares, persons
    return shares, persons


class _Distinct(NamedTuple):
    """Distinct tuples, ordered by their categories: by kind."""

    of_row: IntArray
    first: IntArray
    """One row of every tuple."""
    kind: IntArray
    """The kind of every tuple."""
    first_of_kind: IntArray


def _distinct(
    categories: Sequence[NDArray[np.integer]],
    numbers: Sequence[NDArray[np.integer]],
    n_categories: Sequence[int],
    n_numbers: Sequence[int],
) -> _Distinct:
    """Distinct rows of some columns of codes."""
    n = len([*categories, *numbers][0])
    kind, first_of_kind = _numbered(np.zeros(n, np.int64), categories, n_categories)
    of_row, first = _numbered(kind, numbers, n_numbers)
    return _Distinct(of_row, first, kind[first], first_of_kind)


def _numbered(
    keys: IntArray, columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Number equal rows in the order of keys and columns; and one row of each number."""
    span = int(keys.max()) + 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 2**62:  # renumbered, so that keys stay numbers
            keys = np.unique(keys, return_inverse=True)[1]
            span = len(keys)
        keys, span = keys * size + column, span * size
    if span > 8 * len(keys):
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        return of_row, first
    row = np.full(span, -1)  # few numbers: looked up instead of sorted
    row[keys[::-1]] = np.arange(len(keys))[::-1]
    used = np.flatnonzero(row >= 0)
    number = np.empty(span, np.int64)
    number[used] = np.arange(len(used))
    return number[keys], row[used]


def _counted(keys: IntArray, span: int) -> tuple[IntArray, IntArray]:
    """Distinct keys below `span`, ascending, and how often each occurs."""
    if span > 8 * len(keys):
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys, minlength=span)
    used = np.flatnonzero(counts)
    return used, counts[used]


_answers: WeakKeyDictionary[CellRecoding, dict[tuple[object, ...], tuple[FloatArray, IntArray]]] = (
    WeakKeyDictionary()
)
_knowledge: WeakKeyDictionary[Table, dict[tuple[tuple[int, ...], ...], _Distinct]] = (
    WeakKeyDictionary()
)


def _known(
    table: Table, rows: IntArray, nodes: tuple[int, ...], numbers: tuple[int, ...]
) -> _Distinct:
    """What can be known of persons; of all persons it is the same for every candidate."""
    everyone = len(rows) == table.n_records
    remembered = _knowledge.setdefault(table, {})
    if everyone and (nodes, numbers) in remembered:
        return remembered[nodes, numbers]
    leaves = table.tuples[table.row_tuple[rows]]
    codes = [
        np.unique(np.asarray(numeric_columns(table)[j])[rows], return_inverse=True) for j in numbers
    ]
    found = _distinct(
        [leaves[:, j] for j in nodes],
        [code for _, code in codes],
        [table.qis[j].n_leaves for j in nodes],
        [len(values) for values, _ in codes],
    )
    if everyone:
        remembered[nodes, numbers] = found
    return found


def _with_values(of_row: IntArray, rows: IntArray, attribute: Attribute) -> IntArray:
    return np.asarray(of_row * attribute.n_values + attribute.row_codes[rows], np.int64)


def _matrix(columns: Sequence[NDArray[np.generic]], n: int) -> FloatArray:
    result = np.empty((n, len(columns)))
    for j, column in enumerate(columns):
        result[:, j] = column
    return result


def _starts(owner: IntArray, n: int) -> IntArray:
    """Where the entries of each of n owners begin, and the end; entries are sorted by owner."""
    return np.searchsorted(owner, np.arange(n + 1)).astype(np.int64)
