"""Recodings by classes: what a class publishes is what the file says, whatever the table."""

from __future__ import annotations

import base64
import io
import json
import warnings
import zlib
from collections import Counter
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import privmoo as pm
from privmoo.audit import information_loss
from privmoo.data.table import Table
from privmoo.errors import CheckpointError, RecodingError, ReleaseError
from privmoo.evaluation.engine import Engine
from privmoo.front.saving import recoding_from
from privmoo.measures import InformationLoss
from privmoo.recodings.base import from_json
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, range_recoding
from privmoo.release.release import ReleaseWarning, make_release
from tests.scenery.clusters import spread_of

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

TREE = pm.Hierarchy.tree({"one": ["a"], "two": ["b", ["c", "d"]], "e": "e"})
NUMBERS = [0.0, -0.0, 1.5, 0.1, 0.30000000000000004, 1e-9, -2.25, 1e6, 123456.789]
POLICIES = [
    pm.NoSuppression(),
    pm.Budget(0.3),
    pm.Budget(0.2, by="l"),
    pm.KLBudget(0.4, prefer="l"),
    pm.BelowThreshold(2),
    pm.BelowThreshold(1.5, by="l"),
    pm.BelowAverage(),
]
MEASURES = [
    pm.KAnonymity(),
    pm.WeightedK(),
    pm.FrequencyDiversity(),
    pm.DistinctDiversity(),
    pm.MinimumEntropy(),
    pm.TCloseness(distance="equal"),
    pm.ProsecutorRisk(),
    pm.RecordsAtRisk(tau=0.4),
    pm.Homogeneity(),
    pm.SuppressedShare(),
    pm.Discernibility(),
    pm.AverageClassSize(),
]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(3, 16))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    df = pd.DataFrame(
        {
            "x": column(NUMBERS),
            "age": pd.Series(column([3, 7, 11, 12, 40]), dtype="Int64"),
            "kind": pd.Series([*column(["a", "b", "c", "e", None])[:-1], "a"], dtype="str"),
            "zip": pd.Series(column(["01", "1", "1.0", "20", "x"]), dtype="str"),
            "free": pd.Series([*column(["a b", "ü", None, "1"])[:-1], "ü"], dtype="str"),
            "born": pd.to_datetime(pd.Series(column(["2020-01-01", "1999-12-31"]))),
            "sex": pd.Categorical(column(["f", "m"])),
            "smokes": column([True, False]),
            "ill": ["x", "y", *column(list("xyz"))[2:]],
            "who": column(list(range(n))),
        }
    )
    known = {
        "x": draw(st.sampled_from([None, pm.Hierarchy.ordered()])),
        "age": draw(st.sampled_from([None, pm.Hierarchy.ordered(step=5)])),
        "kind": TREE,
        "zip": draw(st.sampled_from([None, pm.Hierarchy.masking()])),
        "free": None,
        "born": None,
        "sex": pm.Hierarchy.flat(),
        "smokes": None,
    }
    names = draw(st.lists(st.sampled_from(list(known)), min_size=1, max_size=5, unique=True))
    return Table(
        df,
        quasi_identifiers={name: pm.QI(hierarchy=known[name]) for name in names},
        sensitive="ill",
        subject=draw(st.sampled_from([None, "who"])),
    )


def drawn_recoding(data: st.DataObject, table: Table) -> PartitionRecoding:
    by = data.draw(st.sampled_from(["records", "tuples"]))
    n = table.n_records if by == "records" else table.n_tuples
    labels = data.draw(st.lists(st.sampled_from([0, 1, 2, 7]), min_size=n, max_size=n))
    kinds = ["means", "centroids", "ranges", "regions"]
    if any(qi.numbers is not None for qi in table.qis):
        kinds += ["rounded", "noised"]
    kind = data.draw(st.sampled_from(kinds))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    if kind == "ranges":
        return range_recoding(table, labels, by=by)
    if kind == "regions":
        return range_recoding(table, labels, by=by, bounds=drawn_bounds(rng, table, labels, by))
    if kind == "means":
        return cluster_recoding(table, labels, by=by)
    if kind == "rounded":
        step = data.draw(st.sampled_from([0.1, 1.0, 2.5, 100.0]))
        return cluster_recoding(table, labels, by=by, means=pm.recodings.Means(step=step))
    if kind == "noised":
        means = pm.recodings.Means(noise=2.0, step=data.draw(st.sampled_from([None, 0.5])))
        return cluster_recoding(table, labels, by=by, means=means)
    centres = [
        rng.choice([-0.0, 0.0, 0.1, 2.5], 8)
        if qi.numbers is not None
        else rng.integers(qi.n_leaves, size=8)
        for qi in table.qis
    ]
    return cluster_recoding(table, labels, by=by, centres=np.column_stack(centres))


def drawn_bounds(rng: np.random.Generator, table: Table, labels: Any, by: str) -> Any:
    """Any ranges of leaves that cover the members; rows of classes that nobody is in are nonsense."""
    codes = table.tuples if by == "tuples" else table.tuples[table.row_tuple]
    start = np.full((8, table.n_qis), -5)
    stop = np.full((8, table.n_qis), -5)
    for c in np.unique(labels):
        members = codes[np.asarray(labels) == c].astype(np.int64)
        for j, qi in enumerate(table.qis):
            start[c, j] = rng.integers(members[:, j].min() + 1)
            stop[c, j] = rng.integers(members[:, j].max() + 1, qi.n_leaves + 1)
    return start, stop


def written(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as a reader of the file sees it: text."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False)
    buffer.seek(0)
    return pd.read_csv(buffer, dtype="str", keep_default_na=False)


@settings(max_examples=150)
@given(data=st.data())
def test_the_written_file_is_what_the_certificate_says(data: st.DataObject) -> None:
    table = data.draw(tables())
    recoding = drawn_recoding(data, table)
    policy = data.draw(st.sampled_from(POLICIES))
    loss = pm.GeneralLoss() if recoding.publishes == "ranges" else InformationLoss()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            release = make_release(table, recoding, suppression=policy, measures=[*MEASURES, loss])
    except ReleaseError as nothing:
        assert "all records would be suppressed" in str(nothing)  # noqa: PT017
        return
    assert len(release.certificate.claims) == len(MEASURES) + 1
    text = written(release.frame)
    keys = list(text[table.qi_names].itertuples(index=False, name=None))
    persons = table.frame["who"].to_numpy()[release.rows]
    who = persons if table.subjects is not None else np.arange(len(keys))
    hidden = Counter(key for key, _ in set(zip(keys, who, strict=True)))
    privacy = release.certificate.privacy
    assert privacy["k"] == min(hidden.values())
    assert privacy["n_groups"] == len(set(keys))
    values: dict[Any, set[str]] = {}
    for key, ill in zip(keys, text["ill"], strict=True):
        values.setdefault(key, set()).add(ill)
    assert privacy["sensitive"]["ill"]["distinct_l"] == min(map(len, values.values()))
    assert text["ill"].tolist() == table.frame["ill"].iloc[release.rows].tolist()
    # Records of one class look the same in the file, those of two do not.
    assert len(set(zip(keys, recoding.labels[release.rows], strict=True))) == len(set(keys))
    if recoding.publishes == "ranges":
        for j, qi in enumerate(table.qis):
            codes = table.tuples[table.row_tuple[release.rows], j]
            for label, code in zip(text[qi.name], codes, strict=True):
                assert qi.leaves[code] in release.meanings[qi.name][label]


@settings(max_examples=80)
@given(data=st.data())
def test_a_recoding_reads_back_and_groups_as_it_publishes(data: st.DataObject) -> None:
    table = data.draw(tables())
    recoding = drawn_recoding(data, table)
    stored = json.loads(json.dumps(recoding.to_json()))
    for again in (from_json(table, stored), recoding_from(table, stored, 0)):
        assert again.key() == recoding.key() and repr(again) == repr(recoding)
        rows = np.arange(table.n_records)
        assert again.apply(table, rows).equals(recoding.apply(table, rows))
    assert set(recoding.describe()) == set(table.qi_names)
    view = recoding.view(table)
    assert recoding.splits == (view is not table)
    _, groups = Engine(view, needs={"labels"}, threads=1).groups(recoding.candidate(view))
    assert groups[0].n_groups == recoding.n_classes == len(np.unique(recoding.labels))
    assert sorted(groups[0].records) == sorted(np.bincount(recoding.labels))
    numbered = recoding.labels if recoding.splits else recoding.labels_of_tuples
    first = [int(np.flatnonzero(numbered == c)[0]) for c in range(recoding.n_classes)]
    assert first == sorted(first)
    assert recoding.sizes.tolist() == np.bincount(recoding.labels).tolist()
    if recoding.labels_of_tuples is not None:
        assert np.array_equal(recoding.labels_of_tuples[table.row_tuple], recoding.labels)
    else:
        assert len(set(zip(table.row_tuple, recoding.labels, strict=True))) > table.n_tuples
    if recoding.splits:
        with pytest.raises(RecodingError, match=r"equal records are in different classes"):
            recoding.candidate(table)


@settings(max_examples=80)
@given(data=st.data())
def test_the_loss_is_the_distance_that_an_auditor_finds(data: st.DataObject) -> None:
    table = data.draw(tables())
    n = table.n_records
    labels = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    means = cluster_recoding(table, labels)
    centroids = drawn_recoding(data, table)
    if centroids.publishes != "centroids":
        picked = np.array(
            [table.row_tuple[np.flatnonzero(labels == c)[:1]] for c in range(5)], object
        )
        rows = [int(p[0]) if len(p) else 0 for p in picked]
        numbers = [q.numbers if q.numbers is not None else np.arange(q.n_leaves) for q in table.qis]
        centres = [[numbers[j][table.tuples[t, j]] for j in range(table.n_qis)] for t in rows]
        centroids = cluster_recoding(table, labels, centres=centres)
    numeric = [qi.name for qi in table.qis if qi.numbers is not None]
    others = [name for name in table.qi_names if name not in numeric]
    original = pd.DataFrame(
        {
            qi.name: (np.array(qi.leaves, dtype=object) if qi.numbers is None else qi.numbers)[
                table.tuples[table.row_tuple, j]
            ]
            for j, qi in enumerate(table.qis)
        }
    )
    for scale in ("raw", "standard"):
        found = []
        for recoding in (means, cluster_recoding(table, labels), centroids):
            view = recoding.view(table)
            engine = Engine(view, needs=InformationLoss.needs, threads=1)
            [own] = InformationLoss(scale=scale).values(engine.groups(recoding.candidate(view))[1])
            frame = recoding.apply(table, np.arange(n))
            audited = information_loss(
                original, frame, numeric=numeric, categorical=others, scale=scale
            )
            assert own == pytest.approx(audited, rel=1e-9, abs=1e-12)
            found.append(own)
        assert found[0] == found[1]
        if (centroids.labels == means.labels).all():
            assert found[0] <= found[2] + 1e-12


def test_equal_classes_are_one_and_cost_the_same() -> None:
    df = pd.DataFrame({"a": [1, 3, 2, 2, 9], "c": list("xyxyx")})
    table = Table(df, quasi_identifiers=["a", "c"])
    merged = cluster_recoding(table, [0, 0, 1, 1, 2])
    assert merged.labels.tolist() == [0, 0, 0, 0, 1] and merged.n_classes == 2
    loss = InformationLoss()
    apart = np.array([0, 0, 1, 1, 2], np.int32)[
        [df.index[table.row_tuple == t][0] for t in range(5)]
    ]
    joined = np.where(apart == 1, 0, apart).astype(np.int32)
    groups = Engine(table, needs=loss.needs, threads=1).groups(
        Candidates(labels=np.stack([apart, joined]))
    )
    assert loss.values(groups[1])[0] == pytest.approx(loss.values(groups[1])[1], abs=1e-15)
    total = spread_of(table, np.zeros(5))
    assert loss.values(groups[1])[0] == pytest.approx(spread_of(table, [0, 0, 1, 1, 2]) / total)


def test_labels_of_records_and_of_tuples() -> None:
    table = Table(pd.DataFrame({"a": [1, 1, 2, 3]}), quasi_identifiers=["a"])
    by_tuple = cluster_recoding(table, [5, 5, 900], by="tuples")
    assert by_tuple.labels.tolist() == [0, 0, 0, 1] and not by_tuple.splits
    assert by_tuple.key() == cluster_recoding(table, np.array([4, 4, 4, 0], np.uint8)).key()
    assert by_tuple.view(table) is table
    apart = cluster_recoding(table, [0, 1, 1, 1])
    assert apart.splits and apart.view(table).weights.tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        apart.labels[0] = 1


WRONG_LABELS: list[Any] = [
    [0, 1],
    [0, 0, 0, -1],
    [0.0] * 4,
    [[0, 0, 0, 0]],
    list("aaaa"),
    [None] * 4,
    [],
]


@pytest.mark.parametrize("labels", WRONG_LABELS)
@pytest.mark.parametrize("make", [cluster_recoding, range_recoding])
def test_other_labels_are_refused(make: Any, labels: Any) -> None:
    table = Table(pd.DataFrame({"a": [1, 1, 2, 3]}), quasi_identifiers=["a"])
    with pytest.raises(
        RecodingError, match="labels: expected a whole number from 0 for each of 4 rec"
    ):
        make(table, labels)
    with pytest.raises(RecodingError, match=r"^by: must be 'records' or 'tuples', got 'rows'$"):
        make(table, [0, 0, 0, 0], by="rows")


@pytest.mark.parametrize(
    "centres",
    [[[1, 0]], [[1], [1]], [[1, 2], [1, 0]], [[np.nan, 0]] * 2, [[1, 0.5]] * 2, [[1, -1]] * 2],
)
def test_other_centres_are_refused(centres: Any) -> None:
    table = Table(pd.DataFrame({"a": [1, 2], "c": list("xy")}), quasi_identifiers=["a", "c"])
    with pytest.raises(RecodingError, match=r"^centres: [^.]*$"):
        cluster_recoding(table, [0, 1], centres=centres)


@pytest.mark.parametrize("centres", [[[1, 0], [1]], [["a", "b"]] * 2, {"a": 1}])
def test_centres_that_are_no_numbers_are_refused_in_one_sentence(centres: Any) -> None:
    table = Table(pd.DataFrame({"a": [1, 2], "c": list("xy")}), quasi_identifiers=["a", "c"])
    with pytest.raises(RecodingError, match=r"^centres: [^.]*$"):
        cluster_recoding(table, [0, 1], centres=centres)


def packed(labels: Any, kind: str = "<i4") -> str:
    return base64.b64encode(zlib.compress(np.asarray(labels, kind).tobytes())).decode()


BOMB = base64.b64encode(zlib.compress(bytes(1 << 24))).decode()
GOOD = packed([0, 0, 1, 1])
LOW, BEYOND = packed([[0, 0], [0, 0]]), packed([[4, 2], [4, 3]])
HOSTILE: list[dict[str, Any]] = [
    {"publishes": "means", "labels": BOMB},
    {"publishes": "means", "labels": packed([0, 1])},
    {"publishes": "means", "labels": packed([0, 0, -1, 1])},
    {"publishes": "means", "labels": packed([0, 0, 1, 1], "<i8")},
    {"publishes": "means", "labels": "no base64"},
    {"publishes": "means", "labels": "é"},
    {"publishes": "means", "labels": base64.b64encode(b"no zlib").decode()},
    {"publishes": "means", "labels": 7},
    {"publishes": "means", "labels": [0, 0, 1, 1]},
    {"publishes": "means", "labels": None},
    {"publishes": "means"},
    {"publishes": "modes", "labels": GOOD},
    {"publishes": ["means"], "labels": GOOD},
    {"labels": GOOD},
    {"publishes": "centroids", "labels": GOOD},
    {"publishes": "centroids", "labels": GOOD, "centres": [[1, 0]]},
    {"publishes": "centroids", "labels": GOOD, "centres": [[1, 0], [1]]},
    {"publishes": "centroids", "labels": GOOD, "centres": [[1, 9], [1, 0]]},
    {"publishes": "centroids", "labels": GOOD, "centres": {"a": 1}},
    {"publishes": "centroids", "labels": GOOD, "centres": "x"},
    {"publishes": "centroids", "labels": packed([0, 0, 2**31 - 1, 1]), "centres": [[1, 0]] * 2},
    {"publishes": "ranges", "publish": "loose", "labels": GOOD},
    {"publishes": "ranges", "publish": "region", "labels": GOOD},
    {"publishes": "ranges", "publish": "region", "labels": GOOD, "start": LOW, "stop": BOMB},
    {"publishes": "ranges", "publish": "region", "labels": GOOD, "start": LOW, "stop": LOW},
    {"publishes": "ranges", "publish": "region", "labels": GOOD, "start": LOW, "stop": BEYOND},
    {
        "publishes": "ranges",
        "publish": "region",
        "labels": packed([0, 0, 2**31 - 1, 1]),
        "start": LOW,
        "stop": LOW,
    },
    {"publishes": "means", "labels": GOOD, "means": {"step": 0}},
    {"publishes": "means", "labels": GOOD, "means": {"step": "5"}},
    {"publishes": "means", "labels": GOOD, "means": {"step": {"c": 5}}},
    {"publishes": "means", "labels": GOOD, "means": {"seed": 5}},
    {"publishes": "means", "labels": GOOD, "means": ["step"]},
    {"publishes": "means", "labels": GOOD, "means": {"noise": 1.0}},
    {"publishes": "means", "labels": GOOD, "means": {"noise": 1.0}, "centres": [[1, 9], [1, 0]]},
]


@pytest.mark.parametrize(
    "described",
    [
        *HOSTILE,
        {"publishes": "centroids", "labels": GOOD, "centres": [[1e999, 0], [1, 0]]},
    ],
)
def test_hostile_descriptions_are_refused_in_one_sentence(described: dict[str, Any]) -> None:
    df = pd.DataFrame({"a": [1, 2, 3, 4], "c": list("xyxy")})
    table = Table(df, quasi_identifiers=["a", "c"])
    with pytest.raises(
        CheckpointError, match=r"^front: the recoding of solution 3 in the file [^\n]*$"
    ):
        recoding_from(table, {"kind": "classes", **described}, 3)


LOOKALIKES = [
    (["*", "*", "a", "b", "*", "a"], [0, 0, 1, 1, 1, 1]),
    (["{a, b}", "{a, b}", "a", "b", "z", "z"], [0, 0, 1, 1, 2, 2]),
    (["a, b", "c", "a", "b, c", "c", "d"], [0, 0, 1, 1, 1, 2]),
]


@pytest.mark.parametrize(
    ("values", "labels"),
    LOOKALIKES,
)
def test_ranges_that_look_alike_are_one_class(values: list[str], labels: list[int]) -> None:
    table = Table(pd.DataFrame({"c": values}), quasi_identifiers=["c"])
    recoding = range_recoding(table, labels)
    make_release(table, recoding, measures=[pm.KAnonymity(), pm.GeneralLoss()])
    shown = recoding.apply(table, np.arange(len(values)))["c"]
    assert shown.nunique() == recoding.n_classes


def test_single_records_of_a_class_cannot_be_left_out() -> None:
    table = Table(pd.DataFrame({"a": [1, 3, 50, 7, 9]}), quasi_identifiers=["a"])
    recoding = cluster_recoding(table, [0, 0, 0, 1, 1])
    published = np.array([True, True, False, True, True])
    measures = [pm.KAnonymity(), InformationLoss()]
    with pytest.raises(ReleaseError, match=r"^suppression: classes release means"):
        make_release(table, recoding, suppression=published, measures=measures)
