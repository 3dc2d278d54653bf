"""Disclosure risk: what an attacker who knows some quasi-identifiers learns about sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo._util.distinct import count_keys, number_rows
from privmoo.data.columns import Attribute
from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import Hint, MeasureError, nearest
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.kernels.matching import AttackerKnowledge, Published, match_known
from privmoo.measures.base import FloatArray
from privmoo.measures.records import released_records
from privmoo.measures.staged import Staged
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import Intervals, Labels, Noised
from privmoo.recodings.nodes import numeric_columns
from privmoo.recodings.noise import Laplace

__all__ = ["DisclosureRisk"]

Aggregate = Literal["mean", "max"]
IntArray = NDArray[np.int64]


class DisclosureRisk(Staged):
    """DR: the share of a person's sensitive value among the records that fit what an attacker knows.

    Majeed & Hwang 2023, Eq. 2. The attacker knows the original values of a released person, the
    distribution of the noise, and which records got noise of which scale. Released records fit where
    their labels cover the known categories. Each counts the probability that noise, rounded and cut at
    the ends of the domain, takes the known numbers to the published ones, or into the published
    intervals; numbers without noise must be equal. The risk is the share of the person's sensitive
    value among the records that fit; where nothing fits, that of the value in the whole release. It is
    computed for every person, not for a sample. If there are several sensitive attributes, the riskiest
    counts. Less is better.

    An attacker who insisted on equal numbers would be misled by any noise, however small: a salary that
    is off by a cent fits nobody, and the risk would look like that of guessing.

    Args:
        known: The quasi-identifiers that the attacker knows; all by default.
        aggregate: The `"mean"` over persons, as in the paper's tables, or the `"max"`, as in Eq. 2.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2], "ill": list("xxyy")})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive="ill")
    >>> round(DisclosureRisk()(pm.group(table)), 4), DisclosureRisk(aggregate="max")(pm.group(table))
    (0.6667, 1.0)
    """

    name = "disclosure_risk"
    definition: ClassVar[int] = (
        2  # before, records counted e^-distance, whatever the scale of their noise
    )
    percent = True
    sense = "min"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "labels"})

    def __init__(
        self,
        *,
        known: Sequence[str] | None = None,
        aggregate: Aggregate = "mean",
        stage: Stage = "after",
    ) -> None:
        choice("aggregate", aggregate, ("mean", "max"), error=MeasureError)
        names = [known] if isinstance(known, str) else known
        if names is not None and not names:
            raise MeasureError("known: name at least one quasi-identifier, or leave it out for all")
        self.known = None if names is None else list(dict.fromkeys(names))
        self.aggregate: Aggregate = aggregate
        super().__init__(stage=stage)

    @classmethod
    def qualifier(cls, parameters: Mapping[str, Any]) -> str:
        """Return "largest" if the largest risk is measured instead of the mean."""
        return "largest" if parameters.get("aggregate") == "max" else ""

    def check(self, table: Table) -> None:
        """Raise a MeasureError if there is no sensitive attribute, or if a known name is wrong."""
        super().check(table)
        table.need_records(type(self).__name__)
        if not table.sensitive:
            raise MeasureError(
                f"{self.name}: the table has no sensitive attribute",
                hint=Hint(parameter="sensitive", call="Table"),
            )
        self._columns(table)

    def _columns(self, table: Table) -> list[int]:
        names = table.qi_names
        for name in self.known or ():
            if name not in names:
                raise MeasureError(
                    f"known: {name!r} is not a quasi-identifier of the table{nearest(name, names)}"
                )
        return [j for j, name in enumerate(names) if self.known is None or name in self.known]

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the risk of every candidate."""
        self.check(groups.table)
        columns = self._columns(groups.table)
        risks = np.zeros(len(groups))
        for c, rows in enumerate(released_records(groups, self.name)):
            for attribute in groups.table.sensitive.values() if len(rows) else ():
                if groups.cells is None:
                    blocks = groups.need_blocks(self.name)[c]
                    shares, persons = _by_blocks(groups.table, blocks, rows, attribute, columns)
                else:
                    shares, persons = _by_cells(
                        groups.table, groups.cells[c], rows, attribute, columns
                    )
                risk = shares.max() if self.aggregate == "max" else shares @ persons / len(rows)
                risks[c] = max(risks[c], risk)
        return risks

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from no knowledge to certainty."""
        return 0.0, 1.0


def _by_blocks(
    table: Table,
    blocks: NDArray[np.uint32],
    rows: IntArray,
    attribute: Attribute,
    columns: list[int],
) -> tuple[FloatArray, IntArray]:
    """Return shares and persons; blocks do not overlap, so the records that fit share all blocks."""
    offsets = leaf_offsets(table)
    keys = np.zeros(table.n_tuples, np.int64)
    for j in columns:
        block_of_leaf = blocks[offsets[j] : offsets[j + 1]].astype(np.int64)
        keys = keys * (int(block_of_leaf[-1]) + 1) + block_of_leaf[table.tuples[:, j]]
        _, keys = np.unique(keys, return_inverse=True)
    of_row = keys[table.row_tuple[rows]]
    pair_of_row = of_row * attribute.n_values + attribute.row_codes[rows].astype(np.int64)
    pairs, persons = count_keys(pair_of_row, attribute.n_values * (int(of_row.max()) + 1))
    return persons / np.bincount(of_row)[pairs // attribute.n_values], persons


def _by_cells(
    table: Table,
    cells: Recoding,
    rows: IntArray,
    attribute: Attribute,
    columns: list[int],
) -> tuple[FloatArray, IntArray]:
    """Return shares and persons, for every group of persons of whom the same is known and true."""
    everyone = len(rows) == table.n_records
    asking = (attribute.name, *columns)
    if everyone and asking in (answers := _answers.setdefault(cells, {})):
        return answers[asking]  # the mean was asked before, now the largest is
    label_columns, numeric = _by_kind(cells, columns)
    nodes = list(label_columns)
    # The kernel searches along the first.
    numbers = sorted(numeric, key=lambda j: -_selective(_numbers(table, j), numeric[j].noise))
    persons = _knowledge_of(table, rows, tuple(nodes), tuple(numbers))
    n = attribute.n_values
    secret = attribute.row_codes[rows].astype(np.int64)
    questions, counts = count_keys(persons.of_row * n + secret, n * len(persons.first))
    shares = np.empty(len(questions))
    leaves = table.tuples[table.row_tuple[rows[persons.first_of_kind]]]
    match_known(
        AttackerKnowledge(
            _matrix([_numbers(table, j)[rows[persons.first]] for j in numbers], len(persons.first)),
            persons.kind,
            _matrix([leaves[:, j] for j in nodes], len(leaves)),
            _starts(questions // n, len(persons.first)),
            questions % n,
        ),
        _published_tuples(
            [*label_columns.values()], [numeric[j] for j in numbers], rows, secret, n
        ),
        np.bincount(secret, minlength=n) / len(rows),
        shares,
    )
    if everyone:
        _answers[cells][asking] = shares, counts
    return shares, counts


def _by_kind(
    cells: Recoding, columns: list[int]
) -> tuple[dict[int, Labels], dict[int, Noised | Intervals]]:
    """Return the columns of labels and those of numbers, by place."""
    label_columns: dict[int, Labels] = {}
    numeric: dict[int, Noised | Intervals] = {}
    for j in columns:
        column = cells.columns[j]
        if isinstance(column, Labels):
            label_columns[j] = column
        elif isinstance(column, Noised | Intervals):
            numeric[j] = column
        else:
            raise MeasureError(
                f"disclosure_risk: column {column.name!r} publishes values that are neither labels nor "
                "numbers of its records; leave it out of known"
            )
    return label_columns, numeric


def _published_tuples(
    labelled: Sequence[Labels],
    numeric: Sequence[Noised | Intervals],
    rows: IntArray,
    secret: IntArray,
    n_values: int,
) -> Published:
    """Return the distinct published tuples with their sensitive values, in the order of the kernel."""
    # Cells of a column are numbered by their lower ends, so the codes order the tuples.
    nodes = [column.codes[rows] for column in labelled]
    numbers = [column.codes[rows] for column in numeric]
    parts = [part[rows] for part in _noise_parts(numeric)]
    tuples = _distinct(
        nodes,
        [*numbers, *parts],
        [column.n_cells for column in labelled],
        [*(column.n_cells for column in numeric), *(int(part.max()) + 1 for part in parts)],
    )
    first, n = tuples.first, len(tuples.first)
    entries, counts = count_keys(tuples.of_row * n_values + secret, n_values * n)
    ends = [
        _before_rounding(column, codes[first])
        for column, codes in zip(numeric, numbers, strict=True)
    ]
    low, high = _matrix([low for low, _ in ends], n), _matrix([high for _, high in ends], n)
    inverse = _matrix([_inverse_scales(column.noise, rows[first]) for column in numeric], n)
    spans = [
        (column, codes[tuples.first_of_kind]) for column, codes in zip(labelled, nodes, strict=True)
    ]
    n_kinds = len(tuples.first_of_kind)
    return Published(
        low,
        high,
        inverse,
        -np.log(-0.5 * np.expm1(-_scales_apart(low, high, inverse))),
        _starts(tuples.kind, n_kinds),
        _matrix([column.start[cells] for column, cells in spans], n_kinds),
        _matrix([column.stop[cells] - 1 for column, cells in spans], n_kinds),
        _starts(entries // n_values, n),
        entries % n_values,
        counts,
    )


def _noise_parts(columns: Sequence[Noised | Intervals]) -> list[NDArray[np.int8]]:
    """Return the distinct ways in which records are divided into parts with noise of their own."""
    parts = [column.noise.parts for column in columns if column.noise is not None]
    return list({id(part): part for part in parts if part is not None}.values())


def _before_rounding(
    column: Noised | Intervals, cells: NDArray[np.integer]
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of what is rounded to the published numbers of some cells."""
    low, high = (end[cells] for end in column.ends)
    return (low, high) if column.noise is None else column.noise.before_rounding(low, high)


def _scales_apart(low: FloatArray, high: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return how many scales of the noise two ends are apart; inf if there is no noise."""
    is_noised = np.isfinite(inverse)
    return np.where(is_noised, (high - low) * np.where(is_noised, inverse, 1.0), np.inf)


def _inverse_scales(noise: Laplace | None, rows: IntArray) -> FloatArray:
    """Return one over the scale of the noise on every record; without noise any distance is too far."""
    return np.full(len(rows), np.inf) if noise is None else 1 / noise.scale_of(rows)


def _selective(numbers: FloatArray, noise: Laplace | None) -> float:
    """Return how many scales of its noise a column spans."""
    return float(np.ptp(numbers)) / (1e-9 if noise is None else max(noise.scales))


def _numbers(table: Table, j: int) -> FloatArray:
    return np.asarray(numeric_columns(table)[j])


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
    """Return the distinct rows of some columns of codes."""
    n = len([*categories, *numbers][0])
    kind, first_of_kind = number_rows(np.zeros(n, np.int64), categories, n_categories)
    of_row, first = number_rows(kind, numbers, n_numbers)
    return _Distinct(of_row, first, kind[first], first_of_kind)


_answers: WeakKeyDictionary[Recoding, dict[tuple[object, ...], tuple[FloatArray, IntArray]]] = (
    WeakKeyDictionary()
)
_knowledge: WeakKeyDictionary[Table, dict[tuple[tuple[int, ...], ...], _Distinct]] = (
    WeakKeyDictionary()
)


def _knowledge_of(
    table: Table, rows: IntArray, nodes: tuple[int, ...], numbers: tuple[int, ...]
) -> _Distinct:
    """Return what an attacker can know about persons; it is the same in every candidate."""
    everyone = len(rows) == table.n_records
    cache = _knowledge.setdefault(table, {})
    if everyone and (nodes, numbers) in cache:
        return cache[nodes, numbers]
    leaves = table.tuples[table.row_tuple[rows]]
    codes = [
        np.unique(np.asarray(numeric_columns(table)[j])[rows], return_inverse=True) for j in numbers
    ]
    knowledge = _distinct(
        [leaves[:, j] for j in nodes],
        [code for _, code in codes],
        [table.qis[j].n_leaves for j in nodes],
        [len(values) for values, _ in codes],
    )
    if everyone:
        cache[nodes, numbers] = knowledge
    return knowledge


def _matrix(columns: Sequence[NDArray[np.generic]], n: int) -> FloatArray:
    result = np.empty((n, len(columns)))
    for j, column in enumerate(columns):
        result[:, j] = column
    return result


def _starts(owner: IntArray, n: int) -> IntArray:
    """Return where the entries of each of n owners begin, and the end; entries are sorted by owner."""
    return np.searchsorted(owner, np.arange(n + 1)).astype(np.int64)
