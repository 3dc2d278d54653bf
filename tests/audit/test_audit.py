"""The audit against published numbers, hand-worked examples, a second library and odd input."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from privmoo.audit import audit
from tests.scenery.paths import SHARED as DATA

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data are not here")


def german() -> pd.DataFrame:
    return pd.read_csv(DATA / "german_uci" / "german_credit_text.csv.gz")


def adult_complete() -> pd.DataFrame:
    parts = ["adult_train_32561.csv.gz", "adult_test_16281.csv.gz"]
    df = pd.concat([pd.read_csv(DATA / "adult_uci" / part) for part in parts], ignore_index=True)
    return df[~(df == "?").any(axis=1)]


# published numbers


@needs_data
def test_german_credit_as_published() -> None:
    result = audit(
        german(),
        quasi_identifiers=["age", "personal_status", "job"],
        sensitive=["checking_status", "savings_status"],
    )
    assert result.n_groups == 310
    at_risk = [result.measure("at_risk", tau=tau, count=True) for tau in (0.05, 0.075, 0.1)]
    assert at_risk == [959, 828, 698]
    assert result.measure("homogeneity", count=True) == 279


@needs_data
def test_adult_as_published() -> None:
    df = adult_complete()
    assert len(df) == 45222
    result = audit(
        df,
        quasi_identifiers=["age", "race", "sex", "marital-status"],
        sensitive="occupation",
    ).to_dict()
    assert result["n_groups"] == 1900
    assert [entry["records"] for entry in result["at_risk"]] == [6506, 4906, 3910]
    assert result["homogeneity"]["records"] == 634


@needs_data
def test_arx_adult_average_prosecutor_risk() -> None:
    df = pd.read_csv(DATA / "arx_adult" / "adult.csv.gz", sep=";")
    result = audit(df, quasi_identifiers=list(df.columns))
    assert result.n_records == 30162
    assert result.measure("prosecutor_risk", statistic="average") == 0.6465751607983555


@pytest.mark.parametrize(("sizes", "weighted"), [((5, 2), 29 / 7), ((3, 2, 2), 17 / 7)])
def test_dewri_table_2(sizes: tuple[int, ...], weighted: float) -> None:
    df = pd.DataFrame({"q": np.repeat(np.arange(len(sizes)), sizes)})
    assert audit(df, quasi_identifiers=["q"]).weighted_k == weighted


# hand-worked examples


def salaries() -> pd.DataFrame:
    """The nine salaries of Li et al. 2007, three in each group."""
    return pd.DataFrame(
        {
            "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476*"] * 3,
            "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        }
    )


def test_ordered_t_of_li_et_al() -> None:
    # the paper: D[{3,4,5}, Q] = 0.375, D[{6,8,11}, Q] = 0.167
    df = salaries()
    first = df.assign(zip=np.where(df.index < 3, "a", "b"))
    result = audit(first, quasi_identifiers=["zip"], sensitive=["salary"])
    assert result.measure("t", distance="ordered") == pytest.approx(0.375)
    middle = audit(
        df.iloc[3:6], quasi_identifiers=["zip"], sensitive=["salary"], original=df["salary"]
    )
    value = middle.measure("t", distance="ordered", reference="original")
    assert value == pytest.approx(1 / 6)


DISEASES = [
    ("gastric ulcer", "stomach", "any"),
    ("gastritis", "stomach", "any"),
    ("stomach cancer", "stomach", "any"),
    ("bronchitis", "lung", "any"),
    ("flu", "lung", "any"),
    ("pneumonia", "lung", "any"),
]


def test_hierarchical_t_by_hand() -> None:
    # group {ulcer, gastritis, cancer} against six equally frequent diseases: half of the mass
    # crosses the root (height 2 of 2): 0.5; a group of one disease of each kind:
    # 2 × 1/3 moves within its branch (height 1 of 2): 1/3
    names = [row[0] for row in DISEASES]
    df = pd.DataFrame({"q": list("aaabbb"), "ill": names})
    result = audit(df, quasi_identifiers=["q"], sensitive=["ill"], hierarchies={"ill": DISEASES})
    assert result.measure("t", distance="hierarchical") == pytest.approx(0.5)
    mixed = audit(
        pd.DataFrame({"q": ["a", "a"], "ill": ["flu", "gastritis"]}),
        quasi_identifiers=["q"],
        sensitive=["ill"],
        hierarchies={"ill": pd.DataFrame(DISEASES)},
        original=df["ill"],
    )
    value = mixed.measure("t", distance="hierarchical", reference="original")
    assert value == pytest.approx(1 / 3)
    assert mixed.measure("t", reference="original") == pytest.approx(2 / 3)


def test_leaves_only_hierarchy_is_the_equal_distance() -> None:
    df = pd.DataFrame({"q": [0, 0, 1, 1, 1], "s": list("aabca")})
    result = audit(
        df, quasi_identifiers=["q"], sensitive=["s"], hierarchies={"s": [["a"], ["b"], ["c"]]}
    )
    assert result.measure("t", distance="hierarchical") == result.measure("t")


def test_beta_delta_and_skewness_by_hand() -> None:
    # x is 3 of 6 in the table and 3 of 4 in group a; y is 2 of 6 and 1 of 2 in b
    df = pd.DataFrame({"q": list("aaaabb"), "s": list("xxxyyz")})
    result = audit(df, quasi_identifiers=["q"], sensitive=["s"])
    assert result.measure("beta") == pytest.approx((1 / 2 - 1 / 6) * 6)  # z in b
    assert result.measure("delta") == pytest.approx(math.log2(3))
    assert result.measure("skewness", factor=1.5) == pytest.approx(2 / 6)  # not strictly above
    assert result.measure("skewness", factor=1.49) == 1.0
    # z gains 2 > −ln(1/6) = 1.79: no β satisfies the enhanced model
    assert result.measure("beta", enhanced=True) == 5.0
    even = pd.DataFrame({"q": list("aabb"), "s": list("xyxy")})
    assert audit(even, quasi_identifiers=["q"], sensitive=["s"]).measure("beta", enhanced=True) == 0


def test_enhanced_beta_that_holds() -> None:
    # q(x) = 1/2: the gain of 1/3 stays below −ln(1/2)
    df = pd.DataFrame({"q": list("aaabbb"), "s": list("xxyxyy")})
    result = audit(df, quasi_identifiers=["q"], sensitive=["s"])
    assert result.measure("beta", enhanced=True) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("c", "expected"), [(0.5, 0), (1, 1), (1.1, 2), (3, 3), (100, 4)])
def test_recursive_diversity_by_hand(c: float, expected: int) -> None:
    # counts 4, 2, 1, 1: tails 8, 4, 2, 1
    df = pd.DataFrame({"q": [1] * 8, "s": list("aaaabbcd")})
    assert (
        audit(df, quasi_identifiers=["q"], sensitive=["s"]).measure("recursive_l", c=c) == expected
    )


def test_several_sensitive_attributes_take_the_worst() -> None:
    df = pd.DataFrame({"q": [1] * 4, "s": list("abcd"), "u": list("aabb")})
    result = audit(df, quasi_identifiers=["q"], sensitive=["s", "u"])
    assert result.distinct_l == 2
    assert result.measure("alpha") == 0.5
    assert result.measure("min_entropy") == pytest.approx(3.0)
    assert result.measure("distinct_l", attribute="s") == 4


def test_journalist_and_marketer_risk() -> None:
    sample = pd.DataFrame({"q": ["a", "a", "b"]})
    population = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 3 + ["c"]})
    result = audit(sample, quasi_identifiers=["q"], population=population)
    assert result.measure("journalist_risk") == pytest.approx(1 / 3)
    mean = (2 / 4 + 1 / 3) / 3
    assert result.measure("marketer_risk") == pytest.approx(mean)
    assert result.measure("journalist_risk", statistic="average") == pytest.approx(max(2 / 7, mean))
    half = audit(sample, quasi_identifiers=["q"], sampling_fraction=0.5)
    assert half.measure("journalist_risk") == 0.5
    assert half.measure("marketer_risk") == pytest.approx(1 / 3)
    assert half.to_dict()["journalist_risk"]["average"] == pytest.approx(1 / 3)


def test_subjects_count_as_persons() -> None:
    df = pd.DataFrame({"q": [1, 1, 1, 2, 2], "who": ["x", "x", "y", "z", "z"]})
    result = audit(df, quasi_identifiers=["q"], subject="who")
    assert result.k == 1
    assert result.uniqueness == 2 / 5  # both rows of z, who is alone
    assert result.measure("prosecutor_risk") == 1
    assert result.measure("prosecutor_risk", statistic="average") == (3 / 2 + 2) / 5
    assert result.measure("at_risk", tau=0.6, count=True) == 2
    assert result.weighted_k == (3 * 2 + 2 * 1) / 5
    assert result.average_k == 1.5
    assert audit(df, quasi_identifiers=["q"], subject=df["who"].to_numpy()).k == 1
    assert audit(df, quasi_identifiers=["q"]).k == 2


def test_classification_of_the_released_rows() -> None:
    df = pd.DataFrame({"q": [1, 1, 1, 2], "y": [0, 0, 1, 1]})
    result = audit(df, quasi_identifiers=["q"], target="y")
    assert result.measure("classification") == 0.25
    assert result.to_dict()["classification"] == 0.25


# a second opinion


@pytest.mark.parametrize("seed", range(3))
def test_pycanon_agrees(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pycanon import anonymity
        from pycanon.anonymity.utils import aux_anonymity

        rng = np.random.default_rng(seed)
        df = pd.DataFrame(
            {
                "a": rng.integers(0, 3, 80),
                "b": rng.choice(["u", "v"], 80),
                "s": rng.choice(["p", "q", "r"], 80),
                "n": rng.integers(0, 6, 80),
            }
        ).astype({"b": object, "s": object})
        qis = ["a", "b"]
        k = anonymity.k_anonymity(df, qis)
        distinct = anonymity.l_diversity(df, qis, ["s"])
        equal = anonymity.t_closeness(df, qis, ["s"])
        ordered = anonymity.t_closeness(df, qis, ["n"])
        beta = anonymity.basic_beta_likeness(df, qis, ["s"])
        delta = anonymity.delta_disclosure(df, qis, ["s"])
        # not every release of pycanon ships its utility metrics; this is its discernibility
        dm = sum(len(group) ** 2 for group in aux_anonymity.get_equiv_class(df, qis))
    result = audit(df, quasi_identifiers=qis, sensitive=["s", "n"])
    assert result.k == k
    assert result.measure("distinct_l", attribute="s") == distinct
    assert result.measure("t", attribute="s") == pytest.approx(equal)
    assert result.measure("t", attribute="n", distance="ordered") == pytest.approx(ordered)
    assert result.measure("beta", attribute="s") == pytest.approx(beta)
    # pycanon takes natural logarithms
    assert result.measure("delta", attribute="s") == pytest.approx(delta / math.log(2))
    assert result.weighted_k * result.n_records == pytest.approx(dm)


# what it returns


def test_the_line_counts_in_words() -> None:
    result = audit(pd.DataFrame({"age": [30] * 1500}), quasi_identifiers=["age"])
    assert repr(result) == "Audit of 1,500 records in 1 QI-group, k = 1,500"
