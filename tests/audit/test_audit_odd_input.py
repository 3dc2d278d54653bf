"""The audit: forms of its report, columns of any type, and what it refuses."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privmoo.audit
from privmoo.audit import Audit, Counts, audit, canonical, nearly_unique
from privmoo.errors import AuditError, ColumnError, PrivmooError


def mixed() -> Audit:
    df = pd.DataFrame({"q": [1, 1, 2], "<b>s</b>": ["a", "b", "a"]})
    return audit(df, quasi_identifiers=["q"], sensitive=["<b>s</b>"], taus=[0.5])


def test_report_forms() -> None:
    result = mixed()
    again = json.loads(json.dumps(result.to_dict()))
    assert again["k"] == 1
    assert again["sensitive"]["<b>s</b>"]["distinct_l"] == 1
    assert again["at_risk"] == [{"tau": 0.5, "records": 1, "share": 1 / 3}]
    lines = str(result).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;s&lt;/b&gt;" in result._repr_html_()
    frame = result.to_frame()
    assert list(frame.columns) == ["measure", "attribute", "value"]
    assert frame["value"].dtype == np.float64


def test_counts_suffice_for_the_measures() -> None:
    assert Audit(Counts(np.array([3, 1]))).measure("weighted_k") == 2.5


def test_it_imports_nothing_of_ours_but_errors() -> None:
    allowed = {"privmoo.errors", "privmoo.audit"}
    for path in Path(privmoo.audit.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [str(node.module)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                ours = name.split(".")[0] in {"privmoo", "problems", "operators"}
                assert not ours or ".".join(name.split(".")[:2]) in allowed, (path, name)
                assert name.split(".")[0] != "numba"


# odd and hostile input


def test_missing_values_are_a_value_on_request() -> None:
    df = pd.DataFrame(
        {"q": ["a", None, np.nan, pd.NA], "s": ["x", None, "x", np.nan]}, dtype=object
    )
    result = audit(df, quasi_identifiers=["q"], sensitive=["s"], missing="value")
    assert result.n_groups == 2
    assert result.counts.sizes.tolist() == [1, 3]
    assert result.distinct_l == 1
    assert result.measure("t", distance="ordered") > 0
    with pytest.raises(AuditError, match="missing: expected 'unknown' or 'value', got 'drop'"):
        audit(df, quasi_identifiers=["q"], sensitive=["s"], missing="drop")


def test_unused_categories_are_not_groups() -> None:
    column = pd.Categorical(["a", "b", "a", None], categories=["z", "b", "a"], ordered=True)
    df = pd.DataFrame({"q": [1, 1, 1, 1], "c": column, "s": column})
    result = audit(df, quasi_identifiers=["q", "c"], sensitive=["s"])
    assert sorted(result.counts.sizes.tolist()) == [1, 1, 2]
    assert result.counts.sensitive["s"].n_values == 3


def test_ordered_categories_give_the_order() -> None:
    def t_of(order: list[str]) -> float:
        values = pd.Categorical(["low", "low", "mid", "high"], categories=order, ordered=True)
        df = pd.DataFrame({"q": [1, 1, 2, 2], "s": values})
        return audit(df, quasi_identifiers=["q"], sensitive=["s"]).measure("t", distance="ordered")

    assert t_of(["low", "mid", "high"]) == pytest.approx((0.5 + 0.25) / 2)
    assert t_of(["mid", "low", "high"]) == pytest.approx((0.25 + 0.25) / 2)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 1, 2], dtype="int8"),
        pd.Series([1.5, 1.5, np.nan]),
        pd.Series([1, 1, None], dtype="Int64"),
        pd.Series([True, True, None], dtype="boolean"),
        pd.Series([True, True, False]),
        pd.Series(["a", "a", None], dtype="string"),
        pd.Series(["a", "a", "b"], dtype="category"),
        pd.to_datetime(pd.Series(["2020-01-01", "2020-01-01", None])),
        pd.Series([pd.Interval(0, 1), pd.Interval(0, 1), pd.Interval(1, 2)]),
        pd.Series([1, 1, "x"], dtype=object),
    ],
    ids=lambda values: str(values.dtype),
)
def test_every_dtype(values: pd.Series) -> None:
    df = pd.DataFrame({"q": values, "s": values, "x": values})
    result = audit(
        df, quasi_identifiers=["q"], sensitive=["s"], original=df, subject="x", missing="value"
    )
    assert sorted(result.counts.sizes.tolist()) == [1, 2]
    assert result.k == 1
    for distance in ("equal", "ordered"):
        for reference in ("released", "original"):
            assert result.measure("t", distance=distance, reference=reference) == pytest.approx(
                2 / 3
            )


def test_one_record() -> None:
    result = audit(pd.DataFrame({"q": [1], "s": [1]}), quasi_identifiers=["q"], sensitive=["s"])
    values = result.to_dict()
    assert values["k"] == values["weighted_k"] == values["average_k"] == values["uniqueness"] == 1
    row = values["sensitive"]["s"]
    assert (row["l"], row["alpha"], row["t"], row["beta"], row["delta"]) == (1, 1, 0, 0, 0)
    assert result.measure("beta", enhanced=True) == 0
    assert result.measure("t", distance="ordered") == 0


FRAME = pd.DataFrame({"age": [1, 1, 2], "zip": [1, 2, 3], "job": ["a", "b", "a"]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quasi_identifiers": ["agee"]}, "quasi_identifiers: column 'agee'.*did you mean 'age'"),
        ({"sensitive": ["jbo"]}, "sensitive: column 'jbo'.*did you mean 'job'"),
        ({"quasi_identifiers": []}, "at least one column"),
        ({"quasi_identifiers": ["age", "age"]}, "named twice"),
        ({"sensitive": ["age"]}, "both a quasi-identifier and sensitive"),
        ({"subject": "age"}, "both a quasi-identifier and the subject"),
        ({"subject": [1, 2]}, "subject: expected 3 entries, got 2"),
        ({"subject": "nobody"}, "subject: column 'nobody' is not in the data"),
        ({"target": "jobs"}, "target: column 'jobs'.*did you mean 'job'"),
        ({"taus": [0.0]}, r"taus: expected a number in \(0, 1\], got 0.0"),
        ({"taus": [1.5]}, r"taus: expected a number in \(0, 1\], got 1.5"),
        ({"taus": [float("nan")]}, "taus: expected"),
        ({"taus": ["x"]}, "taus: expected"),
        ({"sampling_fraction": 0.0}, "sampling_fraction: expected"),
        ({"sampling_fraction": 0.5, "population": FRAME}, "not both"),
        ({"population": FRAME.iloc[:1]}, "population: it holds fewer records like row 0"),
        ({"population": FRAME[["zip"]]}, "population: column 'age' is not in the data"),
        ({"hierarchies": {"zip": [["1"]]}}, "hierarchies: 'zip' is not a sensitive"),
        ({"sensitive": ["job"], "hierarchies": {"job": []}}, "'job' is empty"),
        ({"sensitive": ["job"], "hierarchies": {"job": [["a", "*"]]}}, "lacks the value of row 1"),
        (
            {"sensitive": ["job"], "hierarchies": {"job": [["a", "x", "*"], ["a", "y", "*"]]}},
            "'a' has two parents",
        ),
        ({"sensitive": ["job"], "original": pd.Series(["a"])}, "lacks the value that row 1"),
        ({"sensitive": ["job", "zip"], "original": pd.Series(["a"])}, "serves one"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(PrivmooError, match=message) as caught:
        audit(FRAME, **{"quasi_identifiers": ["age"], **arguments})
    assert "\n" not in str(caught.value)


def test_bad_tables() -> None:
    with pytest.raises(AuditError, match="no rows to audit"):
        audit(FRAME.iloc[:0], quasi_identifiers=["age"])
    with pytest.raises(AuditError, match="'age' occurs more than once"):
        audit(pd.concat([FRAME, FRAME], axis=1), quasi_identifiers=["age"])
    with pytest.raises(AuditError, match="expected a pandas DataFrame, got list"):
        audit([1], quasi_identifiers=["age"])
    with pytest.raises(AuditError, match="'q' holds values that cannot be compared"):
        audit(pd.DataFrame({"q": [[1], [2]]}), quasi_identifiers=["q"])


def test_bad_measures() -> None:
    result = audit(FRAME, quasi_identifiers=["age"], sensitive=["job"])
    with pytest.raises(AuditError, match=r"'weigthed_k' is unknown.*'weighted_k'"):
        result.measure("weigthed_k")
    with pytest.raises(AuditError, match="takes the parameters"):
        result.measure("at_risk", taus=0.1)
    with pytest.raises(AuditError, match="tau: expected"):
        result.measure("at_risk", tau=1.01)
    with pytest.raises(AuditError, match=r"'jop' is not a sensitive attribute.*'job'"):
        result.measure("t", attribute="jop")
    with pytest.raises(AuditError, match="does not take an attribute"):
        result.measure("k", attribute="job")
    with pytest.raises(AuditError, match=r"distance: expected one of.*did you mean 'ordered'"):
        result.measure("t", distance="order")
    with pytest.raises(AuditError, match="'original' needs the original values"):
        result.measure("t", reference="original")
    with pytest.raises(AuditError, match="reference: expected"):
        result.measure("beta", reference="both")
    with pytest.raises(AuditError, match="'job' has no hierarchy"):
        result.measure("t", distance="hierarchical")
    with pytest.raises(AuditError, match="'job' has no hierarchy"):
        result.measure("similarity", level=1)
    with pytest.raises(AuditError, match="c: expected a number above 0"):
        result.measure("recursive_l", c=0)
    with pytest.raises(AuditError, match="factor: expected a number above 0"):
        result.measure("skewness", factor=-1)
    with pytest.raises(AuditError, match="statistic: expected"):
        result.measure("prosecutor_risk", statistic="mean")
    with pytest.raises(AuditError, match="need a population or a sampling_fraction"):
        result.measure("marketer_risk")
    with pytest.raises(AuditError, match="name the target"):
        result.measure("classification")
    bare = audit(FRAME, quasi_identifiers=["age"])
    for name in ("l", "homogeneity"):
        with pytest.raises(AuditError, match="name at least one sensitive"):
            bare.measure(name)


def test_two_hundred_quasi_identifiers() -> None:
    rng = np.random.default_rng(0)
    half = pd.DataFrame(rng.integers(0, 9, (20, 200)))
    df = pd.concat([half, half], ignore_index=True)
    assert audit(df, quasi_identifiers=list(df.columns)).counts.sizes.tolist() == [2] * 20


def test_messages_do_not_quote_peoples_values() -> None:
    person = "Rumpelstiltskin"
    df = pd.DataFrame({"q": [1, 1], "s": ["a", person]})
    for arguments in ({"hierarchies": {"s": [["a", "*"]]}}, {"original": pd.Series(["a"])}):
        with pytest.raises(AuditError) as caught:
            audit(df, quasi_identifiers=["q"], sensitive=["s"], **arguments)
        assert person not in str(caught.value)


def test_nearly_unique_columns() -> None:
    df = pd.DataFrame(
        {
            "id": range(20),
            "almost": [0, *range(19)],
            "half": [i // 2 for i in range(20)],
            "rare": [None] * 17 + ["x", "y", "z"],
            "empty": [None] * 20,
        }
    )
    assert nearly_unique(df, df.columns) == ["id", "almost", "rare"]
    assert nearly_unique(df, ["half"], share=0.5) == ["half"]
    with pytest.raises(ColumnError, match="did you mean 'half'"):
        nearly_unique(df, ["hal"])
    with pytest.raises(AuditError, match="share"):
        nearly_unique(df, ["id"], share=2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int8(3), "3"),
        (3.0, "3"),
        (np.float32(0.5), "0.5"),
        (np.True_, "True"),
        (float("nan"), "missing"),
        (pd.NaT, "missing"),
        (np.datetime64("2020-03-01"), "2020-03-01"),
        (pd.Timestamp("2020-03-01 10:00"), "2020-03-01T10:00:00"),
        (pd.Timestamp("2020-03-01").date(), "2020-03-01"),
        (" a", " a"),
        (pd.Interval(0, 1), "(0, 1]"),
    ],
)
def test_canonical(value: object, text: str) -> None:
    assert canonical(value) == text
