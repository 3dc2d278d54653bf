"""Analysis of quasi-identifiers: published means, plain loops beside, bad input, pictures."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.analysis import (
    Analysis,
    analyse,
    keys,
    leave_one_out,
    plot_distribution,
    plot_suppression,
    suppression_needed,
)
from privmoo.audit import audit
from privmoo.data.table import Table
from privmoo.datasets import load_sparcs, sparcs_case, sparcs_like
from privmoo.errors import ColumnError, TableError
from privmoo.hierarchy import Hierarchy

QIS = ["a", "b", "c"]
PLACES = ["Health Service Area", "Hospital County", "Zip Code - 3 digits"]
PAPER = [*PLACES, "Age Group", "Gender", "Race"]
DIAGNOSIS = "CCS Diagnosis Description"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


cells = st.one_of(st.none(), st.integers(0, 3))
frames = st.lists(
    st.tuples(cells, st.sampled_from(["x", "y", None]), cells, st.sampled_from("pqr")),
    min_size=1,
    max_size=30,
).map(lambda rows: pd.DataFrame(rows, columns=[*QIS, "ill"]))


def slow_groups(frame: pd.DataFrame, qis: list[str]) -> dict[Any, list[Any]]:
    """The rows of every group, by a dictionary of plain tuples."""
    groups: dict[Any, list[Any]] = {}
    for _, row in frame.iterrows():
        key = tuple("missing!" if pd.isna(row[name]) else row[name] for name in qis)
        groups.setdefault(key, []).append(row["ill"])
    return groups


@pytest.mark.parametrize(
    ("groups", "mean"),
    [(73, 13.9589), (61, 16.70492), (39, 26.12821), (50, 20.38), (27, 37.74074)],
)
def test_means_of_the_paper(groups: int, mean: float) -> None:
    """Jahan et al., QID 2 to 6: the means are those of 1,019 records in so many groups."""
    found = analyse(pd.DataFrame({"qi": np.arange(1019) % groups}), "qi")
    assert (found.n_groups, found.n_records) == (groups, 1019)
    assert found.mean_k_groups == pytest.approx(mean, abs=5e-5)
    assert found.mean_k_records != found.mean_k_groups


@given(frames)
def test_analysis_beside_loops(frame: pd.DataFrame) -> None:
    found, slow = analyse(frame, QIS, sensitive="ill"), slow_groups(frame, QIS)
    sizes = [len(rows) for rows in slow.values()]
    diversities = [len(set(rows)) for rows in slow.values()]
    assert sorted(zip(found.sizes, found.values("l"), strict=True)) == sorted(
        zip(sizes, diversities, strict=True)
    )
    per_record = [(len(rows), len(set(rows))) for rows in slow.values() for _ in rows]
    assert found.mean_k_groups == pytest.approx(np.mean(sizes))
    assert found.mean_l_groups == pytest.approx(np.mean(diversities))
    assert found.mean_k_records == pytest.approx(np.mean([k for k, _ in per_record]))
    assert found.mean_l_records == pytest.approx(np.mean([ell for _, ell in per_record]))
    assert found.uniques == sizes.count(1)
    for criterion, own in (("k", sizes), ("l", diversities)):
        table = found.distribution()
        table = table[table["criterion"] == criterion].set_index("value")
        assert table["groups"].to_dict() == {v: own.count(v) for v in sorted(set(own))}
        assert table["records"].to_dict() == {
            v: sum(s for s, w in zip(sizes, own, strict=True) if w == v) for v in set(own)
        }


@given(frames)
def test_audit_agrees(frame: pd.DataFrame) -> None:
    found = analyse(frame, QIS, sensitive="ill")
    other = audit(frame, quasi_identifiers=QIS, sensitive=["ill"])
    assert found.sizes.min() == other.k and found.values("l").min() == other.distinct_l
    assert found.mean_k_groups == pytest.approx(other.average_k)
    assert found.mean_k_records == pytest.approx(other.weighted_k)
    assert found.uniques == pytest.approx(other.uniqueness * len(frame))


@given(frames)
def test_leaving_out_beside_loops(frame: pd.DataFrame) -> None:
    found = leave_one_out(frame, QIS, sensitive="ill")
    assert found["rank"].tolist() == [0, 1, 2, 3]
    assert found["left_out"].iloc[0] == "" and set(found["left_out"].iloc[1:]) == set(QIS)
    for row in found.itertuples():
        slow = slow_groups(frame, [name for name in QIS if name != row.left_out])
        assert row.groups == len(slow)
        assert row.mean_k_groups == pytest.approx(len(frame) / len(slow))
        assert row.mean_k_records == pytest.approx(
            sum(len(rows) ** 2 for rows in slow.values()) / len(frame)
        )
        assert row.mean_l_groups == pytest.approx(np.mean([len(set(r)) for r in slow.values()]))
        assert row.uniques == sum(len(rows) == 1 for rows in slow.values())
        assert row.rise == pytest.approx(row.mean_k_groups / found["mean_k_groups"].iloc[0])
    assert found["rise"].iloc[1:].is_monotonic_decreasing and (found["rise"] >= 1).all()


@given(frames, st.integers(1, 12), st.integers(1, 4))
def test_suppression_beside_loops(frame: pd.DataFrame, k: int, ell: int) -> None:
    found = suppression_needed(frame, QIS, sensitive="ill", k=k, l=[ell])
    assert found[["criterion", "value"]].values.tolist() == [["k", k], ["l", ell]]
    groups = list(slow_groups(frame, QIS).values())
    rows_of_frame: list[Any] = list(found.itertuples())
    for row, gone in zip(
        rows_of_frame,
        ([g for g in groups if len(g) < k], [g for g in groups if len(set(g)) < ell]),
        strict=True,
    ):
        assert (row.groups, row.records) == (len(gone), sum(map(len, gone)))
        assert row.share == pytest.approx(row.records / len(frame))


@given(frames, st.integers(1, 4), st.integers(1, 6))
def test_keys_beside_loops(frame: pd.DataFrame, max_size: int, threshold: int) -> None:
    found = keys(frame, QIS, max_size=max_size, threshold=threshold)
    every = [c for n in range(1, max_size + 1) for c in itertools.combinations(QIS, n)]
    assert sorted(found["key"]) == sorted(every)
    rows_of_frame: list[Any] = list(found.itertuples())
    for row in rows_of_frame:
        sizes = [len(rows) for rows in slow_groups(frame, list(row.key)).values()]
        assert (row.size, row.tuples, row.uniques) == (len(row.key), len(sizes), sizes.count(1))
        assert row.records_below == sum(size for size in sizes if size < threshold)
        assert row.share_below == pytest.approx(row.records_below / len(frame))
    order = [(-r.uniques, -r.records_below, -r.tuples, r.size) for r in rows_of_frame]
    assert order == sorted(order)


def test_keys_of_many_values_are_hashed() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 40, (200, 4)), columns=list("wxyz"))
    for row in keys(frame, max_size=4).itertuples():
        sizes = frame.groupby(list(row.key)).size()
        assert (row.tuples, row.uniques) == (len(sizes), (sizes == 1).sum())


def test_defaults_are_those_of_a_table() -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "ill": list("abab"), "job": list("ppqp"), "z": 1})
    roles = {"quasi_identifiers": {"age": Hierarchy.flat()}, "sensitive": ["ill", "job"]}
    table = Table(frame, **roles)
    found = analyse(table)
    assert (found.quasi_identifiers, found.sensitive) == (("age",), ("ill", "job"))
    assert found.values("l").tolist() == [1, 2]  # of each group the less diverse column
    assert analyse(table, "job").sensitive == ("ill",)
    assert analyse(table, sensitive=()).diversities is None
    assert keys(table)["key"].tolist() == [("age",)]
    assert len(keys(frame, max_size=1)) == 4
    assert leave_one_out(table)["groups"].tolist() == [2, 1]
    assert suppression_needed(table, k=3)["criterion"].tolist() == ["k", *"lllllll"]


def test_without_a_sensitive_column() -> None:
    found = analyse(pd.DataFrame({"a": [1, 1, 2]}), "a")
    assert math.isnan(found.mean_l_groups) and math.isnan(found.mean_l_records)
    assert found.criteria == ("k",) and len(found.values("l")) == 0
    assert "ℓ" not in repr(found)
    with pytest.raises(ValueError, match="read-only"):
        found.sizes[0] = 5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: analyse(f, ["agee"]), ColumnError, "quasi_identifiers.*mean 'age'"),
        (lambda f: analyse(f, "age", sensitive="il"), ColumnError, "sensitive.*mean 'ill'"),
        (lambda f: analyse(f, "age", sensitive="age"), TableError, "among the quasi-identifiers"),
        (lambda f: analyse(f, []), TableError, "there are none"),
        (lambda f: analyse(f), TableError, "quasi_identifiers: there are none"),
        (lambda f: analyse(f, ["age", "age"]), TableError, "named twice"),
        (lambda f: analyse(f[:0], "age"), TableError, "no records"),
        (lambda f: analyse([1], "age"), TableError, "must be a data frame"),
        (lambda f: leave_one_out(f, "aeg"), ColumnError, "mean 'age'"),
        (lambda f: suppression_needed(f, "age", k=[0]), TableError, "k: .* got 0"),
        (lambda f: suppression_needed(f, "age", l=[2.5]), TableError, "l: .* got 2.5"),  # type: ignore[list-item]
        (lambda f: keys(f, max_size=0), TableError, "max_size: .* got 0"),
        (lambda f: keys(f, max_size=[2]), TableError, "max_size: .* got"),
        (lambda f: keys(f, threshold=True), TableError, "threshold: .* got True"),
        (lambda f: keys(f, ["ag"]), ColumnError, "columns: .*mean 'age'"),
        (lambda f: keys(f, []), TableError, "columns: there are none"),
        (lambda f: keys(f[:0]), TableError, "no records"),
        (
            lambda f: keys(f, most=2),
            TableError,
            "2 columns have 3 combinations .* more than most=2",
        ),
        (lambda f: plot_distribution({}), TableError, "no analysis"),
        (lambda f: plot_distribution({"a": f}), TableError, "got DataFrame"),
        (lambda f: plot_suppression(f), TableError, "no column 'criterion'"),
        (lambda f: plot_suppression(suppression_needed(f, "age", k=())), TableError, "empty"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    frame = pd.DataFrame({"age": [31, 31, 45], "ill": list("aba")})
    with pytest.raises(error, match=message) as caught:
        call(frame)
    assert not re.search("31|45", str(caught.value)) and "\n" not in str(caught.value)


def test_too_many_combinations_are_refused_before_anything_is_counted() -> None:
    frame = pd.DataFrame([range(200)] * 2, columns=[f"c{i}" for i in range(200)])
    with pytest.raises(TableError, match=r"200 columns have 1,333,500 combinations of up to 3"):
        keys(frame)


def test_the_bar_is_shown_for_many_combinations_only(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame([range(20)] * 2, columns=[f"c{i}" for i in range(20)])
    keys(frame, max_size=2)
    keys(frame, progress=False)
    assert capsys.readouterr().err == ""
    assert len(keys(frame)) == 1350
    assert "1350/1350" in capsys.readouterr().err


def test_age_identifies_most_as_in_the_paper(shared_data: Path) -> None:
    """On other records of the same source the order is the paper's: age, ZIP code, gender, race."""
    file = shared_data / "sparcs" / "sparcs_2016_western_ny_first10000.csv.gz"
    found = leave_one_out(load_sparcs(file).head(1020), PAPER, sensitive=DIAGNOSIS)
    order = [name for name in found["left_out"] if name not in ("", *PLACES[:2])]
    assert order == ["Age Group", "Zip Code - 3 digits", "Gender", "Race"]
    assert found.iloc[-1]["left_out"] == "Health Service Area"  # the county tells it
    assert found.iloc[-1]["rise"] == 1


def test_a_case_can_be_analysed() -> None:
    found = analyse(sparcs_case(1))
    assert found.n_records == 200 and found.sensitive == (DIAGNOSIS,)


def test_bars_of_one_analysis() -> None:
    found = analyse(sparcs_like(300), PLACES, sensitive=DIAGNOSIS)
    axes = plot_distribution(found)
    for ax, criterion in zip(axes, ("k", "l"), strict=True):
        assert sum(patch.get_height() for patch in ax.patches) == found.n_groups
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert texts[0] == f"mean over groups: {getattr(found, f'mean_{criterion}_groups'):,.4g}"
        assert texts[1].startswith("mean over records: ")
    wide = analyse(pd.DataFrame({"a": [0] * 5000 + [1]}), "a")
    (ax,) = plot_distribution(wide)
    assert ax.get_xscale() == "log" and sum(p.get_height() for p in ax.patches) == 2


def test_boxes_of_several_analyses() -> None:
    frame = sparcs_like(300)
    several: dict[str, Analysis] = {
        "places": analyse(frame, PLACES, sensitive=DIAGNOSIS),
        "no sensitive": analyse(frame, ["Gender"]),
        "all": analyse(frame, PAPER, sensitive=DIAGNOSIS),
    }
    k, ell = plot_distribution(several)
    assert [text.get_text() for text in k.get_yticklabels()] == list(several)
    for ax, where in ((k, [0, 1, 2]), (ell, [0, 2])):
        means = next(line for line in ax.lines if line.get_label() == "mean over groups")
        assert means.get_ydata().tolist() == where
    means = next(line for line in k.lines if line.get_label() == "mean over records")
    assert np.allclose(means.get_xdata(), [a.mean_k_records for a in several.values()])


def test_suppression_is_drawn_in_per_cent() -> None:
    frame = suppression_needed(sparcs_like(300), PLACES, sensitive=DIAGNOSIS)
    ax = plot_suppression(frame)
    assert ax.get_xlabel() == "k or ℓ to reach"
    for line, criterion in zip(ax.lines, ("k", "l"), strict=True):
        own = frame[frame["criterion"] == criterion]
        assert np.allclose(line.get_xydata(), np.c_[own["value"], 100 * own["share"]])
    _, given_ax = plt.subplots()
    assert plot_suppression(frame[frame["criterion"] == "l"], ax=given_ax) is given_ax
    assert given_ax.get_xlabel() == "ℓ to reach"
