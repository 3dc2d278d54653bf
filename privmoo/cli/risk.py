"""The risks of a table in sentences for its publisher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privmoo.audit import Audit

__all__ = ["describe_risk"]


def describe_risk(report: Audit, *, persons: bool = False, most: int | None = None) -> str:
    """Describe the risks that a publisher should know about, one sentence per line.

    Args:
        report: The audit of the table.
        persons: Whether k counts persons, who may have several rows.
        most: The largest number of sensitive columns to describe, the worst first; all by default.

    >>> import pandas as pd
    >>> from privmoo.audit import audit
    >>> table = pd.DataFrame({"age": [1, 1, 2], "ill": ["flu", "flu", "cold"]})
    >>> print(describe_risk(audit(table, quasi_identifiers=["age"], sensitive=["ill"])))
    1 of 3 records (33.3 %) is alone in its group: anyone who knows its quasi-identifiers finds it.
    3 of 3 records (100.0 %) are in groups below 10: each can be picked out with a probability above 1/10.
    3 of 3 records (100.0 %) are in groups where all have the same 'ill': anyone who finds
    the group learns it.
    """
    facts = report.to_dict()
    n = report.n_records
    unique = round(report.uniqueness * n)
    if unique:
        be, its, them = ("is", "its", "it") if unique == 1 else ("are", "their", "them")
        first = (
            f"{_share(unique, n)} {be} alone in {its} group: anyone who knows {its} quasi-identifiers "
            f"finds {them}."
        )
    else:
        first = f"Every group has at least {report.k:,} {'persons' if persons else 'records'}."
    sentences = [first]
    at_risk = next((entry["records"] for entry in facts["at_risk"] if entry["tau"] == 0.1), 0)
    if at_risk:
        sentences.append(
            f"{_share(at_risk, n)} {'is in a group' if at_risk == 1 else 'are in groups'} below 10: each "
            "can be picked out with a probability above 1/10."
        )
    columns: list[tuple[str, Any]] = list(facts.get("sensitive", {}).items())
    if most is not None and len(columns) > most:
        columns.sort(key=lambda column: -column[1]["homogeneity"])
    for name, measures in columns[:most]:
        homogeneous = round(measures["homogeneity"] * n)
        if homogeneous:
            sentences.append(
                f"{_share(homogeneous, n)} are in groups where all have the same {name!r}: anyone "
                "who finds the group learns it."
            )
        if measures.get("values_alike"):
            sentences.append(
                f"{measures['values_alike']:,} values of {name!r} differ from another only in letter case, "
                "spaces or spelling, or read as missing; they count as different."
            )
    if most is not None and len(columns) > most:
        sentences.append(f"{len(columns) - most} more sensitive columns have a lower risk.")
    return "\n".join(sentences)


def _share(count: int, n: int) -> str:
    return f"{count:,} of {n:,} records ({100 * count / n:.1f} %)"
