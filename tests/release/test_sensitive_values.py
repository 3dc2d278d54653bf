"""Sensitive values that are missing or nearly equal: they must not look like diversity."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.audit import audit
from privmoo.audit.values import stands_for_missing
from privmoo.data.spelling_variants import alike, reads_as_missing
from privmoo.errors import ProblemError, TableError, TableWarning
from privmoo.release.release import ReleaseWarning
from tests.scenery.cli import here
from tests.scenery.scanning import table_by

ATTACKED = pd.DataFrame(
    {
        "age": [30] * 4 + [40] * 4,
        "ill": ["HIV", "HIV", None, None, "flu", "HIV", "cold", "flu"],
    }
)
ROLES: dict[str, Any] = {
    "quasi_identifiers": {"age": pm.Hierarchy.ordered()},
    "sensitive": "ill",
}
DIVERSITY = ["distinct_l", "p", "entropy_l", "l"]


def released(table: pm.Table) -> pm.release.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        return pm.release.make_release(
            table,
            pm.recodings.cut_recoding(table, [[1]]),
            measures=[pm.DistinctDiversity(), pm.FrequencyDiversity(), pm.TCloseness()],
        )


def test_missing_values_do_not_make_a_group_diverse() -> None:
    table = pm.Table(ATTACKED, **ROLES)
    certificate = released(table).certificate
    row = certificate.privacy["sensitive"]["ill"]
    assert (row["distinct_l"], row["l"], row["entropy_l"], row["alpha"]) == (1, 1, 1, 1)
    assert row["t"] == pytest.approx(0.5) and row["homogeneity"] == 0.5
    assert "'ill' has missing values. Measures of diversity count each" in certificate.to_text()
    assert pm.DistinctDiversity().range(table) == (0, 3)


def test_missing_values_are_values_on_request() -> None:
    table = pm.Table(ATTACKED, missing="value", **ROLES)
    certificate = released(table).certificate
    row = certificate.privacy["sensitive"]["ill"]
    assert (row["distinct_l"], row["l"], row["entropy_l"], row["homogeneity"]) == (2, 2, 2, 0)
    assert "count as a value like any other" in certificate.to_text()


def test_a_group_of_missing_values_alone_has_one_value_and_no_distance() -> None:
    frame = pd.DataFrame({"age": [30, 30, 40, 40], "ill": [None, None, "flu", "cold"]})
    result = pm.Table(frame, **ROLES).audit()
    assert [result.measure(name) for name in DIVERSITY] == [1, 1, 1, 1]
    assert result.measure("homogeneity") == 0.5
    assert result.measure("t") == result.measure("beta") == result.measure("delta") == 0
    assert result.measure("skewness", factor=0.5) == 0.5


def test_the_switch_is_in_fingerprints_samples_jobs_and_files(tmp_path: Path) -> None:
    unknown, value = pm.Table(ATTACKED, **ROLES), pm.Table(ATTACKED, missing="value", **ROLES)
    assert unknown.fingerprint != value.fingerprint
    complete = ATTACKED.fillna("flu")
    assert (
        pm.Table(complete, **ROLES).fingerprint
        == pm.Table(complete, missing="value", **ROLES).fingerprint
    )
    assert value.sample(8, seed=1).missing == "value"
    ATTACKED.to_csv(tmp_path / "data.csv", index=False)
    for line, expected in (("", 1), ('missing = "value"', 2)):
        job = tmp_path / "job.toml"
        job.write_text(
            f"""
            [data]
            file = "data.csv"
            {line}
            [columns.age]
            role = "quasi-identifying"
            hierarchy = "ordered"
            [columns.ill]
            role = "sensitive"
            """,
            encoding="utf-8",
        )
        assert pm.Config.load(job).table.audit().distinct_l == expected


# Texts that a program may read as missing


SPELLINGS = ["NA", "", " ", "?", "null", "N/A", "None", "nan", "<NA>", "#N/A", "n/a", "\u200bNA"]
ENGINES = ["memory", "duckdb", "dask"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", SPELLINGS)
def test_a_text_that_reads_as_missing_adds_no_diversity(
    text: str, engine: str, tmp_path: Path
) -> None:
    frame = ATTACKED.fillna(text)
    table = table_by(engine, frame, tmp_path, **ROLES)
    like_missing = pm.Table(ATTACKED, **ROLES)
    assert table.audit().to_dict() == like_missing.audit().to_dict()
    problem = pm.problems.Cuts(
        table, objectives=[pm.FrequencyDiversity(), pm.GeneralLoss()], extras=[pm.TCloseness()]
    )
    front = pm.Front.of(problem, [[1], [0]])
    assert front.column("l").tolist() == [1, 8 / 5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        front[0].write(tmp_path / "public.csv")  # the audit agrees, or this raises
    parts = sorted((tmp_path / "public.csv").glob("*.csv")) or [tmp_path / "public.csv"]
    naive = pd.concat(map(pd.read_csv, parts))
    assert audit(naive, quasi_identifiers=["age"], sensitive=["ill"]).l == 1
    (certificate,) = tmp_path.rglob("*certificate.txt")
    assert "'ill' has missing values" in certificate.read_text("utf-8")

    value = table_by(engine, frame, tmp_path, missing="value", **ROLES)
    assert value.audit().l == 2 and value.audit().distinct_l == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_several_spellings_of_missing_are_one(engine: str, tmp_path: Path) -> None:
    ills = ["HIV", "NA", "null", None, "?", "N/A", None, "-", "flu", "cold", "?", "cold"]
    frame = pd.DataFrame({"age": [30] * 4 + [40] * 4 + [50] * 4, "ill": ills})
    one = frame.assign(ill=frame["ill"].where(~frame["ill"].isin(["NA", "null", "?", "N/A"]), None))
    table = table_by(engine, frame, tmp_path, **ROLES)
    assert table.audit().to_dict() == pm.Table(one, **ROLES).audit().to_dict()
    objectives = [pm.FrequencyDiversity(), pm.GeneralLoss()]
    extras = [pm.TCloseness(), pm.EntropyDiversity(), pm.Homogeneity()]
    cuts = [[1, 1], [0, 1], [1, 0], [0, 0]]
    fronts = [
        pm.Front.of(pm.problems.Cuts(t, objectives=objectives, extras=extras), cuts)
        for t in (table, pm.Table(one, **ROLES))
    ]
    assert np.array_equal(fronts[0].values, fronts[1].values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        for i, chosen in enumerate(fronts[0]):
            chosen.write(tmp_path / f"public{i}.csv")
    with pytest.raises(TableError, match="spells missing values in several ways"):
        table_by(engine, frame, tmp_path, target="ill", **ROLES)
    assert table_by(engine, one, tmp_path, target="ill", **ROLES).target is not None


def test_texts_that_read_as_missing_are_told_of() -> None:
    frame = ATTACKED.fillna("NA")
    with pytest.warns(TableWarning, match="'ill' has texts that programs read as missing") as said:
        pm.Table(frame, **ROLES)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pm.Table(frame, missing="value", **ROLES)
        pm.Table(ATTACKED, **ROLES)
        assert pm.Table(frame.replace("NA", "no"), **ROLES).sensitive["ill"].unknown is None
        word = pm.Table(
            frame.replace("NA", "none"), **ROLES
        )  # no illness: pandas reads it as it is
        assert word.sensitive["ill"].unknown is None and word.audit().l == 2
    both = frame.assign(ill=["NA", "null", "none", "None", *frame["ill"][4:]])
    with pytest.warns(TableWarning, match="'ill' has 2 values that differ from another one only"):
        table = pm.Table(both, **ROLES)
    assert table.audit().to_dict()["sensitive"]["ill"]["values_alike"] == 2
    several = frame.assign(ill=["NA", "null", "NaN", "n/a", *frame["ill"][4:]])
    with pytest.warns(TableWarning, match="'ill' has 4 values that differ from another one only"):
        table = pm.Table(several, missing="value", **ROLES)
    assert table.audit().to_dict()["sensitive"]["ill"]["values_alike"] == 4
    assert audit(several, quasi_identifiers=["age"], sensitive=["ill"]).distinct_l == 1


@given(st.text(alphabet="nNaA/<>#?- -1.QIDulLoOeEmissg\u200b\u061c\u00a0", max_size=7))
def test_table_and_audit_agree_on_what_reads_as_missing(text: str) -> None:
    assert reads_as_missing(text) == stands_for_missing(text)
    assert not pd.isna(pd.read_csv(io.StringIO(f'a\n"{text}"\n'))["a"][0]) or reads_as_missing(text)


@pytest.mark.parametrize("missing", ["unknown", "value"])
def test_scanned_tables_count_alike(missing: Any, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    ATTACKED.to_parquet(tmp_path / "data.parquet")
    table = pm.Table.scan(tmp_path / "data.parquet", missing=missing, **ROLES)
    assert table.audit().to_dict() == pm.Table(ATTACKED, missing=missing, **ROLES).audit().to_dict()
    problem = pm.problems.Cuts(table, objectives=[pm.FrequencyDiversity(), pm.GeneralLoss()])
    front = pm.optimize(problem, budget=2, seed=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        front[0].write(tmp_path / "public.csv")
    again = pd.read_csv(tmp_path / "public.csv")
    found = audit(again, quasi_identifiers=["age"], sensitive=["ill"], missing=missing).l
    assert found == front[0].values["l"]


def test_baselines_refuse_to_promise_diversity_of_missing_values() -> None:
    frame = ATTACKED.assign(age=np.arange(8))
    table = pm.Table(frame, quasi_identifiers=["age"], sensitive="ill")
    with pytest.raises(ProblemError, match="'ill' has missing values, which add no diversity"):
        pm.baselines.mondrian(table, 2, l=2)
    assert pm.baselines.mondrian(table, 2) is not None


@pytest.mark.parametrize(
    "values",
    [
        ["HIV", "hiv", "HIV ", " hiv"],
        ["1", "1.0", "01", "+1"],
        ["HIV", "ＨＩＶ", "HIV\u200b", "HI\u00adV"],
        ["type 2", "type  2", "Type 2", "type\u00a02"],
    ],
)
def test_values_that_a_reader_takes_for_one_are_warned_of(values: list[str]) -> None:
    frame = pd.DataFrame({"age": [30] * 4 + [40] * 2, "ill": [*values, "flu", "cold"]})
    with pytest.warns(TableWarning, match="'ill' has 4 values that differ from another one only"):
        table = pm.Table(frame, **ROLES)
    assert set(table.sensitive["ill"].alike[0]) == set(values)
    assert table.audit().to_dict()["sensitive"]["ill"]["values_alike"] == 4
    certificate = released(table).certificate
    (remark,) = [text for text in certificate.warnings if "differ from another only" in text]
    assert remark.startswith("4 values of 'ill'")
    assert not any(value in remark for value in values if len(value.strip()) > 2)


def test_values_that_differ_are_not_warned_of() -> None:
    values = ["HIV", "HPV", "1", "2", "1.5", "10", "1_0", "type 1", "type 2", "none of these"]
    assert alike(values) == ()
    frame = pd.DataFrame({"age": 30, "ill": values})
    assert "values_alike" not in pm.Table(frame, **ROLES).audit().to_dict()["sensitive"]["ill"]
    pay = pd.DataFrame({"age": 30, "ill": [1.0, 10.0, 0.1, np.nan]})
    assert "values_alike" not in pm.Table(pay, **ROLES).audit().to_dict()["sensitive"]["ill"]


def test_the_command_line_notes_values_that_are_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30] * 4, "ill": ["HIV", "hiv", "flu", "cold"]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    ended = here(tmp_path, "audit", "data.csv", "--qi", "age", "--sensitive", "ill")
    assert ended.code == 0, ended.said
    assert "2 values of 'ill' differ from another only in letter case" in ended.said
