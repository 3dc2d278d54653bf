"""Values that differ but may look the same to a reader: HIV and hiv, 1 and 01, NA and null."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["READ_AS_MISSING", "alike", "reads_as_missing"]

READ_AS_MISSING = frozenset(
    [
        *(
            "",
            "?",
            "#n/a",
            "#n/a n/a",
            "#na",
            "-nan",
            "<na>",
            "missing",
            "n/a",
            "na",
            "nan",
            "none",
        ),
        *("null", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
    ]
)
"""What programs read as a missing value, or write for one; letter case and spaces do not count."""


def alike(values: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of at least two values that look the same to a reader.

    Values are alike if they differ only in letter case, in spaces, in the form of letters that Unicode
    calls compatible (full-width ones), in invisible characters, or in the way that a number is written;
    and all texts that are read as missing are alike.

    Args:
        values: Distinct values as text, including the name of missing ones.

    >>> alike(["HIV", "hiv", "flu", "HIV ", "1", "01", "2.5", "NA", "missing"])
    (('HIV', 'hiv', 'HIV '), ('1', '01'), ('NA', 'missing'))
    """
    groups: dict[str, list[str]] = {}
    for value in values:
        groups.setdefault(_plain(value), []).append(value)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def reads_as_missing(value: str) -> bool:
    """Return whether programs read a text as a missing value.

    `None` counts only in this spelling, because "none" is a valid answer to many questions.

    >>> [reads_as_missing(text) for text in ("NA", " ", "?", "None", "none", "n / a")]
    [True, True, True, True, False, False]
    """
    words = _words(value)
    return words == "None" or (words.casefold() in READ_AS_MISSING - {"none"})


def _words(value: str) -> str:
    """Return the words of a text that can be seen."""
    letters = unicodedata.normalize("NFKC", value)
    visible = "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")
    return " ".join(visible.split())


def _plain(value: str) -> str:
    """Return a value as text without the differences in spelling."""
    words = _words(value).casefold()
    if words in READ_AS_MISSING:
        return "missing"
    try:
        # Python alone reads 1_000 as a number.
        return words if "_" in words else repr(float(words) + 0.0)
    except ValueError:
        return words
