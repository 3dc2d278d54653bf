"""What releases give away and cost: published baselines, and loops beside the audit."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis.strategies as st
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings

import privmoo as pm
from privmoo.analysis.plots import plot_evaluation
from privmoo.analysis.releases import evaluate, risk_name
from privmoo.audit import information_loss
from privmoo.errors import AuditError, MeasureError, ProblemError, ReleaseError
from privmoo.release.release import Release, make_release

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def table(rows: int = 60, seed: int = 3, **more: object) -> pm.Table:
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "city": rng.choice(list("ABCD"), rows),
            "ill": rng.choice(list("xyz"), rows),
            "cost": rng.integers(1, 9, rows),
        }
    )
    roles: dict[str, object] = {
        "quasi_identifiers": {
            "age": pm.Hierarchy.ordered(),
            "city": pm.Hierarchy.tree({"north": ["A", "B"], "south": ["C", "D"]}),
        },
        "sensitive": "ill",
        "insensitive": "cost",
    }
    return pm.Table(df, **{**roles, **more})


def clustered(t: pm.Table, group: np.ndarray, rows: np.ndarray | None = None) -> Release:
    """Means and modes of groups, as a cluster release publishes them."""
    rows = np.arange(t.n_records) if rows is None else rows
    frame = t.frame[t.released_columns].iloc[rows].reset_index(drop=True)
    for qi in t.qis:
        how = "mean" if qi.numbers is not None else lambda s: s.mode()[0]
        frame[qi.name] = frame.groupby(group[rows])[qi.name].transform(how)
    return Release(frame, None, rows, {})


@pytest.mark.parametrize(
    ("name", "published"),
    [
        # Wei et al. 2025, Table 5; they print 275 for homogeneity, which no definition gives
        ("german", (1000, 310, 959, 828, 698, 279)),
        ("adult", (45222, 1900, 6506, 4906, 3910, 634)),  # Table 6
    ],
)
def test_published_baselines(name: str, published: tuple[int, ...]) -> None:
    t = pm.datasets.german_credit() if name == "german" else pm.datasets.adult("wei")
    row = evaluate({}, table=t).iloc[0]
    columns = ["records", "classes", "at_risk_05", "at_risk_075", "at_risk_10", "homogeneity"]
    assert tuple(row[columns]) == published
    assert row["method"] == "original" and row["suppressed"] == 0 and row["il"] == 0


def test_what_a_release_measures() -> None:
    t = table()
    recoding = pm.recodings.cut_recoding(t, [[0] * 9 + [1] + [0] * 9, [0, 1, 0]])
    release = make_release(t, recoding, suppression=pm.BelowThreshold(13), seed=1)
    assert 0 < len(release) < t.n_records
    found = evaluate(release, table=t, taus=(0.05, 1 / 14))
    assert found["method"].tolist() == ["original", "release"]
    row = found.iloc[1]
    groups = release.frame.groupby(["age", "city"])
    sizes = groups["ill"].transform("size")
    assert row["records"] == len(release) and row["suppressed"] == 60 - len(release)
    assert row["classes"] == groups.ngroups and row["k"] == sizes.min()
    for tau in (0.05, 1 / 14):
        assert row[risk_name(tau)] == int((1 / sizes > tau).sum())
    assert row["homogeneity"] == int((groups["ill"].transform("nunique") == 1).sum())


@given(
    st.sets(st.integers(0, 18), max_size=3),
    st.sampled_from([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]),
    st.integers(1, 6),
)
@settings(max_examples=40)
def test_il_is_a_loop_over_cells(ages: set[int], cities: list[int], k: int) -> None:
    """Means of labels, a mismatch for every merged category, a suppressed record's own deviation."""
    t = table()
    assert t.qis[0].n_leaves == 20
    cut = pm.recodings.cut_recoding(t, [[int(i in ages) for i in range(19)], cities])
    try:
        release = make_release(t, cut, suppression=pm.BelowThreshold(k), seed=1)
    except ReleaseError:  # nothing is left
        reject()
    df = t.frame
    mean, mode = df["age"].mean(), sorted(df["city"].mode())[0]
    shown = {int(row): i for i, row in enumerate(release.rows)}
    lost = total = 0.0
    for row in range(len(df)):
        own_age, own_city = df["age"][row], df["city"][row]
        total += (own_age - mean) ** 2 + (own_city != mode)
        if row not in shown:
            lost += (own_age - mean) ** 2 + (own_city != mode)
            continue
        label = release.frame.iloc[shown[row]]
        numbers = [float(leaf) for leaf in release.meanings["age"][str(label["age"])]]
        names = release.meanings["city"][label["city"]]
        lost += (own_age - np.mean(numbers)) ** 2 + (names != [own_city])
    found = evaluate(release, table=t, original=False)["il"].iloc[0]
    assert found == pytest.approx(lost / total, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scale", ["raw", "standard"])
def test_means_and_modes_stand_for_themselves(scale: str) -> None:
    t = table()
    rows = np.random.default_rng(1).permutation(60)[:50]
    release = clustered(t, t.frame["age"].to_numpy() // 5, rows)
    found = evaluate({"clusters": release}, table=t, original=False, scale=scale)
    direct = information_loss(
        t.frame, release.frame, numeric=["age"], categorical=["city"], rows=rows, scale=scale
    )
    assert found["il"].tolist() == [direct]


def test_il_of_missing_numbers_is_unknown() -> None:
    df = pd.DataFrame({"age": [20.0, 30.0, None, 40.0]})
    t = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    release = make_release(t, pm.recodings.identity_recoding(t), seed=1)
    found = evaluate(release, table=t)
    assert found["il"].isna().tolist() == [False, True]
    assert "homogeneity" not in found


def test_base_intervals_cost_their_distance_from_the_middle() -> None:
    ages = {"age": pm.Hierarchy.ordered(step=10)}
    t = pm.Table(pd.DataFrame({"age": [20, 29, 31]}), quasi_identifiers=ages)
    release = make_release(t, pm.recodings.identity_recoding(t), seed=1)
    deviation = sum((x - 80 / 3) ** 2 for x in (20, 29, 31))
    lost = sum((x - y) ** 2 for x, y in ((20, 24.5), (29, 24.5), (31, 34.5)))
    assert evaluate(release, table=t)["il"].iloc[1] == pytest.approx(lost / deviation)


def test_persons_are_counted_where_a_subject_is_named() -> None:
    df = pd.DataFrame({"who": [1, 1, 2, 3], "age": [20, 20, 30, 30], "ill": list("xyxy")})
    t = pm.Table(df, quasi_identifiers=["age"], sensitive="ill", subject="who")
    row = evaluate({}, table=t, taus=[0.6]).iloc[0]
    assert row["k"] == 1 and row["at_risk_60"] == 2


def test_bad_input_is_named() -> None:
    t, larger = table(), table(80)
    release = make_release(larger, pm.recodings.identity_recoding(larger), seed=1)
    with pytest.raises(ReleaseError, match="at least 80 records, but this one has 60"):
        evaluate(release, table=t)
    with pytest.raises(ProblemError, match="by name, got list"):
        evaluate([release], table=larger)
    with pytest.raises(ReleaseError, match="expected a Release, got int"):
        evaluate({"number": 3}, table=larger)  # type: ignore[dict-item]
    with pytest.raises(ProblemError, match="choose another"):
        evaluate({"original": release}, table=larger)
    with pytest.raises(AuditError, match="scale"):
        evaluate(release, table=larger, scale="log")
    twice = Release(release.frame, release.certificate, release.rows * 0, release.meanings)
    with pytest.raises(ReleaseError, match="one original row for each"):
        evaluate(twice, table=larger)
    lacking = Release(
        release.frame.drop(columns="ill"), release.certificate, release.rows, release.meanings
    )
    with pytest.raises(ReleaseError, match="lacks the column 'ill'"):
        evaluate(lacking, table=larger)


def test_the_picture_shows_every_release_in_every_panel() -> None:
    t = table()
    releases = {str(n): clustered(t, t.frame["age"].to_numpy() // n) for n in range(2, 11)}
    frame = evaluate(releases, table=t)
    panels = plot_evaluation(frame)
    assert len(panels) == 4
    for ax, column in zip(panels, ["at_risk_05", "at_risk_075", "at_risk_10"], strict=False):
        drawn = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines]
        assert drawn == list(zip(frame["il"], frame[column], strict=True))
    looks = {(line.get_color(), line.get_marker()) for line in panels[0].lines}
    assert len(looks) == 10  # no two methods look alike
    with pytest.raises(MeasureError, match="draws what evaluate returns"):
        plot_evaluation(pd.DataFrame({"method": ["a"]}))
