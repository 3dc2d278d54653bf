"""SPARCS: hierarchies that cover it, the sixteen test cases, and invented records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privmoo.data.table import Table
from privmoo.datasets import load_sparcs, sparcs_case, sparcs_hierarchies, sparcs_like
from privmoo.datasets.sparcs_areas import AREAS, REDACTED
from privmoo.datasets.sparcs_cases import CASE_QUASI_IDENTIFIERS, CASE_SENSITIVE
from privmoo.datasets.sparcs_like import facilities
from privmoo.errors import ColumnError, TableError

REAL = ["sparcs_2016_statewide_sample1000", "sparcs_2016_western_ny_first10000"]
PLACES = ("Operating Certificate Number", "Facility Id", "Facility Name")


def real(folder: Path, name: str) -> pd.DataFrame:
    return load_sparcs(folder / "sparcs" / f"{name}.csv.gz")


# Hierarchies ------------------------------------------------------------------------------------


def test_hierarchies_have_few_levels_and_cover_the_cases() -> None:
    hierarchies = sparcs_hierarchies()
    assert {*CASE_QUASI_IDENTIFIERS, *PLACES, "Discharge Year"} <= hierarchies.keys()
    frame = sparcs_like(50)
    for name, hierarchy in hierarchies.items():
        bound = hierarchy.bind(frame[name].dropna(), column=name)
        assert 2 <= bound.n_levels <= (5 if name in PLACES else 4), name
        assert bound.n_leaves > 1


def test_counties_are_those_of_the_state() -> None:
    counties = [county for area in AREAS.values() for county in area]
    assert len(counties) == len(set(counties)) == 62
    county = sparcs_hierarchies()["Hospital County"]
    assert sorted(county.leaves) == sorted(counties)
    for area, own in AREAS.items():
        assert set(county.leaves_under(area)) == set(own)


def test_length_of_stay() -> None:
    stay = sparcs_hierarchies()["Length of Stay"].bind([1, 120])
    assert stay.level_labels(1) == ("1–2", "3–4", "5–7", "8–14", "15–30", "31–120")
    assert stay.level_labels(2) == ("1–4", "5–14", "15–120")
    assert stay.n_leaves == 120


@pytest.mark.parametrize("name", REAL)
def test_hierarchies_cover_the_real_values(shared_data: Path, name: str) -> None:
    frame = real(shared_data, name)
    hierarchies = sparcs_hierarchies(frame)
    assert len(hierarchies.keys() & set(frame.columns)) == 23
    for column in hierarchies.keys() & set(frame.columns):
        hierarchy = hierarchies[column].bind(frame[column], column=column)
        assert (hierarchy.encode(frame[column]) >= 0).all()
    # A county lies where the records say it does, and a facility in its county.
    county, places = hierarchies["Hospital County"], hierarchies["Facility Name"]
    pairs = frame[["Hospital County", "Health Service Area", "Facility Name"]].dropna()
    for own, area, facility in pairs.drop_duplicates().itertuples(index=False):
        assert own in county.leaves_under(area)
        assert facility in places.leaves_under(own)


def test_facilities_without_a_county_are_kept_apart() -> None:
    frame = pd.DataFrame(
        {
            "Facility Name": ["A", "B", "Hidden", "A"],
            "Hospital County": ["Erie", "Kings", None, "Kings"],
        }
    )
    places = sparcs_hierarchies(frame)["Facility Name"]
    assert places.leaves_under("Erie") == ("A",)  # the first county counts
    assert places.leaves_under("unknown") == ("Hidden", REDACTED)
    assert places.leaves_under("Downstate") == ("B",)
    assert "Facility Name" not in sparcs_hierarchies(frame[["Hospital County"]])
    assert "Facility Name" not in sparcs_hierarchies(frame[["Facility Name"]])
    with pytest.raises(TableError, match="must be a data frame"):
        sparcs_hierarchies([1])


# Cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 17))
def test_cases_have_the_sizes_of_the_paper(number: int) -> None:
    case = sparcs_case(number)
    assert case.n_qis == [8, 10, 12, 14][(number - 1) // 4]
    assert case.n_records == [200, 200, 400, 400][(number - 1) % 4]
    assert case.qi_names == list(CASE_QUASI_IDENTIFIERS[: case.n_qis])
    assert list(case.sensitive) == [CASE_SENSITIVE] and not case.n_dropped
    assert all(qi.hierarchy is not None and qi.hierarchy.n_levels >= 2 for qi in case.qis)


def rows_of(number: int, frame: pd.DataFrame, seed: int = 0) -> set[int]:
    """Which rows a case has, told by a diagnosis that counts them."""
    counted = frame.assign(**{CASE_SENSITIVE: np.arange(len(frame))})
    return set(sparcs_case(number, counted, seed=seed).frame[CASE_SENSITIVE])


def test_samples_are_disjoint_and_the_same_for_all_numbers_of_columns() -> None:
    frame = sparcs_like(900)
    for first in (1, 5, 9, 13):
        t1, t2, t3, t4 = (rows_of(first + i, frame) for i in range(4))
        assert [len(t) for t in (t1, t2, t3, t4)] == [200, 200, 400, 400]
        assert not t1 & t2 and not t3 & t4 and t3 == t1 | t2
    assert rows_of(1, frame) == rows_of(13, frame) != rows_of(1, frame, seed=1)


@pytest.mark.parametrize("name", REAL)
def test_cases_of_real_records(shared_data: Path, name: str) -> None:
    frame = real(shared_data, name)
    for number in (1, 8, 12, 16):
        assert sparcs_case(number, frame).n_qis == sparcs_case(number).n_qis
    raw = pd.read_csv(shared_data / "sparcs" / f"{name}.csv.gz", dtype=str)
    same, other = sparcs_case(16, raw), sparcs_case(16, frame)
    assert (same.tuples == other.tuples).all()


def test_stays_as_the_export_spells_them_are_read() -> None:
    frame = sparcs_like(400)
    spelled = frame["Length of Stay"].astype(str).where(frame["Length of Stay"] < 5, "120 +")
    case = sparcs_case(3, frame.assign(**{"Length of Stay": spelled}))
    days = case.frame["Length of Stay"]
    assert set(days) == {1, 2, 3, 4, 120} and days.dtype == np.int64


def test_a_table_is_as_good_as_its_frame() -> None:
    frame = sparcs_like(800)
    table = Table(frame, quasi_identifiers=["Gender"])
    assert sparcs_case(4, table).fingerprint == sparcs_case(4, frame).fingerprint


def test_bad_cases() -> None:
    for number in (0, 17, 1.0, True, "T1"):
        with pytest.raises(TableError, match="the test cases are 1 to 16"):
            sparcs_case(number)
    with pytest.raises(TableError, match="300 records are too few for T2, which needs 400"):
        sparcs_case(2, sparcs_like(300))
    with pytest.raises(ColumnError, match="no column 'Gender'; did you mean 'Gendre'"):
        sparcs_case(1, sparcs_like(200).rename(columns={"Gender": "Gendre"}))


# Invented records -------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(1, 400), st.integers(0, 2**32))
def test_invented_records_are_covered_and_repeatable(n_records: int, seed: int) -> None:
    frame = sparcs_like(n_records, seed=seed)
    assert frame.shape == (n_records, 34)
    pd.testing.assert_frame_equal(frame, sparcs_like(n_records, seed=seed))
    for hierarchies in (sparcs_hierarchies(), sparcs_hierarchies(frame)):
        for name in frame.columns.intersection(list(hierarchies)):
            known = frame[name].dropna()
            if len(known):
                hierarchies[name].bind(known, column=name)


def test_invented_records_depend_as_they_should() -> None:
    frame = sparcs_like(5000, seed=3)
    area_of = {county: area for area, own in AREAS.items() for county in own}
    known = frame.dropna(subset=["Hospital County"])
    assert (known["Hospital County"].map(area_of) == known["Health Service Area"]).all()
    assert 0 < len(frame) - len(known) < 60
    hidden = frame[frame["Hospital County"].isna()]
    assert set(hidden["Facility Name"]) == {REDACTED}
    assert hidden["Facility Id"].isna().all() and hidden["Zip Code - 3 digits"].isna().all()
    births = frame["CCS Diagnosis Description"] == "Liveborn"
    assert set(frame[births]["Age Group"]) == {"0 to 17"} and 0.06 < births.mean() < 0.14
    assert ((frame["Birth Weight"] > 0) == births).all()
    assert ((frame["Type of Admission"] == "Newborn") == births).all()
    assert set(frame[frame["APR MDC Code"] == 14]["Gender"]) == {"F"}
    near = frame[frame["Hospital County"] == "Bronx"]["Zip Code - 3 digits"]
    assert (near == "104").mean() > 0.8
    stay = frame.groupby("APR Severity of Illness Code")["Length of Stay"].mean()
    assert stay.is_monotonic_increasing and frame["Length of Stay"].between(1, 120).all()
    assert (frame["Total Costs"] < frame["Total Charges"]).all()


def test_invented_records_of_one_county() -> None:
    frame = sparcs_like(1020, seed=0, county="Allegany")
    assert set(frame["Hospital County"].dropna()) == {"Allegany"}
    assert set(frame["Health Service Area"].dropna()) == {"Western NY"}
    assert (frame["Race"] == "White").mean() > 0.96
    assert set(frame["Zip Code - 3 digits"].dropna()) == {"148", "147", "145", "OOS"}
    # As many groups of the paper's QID 2 as among the real records (51), roughly.
    names = ["Hospital County", "Age Group", "Zip Code - 3 digits", "Gender", "Race"]
    assert 40 < len(frame[names].dropna().drop_duplicates()) < 75
    pd.testing.assert_frame_equal(frame, sparcs_like(1020, seed=0, county="Allegany"))
    assert not frame.equals(sparcs_like(1020, seed=1, county="Allegany"))
    with pytest.raises(TableError, match="county: only 'Allegany' can be invented by itself"):
        sparcs_like(10, county="Kings")


def test_hospitals_are_invented() -> None:
    known = facilities()
    assert known["Facility Name"].str.startswith("Invented Hospital").all()
    for name in PLACES:
        assert known[name].is_unique


@pytest.mark.parametrize("n_records", [0, -1, 2.0, True, None])
def test_bad_number_of_records(n_records: int) -> None:
    with pytest.raises(TableError, match="n_records: must be a whole number of at least 1"):
        sparcs_like(n_records)


def test_form_and_spellings_are_those_of_the_real_file(shared_data: Path) -> None:
    frames = [real(shared_data, name) for name in REAL]
    frame = sparcs_like(1000)
    assert list(frame.columns) == list(frames[0].columns)
    assert frame.dtypes.to_dict() == frames[0].dtypes.to_dict()
    both = pd.concat(frames)
    for name in frame.columns:
        if frame[name].dtype == object and name != "Facility Name":
            assert set(frame[name].dropna()) <= set(both[name].dropna()), name
    codes = ["CCS Diagnosis", "CCS Procedure", "APR DRG", "APR MDC", "APR Severity of Illness"]
    for what in codes:
        pair = [f"{what} Code", f"{what} Description"]
        seen = set(both[pair].drop_duplicates().itertuples(index=False, name=None))
        assert set(frame[pair].drop_duplicates().itertuples(index=False, name=None)) <= seen
    drg = ["APR DRG Code", "APR MDC Code", "APR Medical Surgical Description"]
    seen = set(both[drg].drop_duplicates().itertuples(index=False, name=None))
    assert set(frame[drg].drop_duplicates().itertuples(index=False, name=None)) <= seen
