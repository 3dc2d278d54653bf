"""The meanings of the labels of a release, and whether they cover the original values."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.values import canonical_codes
from privmoo.errors import AuditError, ColumnError, nearest

__all__ = [
    "Column",
    "Meanings",
    "check_covers",
    "labels_before",
    "overlap",
    "read_columns",
    "read_positions",
    "require",
]

IntArray = npt.NDArray[np.int64]
Meanings = Mapping[Any, Mapping[str, Collection[str]]]


@dataclass(frozen=True)
class Column:
    """One quasi-identifier: released labels and original leaves as codes."""

    name: Hashable
    label: IntArray
    labels: list[str]
    leaf: IntArray
    leaves: list[str]
    meaning: Mapping[str, Collection[str]]
    domain: int

    @property
    def block(self) -> IntArray:
        """The number of leaves under the label of every released row."""
        sizes = np.array([len(set(self.meaning[text])) for text in self.labels], dtype=np.int64)
        return sizes[self.label]


def check_covers(
    original: pd.DataFrame,
    released: pd.DataFrame,
    meanings: Meanings,
    rows: Sequence[int] | IntArray,
) -> None:
    """Raise if a released label does not stand for the original value of its row.

    Args:
        original: The table before anonymization.
        released: The release.
        meanings: Per column and released label the leaves that the label stands for.
        rows: The original row of every released row.

    >>> df, out = pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": ["1", "1"]})
    >>> check_covers(df, out, {"age": {"1": ["1"]}}, [0, 1])
    Traceback (most recent call last):
    privmoo.errors.AuditError: column 'age': the label of released row 1 does not cover ...
    """
    positions = read_positions(rows, original, released)
    for column in read_columns(original, released, meanings, dict.fromkeys(meanings, None)):
        pairs = pd.DataFrame({"label": column.label, "leaf": column.leaf[positions]})
        covers = [frozenset(column.meaning[label]) for label in column.labels]
        for row, label, leaf in pairs.drop_duplicates().itertuples():
            if column.leaves[leaf] not in covers[label]:
                raise AuditError(
                    f"column {str(column.name)!r}: the label of released row {row} does not cover "
                    f"the original value of row {int(positions[row])}; the release is wrong"
                )


def require(table: pd.DataFrame, names: Collection[Hashable], role: str) -> None:
    """Raise unless a table has rows and each of these columns once.

    Args:
        table: The table.
        names: The columns.
        role: The name of the table in errors.

    >>> require(pd.DataFrame({"age": [1]}), ["aeg"], "original")
    Traceback (most recent call last):
    privmoo.errors.ColumnError: original: column 'aeg' is not in the data; did you mean 'age'?
    """
    if not len(table):
        raise AuditError(f"no rows to audit: the {role} table is empty")
    for name in names:
        if name not in table.columns:
            raise ColumnError(
                f"{role}: column {str(name)!r} is not in the data{nearest(name, table.columns)}"
            )
        if not isinstance(table[name], pd.Series):
            raise AuditError(f"{role}: the column name {str(name)!r} occurs more than once")


def read_columns(
    original: pd.DataFrame,
    released: pd.DataFrame,
    meanings: Meanings,
    sizes: Mapping[Any, int | None],
) -> list[Column]:
    """Return the quasi-identifiers of original and release as codes, checked against their meanings.

    Args:
        original: The table before anonymization.
        released: The release.
        meanings: Per column and released label the leaves that the label stands for.
        sizes: Per column the number of leaves of its hierarchy; None if unknown.

    >>> df, out = pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": ["*", "*"]})
    >>> read_columns(df, out, {"age": {"*": ["1", "2", "3"]}}, {"age": 3})[0].block
    array([3, 3])
    """
    if not meanings:
        raise AuditError("meanings: name at least one quasi-identifier")
    require(original, list(meanings), "original")
    require(released, list(meanings), "released")
    columns = []
    for name, meaning in meanings.items():
        label, labels = canonical_codes(pd.Series(released[name]), name)
        leaf, leaves = canonical_codes(pd.Series(original[name]), name)
        for code, text in enumerate(labels):
            if not meaning.get(text) or isinstance(meaning[text], str):
                row = int((label == code).argmax())
                raise AuditError(
                    f"meanings: column {str(name)!r} has no set of leaves for the label of "
                    f"released row {row}"
                )
        if name not in sizes:
            raise AuditError(f"hierarchy_sizes: column {str(name)!r} is missing")
        largest = max(len(set(meaning[text])) for text in labels)
        domain = sizes[name]
        if domain is not None and domain < largest:
            raise AuditError(
                f"hierarchy_sizes: column {str(name)!r} has a label for {largest} leaves but a "
                f"hierarchy of {domain}"
            )
        columns.append(Column(name, label, labels, leaf, leaves, meaning, domain or largest))
    return columns


def read_positions(
    rows: Sequence[int] | IntArray | None, original: pd.DataFrame, released: pd.DataFrame
) -> Any:
    """Return the original row of every released row, checked; None if `rows` is None.

    Args:
        rows: The original row of every released row.
        original: The table before anonymization.
        released: The release.

    >>> df = pd.DataFrame({"age": [1, 2]})
    >>> read_positions([1, 1], df, df)
    Traceback (most recent call last):
    privmoo.errors.AuditError: rows: an original row is named twice
    """
    if rows is None:
        return None
    positions = np.asarray(rows)
    if positions.shape != (len(released),) or positions.dtype.kind not in "iu":
        raise AuditError(
            f"rows: expected {len(released)} whole numbers, one per released row, "
            f"got {positions.dtype} of shape {positions.shape}"
        )
    if positions.min() < 0 or positions.max() >= len(original):
        raise AuditError(f"rows: expected positions from 0 to {len(original) - 1}")
    if len(np.unique(positions)) != len(positions):
        raise AuditError("rows: an original row is named twice")
    return positions.astype(np.int64)


def overlap(columns: list[Column]) -> bool:
    """Return whether two released labels of a column overlap, so that the recoding is local.

    >>> df, out = pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": ["1", "*"]})
    >>> overlap(read_columns(df, out, {"age": {"1": ["1"], "*": ["1", "2"]}}, {"age": 2}))
    True
    """
    for column in columns:
        leaves = [leaf for text in column.labels for leaf in set(column.meaning[text])]
        if len(leaves) != len(set(leaves)):
            return True
    return False


def labels_before(columns: list[Column]) -> list[IntArray] | None:
    """Return the label of every original record before suppression; None if it is unknown.

    A suppressed record has the released label that covers its value, or else the one label of the
    column that covers it and overlaps no released label.

    >>> df, out = pd.DataFrame({"age": [1, 2, 2]}), pd.DataFrame({"age": ["2", "2"]})
    >>> labels_before(read_columns(df, out, {"age": {"1": ["1"], "2": ["2"]}}, {"age": 2}))
    [array([0, 1, 1])]
    """
    result = []
    for column in columns:
        number = {text: i for i, text in enumerate(column.meaning)}
        owner = {leaf: number[text] for text in column.labels for leaf in column.meaning[text]}
        released_leaves = frozenset(owner)
        for text, meaning in column.meaning.items():
            if released_leaves.isdisjoint(meaning):
                for leaf in set(meaning):
                    owner[leaf] = -1 if leaf in owner else number[text]
        codes = np.array([owner.get(leaf, -1) for leaf in column.leaves], dtype=np.int64)
        if (codes < 0).any():
            return None
        result.append(codes[column.leaf])
    return result
