"""What the scheme splits, draws and clusters: records, or distinct tuples where only counts are known."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privmoo.baselines.common import Kinds
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.recodings.nodes import numeric_columns

__all__ = ["RecordUnits", "SchemeUnits", "SensitiveEntries", "TupleUnits", "units_of"]

IntArray = NDArray[np.int64]
Numbers = list[NDArray[np.float64] | None]


class SensitiveEntries(NamedTuple):
    """The values of a sensitive attribute that units have, ordered by unit.

    Attributes:
        unit: The unit of every entry.
        codes: The code of its value.
        counts: How many records of the unit have the value.
    """

    unit: IntArray
    codes: IntArray
    counts: IntArray


class SchemeUnits(Protocol):
    """The records of a table, or its distinct tuples.

    Attributes:
        tuples: The tuple of every unit.
        weights: How many records every unit stands for.
        whole: Whether a unit may stand for several records, which stay together.
    """

    tuples: IntArray
    weights: IntArray
    whole: bool

    def kinds(self) -> IntArray:
        """Return the kind of every unit: units of one kind are alike."""

    def numbers(self) -> Numbers:
        """Return the number of every unit per quasi-identifier; None for categories."""

    def leaf_numbers(self) -> Numbers:
        """Return the same, with the number of the leaf where a unit has several records."""

    def entries(self, attribute: Attribute) -> SensitiveEntries:
        """Return the sensitive values of all units."""


class RecordUnits:
    """The records of a table in memory.

    Args:
        table: The records.
    """

    whole = False

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tuples = table.row_tuple.astype(np.int64)
        self.weights = np.ones(table.n_records, np.int64)

    def kinds(self) -> IntArray:
        """Return one number for all records with the same tuple and the same sensitive values."""
        return Kinds.of(self.table, sensitive=bool(self.table.sensitive)).of_row

    def numbers(self) -> Numbers:
        """Return the number of every record per quasi-identifier; None for categories."""
        return list(numeric_columns(self.table))

    def leaf_numbers(self) -> Numbers:
        """Return the number of every record, which is more exact than that of its leaf."""
        return self.numbers()

    def entries(self, attribute: Attribute) -> SensitiveEntries:
        """Return the sensitive value of every record."""
        units = np.arange(len(self.weights))
        return SensitiveEntries(units, attribute.row_codes.astype(np.int64), self.weights)


class TupleUnits:
    """The distinct tuples of a table.

    Args:
        table: The counts of the records.
    """

    whole = True

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tuples = np.arange(table.n_tuples)
        self.weights = table.weights

    def kinds(self) -> IntArray:
        """Return a number of its own for every tuple."""
        return self.tuples

    def numbers(self) -> Numbers:
        """Return the mean number of every tuple per quasi-identifier; None for categories."""
        tuples, records = self.table.originals.tuples, self.table.originals.row_weights
        return [
            None if c is None else np.bincount(tuples, c * records, len(self.tuples)) / self.weights
            for c in numeric_columns(self.table)
        ]

    def leaf_numbers(self) -> Numbers:
        """Return the number of every tuple's leaf per quasi-identifier; None for categories."""
        table = self.table
        return [
            None if column is None or qi.numbers is None else qi.numbers[table.tuples[:, j]]
            for j, (qi, column) in enumerate(zip(table.qis, numeric_columns(table), strict=True))
        ]

    def entries(self, attribute: Attribute) -> SensitiveEntries:
        """Return the sensitive values of every tuple, each once."""
        units = np.repeat(self.tuples, np.diff(attribute.offsets))
        return SensitiveEntries(units, attribute.codes.astype(np.int64), attribute.counts)


def units_of(table: Table) -> SchemeUnits:
    """Return the records of a table; of a scanned one, its distinct tuples.

    The scheme asks only here, and when it plans a release, which of the two there are. They cannot be one:
    the paper clusters records one by one and may part equal ones, while counts do not say which of several
    equal records is which, so their tuples stay whole.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 50, 20]}), quasi_identifiers=["age"])
    >>> units_of(table).tuples.tolist()
    [0, 1, 0]
    """
    return RecordUnits(table) if table.has_records else TupleUnits(table)
