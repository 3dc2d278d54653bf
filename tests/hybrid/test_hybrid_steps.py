"""The steps of the hybrid scheme, each for itself: report, patterns, classes, split, noise, clusters."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import hybrid
from privmoo.errors import ColumnError, ProblemError, TableError
from privmoo.hybrid import clustering
from privmoo.hybrid.units import units_of
from privmoo.kernels.growth_by_width import grow_members
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.testing import example_hybrid_table
from tests.scenery.cells import random_table

seeds = st.integers(0, 2**32 - 1)


# Preprocessing ----------------------------------------------------------------------------------

PEOPLE = pd.DataFrame(
    {
        "name": ["a", "b", "c", "d", "e"],
        "age": [31, 600, 31, None, 45],
        "job": ["x", "y", "x", "x", "?"],
        "shoe": [40, 41, 42, 43, 44],
        "ill": ["p", "q", "p", "q", "p"],
    }
)
ROLES = {"quasi_identifiers": ["age", "job"], "sensitive": "ill", "identifiers": "name"}


def test_every_step_says_what_it_left_out() -> None:
    clean = hybrid.preprocess(PEOPLE, **ROLES, ranges={"age": (0, 120)}, missing_values=["?"])
    assert clean.report["dropped"].tolist() == [1, 1, 1, 2, 1]
    assert clean.frame.to_numpy().tolist() == [[31, "x", "p"]]
    assert "name: they name a person" in repr(clean) and "shoe" in repr(clean)
    assert "600" not in repr(clean) + clean._repr_html_()


def test_incomplete_and_repeated_records_can_be_kept() -> None:
    clean = hybrid.preprocess(
        PEOPLE, **ROLES, missing_values=["?"], incomplete="keep", duplicates="keep"
    )  # fmt: skip
    assert len(clean.frame) == 5 and clean.frame["job"].tolist()[-1] == "?"
    assert clean.report["why"].tolist()[-2:] == ["2 were kept", "1 were kept"]


def test_any_index_and_nullable_numbers_are_fine() -> None:
    odd = PEOPLE.assign(age=PEOPLE["age"].astype("Int64")).set_axis([7, 7, 8, 8, 7])
    kept = hybrid.preprocess(
        odd, **ROLES, ranges={"age": (0, 120)}, missing_values="?", incomplete="keep", duplicates="keep"
    )  # fmt: skip
    assert len(kept.frame) == 4 and kept.report["dropped"].tolist() == [1, 1, 1, 0, 0]
    twice = pd.concat([PEOPLE, PEOPLE["age"]], axis=1)
    with pytest.raises(TableError, match="occurs more than once"):
        hybrid.preprocess(twice, **ROLES)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"quasi_identifiers": ["aeg"]}, "did you mean 'age'"),
        ({"quasi_identifiers": []}, "at least one column"),
        ({"sensitive": "age"}, "already"),
        ({"ranges": {"shoe": (1, 2)}}, "not one of the columns that are kept"),
        ({"ranges": {"age": (2, 1)}}, "smallest and a largest"),
        ({"incomplete": "maybe"}, "'drop', 'keep'"),
    ],
)
def test_wrong_wishes_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises((TableError, ProblemError), match=sentence):
        hybrid.preprocess(PEOPLE, **{**ROLES, **changes})
    with pytest.raises(TableError, match="must be a data frame"):
        hybrid.preprocess([1], **ROLES)


# Patterns, classes, split -----------------------------------------------------------------------


def test_only_frequent_values_that_predict_little_make_a_pattern() -> None:
    rng = np.random.default_rng(0)
    n = 600
    ill = rng.choice(["x", "y"], n)
    frame = pd.DataFrame(
        {
            "race": rng.choice(list("wabc"), n, p=[0.9, 0.04, 0.03, 0.03]),
            "sex": rng.choice(["f", "m"], n),  # two values hold everything, none is rare
            "twin": np.where(rng.random(n) < 0.97, "u", "v"),  # one value, but only one other
            "tells": np.where(ill == "x", "same", rng.choice(["same", "qrs"], n)),
            "ill": ill,
        }
    )
    names = ["race", "sex", "twin", "tells"]
    table = pm.Table(frame, quasi_identifiers=names, sensitive="ill")
    found = hybrid.find_patterns(table, change=0.1, trees=30)
    assert found.friendly == ["race"]
    again = hybrid.find_patterns(table, change=0.1, trees=30)
    pd.testing.assert_frame_equal(found.frame, again.frame)
    assert found.frame["change"]["tells"] > 0.1
    assert found.measure == "accuracy" and 0 < found.score <= 1


def test_a_rebuilt_forest_makes_up_for_a_lost_column_with_its_twin() -> None:
    rng = np.random.default_rng(3)
    word = rng.choice(list("abcd"), 600)
    frame = pd.DataFrame({"word": word, "twin": word, "ill": np.isin(word, ["a", "b"])})
    twins = pm.Table(frame, quasi_identifiers=["word", "twin"], sensitive="ill")
    alone = pm.Table(frame[["word", "ill"]], quasi_identifiers=["word"], sensitive="ill")
    fixed, rebuilt = (
        hybrid.find_patterns(twins, trees=20, rebuild=rebuild) for rebuild in (False, True)
    )
    assert fixed.score == rebuilt.score == 1
    assert fixed.frame["change"].max() > 0.3 and rebuilt.frame["change"].max() < 0.02
    assert hybrid.find_patterns(alone, trees=20, rebuild=True).frame["change"].max() > 0.3
    again = hybrid.find_patterns(twins, trees=20, rebuild=True)
    pd.testing.assert_frame_equal(rebuilt.frame, again.frame)


def test_a_sensitive_number_of_many_values_is_regressed() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"race": rng.choice(list("wab"), 300), "cost": rng.normal(size=300)})
    table = pm.Table(frame, quasi_identifiers=["race"], sensitive="cost")
    assert hybrid.find_patterns(table, trees=5).measure == "R²"


def test_patterns_need_something_to_predict() -> None:
    frame = pd.DataFrame({"race": list("ab") * 20, "ill": list("xy") * 20})
    with pytest.raises(ProblemError, match="no sensitive attribute"):
        hybrid.find_patterns(pm.Table(frame, quasi_identifiers=["race"]))
    table = pm.Table(frame, quasi_identifiers=["race"], sensitive="ill")
    with pytest.raises(ProblemError, match="not one of ill"):
        hybrid.find_patterns(table, sensitive="pay")
    few = pm.Table(frame.head(4), quasi_identifiers=["race"], sensitive="ill")
    with pytest.raises(ProblemError, match="too few"):
        hybrid.find_patterns(few)
    for wrong in (
        {"trees": 0},
        {"repeats": 0},
        {"test_size": 2},
        {"seed": -1},
        {"most_records": 0},
        {"rebuild": 1},
    ):
        with pytest.raises(ProblemError, match=next(iter(wrong))):
            hybrid.find_patterns(table, **wrong)


@given(seeds)
@settings(max_examples=30)
def test_classes_and_split_are_those_of_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    limits = tuple(sorted(rng.random(3), reverse=True))
    columns = ["job", "sex"]
    classes = [hybrid.value_classes(table, name, thresholds=limits) for name in columns]
    frequent = {}
    for name, own in zip(columns, classes, strict=True):
        shares: Any = table.frame[name].value_counts(normalize=True)
        assert own.frame["share"].to_dict() == pytest.approx(shares.to_dict())
        for value, row in own.frame.iterrows():
            rank = sum(shares[value] < limit for limit in limits)
            assert row["class"] == ["super-major", "major", "minor", "super-minor"][rank]
        frequent[name] = set(shares[shares >= limits[1]].index)
    split = hybrid.split_records(table, classes, non_violating=("super-major", "major"))
    fine = table.frame["job"].isin(frequent["job"]) & table.frame["sex"].isin(frequent["sex"])
    assert split.violating.tolist() == (~fine).tolist()
    assert split.n_violating + split.n_other == table.n_records


def test_without_patterns_everybody_is_violating() -> None:
    table = random_table(np.random.default_rng(0))
    assert hybrid.split_records(table, []).violating.all()
    assert "violating records (100.0%)" in repr(hybrid.split_records(table, []))


def test_wrong_classes_are_refused() -> None:
    table = random_table(np.random.default_rng(0))
    with pytest.raises(ProblemError, match="largest first"):
        hybrid.value_classes(table, "job", thresholds=(0.1, 0.2, 0.3))
    with pytest.raises(ColumnError, match="did you mean 'job'"):
        hybrid.value_classes(table, "jbo")
    with pytest.raises(ProblemError, match="did you mean 'super-major'"):
        hybrid.split_records(table, [], non_violating=["supermajor"])


# Noise ------------------------------------------------------------------------------------------


def test_noise_has_its_scale_and_leaves_the_stated_share_unchanged() -> None:
    table = example_hybrid_table(20_000)
    draws = hybrid.laplace_draws(table, 1, seed=3)[:, 0]
    assert np.abs(draws).mean() == pytest.approx(1.0, rel=0.03)  # E|Laplace(1)| = 1
    own = table.frame["age"].to_numpy(float)
    for epsilon in (0.5, 3.0, 5.0):
        noise = hybrid.add_noise(own, draws, epsilon=epsilon)
        assert noise.expected == pytest.approx(1 - math.exp(-epsilon / 2))
        assert noise.unchanged == pytest.approx(noise.expected, abs=0.01)
        assert noise.scale == 1 / epsilon
        assert (noise.values % 1 == 0).all()
        assert np.array_equal(noise.values, own + np.rint(draws / epsilon))


@given(seeds, st.floats(0.01, 20), st.sampled_from([1.0, 0.1, 0.01]))
@settings(max_examples=50)
def test_noise_never_leaves_the_domain(seed: int, epsilon: float, step: float) -> None:
    rng = np.random.default_rng(seed)
    own = np.round(rng.uniform(17, 90, 50), round(-math.log10(step)))
    noise = hybrid.add_noise(
        own, rng.laplace(size=50), epsilon=epsilon, sensitivity=2.0, step=step, bounds=(17, 90)
    )
    assert (noise.values >= 17).all() and (noise.values <= 90).all()
    digits = round(-math.log10(step))
    assert np.array_equal(np.round(noise.values, digits), noise.values)


def test_the_seed_alone_does_not_bring_the_noise_back() -> None:
    table, other = example_hybrid_table(seed=1), example_hybrid_table(seed=2)
    draws = hybrid.laplace_draws(table, 2, seed=5)
    assert np.array_equal(draws, hybrid.laplace_draws(table, 2, seed=5))
    assert not np.array_equal(draws, hybrid.laplace_draws(table, 2, seed=6))
    assert not np.array_equal(draws, hybrid.laplace_draws(table, 2, seed=5, repeat=1))
    assert not np.array_equal(draws, hybrid.laplace_draws(other, 2, seed=5))
    plain = np.random.default_rng(5).laplace(size=draws.shape)
    assert not np.array_equal(draws, plain)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "3", True])
def test_epsilon_must_be_positive(epsilon: object) -> None:
    with pytest.raises(ProblemError, match="epsilon: must be a finite number above 0"):
        hybrid.add_noise(np.ones(1), np.ones(1), epsilon=epsilon)


# Clusters ---------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=60)
def test_clusters_have_k_members_and_their_own_entropy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(6, 60)))
    rows = np.flatnonzero(rng.random(table.n_records) < 0.8)
    if len(rows) < 2:
        return
    k = int(rng.integers(2, len(rows) + 1))
    clusters = hybrid.member_clusters(table, k, rows, weight=float(rng.random()))
    assert sorted(set(clusters.labels)) == list(range(len(clusters)))
    assert clusters.sizes.min() >= k and clusters.sizes.sum() == len(rows)
    for c in range(len(clusters)):
        members = table.frame.iloc[rows[clusters.labels == c]]
        entropies = []
        for name in ("ill", "town"):
            shares = [n / len(members) for n in Counter(members[name]).values()]
            entropies.append(-sum(p * math.log(p) for p in shares))
        assert clusters.entropy[c] == pytest.approx(min(entropies), abs=1e-12)


def width(table: pm.Table, rows: list[int]) -> float:
    """What these records would publish together: ranges of numbers, levels over heights, summed."""
    total = 0.0
    for own, nodes, j in zip(
        numeric_columns(table), node_cells(table), range(table.n_qis), strict=True
    ):
        if own is not None:
            total += np.ptp(own[rows]) / (np.ptp(own) or 1.0)
            continue
        leaves = table.tuples[table.row_tuple[rows], j]
        levels = range(nodes.height + 1)
        common = next(x for x in levels if len(set(nodes.start[nodes.ids[x, leaves]])) == 1)
        total += common / max(nodes.height, 1)
    return total


@given(seeds)
@settings(max_examples=40)
def test_no_record_would_have_been_cheaper_than_the_one_taken(seed: int) -> None:
    """The greedy choice, replayed record by record with the obvious price."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(6, 25)))
    k, weight = int(rng.integers(2, 5)), float(rng.choice([0.0, 0.3, 0.7]))
    of_row, kinds = clustering._kinds(table, units_of(table), np.arange(table.n_records))
    units = np.arange(len(kinds.weights))
    given_, clusters = grow_members(kinds, units, k, weight, False)
    left = list(range(table.n_records))
    secrets = [a.row_codes for a in table.sensitive.values()]
    usual = [np.bincount(s) / table.n_records for s in secrets]
    members: dict[int, list[int]] = {}
    last = int(np.flatnonzero(of_row == 0)[0])

    def price(own: list[int], i: int) -> float:
        excess = [
            sum(s[m] == s[i] for m in own) / len(own) - u[s[i]]
            for s, u in zip(secrets, usual, strict=True)
        ]
        return (1 - weight) * width(table, [*own, i]) / table.n_qis + weight * float(
            np.mean(excess)
        )

    full = k * (table.n_records // k)
    for entry, (kind, cluster) in enumerate(zip(given_.tolist(), clusters.tolist(), strict=True)):
        taken = next(i for i in left if of_row[i] == kind)
        own = members.setdefault(cluster, [])
        if entry >= full:  # one that was left over: it goes where it widens least
            widened = {c: width(table, [*m, taken]) - width(table, m) for c, m in members.items()}
            assert widened[cluster] <= min(widened.values()) + 1e-9
        elif not own:
            far = [width(table, [last, i]) for i in left]
            assert width(table, [last, taken]) >= max(far) - 1e-9
        else:
            assert price(own, taken) <= min(price(own, i) for i in left) + 1e-9
        own.append(taken)
        left.remove(taken)
        last = taken
    assert not left and all(len(own) >= k for own in members.values())


def test_many_kinds_are_clustered_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": rng.random(400),
            "job": rng.choice(list("abc"), 400),
            "ill": rng.choice(list("pq"), 400),
        }
    )
    table = pm.Table(frame, quasi_identifiers=["x", "job"], sensitive="ill")
    whole = hybrid.member_clusters(table, 5)
    monkeypatch.setattr(clustering, "_BLOCK", 50)
    parts = hybrid.member_clusters(table, 5)
    assert parts.sizes.min() >= 5 and parts.sizes.sum() == 400

    def widths(clusters: hybrid.MemberClusters) -> float:
        x = frame["x"].to_numpy()
        return float(sum(np.ptp(x[clusters.labels == c]) for c in range(len(clusters))))

    assert widths(parts) < 1.5 * widths(whole)


def test_clusters_of_diverse_values_cost_similarity() -> None:
    table = example_hybrid_table(300)
    alike = hybrid.member_clusters(table, 5, weight=0.0)
    diverse = hybrid.member_clusters(table, 5, weight=0.9)
    assert diverse.entropy.mean() > alike.entropy.mean()
    assert "clusters of" in repr(diverse) and len(diverse.to_frame()) == len(diverse)


@pytest.mark.parametrize(("k", "sentence"), [(1, "at least 2"), (31, "at most 30"), (2.5, "whole")])
def test_impossible_k_is_refused(k: object, sentence: str) -> None:
    table = example_hybrid_table(30)
    with pytest.raises(ProblemError, match=sentence):
        hybrid.member_clusters(table, k)
    with pytest.raises(ProblemError, match="weight"):
        hybrid.member_clusters(table, 2, weight=2)
