"""QI-groups: how k and ℓ spread over them, with all quasi-identifiers and without one of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from privmoo._util.data_frames import AnyFrame
from privmoo.analysis.columns import Codes, Column, read_roles, read_whole
from privmoo.data.table import Table
from privmoo.data.tuples import distinct_tuples, sparse_counts

__all__ = ["Analysis", "analyse", "leave_one_out", "suppression_needed"]


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """How records spread over the QI-groups of some columns; made by `analyse`.

    Attributes:
        quasi_identifiers: The columns.
        sensitive: The sensitive columns.
        sizes: Records of every QI-group, its k.
        diversities: Distinct sensitive values of every QI-group, its ℓ (of several sensitive
            columns the fewest); None without a sensitive column.

    >>> df = pd.DataFrame({"age": [1, 1, 1, 2], "ill": list("aabb")})
    >>> analyse(df, ["age"], sensitive="ill")
    Analysis of 4 records in 2 QI-groups, 1 unique: k 2 per group, 2.5 per record; ℓ 1.5 and 1.75
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    sizes: Codes
    diversities: Codes | None

    @property
    def n_records(self) -> int:
        """Records in the data."""
        return int(self.sizes.sum())

    @property
    def n_groups(self) -> int:
        """QI-groups in the data."""
        return len(self.sizes)

    @property
    def uniques(self) -> int:
        """Records that are alone in their QI-group."""
        return int((self.sizes == 1).sum())

    @property
    def mean_k_groups(self) -> float:
        """The mean k of the QI-groups, as in the paper: every group counts once."""
        return float(self.sizes.mean())

    @property
    def mean_k_records(self) -> float:
        """Mean k of the records: every group counts as often as it has records."""
        return float(np.average(self.sizes, weights=self.sizes))

    @property
    def mean_l_groups(self) -> float:
        """The mean ℓ of the QI-groups, as in the paper; nan without a sensitive column."""
        return math.nan if self.diversities is None else float(self.diversities.mean())

    @property
    def mean_l_records(self) -> float:
        """Mean ℓ of the records; nan without a sensitive column."""
        if self.diversities is None:
            return math.nan
        return float(np.average(self.diversities, weights=self.sizes))

    def distribution(self) -> pd.DataFrame:
        """Count the QI-groups, and the records in them, of each k and each ℓ; one row for each.

        >>> df = pd.DataFrame({"age": [1, 1, 1, 2, 3], "ill": list("aabba")})
        >>> analyse(df, ["age"]).distribution().values.tolist()
        [['k', 1, 2, 2], ['k', 3, 1, 3]]
        """
        parts = []
        for criterion in self.criteria:
            values = self.values(criterion)
            distinct, place, groups = np.unique(values, return_inverse=True, return_counts=True)
            records = np.bincount(place, weights=self.sizes).astype(np.int64)
            parts.append(
                pd.DataFrame(
                    {
                        "criterion": criterion,
                        "value": distinct,
                        "groups": groups,
                        "records": records,
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    @property
    def criteria(self) -> tuple[str, ...]:
        """`"k"` and, with a sensitive column, `"l"`."""
        return ("k",) if self.diversities is None else ("k", "l")

    def values(self, criterion: str) -> Codes:
        """Return the k or the ℓ of every QI-group; without a sensitive column there is no ℓ."""
        if criterion == "k":
            return self.sizes
        return self.sizes[:0] if self.diversities is None else self.diversities

    def __repr__(self) -> str:
        text = (
            f"Analysis of {self.n_records:,} records in {self.n_groups:,} QI-groups, "
            f"{self.uniques:,} unique: k {self.mean_k_groups:,.4g} per group, "
            f"{self.mean_k_records:,.4g} per record"
        )
        if self.diversities is None:
            return text
        return f"{text}; ℓ {self.mean_l_groups:,.4g} and {self.mean_l_records:,.4g}"


def analyse(
    data: AnyFrame | Table,
    quasi_identifiers: str | Sequence[str] | None = None,
    *,
    sensitive: str | Sequence[str] | None = None,
) -> Analysis:
    """Group the records by their quasi-identifiers; a missing value is a value of its own.

    Records are counted, even if a table knows that several belong to one person.

    Args:
        data: The records; a table brings its quasi-identifiers and sensitive columns as defaults.
        quasi_identifiers: The columns an attacker may know.
        sensitive: The columns that must not be inferred, for ℓ.

    >>> df = pd.DataFrame({"age": [1, 1, 1, 2], "ill": list("aabb")})
    >>> result = analyse(df, ["age"], sensitive="ill")
    >>> result.mean_k_groups, result.mean_k_records, result.mean_l_groups, result.mean_l_records
    (2.0, 2.5, 1.5, 1.75)
    """
    columns, secrets = read_roles(data, quasi_identifiers, sensitive)
    return _group(columns, secrets)


def leave_one_out(
    data: AnyFrame | Table,
    quasi_identifiers: str | Sequence[str] | None = None,
    *,
    sensitive: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Leave out every quasi-identifier in turn, and rank them; the most identifying one comes first.

    The first row, of rank 0, leaves out none. The others are ranked by how much the mean k of the
    QI-groups rises (`rise`, a factor), then by how many uniques vanish, then by the mean k of the
    records.

    Args:
        data: The records; a table brings its quasi-identifiers and sensitive columns as defaults.
        quasi_identifiers: The columns an attacker may know.
        sensitive: The columns that must not be inferred, for ℓ.

    >>> df = pd.DataFrame({"age": [1, 2, 3, 4], "sex": list("ffmm")})
    >>> leave_one_out(df, ["age", "sex"])[["rank", "left_out", "groups", "rise"]].values.tolist()
    [[0, '', 4, 1.0], [1, 'age', 2, 2.0], [2, 'sex', 4, 1.0]]
    """
    columns, secrets = read_roles(data, quasi_identifiers, sensitive)
    constant_column = np.zeros(len(next(iter(columns.values()))[0]), dtype=np.int64), 1
    rows = []
    for name in (None, *columns):
        # a constant tells as little as a column that is not there
        analysis = _group(columns if name is None else {**columns, name: constant_column}, secrets)
        rows.append(
            {
                "left_out": name or "",
                "groups": analysis.n_groups,
                "mean_k_groups": analysis.mean_k_groups,
                "mean_k_records": analysis.mean_k_records,
                "mean_l_groups": analysis.mean_l_groups,
                "mean_l_records": analysis.mean_l_records,
                "uniques": analysis.uniques,
            }
        )
    frame = pd.DataFrame(rows)
    frame.insert(2, "rise", frame["groups"].iloc[0] / frame["groups"])
    ranking = frame.iloc[1:].sort_values(
        ["groups", "uniques", "mean_k_records"], ascending=[True, True, False], kind="stable"
    )
    frame = pd.concat([frame.iloc[:1], ranking], ignore_index=True)
    frame.insert(0, "rank", np.arange(len(frame)))
    return frame


def suppression_needed(
    data: AnyFrame | Table,
    quasi_identifiers: str | Sequence[str] | None = None,
    *,
    sensitive: str | Sequence[str] | None = None,
    k: int | Iterable[int] = range(2, 11),
    l: int | Iterable[int] = range(2, 9),  # noqa: E741, the field's name
) -> pd.DataFrame:
    """Count the records that must be suppressed for each k and each ℓ: those of the groups below it.

    Args:
        data: The records; a table brings its quasi-identifiers and sensitive columns as defaults.
        quasi_identifiers: The columns an attacker may know.
        sensitive: The columns that must not be inferred; without them there are no rows for ℓ.
        k: The group sizes to reach.
        l: The numbers of distinct sensitive values to reach.

    >>> df = pd.DataFrame({"age": [1, 1, 1, 2]})
    >>> suppression_needed(df, ["age"], k=[2, 4]).values.tolist()
    [['k', 2, 1, 1, 0.25], ['k', 4, 2, 4, 1.0]]
    """
    goals = {"k": read_whole("k", k), "l": read_whole("l", l)}
    analysis = analyse(data, quasi_identifiers, sensitive=sensitive)
    rows = []
    for criterion in analysis.criteria:
        for goal in goals[criterion]:
            below = analysis.values(criterion) < goal
            records = int(analysis.sizes[below].sum())
            rows.append((criterion, goal, int(below.sum()), records, records / analysis.n_records))
    return pd.DataFrame(rows, columns=["criterion", "value", "groups", "records", "share"])


def _group(columns: dict[str, Column], secrets: dict[str, Column]) -> Analysis:
    codes, domains = zip(*columns.values(), strict=True)
    _, row_group, sizes = distinct_tuples(codes, domains, range(len(codes)))
    diversities = None
    for values, n_values in secrets.values():
        offsets, _, _ = sparse_counts(row_group, values, len(sizes), n_values)
        n_distinct = np.diff(offsets)
        diversities = n_distinct if diversities is None else np.minimum(diversities, n_distinct)
    for array in (sizes, diversities):
        if array is not None:
            array.setflags(write=False)
    return Analysis(tuple(columns), tuple(secrets), sizes, diversities)
