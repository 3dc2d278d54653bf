"""Attackers who know some columns: measures against pandas on released rows, for every kind of recoding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.attacks import largest_share, smallest_support
from privmoo.errors import AttackError, MeasureError, ProblemError

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

COLUMNS = ["age", "zip", "sex"]


def make_table(seed: int, n: int = 60, **roles: object) -> pm.Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 40, n),
            "zip": rng.integers(0, 6, n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "cold", "ulcer"], n),
            "who": rng.integers(0, n // 2, n),
        }
    )
    qis = {
        "age": pm.Hierarchy.ordered(range(20, 40)),
        "zip": pm.Hierarchy.ordered(range(6)),
        "sex": pm.Hierarchy.flat(),
    }
    return pm.Table(frame, quasi_identifiers=qis, sensitive="ill", **roles)


def slow_support(df: pd.DataFrame, m: int) -> int:
    return min(
        int(df.groupby(list(names)).size().min())
        for size in range(1, m + 1)
        for names in combinations(COLUMNS, size)
    )


def slow_share(df: pd.DataFrame, m: int) -> float:
    return max(
        float(rows["ill"].value_counts().max() / len(rows))
        for size in range(1, m + 1)
        for names in combinations(COLUMNS, size)
        for _, rows in df.groupby(list(names))
    )


ATTACKERS = [
    pm.KAnonymity(),
    pm.KAnonymity(columns=["age"]),
    pm.KAnonymity(columns=["sex", "zip"]),
    pm.KmAnonymity(1),
    pm.KmAnonymity(2).named("km_2"),
    pm.Confidence(2),
]


def noised_cells(table: pm.Table) -> pm.recodings.Recoding:
    """Every record with numbers of its own, as the hybrid scheme publishes."""
    recoding = pm.HybridScheme(table, 4, patterns=["sex"], strict=True).run(seed=1).recoding
    assert recoding is not None
    return recoding


RECODINGS: dict[str, Callable[[pm.Table], pm.recodings.Recoding]] = {
    "cuts": lambda t: pm.recodings.cut_recoding(
        t, [[0, 0, 0, 1] * 4 + [0] * 3, [0, 1, 0, 1, 0], [0]]
    ),
    "levels": lambda t: pm.recodings.level_recoding(t, [1, 0, 1]),
    "regions": lambda t: pm.baselines.mondrian(t, 3),
    "tight regions": lambda t: pm.baselines.mondrian(t, 3, publish="tight"),
    "means": lambda t: pm.baselines.mdav(t, 4),
    "cells": noised_cells,
    "rounded means": lambda t: pm.baselines.mdav(t, 3, means=pm.recodings.Means(step=5)),
}


def values_of(release: pm.Release) -> dict[tuple[object, ...], float]:
    assert release.certificate is not None
    return {
        (claim.measure, *map(str, claim.parameters.values())): claim.audited
        for claim in release.certificate.claims
    }


@pytest.mark.parametrize("suppression", [pm.NoSuppression(), pm.BelowThreshold(4)])
@pytest.mark.parametrize("kind", RECODINGS)
def test_released_rows_agree_with_the_measures(kind: str, suppression: pm.NoSuppression) -> None:
    table = make_table(3)
    # a release compares every measure with the audit, and raises if they differ
    release = pm.make_release(
        table, RECODINGS[kind](table), suppression=suppression, measures=ATTACKERS, seed=1
    )
    values, rows = values_of(release), release.frame
    assert values["k", "['age']"] == rows.groupby("age").size().min()
    assert values["k", "['sex', 'zip']"] == rows.groupby(["sex", "zip"]).size().min()
    assert values["km", "1"] == slow_support(rows, 1)
    assert values["km", "2"] == slow_support(rows, 2)
    assert values["confidence", "2"] == pytest.approx(slow_share(rows, 2))


@pytest.mark.parametrize("kind", ["cuts", "levels"])
def test_persons_are_counted_once(kind: str) -> None:
    table = make_table(5, subject="who")
    release = pm.make_release(table, RECODINGS[kind](table), measures=ATTACKERS, seed=1)
    values = values_of(release)
    rows = release.frame.assign(who=table.frame["who"].to_numpy()[release.rows])
    assert values["k", "['age']"] == rows.groupby("age")["who"].nunique().min()
    assert values["k", "['sex', 'zip']"] == rows.groupby(["sex", "zip"])["who"].nunique().min()
    of_pairs = (rows.groupby(list(p))["who"].nunique().min() for p in combinations(COLUMNS, 2))
    assert values["km", "2"] == min(of_pairs)


def test_several_attackers_are_constraints_of_one_problem() -> None:
    table = make_table(7)
    weak, strong = pm.KAnonymity() >= 2, pm.KAnonymity(columns=["age", "zip"]) >= 9
    problem = pm.problems.Cuts(table, constraints=[weak, strong])
    front = pm.optimize(problem, None, 40, seed=1, progress=False)
    frame = front.to_frame()
    assert len(front) and (frame["k_age__zip"] >= 9).all() and frame["k"].min() < 9
    for solution in (front[0], front[len(front) - 1]):
        assert solution.release().frame.groupby(["age", "zip"]).size().min() >= 9
    exact = pm.exact_front(pm.problems.Levels(table, constraints=[weak, strong]), progress=False)
    assert (exact.to_frame()["k_age__zip"] >= 9).all()


def test_fewer_columns_never_single_out_more() -> None:
    groups = pm.group(make_table(11))
    by_m = [pm.KmAnonymity(m)(groups) for m in (1, 2, 3, 4)]
    assert by_m == sorted(by_m, reverse=True) and by_m[-1] == pm.KAnonymity()(groups)
    shares = [pm.Confidence(m)(groups) for m in (1, 2, 3)]
    assert shares == sorted(shares)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_arrays_agree_with_pandas(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    labels = rng.integers(0, 3, (n, 3))
    records = rng.integers(1, 4, n)
    values = rng.integers(0, 3, int(records.sum()))
    rows = pd.DataFrame(np.repeat(labels, records, axis=0), columns=COLUMNS).assign(ill=values)
    owner = np.repeat(np.arange(n), records)
    entries = owner, values, np.ones(len(owner), np.int64)
    assert smallest_support(labels, records, m) == slow_support(rows, min(m, 3))
    assert largest_share(labels, entries, m) == pytest.approx(slow_share(rows, min(m, 3)))
    missing = rows["ill"].where(rows["ill"] > 0)
    worst = max(
        (part.value_counts().max() + part.isna().sum() if part.notna().any() else len(part))
        / len(part)
        for names in combinations(COLUMNS, min(m, 3))
        for _, part in missing.groupby([rows[name] for name in names])
    )
    assert largest_share(labels, entries, m, unknown=0) == pytest.approx(worst)


def test_wrong_questions_are_refused_in_one_sentence() -> None:
    table = make_table(1)
    with pytest.raises(MeasureError, match=r"'aeg' is not a quasi-identifier.*'age'"):
        pm.problems.Cuts(table, constraints=[pm.KAnonymity(columns=["aeg"]) >= 2])
    with pytest.raises(MeasureError, match="name at least one"):
        pm.KAnonymity(columns=[])
    with pytest.raises(ProblemError, match="not a property of a single group"):
        pm.ViolatingGroups(pm.KAnonymity(columns=["age"]) >= 2)
    with pytest.raises(AttackError, match="at least 1"):
        smallest_support(np.zeros((1, 1), np.int64), np.ones(1, np.int64), 0)


@pytest.mark.parametrize("measure", [pm.Confidence(1), pm.FrequencyDiversity(), pm.TCloseness()])
def test_without_sensitive_columns_a_measure_says_what_is_missing(
    measure: pm.measures.Measure,
) -> None:
    groups = pm.group(pm.Table(pd.DataFrame({"age": [1, 1]}), quasi_identifiers=["age"]))
    with pytest.raises(MeasureError, match="the table has no sensitive attribute"):
        measure(groups)


@given(st.lists(st.lists(st.text("ab_ -1", min_size=1, max_size=4), min_size=1, max_size=3)))
def test_keys_of_known_columns_are_different(lists: list[list[str]]) -> None:
    lists.extend([["a", "b"], ["a_b"], ["a b"], ["a__b"], ["a-b"], ["a_", "b"], ["a", "_b"]])
    lists = [list(dict.fromkeys(names)) for names in lists]
    keys = {tuple(names): pm.KAnonymity(columns=names).key for names in lists}
    assert len(set(keys.values())) == len(keys)
    assert all(key.isidentifier() for key in keys.values())
