"""HybridScheme: k where it is promised, the truth where it is not, nothing out of range, bad input."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import HybridScheme, hybrid
from privmoo.errors import ProblemError
from privmoo.release.release import ReleaseWarning
from privmoo.testing import example_hybrid_table
from tests.scenery.cells import random_table

TABLE = example_hybrid_table()
NAMES = ["race", "country"]


def run(table: pm.Table, k: int, seed: int = 1, **options: object) -> pm.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        return HybridScheme(table, k, **options).run(seed)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_strict_keeps_k_in_the_written_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(20, 60)))
    names = [name for name in ("job", "sex", "zip") if rng.random() < 0.5]
    scheme = HybridScheme(
        table,
        int(rng.integers(2, 5)),
        patterns=names,
        strict=True,
        thresholds=(0.2, 0.1, 0.05),
        epsilon_violating=float(rng.uniform(0.05, 5)),
    )
    k = scheme.parameters.k
    if 0 < scheme.split.n_violating < k or 0 < scheme.split.n_other < k:
        with pytest.raises(ProblemError, match="k: must be at most"):
            scheme.run(1)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        release = scheme.run(1)
    rows = release.frame.groupby(table.qi_names).size()
    assert rows.min() >= k and release.certificate.privacy["k"] == rows.min()


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=30)
def test_numbers_stay_in_their_domain(seed: int, strict: bool) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, 40)
    release = run(
        table,
        2,
        seed % 1000,
        patterns=["sex"],
        thresholds=(1.0, 0.5, 0.1),
        strict=strict,
        epsilon_violating=0.05,
        epsilon_other=0.1,
        bounds={"pay": (0.0, 2.0)},
    )
    for name, low, high in (("age", 18, 30), ("pay", 0, 2)):
        ends = pm.audit.numbers_of_labels(release.frame[name], name)
        assert min(ends[0]) >= low and max(ends[1]) <= high
    table_of_changes = pm.hybrid.preservation(table, release, bounds={"pay": (0, 2)})
    assert (table_of_changes["out_of_range"] == 0).all()


def test_without_strict_the_certificate_states_the_k_that_is_there() -> None:
    release = run(TABLE, 10, patterns=NAMES)
    privacy = release.certificate.privacy
    assert privacy["k"] == release.frame.groupby(TABLE.qi_names).size().min() == 1
    rest = ["sex", "race", "country"]
    by_rest = release.frame.groupby(rest).size().min()
    assert privacy["k_on"] == {
        "all quasi-identifiers": 1,
        "those without noise (sex, race, country)": by_rest,
    }
    assert any("k is 1" in warning for warning in release.certificate.warnings)


def test_the_certificate_says_what_noise_was_added_and_claims_no_differential_privacy() -> None:
    text = run(TABLE, 5, patterns=NAMES).certificate.to_text()
    assert "This is not ε-differential privacy of the release" in text
    assert "categories are published without noise" in text
    assert "epsilon 3, sensitivity 1, rounded to 1, kept within 18 to 80, share expected" in text
    assert "rounded to 0.01" in text and "still close to the original" in text
    assert "age, other records: distribution Laplace, scale 0.2" in text
    for line in text.splitlines():
        if "differential privacy" in line:
            assert " not " in line or "No differential privacy" in line


def test_the_certificate_tells_no_seed() -> None:
    seed = 123_456_789
    certificate = run(TABLE, 5, seed, patterns=NAMES).certificate
    assert str(seed) not in certificate.to_json() + certificate.to_text()
    assert TABLE.fingerprint not in certificate.to_json()


def test_the_same_seed_gives_the_same_release_and_none_gives_another() -> None:
    first, again = (run(TABLE, 5, 3, patterns=NAMES).frame for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    other = run(TABLE, 5, 4, patterns=NAMES).frame
    assert not first.equals(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        unseeded = [HybridScheme(TABLE, 5, patterns=NAMES).run().frame for _ in range(2)]
    assert not unseeded[0].equals(unseeded[1])


def test_every_partition_is_published_as_the_paper_says() -> None:
    scheme = HybridScheme(TABLE, 5, patterns=NAMES, diversity=0.6)
    recoding = scheme.recoding(1)
    rows = recoding.apply(TABLE, np.arange(TABLE.n_records))
    others = ~scheme.split.violating
    same = TABLE.frame.loc[others, ["sex", "race", "country"]].astype("str")
    pd.testing.assert_frame_equal(rows.loc[others, ["sex", "race", "country"]], same)
    violating = rows[scheme.split.violating]
    assert set(violating["sex"]) == set(violating["race"]) == {"*"}
    # Of two levels the middle one is the first, as the lowest is, so diverse clusters are like others.
    assert set(violating["country"]) == {"close", "distant"}
    entropy = scheme.clusters.entropy[scheme.clusters.labels]
    assert (entropy < 0.6).any() and (entropy >= 0.6).any()
    average = HybridScheme(TABLE, 5, patterns=NAMES, diversity=0.6, average={"country": 2})
    shown = average.recoding(1).apply(TABLE, scheme.clusters.rows)["country"]
    assert np.array_equal(shown == "*", entropy < 0.6)


def test_the_same_seed_with_other_parameters_is_other_noise_in_another_order() -> None:
    """Or the difference of two releases would undo the noise."""
    loud = HybridScheme(TABLE, 5, patterns=NAMES, epsilon_violating=0.1, epsilon_other=0.1)
    soft = HybridScheme(TABLE, 5, patterns=NAMES, epsilon_violating=0.2, epsilon_other=0.2)
    own = TABLE.frame["age"].to_numpy()
    noise = [
        scheme.recoding(1).apply(TABLE, np.arange(200))["age"].to_numpy() - own
        for scheme in (loud, soft)
    ]
    assert np.abs(noise[0]).mean() > 1.2 * np.abs(noise[1]).mean()
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        orders = [scheme.run(1).rows for scheme in (loud, soft)]
    assert not np.array_equal(*orders)


def test_a_numeric_column_of_one_value_is_no_pattern() -> None:
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(300) < 0.92, 0, rng.integers(1, 9, 300))
    table = pm.Table(
        TABLE.frame.iloc[rng.integers(0, 200, 300)].reset_index(drop=True).assign(gain=gain),
        quasi_identifiers=["gain", "race"],
        sensitive="illness",
    )
    scheme = HybridScheme(table, 2)
    assert scheme.patterns is not None and "gain" not in scheme.patterns.friendly
    assert len(run(table, 2, patterns=scheme.patterns)) == 300


@pytest.mark.parametrize("kind", [object, "Int64", "float64", "uint8"])
def test_numbers_of_every_type_get_noise(kind: object) -> None:
    frame = TABLE.frame.assign(age=TABLE.frame["age"].astype(kind))  # type: ignore[call-overload]
    table = pm.Table(frame, quasi_identifiers=["age", "race"], sensitive="illness")
    release = run(table, 5, patterns=["race"], epsilon_other=0.2)
    assert "there is no numeric" not in release.certificate.to_text()
    assert (release.frame["age"] % 1 == 0).all()


def test_numbers_that_a_float_cannot_hold_are_refused() -> None:
    frame = TABLE.frame.assign(age=TABLE.frame["age"] + 2**53)
    table = pm.Table(frame, quasi_identifiers=["age", "race"], sensitive="illness")
    with pytest.raises(ProblemError, match=r"numbers of at least 2\*\*53"):
        HybridScheme(table, 5, patterns=["race"])


def test_clipped_numbers_look_like_all_others() -> None:
    rng = np.random.default_rng(1)
    frame = TABLE.frame.assign(age=rng.uniform(18, 79, 200))
    table = pm.Table(frame, quasi_identifiers=["age", "race"], sensitive="illness")
    release = run(table, 5, patterns=["race"], sensitivity=30)
    shown = release.frame["age"].to_numpy()
    assert np.array_equal(np.round(shown, 6), shown)
    assert not np.isin(shown, frame["age"]).any()
    whole = run(TABLE, 5, patterns=NAMES, bounds={"age": (0.5, 99.5)}, epsilon_other=0.05)
    assert whole.frame["age"].between(1, 99).all()


def test_patterns_are_found_if_none_are_given() -> None:
    scheme = HybridScheme(example_hybrid_table(2000), 5)
    assert scheme.patterns is not None and set(scheme.patterns.friendly) <= {"race", "country"}
    given = HybridScheme(scheme.table, 5, patterns=scheme.patterns)
    assert given.split.values == scheme.split.values
    assert "HybridScheme(k = 5" in repr(given)


def test_without_numbers_there_is_no_noise_and_the_certificate_says_so() -> None:
    table = pm.Table(
        TABLE.frame.drop(columns=["age", "pay"]),
        quasi_identifiers=["sex", "race", "country"],
        sensitive="illness",
    )
    for strict in (False, True):
        release = run(table, 5, patterns=NAMES, strict=strict)
        text = release.certificate.to_text()
        assert "none: there is no numeric quasi-identifier" in text
        assert "Laplace noise was added" not in text


def test_nobody_violates_and_everybody_violates() -> None:
    frame = pd.DataFrame(
        {"age": range(20), "race": ["w"] * 10 + ["x"] * 10, "ill": ["p", "q"] * 10}
    )
    table = pm.Table(frame, quasi_identifiers=["age", "race"], sensitive="ill")
    nobody = HybridScheme(table, 5, patterns=["race"], thresholds=(0.3, 0.2, 0.1))
    assert nobody.split.n_violating == 0 and len(nobody.clusters) == 0
    everybody = HybridScheme(table, 5, patterns=[])
    assert everybody.split.n_other == 0
    for scheme in (nobody, everybody):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            assert len(scheme.run(1)) == 20


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epsilon_violating": 0}, "epsilon_violating: must be a finite number above 0, got 0"),
        ({"epsilon_other": -1}, "epsilon_other: must be a finite number above 0"),
        ({"k": 1}, "k: must be a whole number of at least 2"),
        ({"k": 201}, "at most 200, the number of records"),
        ({"diversity": -0.1}, "diversity: must be a number of at least 0"),
        ({"diversity": "a"}, "diversity: must be a number of at least 0"),
        ({"diversity": True}, "diversity: must be a number of at least 0"),
        ({"weight": None}, "weight: must be a number from 0 to 1"),
        ({"sensitivity": 0}, "sensitivity: must be a finite number above 0"),
        ({"sensitivity": {"aeg": 1}}, "did you mean 'age'"),
        ({"bounds": {"agee": (0, 99)}}, "bounds: 'agee' is not a numeric .* did you mean 'age'"),
        ({"bounds": {"age": 5}}, "bounds of 'age': must be a smallest and a largest number"),
        ({"thresholds": "abc"}, "thresholds: must be three shares"),
        ({"non_violating": None}, "non_violating: must be a name or a list of names"),
        ({"patterns": 5}, "patterns: must be a name or a list of names"),
        ({"least": ["race"]}, "least: must be levels by column"),
        ({"patterns": ["age"]}, "'age' is not a categorical quasi-identifier"),
        ({"patterns": ["raec"]}, "did you mean 'race'"),
        ({"least": {"country": 3}}, "may have levels 0 to 2, got 3"),
        ({"average": {"contry": 1}}, "did you mean 'country'"),
    ],
)
def test_bad_input_is_one_sentence(changes: dict[str, object], sentence: str) -> None:
    options: dict[str, object] = {"k": 5, "patterns": NAMES, **changes}
    with pytest.raises(ProblemError, match=sentence) as caught:
        HybridScheme(TABLE, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": 150}, "at most .*, the number of records in the violating partition, got 150"),
        ({"bounds": {"age": (30, 40)}}, "give bounds that cover the data"),
    ],
)
def test_what_only_the_data_can_tell_is_refused_at_the_run(
    changes: dict[str, object], sentence: str
) -> None:
    options: dict[str, object] = {"k": 5, "patterns": NAMES, **changes}
    with pytest.raises(ProblemError, match=sentence):
        HybridScheme(TABLE, **options).run(1)


def test_tables_that_do_not_fit_are_refused() -> None:
    frame = TABLE.frame
    cases = {
        "no categorical quasi-identifier": pm.Table(
            frame[["age", "illness"]], quasi_identifiers=["age"], sensitive="illness"
        ),
        "there is none": pm.Table(frame[["age", "race"]], quasi_identifiers=["age", "race"]),
        "several rows per person": pm.Table(
            frame.assign(who=range(200)),
            quasi_identifiers=["age", "race"],
            sensitive="illness",
            subject="who",
        ),
        "missing numbers": pm.Table(
            frame.assign(age=frame["age"].where(frame["age"] > 30)),
            quasi_identifiers=["age", "race"],
            sensitive="illness",
        ),
        "has a lowest or highest level": pm.Table(
            frame,
            quasi_identifiers={
                "age": pm.QI(hierarchy=pm.Hierarchy.intervals(18, 80, widths=[10]), min_level=1),
                "race": None,
            },
            sensitive="illness",
        ),
    }
    for sentence, table in cases.items():
        with pytest.raises(ProblemError, match=sentence):
            HybridScheme(table, 5, patterns=["race"])
    with pytest.raises(ProblemError, match="must be a privmoo Table"):
        HybridScheme(frame, 5)
    low = pm.Table(
        frame,
        quasi_identifiers={"age": None, "race": pm.QI(hierarchy=pm.Hierarchy.flat(), max_level=0)},
        sensitive="illness",
    )
    with pytest.raises(ProblemError, match="leave its max_level out"):
        HybridScheme(low, 5, patterns=["race"], strict=True).run(1)


def test_preservation_compares_columns_before_and_after() -> None:
    release = run(TABLE, 5, patterns=NAMES)
    found = hybrid.preservation(TABLE, release)
    assert list(found.index) == TABLE.qi_names
    assert (found["distance"] >= 0).all() and (found["distance"] <= 1).all()
    age = release.frame["age"]
    own = TABLE.frame["age"]
    counts = pd.concat([own.value_counts(), age.value_counts()], axis=1).fillna(0) / len(own)
    expected = 0.5 * (counts.iloc[:, 0] - counts.iloc[:, 1]).abs().sum()
    assert found.loc["age", "distance"] == pytest.approx(expected)
    assert found.loc["age", "mean_after"] == pytest.approx(age.mean())
    with pytest.warns(ReleaseWarning, match="release number 2"):
        untouched = pm.make_release(TABLE, pm.recodings.identity_recoding(TABLE), seed=1)
    assert (hybrid.preservation(TABLE, untouched)["distance"] == 0).all()


def test_partitions_are_measured_apart() -> None:
    scheme = HybridScheme(TABLE, 5, patterns=NAMES)
    release = run(TABLE, 5, patterns=NAMES)
    found = hybrid.by_partition(TABLE, release, scheme.split)
    assert found["records"].tolist() == [scheme.split.n_violating, scheme.split.n_other, 200]
    whole = found.loc["all"]
    weights = found["records"].iloc[:2] / 200
    for column in ("originality", "distortion", "disclosure_risk"):
        assert whole[column] == pytest.approx((found[column].iloc[:2] * weights).sum())
    assert whole["originality"] == pytest.approx(release.certificate.utility["originality"])
    assert whole["distortion"] == pytest.approx(release.certificate.utility["distortion"])


def test_a_release_is_written_and_audited_again(tmp_path: Path) -> None:
    release = run(TABLE, 5, patterns=NAMES, strict=True)
    release.write(tmp_path / "hybrid.csv")
    written = pd.read_csv(tmp_path / "hybrid.csv")
    again = pm.audit.audit(written, quasi_identifiers=TABLE.qi_names, sensitive=["illness"])
    assert again.k == release.certificate.privacy["k"] >= 5
