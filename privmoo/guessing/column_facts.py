"""Facts about the values of a column: counts are exact, shapes come from a sample."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import PrivmooError
from privmoo.hierarchy.canonical import MISSING, Distinct, distinct

__all__ = ["Facts", "facts_of"]

SAMPLE = 2_000
"""The number of distinct values whose shape is examined."""
MOST_LEAVES = 100_000
"""With more distinct values than this, a search gets nowhere."""
_MOST = 0.9

_SHAPES = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    "web addresses": r"(https?|ftp)://\S+|www\.\S+\.\S+",
    "UUIDs": r"\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?",
    "IBANs": r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7} ?[A-Z0-9]{1,4}",
    "IP addresses": r"(\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}",
    "social security numbers": r"\d{3}-\d{2}-\d{4}",
    "phone numbers": r"(\+|00)\d[\d ()/.-]{6,18}\d|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}|0\d{2,4}[ /-]\d{4,9}",
}
_PATTERNS = {says: re.compile(pattern, re.ASCII) for says, pattern in _SHAPES.items()}
_ISO = re.compile(r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])([T ]\d{2}:\d{2}.*)?", re.ASCII)
_OTHER_DATE = re.compile(r"(\d{2})([./-])(\d{2})\2(\d{4})", re.ASCII)
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_DIGITS = re.compile(r"\d{4,6}", re.ASCII)
_SEXES = re.compile(
    r"m|f|d|x|w|h|male|female|other|diverse|men|women|man|woman|maennlich|männlich|weiblich|divers|homme"
    r"|femme|masculin|f[eé]minin|masculino|femenino|hombre|mujer"
)


@dataclass(frozen=True)
class Facts:
    """The facts about the values of one column.

    Attributes:
        name: The column.
        rows: The number of rows.
        data: The distinct values; None if they cannot be used.
        trouble: Why they cannot be used, as the end of a reason.
        shape: What most values look like, such as e-mail addresses, if that identifies a person.
        dates: `"iso"`, `"day first"`, `"month first"` or `""`.
        zips: Whether all values are digits of one length, some with a leading zero.
        words: The mean number of words in a value.
        length: The mean length of a value.
        sexes: Whether the values are words for sexes.
        commas: Whether they are numbers with decimal commas, which are read as text.
    """

    name: str
    rows: int
    data: Distinct | None
    trouble: str = ""
    shape: str = ""
    dates: str = ""
    zips: bool = False
    words: float = 0.0
    length: float = 0.0
    sexes: bool = False
    commas: bool = False

    @property
    def n_distinct(self) -> int:
        """The number of distinct values, not counting missing ones."""
        return 0 if self.data is None else len(self.data.values)

    @cached_property
    def n_values(self) -> int:
        """The number of distinct values, counting missing as one."""
        return self.n_distinct + (self.data is not None and self.data.has_missing)

    @property
    def kind(self) -> str:
        """The kind of the values, as in `Distinct`."""
        return "empty" if self.data is None else self.data.kind

    @cached_property
    def share(self) -> float:
        """Distinct values divided by present ones: 1 if every value occurs once."""
        if self.data is None:
            return 0.0
        return self.n_distinct / max(int((self.data.codes >= 0).sum()), 1)

    @property
    def unique(self) -> bool:
        """Whether nearly every value occurs once; never true if there are too few rows to tell."""
        return self.share > _MOST and self.n_distinct >= 10

    @property
    def amounts(self) -> bool:
        """Whether the values are numbers of many sizes, as amounts are and keys of persons are not."""
        if self.data is None or self.kind != "number" or self.n_distinct < 10:
            return False
        low, high = np.quantile(np.abs(self.numbers), [0.1, 0.9])
        running = np.ptp(self.numbers) < 2 * self.n_distinct  # 1, 2, 3 … are of many sizes, too
        return bool(high >= 20 * max(low, 1)) and not running

    @property
    def repeated(self) -> bool:
        """Whether there are many values, each of them in several rows, like keys of persons."""
        return self.n_distinct >= 10 and 0.02 < self.share < _MOST

    @property
    def few(self) -> bool:
        """Whether the values are so few that none can be one person's."""
        return self.n_values <= 20 and self.share <= 0.05

    @cached_property
    def whole(self) -> bool:
        """Whether all are whole numbers."""
        return self.kind == "number" and bool((self.numbers % 1 == 0).all())

    @cached_property
    def same(self) -> bool:
        """Whether nearly all rows have the same value."""
        if self.data is None:
            return False
        counts = np.bincount(self.data.codes + 1)
        return bool(counts.max() > 0.95 * counts.sum())

    @property
    def free_text(self) -> bool:
        """Whether people wrote the values in sentences."""
        return self.kind == "text" and self.words >= 5 and self.length >= 30 and self.share > 0.5

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers of all rows that have one, in order."""
        if self.data is None:
            return np.empty(0)
        codes = self.data.codes
        return np.sort(self.data.floats()[codes[codes >= 0]])


def facts_of(column: pd.Series[Any], name: str) -> Facts:
    """Return the facts about a column.

    Args:
        column: The values.
        name: The column's name.

    >>> facts = facts_of(pd.Series(["ann@example.org", "bob@example.org"]), "contact")
    >>> facts.shape, facts.n_distinct
    ('e-mail addresses', 2)
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype) and column.nunique() > MOST_LEAVES:
        return Facts(name, len(column), None, "dates of which too many are distinct")
    try:
        data = distinct(column, name)
        sample = _sample(data)
    except (PrivmooError, TypeError, ValueError, OverflowError):
        return Facts(
            name, len(column), None, "its values are not all numbers, all text or all dates"
        )
    if not data.values:
        return Facts(name, len(column), None, "it has no values")
    if data.kind == "text" and data.has_missing and {"", MISSING} & set(data.values):
        return Facts(
            name, len(column), None, "missing values stand beside a text that reads as missing"
        )
    if data.kind in ("date", "number", "bool"):
        dates = "iso" if data.kind == "date" else ""
        return Facts(name, len(column), data, dates=dates)
    lengths = [len(text) for text in sample]
    return Facts(
        name,
        len(column),
        data,
        shape=_shape(sample),
        dates=_dates(sample),
        zips=_zips(sample),
        words=float(np.mean([len(text[:2000].split()) for text in sample])),
        length=float(np.mean(lengths)),
        sexes=2 <= len(sample) <= 4
        and all(_SEXES.fullmatch(text[:20].strip().lower()) for text in sample),
        commas=sum(bool(_COMMA.fullmatch(text[:40].strip())) for text in sample)
        >= _MOST * len(sample),
    )


def _sample(data: Distinct) -> list[str]:
    """Return a sample of the distinct values, evenly spread and always the same."""
    if len(data.values) > SAMPLE:
        places = np.linspace(0, len(data.values) - 1, SAMPLE).astype(int)
        data = data._replace(values=[data.values[place] for place in places])
    return data.spellings()


def _shape(values: list[str]) -> str:
    for says, pattern in _PATTERNS.items():
        hits = sum(len(value) < 200 and bool(pattern.fullmatch(value.strip())) for value in values)
        if hits >= _MOST * len(values):
            return says
    return ""


def _dates(values: list[str]) -> str:
    if all(len(value) < 40 and _ISO.fullmatch(value) for value in values):
        return "iso"
    matches = [_OTHER_DATE.fullmatch(value) for value in values]
    parts = [(int(match[1]), int(match[3])) for match in matches if match is not None]
    if len(parts) < len(values) or min(min(pair) for pair in parts) < 1:
        return ""
    first, second = max(pair[0] for pair in parts), max(pair[1] for pair in parts)
    if first <= 31 and second <= 12:
        return "day first" if first > 12 or "." in values[0] else "month first"
    return "month first" if first <= 12 and second <= 31 else ""


def _zips(values: list[str]) -> bool:
    lengths = {len(value) for value in values}
    return (
        len(lengths) == 1
        and len(values) >= 10
        and any(value.startswith("0") for value in values)
        and all(_DIGITS.fullmatch(value) for value in values)
    )
