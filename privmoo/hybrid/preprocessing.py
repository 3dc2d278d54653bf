"""Preprocessing: leave out columns and records before anything else, and report why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from privmoo._util.checks import choice
from privmoo._util.data_frames import AnyFrame, as_pandas
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hybrid.checks import check_pair, names_in

__all__ = ["Preprocessed", "preprocess"]

Keep = Literal["drop", "keep"]


@dataclass(frozen=True)
class Preprocessed:
    """Cleaned records, with a line for everything that was left out.

    Attributes:
        frame: The records and columns that are left, in their order, with a new index.
        report: A row per step: what was left out, how many, and why.
    """

    frame: pd.DataFrame
    report: pd.DataFrame

    def __repr__(self) -> str:
        remainder = f"{len(self.frame):,} records of {self.frame.shape[1]} columns are left"
        return f"{self.report.to_string(index=False)}\n{remainder}"

    def _repr_html_(self) -> str:
        return self.report.to_html(index=False, escape=True, border=0)


def preprocess(
    data: AnyFrame,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str],
    identifiers: str | Sequence[str] = (),
    ranges: Mapping[str, tuple[float, float]] | None = None,
    missing_values: Sequence[str] = ("",),
    incomplete: Keep = "drop",
    duplicates: Keep = "drop",
) -> Preprocessed:
    """Apply the five steps of Majeed and Hwang 2023, Fig. 3, and report what each of them leaves out.

    Identifiers and columns that are neither quasi-identifiers nor sensitive are left out; so are
    records outside a range, incomplete records, and repetitions. The paper describes the last two
    steps, but its counts for Adult (27,816 White) include such records. Two persons may well be alike
    in a few columns, so dropping repetitions loses people; `duplicates="keep"` keeps them.

    Args:
        data: The records.
        quasi_identifiers: Columns to keep.
        sensitive: Columns to keep.
        identifiers: Columns that name a person.
        ranges: Smallest and largest possible number of a column.
        missing_values: Texts that stand for a missing value, besides pandas' own.
        incomplete: Whether records with a missing value are dropped.
        duplicates: Whether records that repeat another one in all columns left are dropped.

    >>> df = pd.DataFrame({"name": ["a", "b", "c", "d"], "age": [31, 600, 31, None], "ill": list("xyxy")})
    >>> clean = preprocess(df, quasi_identifiers=["age"], sensitive="ill", identifiers="name",
    ...                    ranges={"age": (0, 120)})
    >>> clean.report["dropped"].tolist(), len(clean.frame)
    ([1, 0, 1, 1, 1], 1)
    """
    records = as_pandas(data)
    qis = [quasi_identifiers] if isinstance(quasi_identifiers, str) else list(quasi_identifiers)
    secrets = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    names = [identifiers] if isinstance(identifiers, str) else list(identifiers)
    _check(records, qis, secrets, names, ranges or {})
    choice("incomplete", incomplete, get_args(Keep), error=TableError)
    choice("duplicates", duplicates, get_args(Keep), error=TableError)
    columns = [c for c in records.columns if c in (*qis, *secrets)]
    others = [c for c in records.columns if c not in columns and c not in names]
    lines = [
        ("identifiers", "columns", len(names), _list(names, "they name a person")),
        ("other columns", "columns", len(others), _list(others, "neither known nor sensitive")),
    ]
    records = records.reset_index(
        drop=True
    )  # rows are identified by their place, whatever the index says
    frame = records[columns].mask(records[columns].isin(names_in("missing_values", missing_values)))
    frame = frame.infer_objects()
    outside = np.zeros(len(frame), np.bool_)
    for name, (low, high) in (ranges or {}).items():
        numbers = pd.to_numeric(frame[name], errors="coerce")
        outside |= ((numbers < low) | (numbers > high)).fillna(False).to_numpy(np.bool_)
    range_texts = ", ".join(
        f"{name} {low:g} to {high:g}" for name, (low, high) in (ranges or {}).items()
    )
    lines.append(
        ("out of range", "records", int(outside.sum()), range_texts or "no range was given")
    )
    frame = frame[~outside]
    lacking = frame.isna().any(axis=1).to_numpy()
    reason = "a value is missing" if incomplete == "drop" else f"{int(lacking.sum()):,} were kept"
    lines.append(("incomplete", "records", int(lacking.sum()) * (incomplete == "drop"), reason))
    # Where incomplete records stay, a text that stands for a missing value is a value.
    frame = frame[~lacking] if incomplete == "drop" else records.loc[frame.index, columns]
    is_repeated = frame.duplicated().to_numpy()
    reason = (
        "like an earlier record"
        if duplicates == "drop"
        else f"{int(is_repeated.sum()):,} were kept"
    )
    lines.append(("repeated", "records", int(is_repeated.sum()) * (duplicates == "drop"), reason))
    if duplicates == "drop":
        frame = frame[~is_repeated]
    report = pd.DataFrame(lines, columns=pd.Index(["step", "what", "dropped", "why"]))
    return Preprocessed(frame.reset_index(drop=True), report)


def _list(names: Sequence[str], why: str) -> str:
    return f"{', '.join(map(str, names))}: {why}" if names else "there are none"


def _check(
    data: pd.DataFrame,
    qis: list[str],
    secrets: list[str],
    names: list[str],
    ranges: Mapping[str, tuple[float, float]],
) -> None:
    twice = data.columns[data.columns.duplicated()]
    if len(twice):
        raise TableError(
            f"data: the column name {str(twice[0])!r} occurs more than once; rename it"
        )
    roles = {"quasi_identifiers": qis, "sensitive": secrets, "identifiers": names}
    owner_of: dict[str, str] = {}
    for role, columns in roles.items():
        if role != "identifiers" and not columns:
            raise TableError(f"{role}: name at least one column")
        for name in columns:
            if name not in data.columns:
                raise ColumnError(
                    f"{role}: column {name!r} is not in the data{nearest(name, data.columns)}"
                )
            if owner_of.setdefault(name, role) != role:
                raise TableError(f"{role}: column {name!r} is named in {owner_of[name]} already")
    for name, ends in ranges.items():
        if name not in (*qis, *secrets):
            raise ColumnError(
                f"ranges: {name!r} is not one of the columns that are kept"
                f"{nearest(name, [*qis, *secrets])}"
            )
        check_pair(f"ranges of {name!r}", ends)
