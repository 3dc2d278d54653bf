"""Table: people's records with the roles of their columns, encoded once and then frozen."""

from __future__ import annotations

import html
import logging
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo import registry
from privmoo._util.checks import is_number, whole_number
from privmoo._util.data_frames import AnyFrame, backend_of
from privmoo.data.columns import Attribute, QIColumn, QuasiIdentifier, no_records
from privmoo.data.encoding import Encoded, Rows, encode, frozen
from privmoo.data.fingerprints import content_digest, fingerprint_digest
from privmoo.data.memory import MemorySource
from privmoo.data.originals import Originals
from privmoo.data.roles import (
    AttributeSpec,
    Missing,
    QISpec,
    Roles,
    check_rows,
    check_texts,
    checked_frame,
    warn_of_values,
)
from privmoo.data.scanning import count_source, open_source
from privmoo.data.source import Counts, ScanOptions, Source
from privmoo.data.tuples import SubjectLinks, sparse_counts, subject_links
from privmoo.errors import PrivmooError, ProblemError, TableError, nearest

if TYPE_CHECKING:
    from privmoo.audit import Audit

__all__ = ["Table"]

_log = logging.getLogger("privmoo.data")


class Table:
    """People's records, with a role for every column; frozen, with a fingerprint.

    Args:
        data: The records: a data frame of pandas, of another library that narwhals knows, such as polars,
            or anything with `__arrow_c_stream__`. `release.to_native()` returns the same kind.
        quasi_identifiers: Columns that an attacker may know, with a hierarchy or a
            `QuasiIdentifier` each, or just their names.
        sensitive: Columns that must not be inferred; a mapping gives hierarchies.
        identifiers: Columns that name a person; no release contains them.
        insensitive: Columns that are released as they are.
        target: The column that classification measures and learners predict.
        subject: The column that identifies persons who have several rows; k then counts persons.
        missing: How missing values count. `"unknown"`: in a quasi-identifier, missing is a value of its
            own; in a sensitive column it could be any value and adds no diversity (see
            `privmoo.groups.missing`). A sensitive text that programs read as missing, such as `"NA"`, `"?"`
            or an empty one, counts as missing too. `"value"`: missing is a value like any other in
            sensitive columns too, as in ARX. `"drop"`: rows without a quasi-identifier, sensitive or target
            value are left out (`n_dropped` is their number).
        others: The role of all other columns: `"identifying"` (not released) or `"insensitive"`.
        domain: `"hierarchy"` counts all leaves of a hierarchy, `"observed"` only those in the data.

    >>> from privmoo.hierarchy import Hierarchy
    >>> df = pd.DataFrame({"age": [31, 31, 45, 52], "sex": list("FFMM"), "ill": list("abab")})
    >>> table = Table(df, quasi_identifiers={"age": Hierarchy.ordered(), "sex": Hierarchy.flat()},
    ...               sensitive="ill")
    >>> table.n_records, table.n_tuples, table.weights.tolist()
    (4, 3, [2, 1, 1])
    """

    subjects: SubjectLinks | None
    backend: str = "pandas"
    """The library of the data frame that the table was made of."""

    def __init__(
        self,
        data: AnyFrame,
        *,
        quasi_identifiers: QISpec,
        sensitive: AttributeSpec = (),
        identifiers: str | Sequence[str] = (),
        insensitive: str | Sequence[str] = (),
        target: str | None = None,
        subject: str | None = None,
        missing: Missing = "unknown",
        others: Literal["identifying", "insensitive"] = "identifying",
        domain: Literal["hierarchy", "observed"] = "hierarchy",
    ) -> None:
        roles = Roles(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifiers=identifiers,
            insensitive=insensitive,
            target=target,
            subject=subject,
            missing=missing,
            others=others,
            domain=domain,
        )
        original = checked_frame(data)
        self._assign(roles, list(original.columns))
        self.backend = backend_of(data)
        # Copy on write: later changes of `data` do not reach the table.
        frame = original.copy(deep=False)
        complete_rows: NDArray[np.int64] | None = None
        if missing == "drop":
            complete_rows = np.flatnonzero(~frame[roles.read_columns].isna().any(axis=1))
            frame = frame.iloc[complete_rows]
        frame = frame.reset_index(drop=True)
        self.n_dropped = len(original) - len(frame)
        self.n_records = len(frame)
        check_rows(frame, roles.read_columns, n=self.n_records, dropped=self.n_dropped)
        self.source: Source = MemorySource(frame)
        check_texts(frame, self.released_columns)
        self._adopt(
            encode(
                Rows(frame, lambda name: complete_rows),
                roles.qis,
                roles.hierarchies,
                target,
                domain=domain,
                missing=missing,
            )
        )
        self._records: Originals | None = Originals.of_records(frame, self._encoded_rows)
        if subject is not None:
            self.subjects = subject_links(frame[subject], self._encoded_rows, self.n_tuples)
        self._is_frozen = True
        warn_of_values(self.sensitive)

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get("_is_frozen", False):
            raise AttributeError(f"a Table is frozen: {name!r} cannot be set; make a new Table")
        super().__setattr__(name, value)

    def _assign(self, roles: Roles, columns: list[str]) -> None:
        """Set what the roles say, without looking at values."""
        self.roles: dict[str, str] = roles.by_column(columns)
        self.attributes: tuple[str, ...] = tuple(roles.attributes)
        """The columns that are counted with the quasi-identifiers: sensitive attributes and the target."""
        self.target_name = roles.target
        self.subject_name = roles.subject
        self.subjects = None
        self.domain = roles.domain
        self.missing: Missing = roles.missing
        self.complete: tuple[str, ...] = (
            tuple(roles.read_columns) if roles.missing == "drop" else ()
        )
        """Columns in which no value may be missing."""

    @property
    def missing_sensitive(self) -> Literal["unknown", "value"]:
        """How a missing sensitive value counts: as `"unknown"` (any value), or as its own `"value"`."""
        return "value" if self.missing == "value" else "unknown"

    def _adopt(self, encoded: Encoded) -> None:
        """Take over the columns as the optimiser sees them."""
        self.qis: tuple[QIColumn, ...] = encoded.qis
        self.sort_order = encoded.sort_order
        self.tuples: NDArray[Any] = encoded.tuples
        self._encoded_rows: NDArray[np.int32] = encoded.row_tuple
        self.weights: NDArray[np.int64] = encoded.weights
        self.sensitive: dict[str, Attribute] = encoded.sensitive
        self.target: Attribute | None = encoded.target

    # Records, or counts of them

    @property
    def has_records(self) -> bool:
        """Whether single records are in memory; a scanned table has only counts."""
        return self._records is not None

    @property
    def records(self) -> Originals:
        """The single records: original values, and the tuple of every record.

        Raises:
            TableError: The table has only counts, because it was scanned.
        """
        return self._need("records")

    @property
    def frame(self) -> pd.DataFrame:
        """The records, all columns; changing it does not change the table (copy on write)."""
        return self._need("frame").frame.copy(deep=False)

    @property
    def row_tuple(self) -> NDArray[np.int32]:
        """The tuple of every record."""
        return self._need("row_tuple").tuples

    @cached_property
    def originals(self) -> Originals:
        """The original values of every record; for a scanned table, every combination once."""
        return self._records or Originals.of_counts(self.counts, self._encoded_rows)

    @cached_property
    def counts(self) -> Counts:
        """How many records have each combination of original values; a scanned table holds only these."""
        return self.source.count(self.qi_names, self.attributes, max_rows=self.n_records)

    def need_records(self, what: str, instead: str | None = None) -> None:
        """Raise if the table has no single records but only counts, like a scanned table.

        Args:
            what: What needs them, for the message.
            instead: What to do instead; by default to draw a sample.
        """
        self._need(what, instead)

    def _need(self, what: str, instead: str | None = None) -> Originals:
        if self._records is None:
            raise no_records(what, instead)
        return self._records

    def sample(self, n: int, *, seed: int | None = None) -> Table:
        """Draw records at random, as a table in memory with the same hierarchies.

        Use a sample for methods that need single records; parameters found on it can then be used on all
        records. Identifying columns are left out.

        Args:
            n: The number of records; all records if there are fewer.
            seed: The seed of the choice; by default it is random and cannot be repeated.
        """
        n = whole_number("n", n, error=TableError)
        if seed is not None:
            whole_number("seed", seed, at_least=0, error=TableError)
        secret = secrets.token_hex(16) if seed is None else f"sample {seed}"
        frame = self.source.draw(
            self.counts, self.released_columns, n, secret, complete=self.complete
        )
        columns = {**self.counts.keys, **self.counts.attributes}
        # As in the whole: a sample without missing values could have another type.
        frame = frame.astype({name: c.dtype for name, c in columns.items() if name in frame})
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
            missing=self.missing,
        )

    def audit(self) -> Audit:
        """Measure the privacy and risk of the original records."""
        report: Audit = registry.load("views", "audit_table")(self)
        return report

    def split(self, parts: NDArray[Any]) -> Table:
        """Return a table with more tuples, in which equal records of different parts have different tuples.

        This is for recodings that publish equal records differently; only groupings use such a table.

        Args:
            parts: The part of every record, any whole numbers from 0.

        >>> table = Table(pd.DataFrame({"age": [31, 31, 45]}), quasi_identifiers=["age"])
        >>> table.split(np.array([0, 1, 0])).weights.tolist()
        [1, 1, 1]
        """
        records = self._need("split")
        parts = np.asarray(parts)
        if parts.shape != (self.n_records,) or parts.dtype.kind not in "iu" or parts.min() < 0:
            raise TableError(
                f"split: expected a whole number from 0 for each of {self.n_records} records, "
                f"got {parts.dtype} of shape {parts.shape}"
            )
        parts = np.unique(parts, return_inverse=True)[1]
        width = int(parts.max()) + 1
        keys = records.tuples.astype(np.int64) * width + parts
        pairs, owners, weights = np.unique(keys, return_inverse=True, return_counts=True)
        row_tuple = frozen(owners.astype(np.int32))
        n_tuples = len(pairs)
        sensitive = {name: _recount(a, row_tuple, n_tuples) for name, a in self.sensitive.items()}
        target, subjects = self.target, self.subjects
        if target is not None:
            target = sensitive.get(target.name) or _recount(target, row_tuple, n_tuples)
        if self.subject_name is not None:
            subjects = subject_links(records.frame[self.subject_name], row_tuple, n_tuples)
        split = object.__new__(Table)
        vars(split).update(
            {name: value for name, value in vars(self).items() if name not in _CACHED},
            tuples=frozen(self.tuples[pairs // width]),
            weights=frozen(weights.astype(np.int64)),
            sensitive=sensitive,
            target=target,
            subjects=subjects,
            _encoded_rows=row_tuple,
            _records=replace(records, tuples=row_tuple),
        )
        return split

    def with_weights(self, weights: Mapping[str, float]) -> Table:
        """Return the same table with other weights of quasi-identifiers.

        Args:
            weights: Weights by quasi-identifier; those that are not named stay.

        >>> df = pd.DataFrame({"age": [31, 45], "sex": list("fm")})
        >>> table = Table(df, quasi_identifiers=["age", "sex"])
        >>> [qi.weight for qi in table.with_weights({"age": 2}).qis]
        [2.0, 1.0]
        """
        for name, weight in weights.items():
            if name not in self.qi_names:
                raise TableError(
                    f"weights: {name!r} is not a quasi-identifier{nearest(str(name), self.qi_names)}"
                )
            if not (is_number(weight) and math.isfinite(weight) and weight >= 0):
                raise TableError(
                    f"weights: that of {name!r} must be a finite number of at least 0, got {weight!r}"
                )
        qis = tuple(replace(qi, weight=float(weights.get(qi.name, qi.weight))) for qi in self.qis)
        if not any(qi.weight for qi in qis):
            raise TableError("weights: all are 0; give one of the columns a weight above 0")
        weighted = object.__new__(Table)
        attributes = {name: value for name, value in vars(self).items() if name != "fingerprint"}
        vars(weighted).update(attributes, qis=qis)
        return weighted

    @classmethod
    def read_csv(
        cls,
        path: str | Path,
        *,
        separator: str | None = None,
        missing_values: Sequence[str] = ("",),
        encoding: str = "utf-8-sig",
        decimal: str = ".",
        **roles: Any,
    ) -> Table:
        """Read a CSV file; leading zeros (ZIP codes) are kept, and only `missing_values` count as missing.

        Args:
            path: The file; `.gz` is unpacked.
            separator: The character between cells; by default `,`, `;` or a tab, whichever the header
                uses most.
            missing_values: The texts that stand for a missing value.
            encoding: The encoding of the text; UTF-8 by default.
            decimal: The sign before the fraction of a number, `.` or `,`.
            **roles: The roles of the columns, as for `Table`.
        """
        from privmoo._util.reading import read_csv

        frame = read_csv(
            path,
            separator=separator,
            missing_values=missing_values,
            encoding=encoding,
            decimal=decimal,
        )
        return cls(frame, **roles)

    @classmethod
    def read_parquet(cls, path: str | Path, **roles: Any) -> Table:
        """Read a Parquet file."""
        from privmoo._util.reading import read_parquet

        return cls(read_parquet(path), **roles)

    @classmethod
    def read_excel(
        cls,
        path: str | Path,
        *,
        sheet: str | int = 0,
        missing_values: Sequence[str] = ("",),
        **roles: Any,
    ) -> Table:
        """Read a sheet of an Excel file (needs openpyxl); its first row names the columns.

        Cells are what Excel says: numbers, texts, dates. Empty rows and empty columns are left out.

        Args:
            path: The file, `.xlsx` or `.xlsm`.
            sheet: The name of the sheet, or its number from 0.
            missing_values: The texts that stand for a missing value, beside empty cells.
            **roles: The roles of the columns, as for `Table`.
        """
        from privmoo._util.typed_rows import read_excel

        return cls(read_excel(path, sheet=sheet, missing_values=missing_values), **roles)

    @classmethod
    def read_sql(
        cls,
        query: str,
        connection: Any,
        *,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        **roles: Any,
    ) -> Table:
        """Read the rows of a database query into memory; see `scan` for a table that stays where it is.

        Args:
            query: The query, in the language of the database.
            connection: A connection of a DBAPI 2.0 driver, such as `sqlite3` or `psycopg`, or of an ADBC
                driver.
            parameters: Values for the placeholders of the query.
            **roles: The roles of the columns, as for `Table`.

        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> _ = connection.execute("CREATE TABLE people AS SELECT 31 AS age UNION ALL SELECT 45")
        >>> Table.read_sql("SELECT * FROM people", connection, quasi_identifiers=["age"]).n_records
        2
        """
        from privmoo._util.typed_rows import read_sql

        return cls(read_sql(query, connection, parameters=parameters), **roles)

    @classmethod
    def scan(
        cls,
        source: Any,
        *,
        table: str | None = None,
        separator: str | None = None,
        missing_values: Sequence[str] = ("",),
        encoding: str = "utf-8-sig",
        decimal: str = ".",
        max_tuples: int | None = None,
        memory: str | int = "1GB",
        threads: int | None = None,
        temporary: str | Path | None = None,
        progress: bool = False,
        **roles: Any,
    ) -> Table:
        """Count a table that does not fit into memory; it stays where it is (needs DuckDB or Dask).

        Problems and measures work as on a table in memory; methods that need single records raise an error.
        `Solution.write` releases it batch by batch.

        Args:
            source: Parquet or CSV: a file, a folder, or a pattern such as `data/*.parquet`. Or the address
                of a PostgreSQL database, such as `postgresql://reader@localhost/census`. Or a Dask
                DataFrame, which is counted by its own cluster; of the other arguments, only `max_tuples`,
                `temporary`, `progress` and the roles apply to it.
            table: The table or view of a database, with its schema if that is not `public`.
            separator: The character between cells of CSV; by default `,`, `;` or a tab, whichever the
                header uses most.
            missing_values: The texts that stand for a missing value in CSV.
            encoding: The encoding of CSV; UTF-8 by default.
            decimal: The sign before the fraction of a number in CSV, `.` or `,`.
            max_tuples: The largest number of distinct tuples; by default, as many as fit into a quarter of
                the machine's memory.
            memory: The memory that the engine may use; the process itself needs about 300 MB more.
            threads: The number of threads of the engine; all cores by default.
            temporary: A folder for original records that do not fit into memory, or are on their way
                from Dask's partitions to a release; the system's by default. Nothing stays there. All
                Dask workers must be able to reach it.
            progress: Whether to show a progress bar.
            **roles: The roles of the columns, as for `Table`.
        """
        options = ScanOptions(
            separator=separator,
            missing_values=missing_values,
            encoding=encoding,
            memory=memory,
            threads=threads,
            temporary=temporary,
            progress=progress,
            table=table,
            decimal=decimal,
        )
        scanned = object.__new__(cls)
        scanned.source = open_source(source, options)
        column_roles = Roles(**roles)
        scanned._assign(column_roles, scanned.source.columns)
        counts, columns = count_source(scanned.source, column_roles, scanned.roles, max_tuples)
        scanned.n_dropped, scanned.n_records = counts.n_dropped, counts.n_records
        _log.info(
            "%d records were counted: %d distinct tuples", counts.n_records, len(columns.weights)
        )
        scanned._adopt(columns)
        scanned._records = None
        scanned.counts = counts
        scanned._is_frozen = True
        warn_of_values(scanned.sensitive)
        return scanned

    @property
    def n_tuples(self) -> int:
        """Number of distinct quasi-identifier tuples."""
        return len(self.weights)

    @property
    def n_qis(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.qis)

    @property
    def qi_names(self) -> list[str]:
        """Names of the quasi-identifiers, in the order of the decision variables."""
        return [qi.name for qi in self.qis]

    @property
    def released_columns(self) -> list[str]:
        """The columns of a release, in the original order."""
        return [name for name, role in self.roles.items() if role != "identifying"]

    def columns_of(self, role: str) -> list[str]:
        """Return the columns with a role: identifying, quasi-identifying, sensitive or insensitive."""
        return [name for name, own_role in self.roles.items() if own_role == role]

    @property
    def n_persons(self) -> int:
        """Number of persons; of records, if there is no subject column."""
        return self.n_records if self.subjects is None else self.subjects.n_subjects

    @cached_property
    def content(self) -> str:
        """SHA-256 of the original values, whatever roles and hierarchies they have.

        For a scanned table, it covers the identity of the source and the values of quasi-identifiers.
        """
        return content_digest(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of roles, hierarchies and every released value, in row order.

        For a scanned table, it covers roles, hierarchies, counts and the identity of the source.
        """
        return fingerprint_digest(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self  # frozen, and large

    def __copy__(self) -> Table:
        return self

    def __len__(self) -> int:
        return self.n_records

    def _summary(self) -> list[tuple[str, str]]:
        rows = [("records", f"{self.n_records:,}"), ("distinct QI tuples", f"{self.n_tuples:,}")]
        if self.subjects is not None:
            rows.append(("persons", f"{self.n_persons:,}"))
        if self.n_dropped:
            rows.append(("rows dropped for missing values", f"{self.n_dropped:,}"))
        for qi in self.qis:
            levels = "no hierarchy" if qi.hierarchy is None else f"{qi.hierarchy.n_levels} levels"
            if qi.hierarchy is not None and not qi.hierarchy.constrained:
                levels = "any cut of its order"
            rows.append((f"quasi-identifier {qi.name}", f"{qi.n_leaves} leaves, {levels}"))
        for role in ("sensitive", "insensitive", "identifying"):
            names = self.columns_of(role)
            if names:
                rows.append(
                    (role, ", ".join(name if name.strip() else repr(name) for name in names))
                )
        if self.target_name is not None:
            rows.append(("target", self.target_name))
        return rows

    def __repr__(self) -> str:
        return "Table\n" + "\n".join(f"  {key}: {value}" for key, value in self._summary())

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(key)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for key, value in self._summary()
        )
        return f"<table>{cells}</table>"


def check_table(table: object, *, error: type[PrivmooError] = ProblemError) -> None:
    """Raise unless an argument is a table.

    Args:
        table: What was passed as `table`.
        error: The class of the error.

    >>> check_table(pd.DataFrame({"age": [20]}))
    Traceback (most recent call last):
    privmoo.errors.ProblemError: table: must be a privmoo Table, got DataFrame
    """
    if not isinstance(table, Table):
        raise error(f"table: must be a privmoo Table, got {type(table).__name__}")


_CACHED = ("content", "fingerprint", "originals", "counts")


def _recount(attribute: Attribute, row_tuple: NDArray[np.int32], n_tuples: int) -> Attribute:
    """Return the same attribute, counted in other tuples."""
    offsets, codes, counts = sparse_counts(
        row_tuple, attribute.row_codes, n_tuples, attribute.n_values
    )
    return replace(attribute, offsets=frozen(offsets), codes=frozen(codes), counts=frozen(counts))
