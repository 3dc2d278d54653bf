"""Loaders for data from elsewhere: ARX folders, SPARCS exports, Synthea, and files that are not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from privmoo.datasets import load_arx, load_sparcs, load_synthea
from privmoo.errors import PrivmooError, TableError

SPARCS = ",Age Group,Gender,Race,Ethnicity,Length of Stay,Facility Id,Total Costs\n"
PATIENTS = "Id,BIRTHDATE,GENDER,RACE,ETHNICITY,ZIP,INCOME\n"
PLANS = "Id,START,STOP,PATIENT,CODE,DESCRIPTION\n"


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


# Files that no loader can read ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n", "is empty"),
        ("header.csv", "a,b\n", "has columns but no rows"),
        (
            "short.csv",
            "a,b,c\n1,2,3\n1,2\n",
            "row 2 after the header has 2 cells, but the header has 3",
        ),
        (
            "long.csv",
            "a,b\n1,2\n1,2,3\n",
            "row 2 after the header has 3 cells, but the header has 2",
        ),
        (
            "longer.csv",
            "a,b\n1,2,3\n4,5,6\n",
            "row 1 after the header has 3 cells, but the header has 2",
        ),
        ("twice.csv", "a,b,a\n1,2,3\n", "column name 'a' occurs more than once"),
        ("quote.csv", 'a,b\n1,"2\n3,4\n', "not a readable CSV file"),
        ("latin.csv", b"a,b\n\xe4,\xff\n", "is not utf-8 text"),
        (
            "binary.csv",
            bytes(range(256)) * 4,
            "not a readable CSV file|not a SPARCS export|is not utf-8",
        ),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    file = write(tmp_path / name, content)
    with pytest.raises(TableError, match=message) as caught:
        load_sparcs(file)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress((SPARCS + "0,a,F,b,c,1,2,3\n" * 5000).encode())
    for name, data in {"cut.csv.gz": whole[:-20], "not.csv.gz": b"a,b\n1,2\n"}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError, match="not a readable CSV file") as caught:
            load_sparcs(tmp_path / name)
        assert name in str(caught.value)


@pytest.mark.parametrize("load", [load_arx, load_sparcs, load_synthea])
def test_nothing_there(tmp_path: Path, load: Any) -> None:
    with pytest.raises(TableError, match=r"nowhere: no such (file|folder)"):
        load(tmp_path / "nowhere")
    with pytest.raises(TableError):
        load(tmp_path)


# ARX --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["", "hierarchies"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("separator", [";", ","])
def test_arx_layouts(tmp_path: Path, place: str, ending: str, separator: str) -> None:
    data = "age;zip;ill\n34;01234;flu\n45;01235;flu\n66;11234;cold\n"
    zips = "01234;0123*;*\n01235;0123*;*\n11234;1123*;*\n"
    write(tmp_path / f"toy{ending}", data.replace(";", separator))
    write(tmp_path / place / f"toy_hierarchy_zip{ending}", zips.replace(";", separator))
    table = load_arx(tmp_path, sensitive="ill")
    assert table.qi_names == ["zip"]
    assert table.qis[0].leaves == ("01234", "01235", "11234")
    assert table.roles == {"age": "identifying", "zip": "quasi-identifying", "ill": "sensitive"}
    assert table.frame["age"].tolist() == [34, 45, 66]
    told = load_arx(tmp_path, quasi_identifiers=["age", "zip"], target="ill")
    assert told.qi_names == ["age", "zip"]
    assert told.qis[0].hierarchy is None and told.target_name == "ill"


def test_arx_hierarchy_of_a_sensitive_column(tmp_path: Path) -> None:
    write(tmp_path / "toy.csv", "sex,ill\nF,flu\nM,cold\n")
    write(tmp_path / "toy_hierarchy_ill.csv", "flu,*\ncold,*\n")
    write(tmp_path / "toy_hierarchy_sex.csv", "F,*\nM,*\n")
    table = load_arx(tmp_path, sensitive="ill")
    assert table.qi_names == ["sex"]
    assert table.sensitive["ill"].hierarchy is not None


def test_arx_several_data_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / f"{name}.csv", f"sex,{name}\nF,1\nM,2\n")
        write(tmp_path / f"{name}_hierarchy_sex.csv", "F;*\nM;*\n")
    with pytest.raises(TableError, match="2 CSV files beside the hierarchies"):
        load_arx(tmp_path)
    assert list(load_arx(tmp_path, data="two.csv").frame.columns) == ["sex", "two"]
    with pytest.raises(TableError, match=r"did you mean 'two\.csv'"):
        load_arx(tmp_path, data="tow.csv")


def test_arx_errors(tmp_path: Path) -> None:
    write(tmp_path / "toy.csv", "sex,ill\nF,flu\nM,cold\nX,flu\n")
    with pytest.raises(TableError, match="name the quasi_identifiers"):
        load_arx(tmp_path)
    file = write(tmp_path / "toy_hierarchy_sxe.csv", "F;*\nM;*\n")
    with pytest.raises(TableError, match="no column 'sxe'; did you mean 'sex'"):
        load_arx(tmp_path)
    file.rename(tmp_path / "toy_hierarchy_sex.csv")
    with pytest.raises(PrivmooError, match=r"column 'sex', row 2 .*toy_hierarchy_sex"):
        load_arx(tmp_path)
    write(tmp_path / "hierarchies" / "toy_hierarchy_sex.csv", "F;*\nM;*\nX;*\n")
    with pytest.raises(TableError, match="keep one of them"):
        load_arx(tmp_path)


def test_arx_adult(shared_data: Path) -> None:
    table = load_arx(shared_data / "arx_adult")
    assert table.n_records == 30162
    assert len(table.qis) == 9 and table.n_tuples == 19502
    # Average prosecutor risk of the untransformed table, as ARX reports it.
    assert table.n_tuples / table.n_records == pytest.approx(0.6465751607983555, abs=0)
    assert {qi.name: qi.n_leaves for qi in table.qis}["age"] == 100


def test_arx_cmc(shared_data: Path) -> None:
    table = load_arx(shared_data / "cmc", sensitive="method", identifiers="ID")
    assert table.qi_names == ["age", "Weducation", "children"]
    assert table.n_records == 1473


# SPARCS -----------------------------------------------------------------------------------------


def test_sparcs_is_cleaned(tmp_path: Path) -> None:
    rows = (
        '7,70 or Older,F ,White,Unknown,120 +,"1,458","$1,020,377.11"\n9,0 to 17,M,,Unknown,3,,12\n'
    )
    frame = load_sparcs(write(tmp_path / "s.csv", SPARCS + rows))
    assert list(frame.columns) == SPARCS.strip().split(",")[1:]
    assert frame["Gender"].tolist() == ["F", "M"]
    assert frame["Length of Stay"].tolist() == [120, 3]
    assert frame["Facility Id"].dtype == "Int64"
    assert frame["Facility Id"].isna().tolist() == [False, True]
    assert frame["Total Costs"].tolist() == [1020377.11, 12.0]
    assert frame["Race"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "0,a,F,b,c,secret,1,2\n",
            "column 'Length of Stay', row 2 after the header is not a whole number",
        ),
        (
            "0,a,F,b,c,2.5,1,2\n",
            "column 'Length of Stay', row 2 after the header is not a whole number",
        ),
        ("0,a,F,b,c,1,1,secret\n", "column 'Total Costs', row 2 after the header is not an amount"),
        ("0,a,F,b,c,1,1,inf\n", "column 'Total Costs', row 2 after the header is not an amount"),
    ],
)
def test_sparcs_bad_cells(tmp_path: Path, row: str, message: str) -> None:
    file = write(tmp_path / "s.csv", SPARCS + "0,a,F,b,c,1,1,2\n" + row)
    with pytest.raises(TableError, match=message) as caught:
        load_sparcs(file)
    assert "secret" not in str(caught.value), "a person's value does not belong into a message"


def test_sparcs_columns(tmp_path: Path) -> None:
    file = write(tmp_path / "s.csv", SPARCS + "0,a,F,b,c,1,1,2\n")
    assert list(load_sparcs(file, columns=["Race", "Gender"]).columns) == ["Race", "Gender"]
    with pytest.raises(TableError, match="no column 'Rcae'; did you mean 'Race'"):
        load_sparcs(file, columns=["Rcae"])
    other = write(tmp_path / "other.csv", SPARCS.replace("Gender", "Sex") + "0,a,F,b,c,1,1,2\n")
    with pytest.raises(TableError, match="'Gender' is missing, so this is not a SPARCS export"):
        load_sparcs(other)


@pytest.mark.parametrize(
    ("name", "rows"),
    [("sparcs_2016_statewide_sample1000", 1000), ("sparcs_2016_western_ny_first10000", 10000)],
)
def test_real_sparcs(shared_data: Path, name: str, rows: int) -> None:
    frame = load_sparcs(shared_data / "sparcs" / f"{name}.csv.gz")
    assert frame.shape == (rows, 34)
    for column in ("Length of Stay", "Total Charges", "Total Costs", "Birth Weight"):
        assert pd.api.types.is_numeric_dtype(frame[column])
    raw = pd.read_csv(shared_data / "sparcs" / f"{name}.csv.gz", thousands=",", low_memory=False)
    assert frame["Total Costs"].sum() == pytest.approx(raw["Total Costs"].sum())
    assert frame["Zip Code - 3 digits"].dropna().str.fullmatch(r"\d{3}|OOS").all()


# Synthea ----------------------------------------------------------------------------------------


@pytest.fixture
def synthea(tmp_path: Path) -> Path:
    people = "a,1993-07-09,M,asian,hispanic,2139,10\nb,2001-01-02,F,white,nonhispanic,,20.5\n"
    plans = "p,2018-10-14,,a,53950000,Therapy\nq,2019-01-01,2019-02-01,a,384758001,Self-care\n"
    write(tmp_path / "patients.csv", PATIENTS + people)
    write(tmp_path / "careplans.csv.gz", PLANS + plans)
    return tmp_path


def test_synthea_joins_plans(synthea: Path) -> None:
    frame = load_synthea(synthea)
    assert frame["Id"].tolist() == ["a", "a", "b"]
    assert frame["PLAN_DESCRIPTION"].tolist()[:2] == ["Therapy", "Self-care"]
    assert frame["PLAN_CODE"].isna().tolist() == [False, False, True]
    assert frame["ZIP"].tolist()[:2] == ["02139"] * 2 and pd.isna(frame["ZIP"][2])
    assert frame["BIRTHDATE"][0] == pd.Timestamp("1993-07-09")
    assert frame["INCOME"].tolist() == [10, 10, 20.5]
    assert load_synthea(synthea, without_plan="drop")["Id"].tolist() == ["a", "a"]
    assert load_synthea(synthea, careplans=False)["Id"].tolist() == ["a", "b"]


def test_synthea_files(synthea: Path) -> None:
    patients, plans = synthea / "patients.csv", synthea / "careplans.csv.gz"
    expected = load_synthea(synthea)
    pd.testing.assert_frame_equal(load_synthea([plans, patients]), expected)
    pd.testing.assert_frame_equal(load_synthea(patients), expected)
    plans.unlink()
    with pytest.raises(TableError, match=r"no file named …careplans…\.csv"):
        load_synthea(synthea)
    assert len(load_synthea(patients, careplans=False)) == 2


def test_synthea_errors(synthea: Path) -> None:
    row = "a,1993-07-09,M,asian,hispanic,2139,10\n"
    for extra, message in {
        row: r"patients.csv: column 'Id', row 2 after the header is not a key of its own",
        "b,long ago,M,x,y,1,1\n": "column 'BIRTHDATE', row 2 after the header is not a date",
        "b,2001-01-01,M,x,y,1,rich\n": "column 'INCOME', row 2 after the header is not a",
    }.items():
        write(synthea / "patients.csv", PATIENTS + row + extra)
        with pytest.raises(TableError, match=message):
            load_synthea(synthea)
    write(synthea / "patients.csv", PATIENTS + row)
    write(synthea / "careplans.csv.gz", PLANS + "p,2018-10-14,,zz,1,Therapy\n")
    with pytest.raises(
        TableError, match="column 'PATIENT', row 1 after the header is not the Id of a patient"
    ):
        load_synthea(synthea)
    write(synthea / "careplans.csv.gz", PLANS.replace("CODE", "KODE") + "p,2018-10-14,,a,1,x\n")
    with pytest.raises(TableError, match=r"'CODE' is missing.*did you mean 'KODE'"):
        load_synthea(synthea)
    with pytest.raises(TableError, match="without_plan: must be one of 'keep', 'drop'"):
        load_synthea(synthea, without_plan="lose")


def test_real_synthea(shared_data: Path) -> None:
    frame = load_synthea(shared_data / "synthea")
    assert frame["Id"].nunique() == 5621
    assert frame["PLAN_CODE"].notna().sum() == 17840
    patients = load_synthea(shared_data / "synthea", careplans=False)
    assert len(patients) == 5621
    assert patients["MARITAL"].isna().sum() == 2003
