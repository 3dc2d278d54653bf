"""What a release is worth to learners: encoding, splits, scores, importances."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score, roc_auc_score

import privmoo as pm
from privmoo.errors import MeasureError, ProblemError, ReleaseError, TableError
from privmoo.learning import (
    encode,
    importances,
    learners,
    plot_importances,
    plot_scores,
    scores,
)
from privmoo.learning.experiment import prepare
from privmoo.release.release import Release, make_release

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def frame(rows: int = 120, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return pd.DataFrame(
        {
            "who": np.arange(rows),
            "age": age,
            "city": rng.choice(list("ABCD"), rows),
            "ill": rng.choice(list("xyz"), rows),
            "cost": rng.normal(size=rows).round(2),
            "y": np.where(age + rng.normal(0, 8, rows) > 40, "yes", "no"),
        }
    )


def table(df: pd.DataFrame | None = None, **more: object) -> pm.Table:
    roles: dict[str, object] = {
        "quasi_identifiers": {
            "age": pm.Hierarchy.ordered(),
            "city": pm.Hierarchy.tree({"north": ["A", "B"], "south": ["C", "D"]}),
        },
        "sensitive": "ill",
        "identifiers": "who",
        "insensitive": "cost",
        "target": "y",
    }
    return pm.Table(frame() if df is None else df, **{**roles, **more})


def halves(t: pm.Table, k: int = 1) -> Release:
    cut = [int(i == t.qis[0].n_leaves // 2) for i in range(t.qis[0].n_leaves - 1)]
    recoding = pm.recodings.cut_recoding(t, [cut, [0, 1, 0]])
    return make_release(t, recoding, suppression=pm.BelowThreshold(k), seed=1)


def only(t: pm.Table, kept: np.ndarray) -> Release:
    """A release of some records as they are."""
    rows = np.flatnonzero(kept)
    shown = t.frame[t.released_columns].iloc[rows].reset_index(drop=True)
    return Release(shown, None, rows, {})


class Memory(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Knows the class of what it was trained on and says `unseen` to all else."""

    def __init__(self, unseen: int = 0) -> None:
        self.unseen = unseen

    def fit(self, X: Any, y: Any) -> Memory:
        self.known_ = {tuple(row): c for row, c in zip(X.tolist(), y, strict=True)}
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.array([self.known_.get(tuple(row), self.unseen) for row in X.tolist()])


class Surprised(Memory):
    """Says 1 where the first feature differs from the first training row's."""

    def fit(self, X: Any, y: Any) -> Surprised:
        self.first_ = X[0, 0]
        super().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] != self.first_).astype(int)


# Encoding


def test_features_are_those_of_the_original() -> None:
    t = table()
    original, released = encode(t), encode(t, halves(t))
    assert original.names == released.names
    cities, ills = ("city=A", "city=B", "city=C", "city=D"), ("ill=x", "ill=y", "ill=z")
    assert original.names == ("age", *cities, *ills, "cost")
    assert original.columns == ("age", *["city"] * 4, *["ill"] * 3, "cost")
    assert len(original) == 120
    rows = halves(t).rows
    assert (original.matrix[rows][:, 5:] == released.matrix[:, 5:]).all()


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_an_identity_release_is_encoded_as_the_original(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    df = pd.DataFrame(
        {
            "age": rng.choice([1.5, 2.0, 7.25, np.nan], n),
            "city": pd.Series(rng.choice(["A", "B", None], n), dtype=object),
            "day": rng.choice(pd.to_datetime(["2020-01-01", "2021-02-03"]), n),
            "ok": rng.choice([True, False], n),
            "cost": rng.choice([0.1, np.nan, 3.0], n).astype(rng.choice(["float64", "float32"])),
            "note": pd.Series(rng.choice(list("abcdefgh"), n)).astype("category"),
        }
    )
    if df.isna().all().any() or (df.nunique() < 2).any():
        return
    t = pm.Table(df, quasi_identifiers=["age", "city", "day"], sensitive="ok", others="insensitive")
    release = make_release(t, pm.recodings.identity_recoding(t), seed=seed)
    for most in (3, 100):
        original = encode(t, most_categories=most)
        assert np.isfinite(original.matrix).all()
        released = encode(t, release, most_categories=most)
        assert np.array_equal(released.matrix, original.matrix[release.rows])
        sums = pd.DataFrame(original.matrix).T.groupby(np.array(original.columns)).sum().T
        assert (sums[["city", "day", "note", "ok"]] == 1).all(axis=None)


@given(st.lists(st.booleans(), min_size=4, max_size=4), st.sampled_from([1, 2, 100]))
@settings(max_examples=30)
def test_a_label_is_the_mean_of_its_leaves(bits: list[bool], most: int) -> None:
    """Also where a missing value is one of them, or where categories share a feature."""
    df = pd.DataFrame(
        {"age": [1.0, 2.0, 4.0, 8.0, None], "city": list("ABCDE"), "rest": [1, 2, 3, 4, 5]}
    )
    ordered = pm.Hierarchy.ordered()
    t = pm.Table(df, quasi_identifiers={"age": ordered, "city": ordered}, others="insensitive")
    original = encode(t, most_categories=most).matrix
    cut = pm.recodings.cut_recoding(t, [[int(b) for b in bits], [int(b) for b in bits]])
    release = make_release(t, cut, shuffle=False)
    block = np.cumsum([0, *bits])
    expected = np.array([original[block == b].mean(axis=0) for b in block])
    expected[:, -1] = original[:, -1]
    np.testing.assert_allclose(
        encode(t, release, most_categories=most).matrix, expected, rtol=1e-12
    )


def test_missing_numbers_are_the_median_and_marked() -> None:
    df = pd.DataFrame({"age": [1, 2, 3, 4], "cost": [1.0, None, 9.0, 2.0]})
    t = pm.Table(df, quasi_identifiers=["age"], others="insensitive")
    assert encode(t).names == ("age", "cost", "cost=missing")
    assert encode(t).matrix[1].tolist() == [2.0, 2.0, 1.0]


def test_rare_categories_share_a_feature() -> None:
    df = pd.DataFrame({"age": [1, 2] * 3, "note": ["b", "b", "c", "c", "a", "d"]})
    t = pm.Table(df, quasi_identifiers=["age"], others="insensitive")
    found = encode(t, most_categories=2)
    assert found.names == ("age", "note=b", "note=c", "note=(other values)")
    assert found.matrix[4:, 1:].tolist() == [[0, 0, 1], [0, 0, 1]]
    with pytest.raises(TableError, match="at least 1"):
        encode(t, most_categories=0)


def test_means_and_modes_stand_for_themselves() -> None:
    t = table()
    shown = t.frame[t.released_columns].assign(age=37.25, city="C")
    found = encode(t, Release(shown, None, np.arange(120), {}))
    assert (found.matrix[:, :5] == [37.25, 0, 0, 1, 0]).all()


def test_a_value_that_stands_for_nothing_is_refused_and_not_shown() -> None:
    t = table()
    for column, value in (("city", "Atlantis"), ("age", "Atlantis"), ("age", np.nan)):
        shown = t.frame[t.released_columns].astype(object)
        shown.loc[7, column] = value
        with pytest.raises(ReleaseError, match=f"column '{column}', row 7 ") as caught:
            encode(t, Release(shown, None, np.arange(120), {}))
        assert "Atlantis" not in str(caught.value)


# Splits and scores


def test_splits_are_stratified_and_the_same_for_all_methods() -> None:
    t = table()
    bare = prepare(t, {}, repeats=4, test_size=0.3, seed=1)
    full = prepare(t, {"halves": halves(t, 30)}, repeats=4, test_size=0.3, seed=1)
    y = (t.frame["y"] == "yes").to_numpy()
    for one, other in zip(bare.splits, full.splits, strict=True):
        assert np.array_equal(one.train, other.train) and np.array_equal(one.test, other.test)
        assert sorted([*one.train, *one.test]) == list(range(120))
        assert abs(y[one.test].mean() - y.mean()) < 0.03
    other_seed = prepare(t, {}, repeats=4, test_size=0.3, seed=2)
    assert not np.array_equal(bare.splits[0].test, other_seed.splits[0].test)


def test_no_test_record_is_trained_on() -> None:
    """A learner that remembers every training record recognises none in the test."""
    df = frame().assign(cost=np.arange(120.0))  # every record is unlike all others
    t = table(df)
    model = {"memory": Memory(unseen=0)}
    found = scores(t, {"halves": halves(t)}, models=model, repeats=3, jobs=1, progress=False)
    assert (found["f1"] == 0).all()
    assert found["auc"].isna().all()
    learning = prepare(t, {"halves": halves(t)}, repeats=3, test_size=0.3, seed=0)
    for method, split in itertools.product(learning.methods, learning.splits):
        assert set(method.training(split)[0][:, -1]) == set(split.train.astype(float))
    assert found["n_train"].eq(84).all() and found["n_test"].eq(36).all()


def test_rows_of_one_person_are_never_split() -> None:
    t = table(frame().assign(who=np.arange(120) // 3), identifiers=(), subject="who")
    for split in prepare(t, {}, repeats=5, test_size=0.3, seed=0).splits:
        assert not set(split.train // 3) & set(split.test // 3)
        assert len(split.train) + len(split.test) == 120


def test_an_identity_release_scores_as_the_original() -> None:
    t = table()
    same = make_release(t, pm.recodings.identity_recoding(t), seed=9)
    found = scores(t, {"same": same}, repeats=2, jobs=1, progress=False)
    by = found.set_index(["method", "tested_on", "model", "repeat"]).sort_index()
    by = by[["f1", "accuracy", "auc"]]
    expected: Any = by.loc[("original", "original")]
    assert np.array_equal(by.loc[("same", "original")], expected)
    assert np.array_equal(by.loc[("same", "released")], expected)
    assert set(expected.index.unique("model")) == set(learners())
    assert (expected.groupby("model")["auc"].mean() > 0.7).all()


@pytest.mark.faults
def test_the_same_scores_for_any_number_of_jobs() -> None:
    t = table()
    releases = {"halves": halves(t, 25)}
    chosen = {"models": ["DT", "NN"], "repeats": 2, "progress": False}
    one = scores(t, releases, jobs=1, **chosen)
    two = scores(t, releases, jobs=2, **chosen)
    pd.testing.assert_frame_equal(one, two)
    other = scores(t, releases, jobs=1, seed=1, **chosen)
    assert not one["f1"].equals(other["f1"])


def test_what_no_training_row_tells_apart_is_not_told_in_the_test() -> None:
    t = table()
    ageless = pm.recodings.cut_recoding(t, [[0] * (t.qis[0].n_leaves - 1), [1, 1, 1]])
    releases = {"ageless": make_release(t, ageless, seed=1)}
    models = {"surprised": Surprised()}
    found = scores(t, releases, models=models, repeats=2, jobs=1, progress=False)
    assert ((found["f1"] > 0) == (found["method"] == "original")).all()


def test_suppressed_records_count() -> None:
    """A third of the records is gone: not trained on, tested as the majority of what is left."""
    t = table()
    rng = np.random.default_rng(8)
    release = only(t, rng.random(120) < 0.6)
    found = scores(t, {"some": release}, models=["NB"], repeats=3, jobs=1, progress=False)
    some = found[found["method"] == "some"]
    learning = prepare(t, {"some": release}, repeats=3, test_size=0.3, seed=0)
    published = np.isin(np.arange(120), release.rows)
    y = (t.frame["y"] == "yes").to_numpy().astype(int)
    X = encode(t).matrix
    for split in learning.splits:
        own = some[some["repeat"] == split.repeat].set_index("tested_on")
        train = split.train[published[split.train]]
        assert (own["n_train"] == len(train)).all() and (own["n_test"] == len(split.test)).all()
        bayes = learners(0)["NB"].fit(X[train], y[train])
        guess = bayes.predict(X[split.test])
        assert own["f1"]["original"] == pytest.approx(f1_score(y[split.test], guess))
        rank = bayes.predict_proba(X[split.test])[:, 1]
        rank[~published[split.test]] = y[train].mean()
        assert own["auc"]["released"] == pytest.approx(roc_auc_score(y[split.test], rank))
        guess[~published[split.test]] = np.bincount(y[train]).argmax()
        assert own["f1"]["released"] == pytest.approx(f1_score(y[split.test], guess))
        assert own["accuracy"]["released"] == (guess == y[split.test]).mean()


def test_the_positive_class() -> None:
    t = table()
    call = {"models": ["DT"], "repeats": 1, "jobs": 1, "progress": False}
    default = scores(t, {}, **call)
    yes, no = (scores(t, {}, positive=p, **call) for p in ("yes", "no"))
    assert default.equals(yes) and not yes["f1"].equals(no["f1"])
    assert yes["accuracy"].equals(no["accuracy"])
    several = scores(table(target="ill"), {}, **call)
    assert several["f1"].between(0, 1).all() and several["auc"].between(0, 1).all()
    with pytest.raises(
        ProblemError, match="positive: 'maybe' is not one of the target's 2 classes"
    ):
        scores(t, {}, positive="maybe")


def test_bad_input_is_named() -> None:
    t = table()
    y = (t.frame["y"] == "yes").to_numpy()
    large = table(frame(200))
    with pytest.raises(TableError, match="no target to predict"):
        scores(table(target=None), {})
    with pytest.raises(TableError, match="'city' is a quasi-identifier"):
        scores(table(target="city"), {})
    with pytest.raises(ReleaseError, match=r"'no': fewer than two classes .* of split 0"):
        scores(t, {"no": only(t, ~y)})
    with pytest.raises(ReleaseError, match="at least 200 records, but this one has 120"):
        scores(t, {"large": halves(large)})
    with pytest.raises(ProblemError, match="by name, got Release"):
        scores(t, halves(t))
    with pytest.raises(ProblemError, match="reserved for the table"):
        scores(t, {"original": halves(t)})
    with pytest.raises(ProblemError, match="smallest class has 1"):
        scores(table(frame().assign(y=["rare"] + ["b"] * 119)), {})
    for more, words in (
        ({"repeats": 0}, "repeats"),
        ({"test_size": 1.0}, "test_size"),
        ({"jobs": 0}, "jobs"),
        ({"models": ["KNN"]}, "no learner 'KNN'"),
        ({"models": []}, "there are none"),
        ({"models": {"x": 3}}, "must have fit and predict, got int"),
    ):
        with pytest.raises(ProblemError, match=words):
            scores(t, {}, **more)


# Importances and pictures


def test_importances_are_shares_of_columns() -> None:
    t = table()
    cut = pm.recodings.cut_recoding(t, [[0] * (t.qis[0].n_leaves - 1), [1, 1, 1]])
    found = importances(t, {"no age": make_release(t, cut, seed=1)}, repeats=3, jobs=1)
    assert list(found["method"].unique()) == ["original", "no age"]
    assert found.groupby("method")["share"].sum().tolist() == pytest.approx([1, 1])
    assert set(found["column"]) == {"age", "city", "ill", "cost"}
    for _, own in found.groupby("method"):
        assert own["rank"].tolist() == [1, 2, 3, 4] and own["share"].is_monotonic_decreasing
    shares = found.set_index(["method", "column"])
    assert shares.loc[("original", "age"), "rank"] == 1
    assert shares.loc[("no age", "age"), "share"] == 0
    of_age = shares.xs("age", level="column")
    assert of_age["change"]["no age"] == of_age["share"]["no age"] - of_age["share"]["original"]
    pd.testing.assert_frame_equal(importances(t, {}, repeats=3, jobs=2), found[:4])


def test_pictures_show_means() -> None:
    t = table()
    found = scores(t, {"halves": halves(t)}, models=["DT", "NB"], repeats=2, jobs=1, progress=False)
    panels = plot_scores(found, metric="accuracy")
    means = found.groupby(["method", "tested_on", "model"])["accuracy"].mean()
    for ax, test in zip(panels, ("original", "released"), strict=True):
        drawn = [c.lines[0].get_ydata().tolist() for c in ax.containers]
        assert drawn[0] == pytest.approx(means.loc[("original", "original")].tolist())
        assert drawn[1] == pytest.approx(means.loc[("halves", test)].tolist())
    ax = plot_importances(importances(t, {}, repeats=1, jobs=1), top=3)
    assert len(ax.get_yticklabels()) == 3
    assert ax.get_yticklabels()[0].get_fontweight() == "bold"  # age, a quasi-identifier
    with pytest.raises(MeasureError, match="no column 'column'"):
        plot_importances(found)
    with pytest.raises(MeasureError, match="top"):
        plot_importances(importances(t, {}, repeats=1, jobs=1), top=0)


# Codes instead of one-hot features, and rows to learn from


def test_codes_are_places_in_the_alphabet_and_labels_their_means() -> None:
    t = table()
    features = encode(t, categories="codes")
    assert features.names == features.columns == ("age", "city", "ill", "cost")
    places = {name: place for place, name in enumerate(sorted(set(t.frame["city"])))}
    assert features.matrix[:, 1].tolist() == [places[city] for city in t.frame["city"]]
    release = halves(t)
    released = encode(t, release, categories="codes")
    assert released.names == features.names
    expected = release.frame["city"].astype(str).map({"north": 0.5, "south": 2.5})
    assert released.matrix[:, 1].tolist() == expected.tolist()


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_codes_are_the_one_hot_features_times_their_places(seed: int) -> None:
    t = table(frame(40, seed))
    for release in (None, halves(t)):
        one_hot, codes = encode(t, release), encode(t, release, categories="codes")
        for j, (name, column) in enumerate(zip(codes.names, codes.columns, strict=True)):
            of_column = [i for i, other in enumerate(one_hot.columns) if other == column]
            if len(of_column) == 1 and one_hot.names[of_column[0]] == name:
                want = one_hot.matrix[:, of_column[0]]
            else:
                names = [one_hot.names[i] for i in of_column]
                places = [sorted(names).index(other) for other in names]
                want = one_hot.matrix[:, of_column] @ np.array(places, dtype=float)
            assert np.allclose(codes.matrix[:, j], want)


def test_unscaled_learners_see_features_as_they_are() -> None:
    scaled, plain = learners(3), learners(3, scaled=False)
    assert list(scaled) == list(plain)
    for name in ("LR", "SVM", "NN"):
        assert "standardscaler" in scaled[name].named_steps
        assert not hasattr(plain[name], "named_steps")


def test_an_encoding_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TableError, match="categories"):
        encode(table(), categories="labels")


def test_scores_of_some_rows_are_those_of_a_table_of_these_rows() -> None:
    df = frame(160)
    rows = np.flatnonzero(df["cost"].to_numpy() > -0.3)
    part = scores(table(df), {}, models=["NB"], rows=rows, repeats=3, jobs=1, progress=False)
    alone = table(df.iloc[rows].reset_index(drop=True))
    expected = scores(alone, {}, models=["NB"], repeats=3, jobs=1, progress=False)
    pd.testing.assert_frame_equal(part, expected)


@pytest.mark.parametrize("rows", [[], [-1, 3], [0.5, 2.0], [3, 120]])
def test_rows_that_are_not_records_are_refused(rows: list[float]) -> None:
    with pytest.raises(ProblemError, match="rows"):
        scores(table(), {}, models=["NB"], rows=np.array(rows), repeats=1, progress=False)
