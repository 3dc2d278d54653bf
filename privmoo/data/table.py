"""Table: people's records with the roles of their columns, encoded once and then frozen."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import choice
from privmoo._util.digest import row_hashes
from privmoo.data.columns import Attribute, QIColumn
from privmoo.data.encoding import Encoded, Rows, encode, frozen
from privmoo.data.roles import (
    AttributeSpec,
    QISpec,
    assign_roles,
    check_columns,
    check_rows,
    column_names,
    read_attributes,
    read_quasi_identifiers,
)
from privmoo.data.tuples import sparse_counts, subject_links
from privmoo.errors import TableError

__all__ = ["Table"]


class Table:
    """People's records, with a role for every column; frozen, with a fingerprint.

    Args:
        data: The records.
        quasi_identifiers: Columns that an attacker may know, with a hierarchy or a
            `QuasiIdentifier` each, or just their names.
        sensitive: Columns that must not be inferred; a mapping gives hierarchies.
        identifiers: Columns that name a person; no release contains them.
        insensitive: Columns that are released as they are.
        target: The column that classification metrics and learners predict.
        subject: The column that tells persons apart where one has several rows: k counts persons.
        missing: `"value"` keeps a missing value as a value of its own, `"drop"` leaves out rows
            that miss a quasi-identifier, sensitive or target value (`n_dropped` says how many).
        others: The role of columns not named: `"identifying"` (not released) or `"insensitive"`.
        domain: `"hierarchy"` counts all leaves of a hierarchy, `"observed"` those in the data.

    >>> from privmoo.hierarchy import Hierarchy
    >>> df = pd.DataFrame({"age": [31, 31, 45, 52], "sex": list("FFMM"), "ill": list("abab")})
    >>> table = Table(df, quasi_identifiers={"age": Hierarchy.ordered(), "sex": Hierarchy.flat()},
    ...               sensitive="ill")
    >>> table.n_records, table.n_tuples, table.weights.tolist()
    (4, 3, [2, 1, 1])
    """

    def __init__(
        self,
        data: pd.DataFrame,
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
    ) -> None:
        choice("missing", missing, ("value", "drop"), error=TableError)
        choice("others", others, ("identifying", "insensitive"), error=TableError)
        choice("domain", domain, ("hierarchy", "observed"), error=TableError)
        given_qis = read_quasi_identifiers(quasi_identifiers)
        given_sensitive = read_attributes(sensitive)
        check_columns(data)
        self.roles = assign_roles(
            list(data.columns),
            {
                "quasi-identifying": list(given_qis),
                "sensitive": list(given_sensitive),
                "identifying": column_names(identifiers),
                "insensitive": column_names(insensitive),
            },
            target=target,
            subject=subject,
            others=others,
        )
        self.target_name = target
        self.subject_name = subject
        self.domain = domain
        used = [*given_qis, *given_sensitive]
        used += [name for name in (target, subject) if name is not None and name not in used]
        # Copy on write: later changes of `data` do not reach the table.
        frame = data.copy(deep=False)
        self._source_rows: NDArray[np.int64] | None = None
        if missing == "drop":
            complete = ~frame[used].isna().any(axis=1)
            frame = frame[complete]
            self._source_rows = np.flatnonzero(complete.to_numpy())
        self.n_dropped = len(data) - len(frame)
        self._frame = frame.reset_index(drop=True)
        self.n_records = len(self._frame)
        check_rows(self._frame, used, n=self.n_records, dropped=self.n_dropped)

        rows = Rows(self.frame, lambda name: self._source_rows)
        self._adopt(encode(rows, given_qis, given_sensitive, target, domain=domain))
        self.subjects = (
            None
            if subject is None
            else subject_links(self.frame[subject], self.row_tuple, self.n_tuples)
        )
        self._is_frozen = True

    has_records = True  # a row is one record; of a scanned table, only counts are known

    @property
    def frame(self) -> pd.DataFrame:
        """The records, all columns; changing it does not change the table (copy on write)."""
        return self._frame.copy(deep=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get("_is_frozen", False):
            raise AttributeError(f"a Table is frozen: {name!r} cannot be set; make a new Table")
        super().__setattr__(name, value)

    def _adopt(self, encoded: Encoded) -> None:
        """Take over the columns as the optimiser sees them."""
        self.qis: tuple[QIColumn, ...] = encoded.qis
        self.sort_order = encoded.sort_order
        self.tuples: NDArray[Any] = encoded.tuples
        self._row_tuple: NDArray[np.int32] = encoded.row_tuple
        self.weights: NDArray[np.int64] = encoded.weights
        self.sensitive: dict[str, Attribute] = encoded.sensitive
        self.target: Attribute | None = encoded.target

    @property
    def row_tuple(self) -> NDArray[np.int32]:
        """The tuple of every record."""
        return self._row_tuple

    @property
    def originals(self) -> pd.DataFrame:
        """The original values of every record; of a scanned table, every combination of them once."""
        return self.frame

    def need_records(self, what: str, instead: str | None = None) -> None:
        """Raise where single records are not known: a scanned table has only counts."""

    def rows(self) -> tuple[Table, NDArray[np.int64] | None]:
        """A table whose rows stand for all records, and for how many each; None where for one."""
        return self, None

    def split(self, parts: NDArray[Any]) -> Table:
        """The same records with more tuples: those of one tuple stay together only within a part.

        For recodings that publish equal records differently; only groupings look at such a table.

        Args:
            parts: The part of every record, any whole numbers from 0.

        >>> table = Table(pd.DataFrame({"age": [31, 31, 45]}), quasi_identifiers=["age"])
        >>> table.split(np.array([0, 1, 0])).weights.tolist()
        [1, 1, 1]
        """
        parts = np.asarray(parts)
        if parts.shape != (self.n_records,) or parts.dtype.kind not in "iu" or parts.min() < 0:
            raise TableError(
                f"split: expected a whole number from 0 for each of {self.n_records} records, "
                f"got {parts.dtype} of shape {parts.shape}"
            )
        parts = np.unique(parts, return_inverse=True)[1]
        width = int(parts.max()) + 1
        pairs = self.row_tuple.astype(np.int64) * width + parts
        found, row_tuple, weights = np.unique(pairs, return_inverse=True, return_counts=True)
        owner = row_tuple.astype(np.int32)
        other = object.__new__(Table)
        vars(other).update(
            {name: value for name, value in vars(self).items() if name not in _CACHED},
            tuples=frozen(self.tuples[found // width]),
            _row_tuple=frozen(owner),
            weights=frozen(weights.astype(np.int64)),
        )
        recounted = {name: _recount(a, owner, len(found)) for name, a in self.sensitive.items()}
        vars(other)["sensitive"] = recounted
        if self.target is not None:
            known = recounted.get(self.target.name)
            vars(other)["target"] = known or _recount(self.target, owner, len(found))
        if self.subject_name is not None:
            subject = self._frame[self.subject_name]
            vars(other)["subjects"] = subject_links(subject, owner, len(found))
        return other

    @classmethod
    def read_csv(
        cls,
        path: str | Path,
        *,
        separator: str | None = None,
        missing_values: Sequence[str] = ("",),
        encoding: str = "utf-8-sig",
        **roles: Any,
    ) -> Table:
        """Read a CSV file; leading zeros (ZIP codes) are kept, only `missing_values` are missing.

        Args:
            path: The file; `.gz` is unpacked.
            separator: Between cells; by default `,`, `;` or a tab, whichever the header uses most.
            missing_values: What stands for a missing value.
            encoding: Of the text; UTF-8 by default.
            **roles: As for `Table`.
        """
        from privmoo._util.reading import read_csv

        frame = read_csv(
            path, separator=separator, missing_values=missing_values, encoding=encoding
        )
        return cls(frame, **roles)

    @classmethod
    def read_parquet(cls, path: str | Path, **roles: Any) -> Table:
        """Read a Parquet file."""
        from privmoo._util.reading import read_parquet

        return cls(read_parquet(path), **roles)

    @classmethod
    def scan(
        cls,
        source: Any,
        *,
        separator: str | None = None,
        missing_values: Sequence[str] = ("",),
        encoding: str = "utf-8-sig",
        max_tuples: int | None = None,
        memory: str | int = "1GB",
        threads: int | None = None,
        temporary: str | Path | None = None,
        progress: bool = False,
        **roles: Any,
    ) -> Table:
        """Count a table that does not fit into memory; it stays where it is (needs DuckDB or Dask).

        Problems and measures on it are those of the table in memory; what needs single records is
        refused. `Solution.write` releases it batch by batch.

        Args:
            source: Parquet or CSV: a file, a folder, or a pattern such as `data/*.parquet`. Or a Dask
                DataFrame, which its own cluster counts; what follows, but for `max_tuples`, `progress`
                and roles, is for files.
            separator: Of CSV; by default `,`, `;` or a tab, whichever the header uses most.
            missing_values: What stands for a missing value in CSV.
            encoding: Of CSV; UTF-8 by default.
            max_tuples: How many distinct tuples may be held; by default what a quarter of the machine's
                memory holds.
            memory: What the engine may use; the process itself needs some 300 MB more.
            threads: For the engine; all cores by default.
            temporary: A folder for what does not fit; the system's by default. Nothing stays there.
            progress: Whether progress is shown.
            **roles: As for `Table`.
        """
        from privmoo.engines.scanned import scan

        return scan(
            source,
            separator=separator,
            missing_values=missing_values,
            encoding=encoding,
            max_tuples=max_tuples,
            memory=memory,
            threads=threads,
            temporary=temporary,
            progress=progress,
            **roles,
        )

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
        """The columns a release has, in the original order."""
        return [name for name, role in self.roles.items() if role != "identifying"]

    def columns_of(self, role: str) -> list[str]:
        """Columns with a role: identifying, quasi-identifying, sensitive or insensitive."""
        return [name for name, own in self.roles.items() if own == role]

    @property
    def n_persons(self) -> int:
        """Number of persons: of records, unless a subject column tells them apart."""
        return self.n_records if self.subjects is None else self.subjects.n_subjects

    @cached_property
    def content(self) -> str:
        """SHA-256 of the released columns' original values, whatever roles and hierarchies they have."""
        digest = hashlib.sha256()
        for name in sorted(self.released_columns):
            digest.update(name.encode())
            digest.update(row_hashes(self._frame[name]).tobytes())
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of roles, hierarchies and every released value, in row order."""
        digest = hashlib.sha256()
        self._digest_roles(digest)
        digest.update(np.ascontiguousarray(self.row_tuple).tobytes())
        quasi = set(self.qi_names)
        for name in self.released_columns:
            if name not in quasi:
                digest.update(name.encode())
                digest.update(row_hashes(self.frame[name]).tobytes())
        if self.subjects is not None:
            digest.update(self.subjects.row_subject.tobytes())
        return digest.hexdigest()

    def _digest_roles(self, digest: Any) -> None:
        """What tells tables apart but for single records."""
        digest.update(
            repr((sorted(self.roles.items()), self.target_name, self.subject_name)).encode()
        )
        for qi in self.qis:
            digest.update(
                repr((qi.name, qi.leaves, qi.weight, qi.min_level, qi.max_level)).encode()
            )
            digest.update(repr(qi.fixed_cuts).encode())
            digest.update(b"" if qi.hierarchy is None else qi.hierarchy.fingerprint)
        for array in (self.tuples, self.weights):
            digest.update(np.ascontiguousarray(array).tobytes())

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
            what = "no hierarchy" if qi.hierarchy is None else f"{qi.hierarchy.n_levels} levels"
            if qi.hierarchy is not None and not qi.hierarchy.constrained:
                what = "any cut of its order"
            rows.append((f"quasi-identifier {qi.name}", f"{qi.n_leaves} leaves, {what}"))
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


_CACHED = ("content", "fingerprint")


def _recount(attribute: Attribute, row_tuple: NDArray[np.int32], n_tuples: int) -> Attribute:
    """The same attribute counted in other tuples."""
    offsets, codes, counts = sparse_counts(
        row_tuple, attribute.row_codes, n_tuples, attribute.n_values
    )
    return replace(attribute, offsets=frozen(offsets), codes=frozen(codes), counts=frozen(counts))
