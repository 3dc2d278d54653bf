"""Policies beside slow versions that follow their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine, group
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import (
    BelowAverage,
    BelowThreshold,
    Budget,
    KLBudget,
    NoSuppression,
    Suppression,
)
from privmoo.testing import random_blocks
from tests.scenery.groups import expected_members, keys_of, make_table, members


def slow_kept(policy: Suppression, facts: list[tuple[int, int, float]], n: int) -> list[bool]:
    """Which groups stay, given (persons, records, ℓ) of each."""
    sizes = [size for size, _, _ in facts]
    depths = [depth for _, _, depth in facts]
    if isinstance(policy, NoSuppression):
        return [True] * len(facts)
    if isinstance(policy, BelowThreshold):
        return [x >= policy.k for x in (sizes if policy.by == "k" else depths)]
    if isinstance(policy, BelowAverage):
        own: list[Any] = [Fraction(x) for x in sizes] if policy.by == "k" else depths
        weights = [records for _, records, _ in facts]
        mean = sum(w * x for w, x in zip(weights, own, strict=True)) / sum(weights)
        return [x >= mean if policy.by == "k" else x >= mean - 1e-12 for x in own]
    by: list[str]
    if isinstance(policy, Budget):
        by = [policy.by]
    else:
        assert isinstance(policy, KLBudget)
        by = ["k", "l"] if policy.prefer == "l" else ["l", "k"]
    classes = [tuple(size if b == "k" else math.floor(d) for b in by) for size, _, d in facts]
    left = Fraction(str(policy.fraction)) * n
    gone = set()
    for one in sorted(set(classes)):
        records = sum(r for (_, r, _), own in zip(facts, classes, strict=True) if own == one)
        if records > left:
            break
        left -= records
        gone.add(one)
    return [own not in gone for own in classes]


POLICIES = [
    NoSuppression(),
    *(Budget(f, by=b) for f in (0.0, 0.07, 0.3, 1.0) for b in ("k", "l")),
    *(KLBudget(f, prefer=p) for f in (0.0, 0.07, 0.3, 1.0) for p in ("k", "l")),
    *(BelowThreshold(k, by=b) for k, b in ((2, "k"), (5, "k"), (1.5, "l"), (2, "l"))),
    *(BelowAverage(by=b) for b in ("k", "l")),
]


@pytest.mark.parametrize("subject", [None, "who"])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_policies_follow_their_definitions(policy: Suppression, subject: str | None) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table = make_table(rng, n=int(rng.integers(2, 120)), m=2, subject=subject)
        blocks = random_blocks(table, 5, rng)
        engine = Engine(table, suppression=policy, needs={"counts"}, threads=1)
        before, after = engine.groups(Candidates(blocks=blocks))
        for c in range(len(blocks)):
            whole = before[c]
            tallies = [whole.counts(name) for name in table.sensitive]
            facts = [
                (int(size), int(n), min(float(n / max(tally[g].values())) for tally in tallies))
                for g, (size, n) in enumerate(zip(whole.sizes, whole.records, strict=True))
            ]
            stays = slow_kept(policy, facts, table.n_records)
            rows = members(whole)
            expected = {own for own, stay in zip(rows, stays, strict=True) if stay}
            assert set(members(after[c])) == expected
            assert expected_members(keys_of(table, blocks[c])) == set(rows)
            assert after[c].n_records == sum(map(len, expected))


def test_a_large_budget_is_sorted_instead_of_counted() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([5, 5, 70_000, 3, 70_000, 90_000, 1])
    frame = pd.DataFrame({"a": rng.permutation(np.repeat(np.arange(7), sizes))})
    table = Table(frame, quasi_identifiers=["a"])
    for fraction in (0.1, 0.29, 0.6, 0.61, 1.0):
        facts = [(int(n), int(n), 1.0) for n in sizes]
        stays = slow_kept(Budget(fraction), facts, len(frame))
        found = group(table, suppression=Budget(fraction))
        assert sorted(found.records) == sorted(sizes[stays])
