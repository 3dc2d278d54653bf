"""How well released rows fit what is known of people: labels, intervals, sets, `*` and numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.audit.values import MISSING, canonical_codes
from privmoo.errors import AttackError, Hint, nearest

__all__ = ["Column", "Rows", "read_rows"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Meanings = Mapping[str, Mapping[str, Collection[str]]]

_STAR = "*"
_NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"
# 20–29 and 20-29; [20, 30), [20, 30[ and [20, 29].
_RANGE = re.compile(rf"(?P<open>[\[(\]])?{_NUMBER}(?:,|-|–){_NUMBER}(?P<close>[\])\[])?")


@dataclass(frozen=True)
class Column:
    """One quasi-identifier of a release and of people.

    Attributes:
        labels: The label of every released row, as a code.
        distance: Labels × values: 0 where a label may stand for a value, at most 1 elsewhere.
        ends: Labels × 2: the values at both ends of an interval, as codes; -1 if it is no interval, or if
            nobody has this value.
        texts: The labels.
    """

    labels: IntArray
    distance: FloatArray
    ends: IntArray
    texts: tuple[str, ...]

    @property
    def covers(self) -> NDArray[np.bool_]:
        """Labels × values: whether a label may stand for a value."""
        return np.asarray(self.distance == 0)


@dataclass(frozen=True)
class Rows:
    """The distinct released rows, and the people that an attacker knows.

    Attributes:
        columns: The quasi-identifiers.
        records: The released records of every distinct row.
        secrets: Distinct rows × values: how many records of a row have a sensitive value; None without one.
        people: Per table of people, persons × quasi-identifiers: what they have, as codes.
        truths: Per table of people, the sensitive value of every person, as a code; None without one.
    """

    columns: tuple[Column, ...]
    records: IntArray
    secrets: IntArray | None
    people: tuple[IntArray, ...]
    truths: tuple[IntArray, ...] | None

    def fitting(self, person: IntArray, columns: Sequence[int] | None = None) -> IntArray:
        """Return the distinct rows that fit a person best; all that may be the person's, if there are any.

        Where no row may be the person's, as where means are published, the nearest count.

        Args:
            person: What the person has, as codes.
            columns: The columns that the attacker knows; all by default.
        """
        places = range(len(self.columns)) if columns is None else columns
        distance = np.zeros(len(self.records))
        for j in places:
            distance += self.columns[j].distance[self.columns[j].labels, person[j]]
        return np.flatnonzero(distance <= distance.min() + 1e-12)


def read_rows(
    release: pd.DataFrame,
    people: Sequence[pd.DataFrame],
    columns: Sequence[str],
    *,
    sensitive: str | None = None,
    meanings: Meanings | None = None,
) -> Rows:
    """Read released rows and tables of people.

    A cell may be a value, a label with a stated meaning, a range such as `20–29`, `20-29` or `[20, 30)`, a
    set such as `{a, b}`, or `*`. A number that nobody has, such as a mean, is at a distance from others.

    Args:
        release: The released rows.
        people: Tables of people with original values.
        columns: The quasi-identifiers.
        sensitive: A column that the release publishes as it is.
        meanings: Per column, the values that a label stands for.

    Raises:
        AttackError: A column is missing, a label is not understood, or nobody has the sensitive values.

    >>> release = pd.DataFrame({"age": ["20–29", "*"]})
    >>> rows = read_rows(release, [pd.DataFrame({"age": [25, 40]})], ["age"])
    >>> [rows.fitting(person).tolist() for person in rows.people[0]]
    [[0, 1], [1]]
    """
    names = [*columns, *([] if sensitive is None else [sensitive])]
    if not len(columns):
        raise AttackError("columns: name at least one quasi-identifier")
    for what, frame in (("release", release), *(("people", frame) for frame in people)):
        for name in names:
            if name not in frame.columns:
                raise AttackError(
                    f"{what}: column {name!r} is not in it{nearest(name, frame.columns)}"
                )
        if not len(frame):
            raise AttackError(f"{what}: the table has no rows")
    read = [
        _read_column(release[name], [frame[name] for frame in people], name, meanings or {})
        for name in columns
    ]
    labels = np.column_stack([column.labels for column, _ in read])
    distinct, place = np.unique(labels, axis=0, return_inverse=True)
    place = place.ravel()
    secrets, truths = None, None
    if sensitive is not None:
        codes, values = _codes([release[sensitive], *(frame[sensitive] for frame in people)])
        secrets = np.zeros((len(distinct), len(values)), np.int64)
        np.add.at(secrets, (place, codes[0]), 1)
        truths = tuple(codes[1:])
        if not np.isin(codes[0], np.concatenate(truths)).any():
            raise AttackError(
                f"sensitive: nobody has a value that the release has in column {sensitive!r}; it must be "
                "published as it is"
            )
    return Rows(
        tuple(
            Column(distinct[:, j].copy(), column.distance, column.ends, column.texts)
            for j, (column, _) in enumerate(read)
        ),
        np.bincount(place).astype(np.int64),
        secrets,
        tuple(np.column_stack(part) for part in zip(*(codes for _, codes in read), strict=True)),
        truths,
    )


def _codes(parts: Sequence[pd.Series[Any]]) -> tuple[list[IntArray], list[str]]:
    """Return the values of several columns in one numbering."""
    together = pd.concat([part.astype(object) for part in parts], ignore_index=True)
    codes, texts = canonical_codes(together, "values")
    return np.split(codes.astype(np.int64), np.cumsum([len(part) for part in parts])[:-1]), texts


def _read_column(
    released: pd.Series[Any],
    people: Sequence[pd.Series[Any]],
    name: str,
    meanings: Meanings,
) -> tuple[Column, list[IntArray]]:
    """Return one quasi-identifier, and what people have there."""
    label_codes, texts = canonical_codes(released.astype(object), name)
    people_codes, values = _codes(people)
    numbers = _numbers(values)
    place = {value: i for i, value in enumerate(values)}
    number_place = {float(number): i for i, number in enumerate(numbers) if not np.isnan(number)}
    distance = np.ones((len(texts), len(values)))
    ends = np.full((len(texts), 2), -1, np.int64)
    leaves_of = meanings.get(name, {})
    for i, text in enumerate(texts):
        members = _members(text, leaves_of)
        interval = None if members is not None else _interval(text)
        if text == _STAR and _STAR not in leaves_of:
            distance[i] = 0.0
        elif members is not None:
            distance[i, [place[member] for member in members if member in place]] = 0.0
        elif interval is not None and not np.isnan(numbers).all():
            distance[i] = _from_interval(numbers, interval)
        elif text in place:
            distance[i, place[text]] = 0.0
        else:
            row = int((label_codes == i).argmax())
            raise AttackError(
                f"release: column {name!r}, row {row} (counted from 0): the label is neither a value nor a "
                "range",
                hint=Hint(f"say what the labels of {name!r} stand for", parameter="meanings"),
            )
        bounds = interval or _ends_of_members(members, numbers, place)
        if bounds is not None and bounds[0] < bounds[1]:
            ends[i] = [number_place.get(end, -1) for end in bounds]
    return Column(label_codes.astype(np.int64), distance, ends, tuple(texts)), people_codes


def _numbers(values: Sequence[str]) -> FloatArray:
    """Return the number that every value spells; nan if it spells none."""
    numbers = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        try:
            numbers[i] = float(value)
        except ValueError:
            continue
    return numbers


def _members(text: str, meanings: Mapping[str, Collection[str]]) -> Collection[str] | None:
    """Return the values of a label with a stated meaning, and of a set; None for others."""
    if text in meanings:
        return meanings[text]
    if text.startswith("{") and text.endswith("}"):
        parts = [part.strip() for part in text[1:-1].split(",")]
        return [member for part in parts for member in (_members(part, meanings) or [part])]
    return None


def _interval(text: str) -> tuple[float, float] | None:
    """Return both ends of a number or of a range, those included that belong to it; None for other text."""
    match = _RANGE.fullmatch(text)
    if match is None:
        try:
            return (float(text), float(text)) if text not in (MISSING, "nan") else None
        except ValueError:
            return None
    low, high = float(match[2]), float(match[3])
    if match["open"] in ("(", "]"):
        low = float(np.nextafter(low, np.inf))
    if match["close"] in (")", "["):
        high = float(np.nextafter(high, -np.inf))
    return low, high


def _from_interval(numbers: FloatArray, interval: tuple[float, float]) -> FloatArray:
    """Return how far numbers are from an interval, as a share of their range; 1 for other values."""
    low, high = interval
    span = max(float(np.nanmax(numbers) - np.nanmin(numbers)), 1e-300)
    away = np.maximum(np.maximum(low - numbers, numbers - high), 0.0)
    outside = np.clip(away / span, 1e-6, 1.0)  # an open end is not far away, but outside
    return np.where(np.isnan(numbers), 1.0, np.where(away > 0, outside, 0.0))


def _ends_of_members(
    members: Collection[str] | None, numbers: FloatArray, place: Mapping[str, int]
) -> tuple[float, float] | None:
    """Return the smallest and the largest number that a label stands for."""
    if members is None:
        return None
    spelled = _numbers(list(members))
    if not len(spelled) or np.isnan(spelled).any():
        return None
    return float(spelled.min()), float(spelled.max())
