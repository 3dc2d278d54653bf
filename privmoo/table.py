"""Table: people's records with the roles of their columns, encoded once and then frozen."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.canonical import distinct
from privmoo.columns import Attribute, QIColumn, QuasiIdentifier, small_uint
from privmoo.encoding import distinct_tuples, sparse_counts, subject_links
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["Table"]

QISpec = Sequence[str] | Mapping[str, Hierarchy | QuasiIdentifier | None]
AttributeSpec = str | Sequence[str] | Mapping[str, Hierarchy | None]


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
        _choice("missing", missing, ("value", "drop"))
        _choice("others", others, ("identifying", "insensitive"))
        _choice("domain", domain, ("hierarchy", "observed"))
        given_qis = _quasi_identifiers(quasi_identifiers)
        given_sensitive = _attributes(sensitive)
        _check_columns(data)
        self.roles = _roles(
            list(data.columns),
            {
                "quasi-identifying": list(given_qis),
                "sensitive": list(given_sensitive),
                "identifying": _names(identifiers),
                "insensitive": _names(insensitive),
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
        frame = data.copy(
            deep=False
        )  # copy on write: later changes of `data` do not reach the table
        self._source_rows: NDArray[np.int64] | None = None
        if missing == "drop":
            complete = ~frame[used].isna().any(axis=1)
            frame = frame[complete]
            self._source_rows = np.flatnonzero(complete.to_numpy())
        self.n_dropped = len(data) - len(frame)
        self.frame = frame.reset_index(drop=True)
        _check_rows(self.frame, used, dropped=self.n_dropped)
        self.n_records = len(self.frame)

        self.qis: tuple[QIColumn, ...]
        codes: list[NDArray[Any]] = []
        columns: list[QIColumn] = []
        for name, qi in given_qis.items():
            values = distinct(self.frame[name], name, self._source_rows)
            bound = (qi.hierarchy or Hierarchy.flat()).bind(values)
            if domain == "observed":
                bound = bound.observed(values)
            known = set(bound.leaves)
            exact = all(value in known for value in values.spelled())
            column = QIColumn.bind(name, qi, bound, exact=exact)
            codes.append(bound.encode(values).astype(small_uint(column.n_leaves)))
            columns.append(column)
        self.qis = tuple(columns)
        # The attribute with most leaves leads the order: its blocks are then runs of tuples.
        self.sort_order = tuple(np.argsort([-c.n_leaves for c in columns], kind="stable").tolist())
        tuples, row_tuple, weights = distinct_tuples(
            codes, [c.n_leaves for c in columns], self.sort_order
        )
        self.tuples: NDArray[Any] = _frozen(tuples)
        self.row_tuple: NDArray[np.int32] = _frozen(row_tuple)
        self.weights: NDArray[np.int64] = _frozen(weights)
        del codes
        self.sensitive: dict[str, Attribute] = {
            name: self._attribute(name, hierarchy, "sensitive")
            for name, hierarchy in given_sensitive.items()
        }
        self.target: Attribute | None = None
        if target is not None:
            self.target = self.sensitive.get(target) or self._attribute(target, None, "target")
        self.subjects = (
            None
            if subject is None
            else subject_links(self.frame[subject], self.row_tuple, self.n_tuples)
        )

    def _attribute(self, name: str, hierarchy: Hierarchy | None, role: str) -> Attribute:
        data = distinct(self.frame[name], name, self._source_rows)
        bound = (hierarchy or Hierarchy.flat()).bind(data)
        known = set(bound.leaves)
        if not all(value in known for value in data.spelled()):
            raise TableError(
                f"{role}: the hierarchy of {name!r} has intervals as leaves, but the column is "
                "released as it is; give it one whose leaves are its values"
            )
        row_codes = bound.encode(data).astype(small_uint(bound.n_leaves))
        if len(np.unique(row_codes)) < 2:
            raise TableError(
                f"{role}: column {name!r} has a single value in all {self.n_records} rows, "
                "so there is nothing to protect or predict; give it another role"
            )
        offsets, codes, counts = sparse_counts(
            self.row_tuple, row_codes, self.n_tuples, bound.n_leaves
        )
        return Attribute(
            name=name,
            values=bound.leaves,
            numbers=bound.numbers,
            hierarchy=bound if hierarchy is not None else None,
            offsets=_frozen(offsets),
            codes=_frozen(codes),
            counts=_frozen(counts),
            row_codes=_frozen(row_codes),
        )

    @classmethod
    def read_csv(
        cls,
        path: str | Path,
        *,
        separator: str | None = None,
        missing_values: Sequence[str] = ("",),
        **roles: Any,
    ) -> Table:
        """Read a CSV file; leading zeros (ZIP codes) are kept, only `missing_values` are missing.

        Args:
            path: The file, UTF-8; `.gz` is unpacked.
            separator: Between cells; by default `;` or `,`, whichever the header uses.
            missing_values: What stands for a missing value.
            **roles: As for `Table`.
        """
        from privmoo.reading import read_csv

        return cls(read_csv(path, separator=separator, missing_values=missing_values), **roles)

    @classmethod
    def read_parquet(cls, path: str | Path, **roles: Any) -> Table:
        """Read a Parquet file."""
        from privmoo.reading import read_parquet

        return cls(read_parquet(path), **roles)

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
        return [c for c in self.frame.columns if self.roles[c] != "identifying"]

    def columns_of(self, role: str) -> list[str]:
        """Columns with a role: identifying, quasi-identifying, sensitive or insensitive."""
        return [c for c in self.frame.columns if self.roles[c] == role]

    @property
    def n_persons(self) -> int:
        """Number of persons: of records, unless a subject column tells them apart."""
        return self.n_records if self.subjects is None else self.subjects.n_subjects

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of roles, hierarchies and every released value, in row order."""
        digest = hashlib.sha256()
        digest.update(
            repr((sorted(self.roles.items()), self.target_name, self.subject_name)).encode()
        )
        for qi in self.qis:
            digest.update(
                repr((qi.name, qi.leaves, qi.weight, qi.min_level, qi.max_level)).encode()
            )
            digest.update(repr(qi.fixed_cuts).encode())
            digest.update(b"" if qi.hierarchy is None else qi.hierarchy.fingerprint)
        for array in (self.tuples, self.weights, self.row_tuple):
            digest.update(np.ascontiguousarray(array).tobytes())
        quasi = set(self.qi_names)
        for name in self.released_columns:
            if name not in quasi:
                digest.update(name.encode())
                hashes = pd.util.hash_pandas_object(self.frame[name], index=False)
                digest.update(hashes.to_numpy().tobytes())
        if self.subjects is not None:
            digest.update(self.subjects.row_subject.tobytes())
        return digest.hexdigest()

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
                rows.append((role, ", ".join(names)))
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


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _choice(name: str, value: str, options: Iterable[str]) -> None:
    if value not in options:
        known = ", ".join(repr(o) for o in options)
        raise TableError(f"{name}: must be one of {known}, got {value!r}")


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _quasi_identifiers(given: QISpec) -> dict[str, QuasiIdentifier]:
    if isinstance(given, str):
        given = [given]
    items: list[tuple[str, Any]]
    items = list(given.items()) if isinstance(given, Mapping) else [(name, None) for name in given]
    if not items:
        raise TableError("quasi_identifiers: none given; name the columns an attacker may know")
    if len({name for name, _ in items}) < len(items):
        raise TableError("quasi_identifiers: a column is named twice; name each once")
    result = {}
    for name, what in items:
        if isinstance(what, QuasiIdentifier):
            result[name] = what
        elif what is None or isinstance(what, Hierarchy):
            result[name] = QuasiIdentifier(hierarchy=what)
        else:
            raise TableError(
                f"quasi_identifiers: {name!r} needs a Hierarchy, a QuasiIdentifier or None, "
                f"got {type(what).__name__}"
            )
    return result


def _attributes(given: AttributeSpec) -> dict[str, Hierarchy | None]:
    if isinstance(given, Mapping):
        return dict(given)
    return dict.fromkeys(_names(given))


def _check_columns(data: pd.DataFrame) -> None:
    if not isinstance(data, pd.DataFrame):
        raise TableError(f"data: must be a pandas DataFrame, got {type(data).__name__}")
    for name in data.columns:
        if not isinstance(name, str):
            raise TableError(f"data: column names must be strings, got {name!r}; rename it")
    twice = data.columns[data.columns.duplicated()]
    if len(twice):
        raise TableError(f"data: column name {twice[0]!r} occurs more than once; rename one")


def _roles(
    columns: list[str],
    given: dict[str, list[str]],
    *,
    target: str | None,
    subject: str | None,
    others: str,
) -> dict[str, str]:
    roles: dict[str, str] = {}
    argument = {
        "quasi-identifying": "quasi_identifiers",
        "sensitive": "sensitive",
        "identifying": "identifiers",
        "insensitive": "insensitive",
    }
    for role, names in given.items():
        for name in names:
            if name not in columns:
                raise ColumnError(
                    f"{argument[role]}: column {name!r} is not in the data{nearest(name, columns)}"
                )
            if roles.get(name, role) != role:
                raise TableError(
                    f"{argument[role]}: column {name!r} already is {roles[name]}; give it one role"
                )
            roles[name] = role
    for what, extra in (("target", target), ("subject", subject)):
        if extra is not None and extra not in columns:
            raise ColumnError(
                f"{what}: column {extra!r} is not in the data{nearest(extra, columns)}"
            )
    if target is not None and roles.setdefault(target, "insensitive") == "identifying":
        raise TableError(f"target: column {target!r} is identifying and will not be released")
    if subject is not None and roles.setdefault(subject, "identifying") != "identifying":
        raise TableError(
            f"subject: column {subject!r} is {roles[subject]}; a subject key identifies persons, "
            "so it can only be identifying"
        )
    return {name: roles.get(name, others) for name in columns}


def _check_rows(frame: pd.DataFrame, used: list[str], *, dropped: int) -> None:
    if len(frame) < 2:
        after = f" after dropping {dropped} with missing values" if dropped else ""
        raise TableError(
            f"data: {len(frame)} row{'' if len(frame) == 1 else 's'}{after}; "
            "at least two records are needed to hide one among others"
        )
    for name in used:
        if frame[name].isna().all():
            raise TableError(f"data: all values of column {name!r} are missing; leave it out")
