"""The public card: what anybody can count in released rows, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from privmoo.audit import Audit, audit, group_sizes
from privmoo.explorer.cards import SIZES, records_by_size
from privmoo.hierarchy.canonical import canonical

__all__ = ["PublicCard", "public_card"]

_MOST_LABELS = 40


@dataclass(frozen=True)
class PublicCard:
    """Facts about a release.

    Attributes:
        facts: Names and numbers: groups, k, risks, ℓ and t.
        labels: Per quasi-identifier the released labels and how many records have each; None if there
            are too many to list.
        distinct: Per quasi-identifier the number of its labels.
        sizes: Per range of group sizes the number of records.
        others: The other released columns with their roles.
    """

    facts: list[tuple[str, float]]
    labels: dict[str, list[tuple[str, int]] | None]
    distinct: dict[str, int]
    sizes: list[tuple[str, int]]
    others: dict[str, str]


def public_card(frame: pd.DataFrame, roles: Mapping[str, str]) -> PublicCard:
    """Count the released rows.

    The function sees only the rows and the role of each column, so it cannot tell more than they do. The
    order of the rows does not matter.

    Args:
        frame: The released rows.
        roles: The role of every column: `quasi-identifying`, `sensitive` or `insensitive`.

    >>> rows = pd.DataFrame({"age": ["20–29"] * 3 + ["30–39"] * 2, "ill": ["a", "a", "b", "a", "a"]})
    >>> card = public_card(rows, {"age": "quasi-identifying", "ill": "sensitive"})
    >>> card.labels, dict(card.facts)["k (smallest QI-group)"]
    ({'age': [('20–29', 3), ('30–39', 2)]}, 2)
    """
    names = [name for name, role in roles.items() if role == "quasi-identifying"]
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    sizes = group_sizes(frame, names)
    labels_by_column = {str(name): _label_counts(frame[name]) for name in names}
    bars = records_by_size(sizes, sizes)
    return PublicCard(
        facts=_facts(audit(frame, quasi_identifiers=names, sensitive=sensitive), bool(sensitive)),
        labels={
            name: labels if len(labels) <= _MOST_LABELS else None
            for name, labels in labels_by_column.items()
        },
        distinct={name: len(labels) for name, labels in labels_by_column.items()},
        sizes=list(zip(SIZES, bars, strict=True)),
        others={str(name): role for name, role in roles.items() if name not in names},
    )


def _facts(audited: Audit, with_sensitive: bool) -> list[tuple[str, float]]:
    facts: list[tuple[str, float]] = [
        ("records", audited.n_records),
        ("QI-groups", audited.n_groups),
        ("k (smallest QI-group)", audited.k),
        ("records in groups below 5", audited.measure("at_risk", tau=0.2, count=True)),
        ("records in groups below 10", audited.measure("at_risk", tau=0.1, count=True)),
    ]
    if with_sensitive:
        facts += [
            ("ℓ (frequency)", audited.l),
            ("ℓ (distinct values)", audited.distinct_l),
            ("t (closeness to the released rows)", audited.measure("t")),
            (
                "records in groups with one sensitive value",
                audited.measure("homogeneity", count=True),
            ),
        ]
    return facts


def _label_counts(column: pd.Series[Any]) -> list[tuple[str, int]]:
    """Return the labels of a column with their records, numbers in their order."""
    counts: Counter[str] = Counter()
    for value, records in column.value_counts(dropna=False).items():
        if records:  # a category that no row has is counted, too
            counts[canonical(value)] += records
    return sorted(counts.items(), key=lambda entry: _natural(entry[0]))


def _natural(label: str) -> list[tuple[int, float, str]]:
    """Return a key that puts 5–9 before 10–14."""
    parts = re.split(r"(\d+(?:\.\d+)?)", label)
    return [(0, float(part), "") if i % 2 else (1, 0.0, part) for i, part in enumerate(parts)]
