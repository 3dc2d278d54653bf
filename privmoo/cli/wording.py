"""What numbers and hints of the library mean to somebody who types commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privmoo.audit import Audit

__all__ = ["as_typed", "in_words"]

# The library speaks to Python programs: what it advises them, as a command line has it.
_TYPED = {
    "choose another name or pass force=True": "choose another name, or replace it with --force",
    "choose another folder or pass force=True": "choose another folder, or replace it with --force",
    "convert it, or read it with its encoding, e.g. Table.read_csv(..., encoding='latin-1')": (
        "name its encoding, such as cp1252 for files of Windows, with --encoding, or in a job as "
        'encoding = "cp1252"'
    ),
    "give another path, or run what it was made for": (
        "undo the change and resume, or begin anew with --force"
    ),
}


def as_typed(sentence: str) -> str:
    """An error of the library with options in place of Python.

    >>> as_typed("a.csv: exists already; choose another name or pass force=True")
    'a.csv: exists already; choose another name, or replace it with --force'
    """
    sentence = sentence.removeprefix("where: ")
    for python, typed in _TYPED.items():
        sentence = sentence.replace(python, typed)
    return sentence


def in_words(report: Audit, *, persons: bool = False) -> str:
    """The risks that a publisher has to know of, in sentences.

    Args:
        report: What was measured.
        persons: Whether k counts persons, who may have several rows.

    >>> import pandas as pd
    >>> from privmoo.audit import audit
    >>> table = pd.DataFrame({"age": [1, 1, 2], "ill": ["flu", "flu", "cold"]})
    >>> print(in_words(audit(table, quasi_identifiers=["age"], sensitive=["ill"])))
    1 of 3 records (33.3 %) are alone in their group: whoever knows their quasi-identifiers finds them.
    3 of 3 records (100.0 %) are in groups below 10: picked out with a probability above 1/10.
    3 of 3 records (100.0 %) are in groups where all have the same 'ill': who finds the group knows it.
    """
    facts = report.to_dict()
    n = report.n_records
    alone = round(report.uniqueness * n)
    if alone:
        first = (
            f"{_share(alone, n)} are alone in their group: whoever knows their quasi-identifiers "
            "finds them."
        )
    else:
        first = f"Every group has at least {report.k:,} {'persons' if persons else 'records'}."
    below = next((e["records"] for e in facts["at_risk"] if e["tau"] == 0.1), 0)
    lines = [first]
    if below:
        lines.append(
            f"{_share(below, n)} are in groups below 10: picked out with a probability above 1/10."
        )
    for name, measures in facts.get("sensitive", {}).items():
        same = round(measures["homogeneity"] * n)
        if same:
            lines.append(
                f"{_share(same, n)} are in groups where all have the same {name!r}: who finds the "
                "group knows it."
            )
    return "\n".join(lines)


def _share(some: int, n: int) -> str:
    return f"{some:,} of {n:,} records ({100 * some / n:.1f} %)"
