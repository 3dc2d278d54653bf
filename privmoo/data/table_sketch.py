"""TableSketch: whether two tables hold nearly the same records, estimated from a few bits of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import WEIGHT
from privmoo.hierarchy.canonical import canonical

if TYPE_CHECKING:
    from privmoo.data.table import Table

__all__ = ["TableSketch"]

_BINS = 512
_ALIKE = 0.8
_CHUNK = 1 << 20


@dataclass(frozen=True)
class TableSketch:
    """A sketch of a table, 512 signs and its size, which recognises the table after a few changes.

    A hash puts every record into one of 512 bins, and one bit of the smallest hash in every bin is kept
    (one permutation hashing, Li, Owen and Zhang 2012, with one bit, Li and König 2010). Two tables
    that share most records share most signs. A sign is one bit of one record among many, so the signs
    of a large table do not confirm guesses of a record. Those of a small table could, so only its
    publisher may read them.

    The records of a table in memory have all released columns. Those of a scanned table have the columns
    that were counted together: the quasi-identifiers, and the first attribute that is released. Tables
    with different columns have nothing in common.

    Attributes:
        n_records: The number of records.
        signs: `0` or `1` for each bin, or `-` if no record falls into it.
    """

    n_records: int
    signs: str

    @classmethod
    def of(cls, table: Table) -> TableSketch:
        """Sketch a table; the order of its rows and the types of its columns do not matter."""
        smallest = np.full(_BINS, np.iinfo(np.uint64).max, dtype=np.uint64)
        for hashes in _record_hashes(*_rows_of(table)):
            np.minimum.at(smallest, (hashes % _BINS).astype(np.int64), hashes // _BINS)
        signs = np.where(smallest & np.uint64(1), "1", "0")
        signs[smallest == np.iinfo(np.uint64).max] = "-"
        return cls(table.n_records, "".join(signs))

    @classmethod
    def from_json(cls, data: Any) -> TableSketch | None:
        """Return what `to_json` wrote, or None if the data are something else."""
        if not isinstance(data, dict):
            return None
        n_records, signs = data.get("records"), data.get("signs")
        if not isinstance(n_records, int) or not isinstance(signs, str) or len(signs) != _BINS:
            return None
        return cls(n_records, signs)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"records": self.n_records, "signs": self.signs}

    def overlap(self, other: TableSketch) -> float:
        """Estimate the share of records in both tables among those in either; the error is about 0.04."""
        ours, theirs = (np.array(list(signs)) for signs in (self.signs, other.signs))
        in_both = (ours != "-") & (theirs != "-")
        in_either = (ours != "-") | (theirs != "-")
        if not in_either.any():
            return 1.0
        # Of bins with different records in both tables, half have the same bit by chance; a bin that is
        # empty in one of them is never the same.
        equal = int((ours == theirs)[in_both].sum())
        same_record = 2 * equal - int(in_both.sum())
        return max(0.0, same_record / int(in_either.sum()))

    def resembles(self, other: TableSketch) -> bool:
        """Return whether nearly all records are in both tables.

        >>> import privmoo as pm
        >>> frame = pd.DataFrame({"age": range(100)})
        >>> tables = (pm.Table(f, quasi_identifiers=["age"]) for f in (frame, frame[3:]))
        >>> whole, less = map(TableSketch.of, tables)
        >>> whole.resembles(less)
        True
        """
        return self.overlap(other) >= _ALIKE


def _rows_of(table: Table) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the rows that are sketched, and the number of records of each."""
    if table.has_records:
        frame = table.records.frame[sorted(table.released_columns)]
        return frame, np.ones(len(frame), np.int64)
    frames = table.counts.frames(table.qi_names)
    attribute = next(
        (name for name in frames if name in table.released_columns), next(iter(frames))
    )
    frame = frames[attribute]
    names = [name for name in sorted(table.released_columns) if name in frame.columns]
    return frame[names], frame[WEIGHT].to_numpy(np.int64)


def _record_hashes(frame: pd.DataFrame, weights: NDArray[np.int64]) -> Iterator[NDArray[np.uint64]]:
    """Return a hash of every record, in chunks; equal records differ by their number."""
    rows, owners = np.unique(_row_hashes(frame), return_inverse=True)
    records = np.bincount(owners, weights, len(rows)).astype(np.int64)
    ends = np.cumsum(records)
    for start in range(0, int(ends[-1]), _CHUNK):
        places = np.arange(start, min(start + _CHUNK, int(ends[-1])))
        row = np.searchsorted(ends, places, side="right")
        number = (places - ends[row] + records[row]).astype(np.uint64)
        yield _mix_bits(rows[row] + number * np.uint64(0x9E3779B97F4A7C15))


def _row_hashes(frame: pd.DataFrame) -> NDArray[np.uint64]:
    """Return a hash of every row by its values as text, and of the names of columns."""
    total = np.zeros(len(frame), dtype=np.uint64)
    for name in frame.columns:
        values = frame[name]
        try:
            codes, uniques = pd.factorize(values, use_na_sentinel=False)
        except TypeError:  # lists and other values without a hash
            codes, uniques = pd.factorize(values.map(repr), use_na_sentinel=False)
        spellings = (f"{name}\0{canonical(value)}" for value in uniques)
        texts = np.array(
            [text.encode("utf-8", "backslashreplace").decode() for text in spellings], dtype=object
        )
        total += _mix_bits(pd.util.hash_array(texts, categorize=False)[codes])
    return total


def _mix_bits(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others (the finalizer of splitmix64)."""
    bits = hashes.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
