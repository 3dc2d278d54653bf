"""ScannedTable: a table of which only counts are in memory."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo._util.reading import checked_missing
from privmoo.audit import Audit, count_tables
from privmoo.data.columns import QuasiIdentifier, no_records
from privmoo.data.encoding import Rows, encode, summed
from privmoo.data.roles import (
    AttributeSpec,
    QISpec,
    assign_roles,
    check_rows,
    column_names,
    read_attributes,
    read_quasi_identifiers,
)
from privmoo.data.source import COUNT, Counted, Source
from privmoo.data.table import Table
from privmoo.engines.dask.source import DaskSource, is_dask
from privmoo.engines.duckdb.session import Limits
from privmoo.engines.duckdb.source import DuckSource
from privmoo.engines.estimate import check_fits, default_most
from privmoo.errors import PrivmooError, TableError
from privmoo.hierarchy.canonical import canonical

__all__ = ["Raw", "ScannedTable"]


@dataclass(frozen=True)
class Raw:
    """The distinct combinations of original values of the quasi-identifiers.

    Attributes:
        rows: A row of the counts for each.
        frame: Their values.
        tuples: The tuple that each is.
        weights: How many records each has.
    """

    rows: NDArray[np.int64]
    frame: pd.DataFrame
    tuples: NDArray[np.int32]
    weights: NDArray[np.int64]

    @classmethod
    def of(cls, counted: Counted, row_tuple: NDArray[np.int32]) -> Raw:
        """From the first part of the counts, in which a combination may have several rows."""
        part = next(iter(counted.parts.values()))
        numbers = counted.combinations()[part]
        _, first, own = np.unique(numbers, return_index=True, return_inverse=True)
        rows = part.start + first
        frame = pd.DataFrame(
            {n: v.iloc[rows].reset_index(drop=True) for n, v in counted.keys.items()}
        )
        return cls(rows, frame, row_tuple[rows], summed(own, counted.counts[part], len(rows)))


class ScannedTable(Table):
    """A table that stays on the disk; made by `Table.scan`.

    It has the distinct tuples, weights and counts of a table in memory, and no single records: what
    needs them says so.
    """

    has_records = False
    source: Source
    counted: Counted
    complete: tuple[str, ...]
    """Columns in which no value may be missing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TableError("ScannedTable: is made by Table.scan(source, ...)")

    @classmethod
    def of(
        cls,
        source: Source,
        *,
        quasi_identifiers: QISpec,
        sensitive: AttributeSpec = (),
        identifiers: str | Sequence[str] = (),
        insensitive: str | Sequence[str] = (),
        target: str | None = None,
        subject: str | None = None,
        missing: Literal["value", "drop"] = "value",
        others: Literal["identifying", "insensitive"] = "identifying",
        domain: Literal["hierarchy", "observed"] = "hierarchy",
        max_tuples: int | None = None,
    ) -> ScannedTable:
        """Count a source, as `Table` would a DataFrame; the arguments are those of `Table.scan`."""
        choice("missing", missing, ("value", "drop"), error=TableError)
        choice("others", others, ("identifying", "insensitive"), error=TableError)
        choice("domain", domain, ("hierarchy", "observed"), error=TableError)
        if subject is not None:
            raise no_records("subject")
        given_qis = read_quasi_identifiers(quasi_identifiers)
        given_sensitive = read_attributes(sensitive)
        self = object.__new__(cls)
        self.source = source
        self.roles = assign_roles(
            source.columns,
            {
                "quasi-identifying": list(given_qis),
                "sensitive": list(given_sensitive),
                "identifying": column_names(identifiers),
                "insensitive": column_names(insensitive),
            },
            target=target,
            subject=None,
            others=others,
        )
        self.target_name, self.subject_name, self.subjects = target, None, None
        self.domain = domain
        most = default_most(len(given_qis)) if max_tuples is None else max_tuples
        most = whole_number("max_tuples", most, error=TableError)
        check_fits(source, given_qis, most)
        attributes = list(given_sensitive)
        if target is not None and target not in {*attributes, *given_qis}:
            attributes.append(target)
        used = [*given_qis, *attributes]
        self.complete = tuple(used) if missing == "drop" else ()
        self.counted = source.count(
            list(given_qis),
            attributes,
            complete=self.complete,
            others=[name for name in self.released_columns if name not in used],
            most=most,
        )
        counted = self.counted
        self.n_dropped = counted.n_dropped
        self.n_records = int(counted.counts[next(iter(counted.parts.values()))].sum())
        columns = {**counted.keys, **counted.attributes}
        check_rows(columns, used, n=self.n_records, dropped=self.n_dropped)
        rows = Rows(columns, counts=counted.counts, parts=counted.parts)
        try:
            found = encode(rows, given_qis, given_sensitive, target, domain=domain)
        except PrivmooError as error:
            if error.column is None:
                raise
            rows = _in_order(source, counted, error.column, self.complete)
            encode(rows, given_qis, given_sensitive, target, domain=domain)
            raise
        self._adopt(found)
        self._is_frozen = True
        return self

    @property
    def frame(self) -> NoReturn:
        """Not there."""
        raise no_records("frame")

    @property
    def originals(self) -> pd.DataFrame:
        """Every combination of original values of the quasi-identifiers, once."""
        return self.raw.frame

    @property
    def row_tuple(self) -> NoReturn:
        """Not there."""
        raise no_records("row_tuple")

    def sample(self, n: int, *, seed: int | None = None) -> Table:
        """Some records at random, as a table in memory with the same hierarchies.

        For what needs single records: parameters that were found on a sample are used on all records.
        Identifying columns are left out.

        Args:
            n: How many records; all, if there are fewer.
            seed: For the choice; by default nobody can repeat it.
        """
        n = whole_number("n", n, error=TableError)
        if seed is not None:
            whole_number("seed", seed, at_least=0, error=TableError)
        secret = secrets.token_hex(16) if seed is None else f"sample {seed}"
        frame = self.source.draw(
            self.counted, self.released_columns, n, secret, complete=self.complete
        )
        known = {**self.counted.keys, **self.counted.attributes}
        # As in the whole: a sample without missing values could have another type.
        frame = frame.astype({name: own.dtype for name, own in known.items() if name in frame})
        return Table(
            frame,
            quasi_identifiers={
                qi.name: QuasiIdentifier(
                    hierarchy=qi.hierarchy,
                    weight=qi.weight,
                    min_level=qi.min_level,
                    max_level=None if qi.hierarchy is None else qi.max_level,
                    fixed_cuts=[qi.leaves[i + 1] for i in qi.fixed_cuts],
                )
                for qi in self.qis
            },
            sensitive={name: a.hierarchy for name, a in self.sensitive.items()},
            insensitive=[n for n in self.columns_of("insensitive") if n != self.target_name],
            target=self.target_name,
        )

    def need_records(self, what: str, instead: str | None = None) -> None:
        """Raise: there are none."""
        raise no_records(what, instead)

    def rows(self) -> tuple[Table, NDArray[np.int64]]:
        """The distinct combinations of original values, each with its number of records."""
        other = object.__new__(Table)
        skipped = ("source", "counted", "raw", "content", "fingerprint")
        vars(other).update({k: v for k, v in vars(self).items() if k not in skipped})
        raw = self.raw
        vars(other).update(_frame=raw.frame, _row_tuple=raw.tuples, has_records=False)
        return other, raw.weights

    def split(self, parts: NDArray[Any]) -> Table:
        """Not possible."""
        raise no_records("split")

    @cached_property
    def content(self) -> str:
        """SHA-256 of the files' names and sizes and of the counts, whatever hierarchies they have."""
        digest = hashlib.sha256(repr(self.source.facts).encode())
        for qi in sorted(self.qis, key=lambda qi: qi.name):
            values = self.counted.keys[qi.name].drop_duplicates()
            digest.update(repr((qi.name, sorted(canonical(v) for v in values))).encode())
        digest.update(self.n_records.to_bytes(8, "little"))
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of roles, hierarchies, counts, and the files' names and sizes."""
        digest = hashlib.sha256()
        self._digest_roles(digest)
        digest.update(repr((self.source.facts, self.n_dropped)).encode())
        attributes = [*self.sensitive.values(), *([self.target] if self.target else [])]
        for attribute in attributes:
            digest.update(repr((attribute.name, attribute.values)).encode())
            for array in (attribute.offsets, attribute.codes, attribute.counts):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def audit(self) -> Audit:
        """What the records give away as they are, by their counts."""
        names = self.qi_names
        return Audit(
            count_tables(
                self.counted.tables(names),
                quasi_identifiers=names,
                sensitive=list(self.sensitive),
                count=COUNT,
            )
        )

    @cached_property
    def raw(self) -> Raw:
        """The distinct combinations of original values."""
        return Raw.of(self.counted, self._row_tuple)


def _in_order(source: Source, counted: Counted, column: str, complete: Sequence[str]) -> Rows:
    """The same rows in the order in which the values of a column appear, with their numbers."""
    numbers = source.first_rows(column, counted, complete=complete)
    order = np.arange(len(counted.counts))
    own = counted.parts.get(column)
    for part in counted.parts.values():
        if own is None:
            order[part] = part.start + np.argsort(numbers[part], kind="stable")
        elif part == own:
            order[part] = part.start + np.argsort(numbers, kind="stable")
    columns = {name: values.iloc[order] for name, values in counted.keys.items()}
    for name, values in counted.attributes.items():
        part = counted.parts[name]
        columns[name] = values.iloc[order[part] - part.start]
    numbers = numbers[order] if own is None else numbers[order[own] - own.start]
    return Rows(
        {name: values.reset_index(drop=True) for name, values in columns.items()},
        lambda name: numbers if name == column else None,
        counted.counts[order],
        counted.parts,
    )


_OF_FILES: dict[str, Any] = {
    "separator": None,
    "encoding": "utf-8-sig",
    "missing_values": ("",),
    "memory": "1GB",
    "threads": None,
    "temporary": None,
}


def scan(
    path: Any,
    *,
    separator: str | None,
    encoding: str,
    missing_values: Sequence[str],
    memory: str | int,
    threads: int | None,
    temporary: str | Path | None,
    progress: bool,
    **roles: Any,
) -> ScannedTable:
    """See `Table.scan`."""
    if is_dask(path):
        given = (separator, encoding, tuple(missing_values), memory, threads, temporary)
        for name, own, usual in zip(_OF_FILES, given, _OF_FILES.values(), strict=True):
            if own != usual:
                raise TableError(f"{name}: is for files; a Dask DataFrame is read as it was made")
        return ScannedTable.of(DaskSource(path, progress=progress), **roles)
    missing_values = checked_missing(missing_values)
    limits = Limits.read(memory, threads, temporary, progress)
    source = DuckSource.open(
        path, limits, separator=separator, encoding=encoding, missing_values=missing_values
    )
    return ScannedTable.of(source, **roles)
