"""Codes beside words, places inside places, totals, decimal commas, and the words of surveys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privmoo import Config, Hierarchy
from privmoo._util.reading import read_csv
from privmoo.errors import HierarchyError, TableError
from privmoo.guessing import guess
from privmoo.guessing.odd_rows import odd_rows, odd_rows_in_words
from privmoo.hierarchy import Hierarchy as Tree
from tests.scenery.jobs import call

N = 600
RNG = np.random.default_rng(7)
PLACES = {
    "Austin": ("Travis", "Texas"),
    "Pflugerville": ("Travis", "Texas"),
    "Dallas": ("Dallas County", "Texas"),
    "Albany": ("Albany County", "New York State"),
    "Buffalo": ("Erie", "New York State"),
}


def places() -> pd.DataFrame:
    cities = RNG.choice(list(PLACES), N)
    return pd.DataFrame(
        {
            "state": [PLACES[city][1] for city in cities],
            "city": cities,
            "county": [PLACES[city][0] for city in cities],
            "age": RNG.integers(18, 90, N),
        }
    )


def test_places_inside_places_become_one_hierarchy() -> None:
    found = guess(places())
    assert found.names("quasi-identifying") == ["city", "age"]
    city = found["city"]
    assert city.hierarchy is not None and str(city.hierarchy) == "under county, state"
    assert "Austin;Travis;Texas;*" in str(city.hierarchy.content).splitlines()
    assert found["county"].reason == (
        'is a level of the hierarchy of column "city", so it is excluded'
    )


def test_the_job_of_nested_places_runs(tmp_path: Path) -> None:
    places().to_csv(tmp_path / "data.csv", index=False)
    guess(places()).write(tmp_path, tmp_path / "data.csv")
    table = Config.load(tmp_path / "privmoo.toml").table
    hierarchy = table.qis[0].hierarchy
    # The order is that of the data, which are drawn anew.
    assert hierarchy is not None
    assert set(hierarchy.leaves_under("Texas")) == {"Austin", "Pflugerville", "Dallas"}


def test_places_that_cross_are_left_apart() -> None:
    crossed = places().assign(county=RNG.choice(["Erie", "Travis"], N))
    found = guess(crossed)
    assert "county" in found.names("quasi-identifying")
    assert str(found["city"].hierarchy) == "under state"


@pytest.mark.parametrize("known", ["diagnosis", "zzz_description"])
def test_a_code_follows_its_description(known: str) -> None:
    codes = RNG.integers(100, 106, N)
    frame = pd.DataFrame({"zzz": codes, known: [f"illness {c % 100}" for c in codes]})
    found = guess(frame.assign(sex=RNG.choice(["f", "m"], N)))
    if known == "diagnosis":
        assert found["zzz"].role == "sensitive"
        assert found["zzz"].reason == 'goes with column "diagnosis", which is sensitive'
    else:
        assert found["zzz"].unsure and found[known].unsure


def test_a_known_place_beside_a_sensitive_column_is_sensitive() -> None:
    codes = RNG.integers(0, 5, N)
    frame = pd.DataFrame(
        {"illness": [f"i{c}" for c in codes], "ward": [f"w{c}" for c in codes], "age": codes + 20}
    )
    assert guess(frame.assign(age=RNG.integers(20, 80, N)))["ward"].role == "sensitive"


def test_blank_rows_and_totals_are_told() -> None:
    frame = pd.DataFrame({"city": ["A", "B"] * 20, "income": range(40), "sex": ["f", "m"] * 20})
    odd = pd.DataFrame({"city": [None, "Total"], "income": [None, 780], "sex": [None, None]})
    both = pd.concat([frame, odd], ignore_index=True)
    assert [rows.tolist() for rows in odd_rows(both)] == [[40], [41]]
    found = guess(both)
    assert found.note == (
        "The file has 1 row without any value, first row 41 and 1 row that may be a total (42), counted "
        "after the header: remove what is nobody's record."
    )
    assert f"# {found.note}" in found.to_toml("data.csv")
    assert guess(frame).note == "" == odd_rows_in_words(frame)
    assert guess(frame)["city"].reason == found["city"].reason


def test_a_word_that_occurs_often_is_no_total() -> None:
    frame = pd.DataFrame({"cover": ["all", "half"] * 20, "age": range(40)})
    assert odd_rows_in_words(frame) == ""


CSV = "Geschl.;Alter;Einkommen;PLZ\n" + "".join(
    f"{'m' if i % 2 else 'w'};{20 + i % 50};{1000 + i % 7},{i % 10}5;{10115 + i % 9}\n"
    for i in range(200)
)


def test_decimal_commas_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "leute.csv"
    path.write_text(CSV, encoding="utf-8")
    assert read_csv(path).dtypes.astype(str)["Einkommen"] == "str"
    frame = read_csv(path, decimal=",")
    assert frame["Einkommen"].tolist()[:2] == [1000.05, 1001.15]
    assert frame.dtypes.astype(str).tolist() == ["str", "int64", "float64", "int64"]
    assert call("init", str(path), monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "decimal commas; releases have decimal points" in said
    assert "the name says sex" in said and "read as text" not in said
    config = Config.load(tmp_path / "privmoo.toml")
    assert config.frame()["Einkommen"].dtype == "float64"
    with pytest.raises(TableError, match="decimal: must be"):
        read_csv(path, decimal=";")


def test_thousands_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b;c\n1.234,5;1,5;01,5\n2,5;2,25;2,5\n", encoding="utf-8")
    frame = read_csv(path, decimal=",")
    assert frame.dtypes.astype(str).tolist() == ["str", "float64", "str"]
    assert frame["c"].tolist() == ["01,5", "2,5"]  # as it is written


def test_commas_in_texts_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\nSmith, Ann;1,5\nLee, Bo;2,25\n", encoding="utf-8")
    frame = read_csv(path, decimal=",")
    assert frame["a"].tolist() == ["Smith, Ann", "Lee, Bo"] and frame["b"].tolist() == [1.5, 2.25]


def test_a_scan_reads_decimal_commas(tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    (tmp_path / "a.csv").write_text("a;b\n1,5;x\n2;y\n", encoding="utf-8")
    columns = '[columns]\na = "quasi-identifying"\nb = "sensitive"\n'
    job.write_text(f'[data]\nfile = "a.csv"\nscan = true\ndecimal = ","\n{columns}')
    assert Config.load(job).table.qis[0].leaves == ("1.5", "2")


@pytest.mark.parametrize(
    ("order", "spelling"),
    [("year first", "%Y-%m-%d"), ("day first", "%d.%m.%Y"), ("month first", "%m/%d/%Y")],
)
def test_dates_go_by_periods(order: str, spelling: str) -> None:
    days = pd.to_datetime(["2021-06-02", "1999-12-31", "2021-05-31", "2023-01-01", "2021-05-30"])
    tree = Tree.dates(order=order).bind(days.strftime(spelling))
    assert list(tree.leaves) == days.sort_values().strftime(spelling).tolist()
    labels = [tree.level_labels(level) for level in range(1, tree.n_levels)]
    assert [list(names) for names in labels] == [
        ["1999-12", "2021-05", "2021-06", "2023-01"],
        ["1999 Q4", "2021 Q2", "2023 Q1"],
        ["1999", "2021", "2023"],
        ["1995–1999", "2020–2024"],
        ["1990s", "2020s"],
        ["*"],
    ]


def test_times_of_the_day_go_first() -> None:
    times = pd.to_datetime(["2021-06-02 10:00", "2021-06-02 11:00", "2021-06-03 09:00"])
    tree = Hierarchy.dates().bind(times)
    assert list(tree.level_labels(1)) == ["2021-06-02", "2021-06-03"]
    with pytest.raises(HierarchyError, match="not a date with the year first"):
        Hierarchy.dates().bind(["2021-13-40", "x"])


SURVEY = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
SURVEY += ["expend", "income", "savings", "ori_hid"]


def test_the_columns_of_a_household_survey_are_known() -> None:
    codes = {name: RNG.integers(1, 7, N) for name in SURVEY}
    money = {name: RNG.random(N) * 1e6 for name in ("expend", "income", "savings")}
    others = {"age": RNG.integers(0, 90, N), "ori_hid": RNG.integers(0, 200, N)}
    weights = {
        "sampling_weight": RNG.integers(90, 110, N) / 1.0,
        "household_weights": RNG.integers(20, 30, N) / 1.0,
    }
    found = guess(pd.DataFrame({**codes, **money, **others, **weights}))
    assert not any("role unknown" in column.reason for column in found.columns)
    assert found.names("quasi-identifying") == SURVEY[:9]
    assert found.names("sensitive") == ["expend", "income", "savings"]
    assert found.names("identifying") == ["ori_hid", "sampling_weight", "household_weights"]
    assert str(found["roof"].hierarchy) == "flat"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Geschl.", "sex"),
        ("Geb.dat.", "birth"),
        ("Fam.stand", "marital status"),
        ("educ", "education"),
    ],
)
def test_abbreviations(name: str, says: str) -> None:
    values = ["2001-01-02", "1999-05-06", "2003-03-03"] if says == "birth" else ["a", "b", "c"]
    frame = pd.DataFrame({name: [values[i % 3] for i in range(N)], "age": RNG.integers(18, 90, N)})
    assert guess(frame)[name].reason.startswith(f"the name says {says}")


def test_a_column_that_is_nearly_constant_leads_to_no_dead_end() -> None:
    frame = pd.DataFrame(
        {"age": RNG.integers(18, 90, N), "illness": ["none"] * (N - 6) + ["flu"] * 6}
    )
    found = guess(frame)
    assert "nearly always the same one" in found["illness"].reason
    assert "KLSafe" not in found.to_toml("data.csv")
    mixed = frame.assign(illness=RNG.choice(["none", "flu"], N))
    assert "KLSafe" in guess(mixed).to_toml("data.csv")
