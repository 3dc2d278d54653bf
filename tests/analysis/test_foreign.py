"""Rows of other programs become points beside a front."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import privmoo as pm
from privmoo.analysis import ForeignRelease, evaluate
from privmoo.errors import ProblemError, ReleaseError

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(20, 40, 60),
        "city": RNG.choice(list("ABCD"), 60),
        "zip": RNG.choice(["14260", "14221", "90210"], 60),
        "ill": RNG.choice(list("xyz"), 60),
    }
)


def table() -> pm.Table:
    return pm.Table(
        PEOPLE,
        quasi_identifiers={
            "age": pm.QuasiIdentifier(hierarchy=pm.Hierarchy.ordered(range(20, 40)), weight=2.0),
            "city": pm.Hierarchy.tree({"north": ["A", "B"], "south": ["C", "D"]}),
            "zip": pm.Hierarchy.masking(),
        },
        sensitive="ill",
    )


@given(st.lists(st.booleans(), min_size=19, max_size=19), st.integers(0, 2), st.integers(1, 9))
def test_own_releases_measure_the_same(cuts: list[bool], level: int, k: int) -> None:
    t = table()
    bits = [cuts, *(qi.hierarchy.cut_of_level(level) for qi in t.qis[1:] if qi.hierarchy)]
    recoding = pm.recodings.cut_recoding(t, bits)
    try:
        release = pm.make_release(t, recoding, suppression=pm.BelowThreshold(k), seed=1)
    except ReleaseError:
        reject()
    if all(column.n_cells == 1 for column in recoding.columns):
        reject()
    foreign = ForeignRelease(t, release.frame)
    assert foreign.loss == pytest.approx(release.certificate.utility["loss"], abs=1e-12)
    assert foreign.audit.k == release.certificate.privacy["k"]
    rows = evaluate({"ours": release, "theirs": release.frame}, t, original=False)
    both = rows.drop(columns=["method", "il"])
    assert np.allclose(both.iloc[0].astype(float), both.iloc[1].astype(float))


@pytest.mark.parametrize(
    ("column", "label", "width"),
    [
        ("age", "20-29", 10),
        ("age", "[20, 30[", 10),
        ("age", "[20, 30)", 10),
        ("age", "(20,30]", 10),
        ("age", "]20,30]", 10),
        ("age", "20 – 21", 2),
        ("age", ">=35", 5),
        ("age", "< 22", 2),
        ("age", "{20, 21, 25}", 3),
        ("age", 31, 1),
        ("age", 31.0, 1),
        ("age", "31", 1),
        ("age", None, 20),
        ("city", "{A, C, D}", 3),
        ("city", "north", 2),
        ("city", "A", 1),
        ("city", "*", 4),
        ("zip", "142**", 2),
        ("zip", "1426*", 1),
        ("zip", "*****", 3),
    ],
)
def test_labels_of_other_programs(column: str, label: Any, width: int) -> None:
    t = table()
    rows = PEOPLE.astype(object).copy()
    rows.loc[0, column] = label
    qi = next(qi for qi in t.qis if qi.name == column)
    weights = {q.name: q.weight for q in t.qis}
    share = weights[column] / sum(weights.values())
    expected = (width - 1) / (qi.n_leaves - 1) * share / t.n_records
    assert ForeignRelease(t, rows).loss == pytest.approx(expected)


def test_rows_of_stars_are_left_out() -> None:
    t = table()
    rows = PEOPLE.astype(str).copy()
    rows.loc[:9, ["age", "city", "zip"]] = "*"
    foreign = ForeignRelease(t, rows)
    assert foreign.n_records == 50 and foreign.suppression == pytest.approx(1 / 6)
    assert foreign.loss == pytest.approx(1 / 6)
    without = ForeignRelease(t, rows.iloc[10:])
    assert (without.loss, without.audit.k) == (foreign.loss, foreign.audit.k)
    rows.loc[:, ["age", "city", "zip"]] = "*"
    assert ForeignRelease(t, rows).audit.k == 60


def test_means_have_no_loss() -> None:
    t = table()
    rows = PEOPLE.assign(age=PEOPLE["age"].mean())
    foreign = ForeignRelease(t, rows)
    assert np.isnan(foreign.loss) and foreign.audit.k >= 1


def test_labels_can_be_explained() -> None:
    t = table()
    rows = PEOPLE.assign(age="young")
    with pytest.raises(ReleaseError, match=r"column 'age', row 0 .* say what it stands for"):
        evaluate(rows, t)
    meanings = {"age": {"young": range(20, 40)}}
    assert evaluate(rows, t, meanings=meanings, original=False)["k"].tolist()[0] >= 1


def test_meanings_are_values_of_named_columns() -> None:
    t, rows = table(), PEOPLE.assign(age="young")
    with pytest.raises(
        ReleaseError, match="meanings: 'agee' is not a quasi-identifier; did you mean"
    ):
        evaluate(rows, t, meanings={"agee": {"young": [20]}})
    with pytest.raises(ReleaseError, match="say what it stands for"):
        evaluate(rows, t, meanings={"age": {"young": [-1]}})


def test_k_counts_persons_where_a_column_tells_them_apart() -> None:
    rows = pd.DataFrame({"age": [20, 20, 20, 40, 40], "who": [1, 1, 1, 2, 3]})
    t = pm.Table(rows, quasi_identifiers={"age": pm.Hierarchy.ordered()}, subject="who")
    assert ForeignRelease(t, rows).audit.k == 1
    with pytest.raises(ReleaseError, match="keep the column 'who'"):
        evaluate(rows.drop(columns="who"), t)


def test_rows_of_another_table_are_refused() -> None:
    t = table()
    with pytest.raises(ReleaseError, match="there is no column 'zip'"):
        evaluate(PEOPLE.drop(columns="zip"), t)
    with pytest.raises(ReleaseError, match="there are 120, and the table has 60 records"):
        evaluate(pd.concat([PEOPLE, PEOPLE]), t)


def test_a_foreign_point_beside_the_front() -> None:
    t = table()
    front = pm.optimize(pm.problems.Cuts(t), budget=5, seed=1, progress=False)
    chosen = front.where(min_k=2).best("loss")
    rows = chosen.release().frame
    w = pm.explore([front, rows], names=["ours", "ARX"])
    point = w._fronts.fronts[1].values[0]
    number = w._fronts.number(chosen)
    own = w._fronts.fronts[0].values[number]
    measured_too = np.isfinite(point)
    assert measured_too.sum() >= 5 and np.allclose(point[measured_too], own[measured_too])
    measured = evaluate(rows, t, original=False)
    again = pm.explore([front, measured], names=["ours", "ARX"])
    assert np.allclose(again._fronts.fronts[1].values[0][:2], point[:2])
    with pytest.raises(ProblemError, match="loss cannot be measured from the rows"):
        pm.explore([front, PEOPLE.assign(age=PEOPLE["age"].mean())])
