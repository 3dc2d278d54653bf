"""Recodings cell by cell: labels with one meaning, groups that are those of the rows, files, audit."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo.audit import StatedNoise, disclosure_risks, kept_values, numbers_of_labels
from privmoo.errors import AuditError, MeasureError, PrivmooError, RecodingError, ReleaseError
from privmoo.evaluation.engine import Engine
from privmoo.recodings.base import from_json
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import Labels, Noised
from privmoo.recodings.nodes import NodeCells, node_cells, numeric_columns
from privmoo.recodings.noise import Laplace
from privmoo.release.release import ReleaseWarning
from tests.scenery.cells import obvious_risks, random_cells, random_table

MEASURES = [
    pm.KAnonymity(),
    pm.Originality(),
    pm.Distortion(),
    pm.InformationLoss(),
    pm.InformationLoss(scale="standard").named("il_standard"),
    pm.DisclosureRisk(),
    pm.DisclosureRisk(aggregate="max").named("risk_max"),
    pm.DisclosureRisk(known=["age", "job"]).named("risk_some"),
    pm.DisclosureRisk(known=["sex"]).named("risk_sex"),
]
seeds = st.integers(0, 2**32 - 1)


@given(seeds)
@settings(max_examples=60)
def test_the_groups_are_those_of_the_published_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    recoding = random_cells(table, rng)
    view = recoding.view(table)
    groups = Engine(view, needs={"labels"}).groups(recoding.candidate(view))[1][0]
    rows = recoding.apply(table, np.arange(table.n_records))
    expected = sorted(rows.groupby(table.qi_names).size())
    assert sorted(groups.sizes.tolist()) == expected


@given(seeds)
@settings(max_examples=80)
def test_every_measure_survives_the_audit_of_a_release(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    recoding = random_cells(table, rng)
    policy = [pm.NoSuppression(), pm.BelowThreshold(2), pm.Budget(0.5)][seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        try:
            release = pm.make_release(
                table, recoding, suppression=policy, measures=MEASURES, seed=seed
            )
        except ReleaseError:
            return  # nothing is left
    assert len(release.certificate.claims) == len(MEASURES)


@given(seeds)
@settings(max_examples=60)
def test_disclosure_risk_is_that_of_the_obvious_attack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(4, 14)))
    recoding = random_cells(table, rng)
    rows = rng.permutation(table.n_records)
    released = recoding.apply(table, rows)
    released["ill"] = table.frame["ill"].to_numpy()[rows]
    known = [name for name in table.qi_names if rng.random() < 0.6] or ["job"]
    meanings = recoding.meanings()
    noise = {
        column.name: StatedNoise(
            np.array(column.noise.scales)[recoding.parts[rows]],
            column.noise.step,
            column.noise.low,
            column.noise.high,
        )
        for column in recoding.columns
        if column.noise is not None
    }
    expected = obvious_risks(table, released, rows, meanings, "ill", known, noise)
    columns = dict(zip(table.qi_names, numeric_columns(table), strict=True))
    own = pd.DataFrame(
        {n: table.frame[n].astype("str") if columns[n] is None else columns[n] for n in known}
    )
    audited = disclosure_risks(
        own,
        released,
        sensitive="ill",
        meanings=meanings,
        numeric=[name for name in known if columns[name] is not None],
        rows=rows,
        noise=noise,
    )
    assert audited.tolist() == pytest.approx(expected, abs=1e-9)
    single = pm.Table(
        table.frame.drop(columns="town"),
        quasi_identifiers={qi.name: qi.hierarchy for qi in table.qis},
        sensitive="ill",
    )
    again = CellRecoding(single, recoding.columns, parts=recoding.parts)
    view = again.view(single)
    groups = Engine(view, needs={"labels"}).groups(again.candidate(view))[1]
    for aggregate, value in (("mean", np.mean(expected)), ("max", max(expected))):
        measure = pm.DisclosureRisk(known=known, aggregate=aggregate)
        assert measure.values(groups)[0] == pytest.approx(value, abs=1e-9)


def test_an_attacker_who_knows_the_noise_is_not_misled_by_loud_records() -> None:
    """Records with much noise are published near everybody, and each is unlikely to be anybody's."""
    n = 60
    rng = np.random.default_rng(5)
    ages = np.concatenate([np.arange(n) + 20.0, rng.integers(20, 80, n)])
    frame = pd.DataFrame({"age": ages, "ill": [f"v{i}" for i in range(2 * n)]})
    table = pm.Table(frame, quasi_identifiers=["age"], sensitive="ill")
    parts = (np.arange(2 * n) >= n).astype(np.int8)
    law = Laplace(scales=(0.1, 100.0), parts=parts, step=1.0)
    scales = law.scale_of(np.arange(2 * n))
    numbers = ages + np.rint(rng.laplace(size=2 * n) * scales)
    recoding = CellRecoding(
        table, [Noised.of_numbers(table, 0, numbers, step=1.0, noise=law)], parts=parts
    )
    released = recoding.apply(table, np.arange(2 * n)).assign(ill=frame["ill"])
    risks = disclosure_risks(
        frame[["age"]],
        released,
        sensitive="ill",
        meanings={},
        numeric=["age"],
        rows=np.arange(2 * n),
        noise={"age": StatedNoise(scales, 1.0)},
    )
    # Who takes the precise record with the known age finds nearly all of those with little noise.
    assert (numbers[:n] == ages[:n]).mean() > 0.95
    assert risks[:n].mean() > 0.8
    view = recoding.view(table)
    groups = Engine(view, needs={"labels"}).groups(recoding.candidate(view))[1]
    assert pm.DisclosureRisk().values(groups)[0] == pytest.approx(risks.mean(), abs=1e-12)
    # By distances in scales alone, a loud record would count nearly as much as the right one.
    weights = np.exp(-np.abs(numbers - ages[:n, None]) / scales)
    assert (np.diag(weights[:, :n]) / weights.sum(axis=1)).mean() < 0.1


@given(seeds)
@settings(max_examples=40)
def test_disclosure_risk_of_cuts_is_that_of_the_obvious_attack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 26, n),
            "job": rng.choice(list("abcdef"), n),
            "ill": ["x", "y", *rng.choice(list("xyz"), n - 2)],
        }
    )
    table = pm.Table(
        frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered(), "job": pm.Hierarchy.ordered()},
        sensitive="ill",
    )
    bits = [rng.random(qi.n_leaves - 1) < 0.4 for qi in table.qis]
    recoding = pm.recodings.cut_recoding(table, bits)
    release = pm.make_release(
        table,
        recoding,
        measures=[pm.DisclosureRisk(), pm.DisclosureRisk(known=["age"]).named("by_age")],
        seed=1,
    )
    table_of_texts = pm.Table(
        frame.astype("str"), quasi_identifiers=["age", "job"], sensitive="ill"
    )
    for claim, known in zip(release.certificate.claims, (["age", "job"], ["age"]), strict=True):
        shown = release.frame.astype("str")
        meanings = {
            name: {label: list(leaves) for label, leaves in own.items()}
            for name, own in release.meanings.items()
        }
        expected = obvious_risks(table_of_texts, shown, release.rows, meanings, "ill", known)
        assert claim.audited == pytest.approx(np.mean(expected), abs=1e-12)


@given(seeds)
@settings(max_examples=30)
def test_a_recoding_reads_back_from_its_file(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    recoding = random_cells(table, rng)
    again = from_json(table, json.loads(json.dumps(recoding.to_json())))
    assert again.key() == recoding.key()
    rows = np.arange(table.n_records)
    pd.testing.assert_frame_equal(again.apply(table, rows), recoding.apply(table, rows))


@pytest.mark.parametrize(
    ("column", "part", "value"),
    [
        ("age", "codes", "AAAA"),
        ("age", "codes", "no base64!"),
        ("age", "n", 10**9),
        ("age", "kind", "words"),
        ("job", "kind", "numbers"),
        ("sex", "codes", "eJwDAAAAAAE="),
        ("age", "scales", [-1.0]),
        ("age", "scales", [1.0]),
    ],
)
def test_a_damaged_file_is_refused(column: str, part: str, value: object) -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, 20)
    data = random_cells(table, rng).to_json()
    data["columns"][column][part] = value
    with pytest.raises((PrivmooError, KeyError)):
        from_json(table, data)


def test_cells_beyond_their_list_are_refused() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng)
    recoding = random_cells(table, rng)
    wrong = replace(recoding.columns[2], codes=recoding.columns[2].codes + 1000)
    stored = CellRecoding(table, [*recoding.columns[:2], wrong, *recoding.columns[3:]]).to_json()
    with pytest.raises(RecodingError, match="does not list"):
        from_json(table, stored)


def test_a_label_has_one_meaning() -> None:
    tree = pm.Hierarchy.levels({"a": ["b", "*"], "c": ["b", "*"], "b": ["d", "*"]})
    table = pm.Table(pd.DataFrame({"x": ["a", "b", "c"]}), quasi_identifiers={"x": tree})
    nodes = NodeCells.of(table.qis[0])
    assert len(set(nodes.labels)) == len(nodes.labels)
    spans = {(int(a), int(b)) for a, b in zip(nodes.start, nodes.stop, strict=True)}
    for level in range(3):
        for leaf in range(3):
            cell = nodes.ids[level, leaf]
            assert nodes.start[cell] <= leaf < nodes.stop[cell]
    assert len(spans) <= len(nodes.labels)


def test_numbers_keep_their_type_and_text_of_digits_is_no_number() -> None:
    rng = np.random.default_rng(0)
    table = random_table(rng, 12)
    own = numeric_columns(table)
    assert [column is None for column in own] == [False, False, True, True, True]
    columns = [
        Noised.of_numbers(table, j, own[j])
        if own[j] is not None
        else Labels.of_nodes(
            table, j, node_cells(table)[j].ids[0, table.tuples[table.row_tuple, j]]
        )
        for j in range(5)
    ]
    rows = CellRecoding(table, columns).apply(table, np.arange(12))
    assert rows["age"].dtype == np.int64 and rows["pay"].dtype == np.float64
    pd.testing.assert_frame_equal(rows, table.frame[table.qi_names], check_dtype=False)


def test_intervals_are_read_as_people_read_them() -> None:
    low, high = numbers_of_labels(pd.Series(["-5–-3", "7", "0.25–1.5"]), "x")
    assert low.tolist() == [-5.0, 7.0, 0.25] and high.tolist() == [-3.0, 7.0, 1.5]
    with pytest.raises(AuditError, match="row 1 is neither a number nor an interval"):
        numbers_of_labels(pd.Series(["3", "many"]), "x")


def test_a_value_is_kept_where_its_label_stands_for_it_alone() -> None:
    original = pd.DataFrame({"job": ["a", "b", "c"]})
    released = pd.DataFrame({"job": ["one", "b", "two"]})
    meanings = {"job": {"one": ["a"], "two": ["b", "c"]}}
    kept = kept_values(original, released, meanings=meanings, numeric=[], rows=[0, 1, 2])
    assert kept["job"].tolist() == [True, True, False]


def test_base_intervals_are_not_original_values() -> None:
    df = pd.DataFrame({"age": [21, 24, 33, 38], "ill": list("xyxy")})
    table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered(step=5)}, sensitive="ill")
    assert pm.Originality()(pm.group(table)) == 0.0


def test_measures_that_cannot_be_had_say_why() -> None:
    rng = np.random.default_rng(1)
    table = random_table(rng)
    recoding = random_cells(table, rng)
    view = recoding.view(table)
    groups = Engine(view, needs={"labels"}).groups(recoding.candidate(view))[1]
    with pytest.raises(MeasureError, match="release means or noised numbers"):
        pm.GeneralLoss().values(groups)
    clusters = pm.recodings.Candidates(labels=np.zeros((1, table.n_tuples), np.int32))
    with pytest.raises(MeasureError, match="originality: needs generalised values"):
        pm.Originality()(pm.group(table, clusters))
    wrong: dict[str, Any]
    for wrong in ({"known": []}, {"aggregate": "median"}):
        with pytest.raises(MeasureError):
            pm.DisclosureRisk(**wrong)
    with pytest.raises(MeasureError, match="did you mean 'age'"):
        pm.DisclosureRisk(known=["aeg"]).check(table)
    with pytest.raises(MeasureError, match="no sensitive attribute"):
        pm.DisclosureRisk().check(pm.Table(table.frame[["age"]], quasi_identifiers=["age"]))
    with pytest.raises(ReleaseError, match="single records cannot be left out"):
        pm.make_release(table, recoding, suppression=np.ones(table.n_records, dtype=bool))
    pairs = pm.Table(pd.concat([table.frame] * 2), quasi_identifiers=["age", "sex"])
    noised = Noised.of_numbers(pairs, 0, np.arange(pairs.n_records, dtype=float))
    stars = Labels.of_nodes(pairs, 1, np.full(pairs.n_records, 2, np.int32))
    with pytest.raises(RecodingError, match="use view"):
        CellRecoding(pairs, [noised, stars]).candidate(pairs)


def test_a_little_noise_hides_nobody_with_a_rare_number() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "pay": rng.normal(50_000, 9_000, 500).round(2),
            "race": rng.choice(list("wab"), 500, p=[0.9, 0.05, 0.05]),
            "ill": rng.choice(list("xyz"), 500),
        }
    )
    table = pm.Table(frame, quasi_identifiers=["pay", "race"], sensitive="ill")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        release = pm.HybridScheme(table, 5, patterns=["race"]).run(1)
    risk = next(c for c in release.certificate.claims if c.measure == "disclosure_risk")
    nearest = np.abs(release.frame["pay"].to_numpy() - frame["pay"].to_numpy()[:, None]).argmin(
        axis=1
    )
    told = (release.frame["ill"].to_numpy()[nearest] == frame["ill"].to_numpy()).mean()
    assert told > 0.9 and risk.audited > 0.9
    risks = pm.analysis.disclosure_risks(table, release)["ill"]
    assert risks.mean() == pytest.approx(risk.audited)
