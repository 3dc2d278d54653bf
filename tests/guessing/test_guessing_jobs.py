"""A guessed job works as it is: on real tables, on odd ones, with any name and any value."""

from __future__ import annotations

import datetime as dt
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo._util.reading import read_csv
from privmoo.errors import PrivmooError
from privmoo.guessing import Guess, guess
from privmoo.guessing.toml_writer import comment, key, quote, value

SHARED = [
    "adult_uci/adult_train_32561.csv.gz",
    "arx_adult/adult.csv.gz",
    "cmc/cmc.csv.gz",
    "german_uci/german_credit_codes.csv.gz",
    "small/hospital_extended.csv.gz",
    "sparcs/sparcs_2016_statewide_sample1000.csv.gz",
    "synthea/synthea_patients.csv.gz",
]


def solved(folder: Path, data: Path, **reading: Any) -> Guess:
    """Guess, write, load, and search for one generation, with no hand on any file."""
    found = guess(read_csv(data, **reading))
    found.write(folder, data, **reading)
    config = pm.Config.load(folder / "privmoo.toml")
    assert set(config.columns) == {column.name for column in found.columns}
    for column in found.columns:
        assert config.columns[column.name].role == column.role
    assert config.table.qi_names == found.names("quasi-identifying")
    algorithm = pm.search.make_algorithm(config.problem, population=10)
    front = pm.optimize(config.problem, algorithm, pm.Generations(1), seed=1, progress=False)
    assert len(front)
    return found


def test_adult(tmp_path: Path) -> None:
    pm.datasets.adult_frame().to_csv(tmp_path / "adult.csv", index=False)
    found = solved(tmp_path, tmp_path / "adult.csv")
    assert found.names("identifying") == ["fnlwgt", "education-num"]
    assert found.names("sensitive") == ["capital-gain", "capital-loss", "income"]
    assert not found.names("insensitive")
    ordered = found["education"].hierarchy
    assert ordered is not None and ordered.arguments["values"][0] == "Preschool"


def test_german_credit(tmp_path: Path) -> None:
    pm.datasets.german_credit_frame().to_csv(tmp_path / "german.csv", index=False)
    found = solved(tmp_path, tmp_path / "german.csv")
    assert {"age", "job", "personal_status"} <= set(found.names("quasi-identifying"))
    assert found.names("insensitive") == ["class"]
    assert pm.Config.load(tmp_path / "privmoo.toml").table.target_name == "class"


def test_sparcs_like(tmp_path: Path) -> None:
    pm.datasets.sparcs_like(1000).to_csv(tmp_path / "discharges.csv", index=False)
    found = solved(tmp_path, tmp_path / "discharges.csv")
    assert {"Age Group", "Zip Code - 3 digits", "Gender"} <= set(found.names("quasi-identifying"))
    assert "CCS Diagnosis Description" in found.names("sensitive")


@pytest.mark.parametrize("name", SHARED)
def test_evaluation_data(name: str, shared_data: Path, tmp_path: Path) -> None:
    solved(tmp_path, shared_data / name)


def test_how_a_file_is_read_is_kept(tmp_path: Path) -> None:
    data = tmp_path / "people.txt"
    rows = "".join(f"{20 + i % 30}|{'?' if i % 7 == 0 else 'Köln'}\n" for i in range(90))
    data.write_text("Alter|Stadt\n" + rows, encoding="latin-1")
    reading = {"separator": "|", "encoding": "latin-1", "missing_values": ["", "?"]}
    found = solved(tmp_path, data, **reading)
    assert found.names("quasi-identifying") == ["Alter", "Stadt"]


def test_capitals_in_the_ending_of_a_file(tmp_path: Path) -> None:
    pm.datasets.german_credit_frame().to_csv(tmp_path / "PEOPLE.CSV", index=False)
    solved(tmp_path, tmp_path / "PEOPLE.CSV")


def test_parquet(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=60, freq="D")
    frame = pd.DataFrame({"born": days, "sex": ["", "f", "m"] * 20, "flag": [True, False] * 30})
    frame.to_parquet(tmp_path / "people.parquet")
    found = guess(frame)
    found.write(tmp_path, tmp_path / "people.parquet")
    table = pm.Config.load(tmp_path / "privmoo.toml").table
    assert table.qi_names == found.names("quasi-identifying") == ["born", "sex"]


TEXT = st.text(max_size=20)


@given(text=st.text())
@example(text='"\\\x00\x1f\x7f\x85\u2028\ufeff😀\r\n')
def test_any_text_is_read_back(text: str) -> None:
    written = f"{key(text)} = {quote(text)}\n{comment(text)}\n"
    assert tomllib.loads(written) == {text: text}
    assert len(written.splitlines()) == 2


@given(
    given=st.recursive(
        TEXT | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=30,
    )
)
def test_any_value_is_read_back(given: Any) -> None:
    assert tomllib.loads(f"x = {value(given)}")["x"] == given


NAMES = st.one_of(
    TEXT,
    st.sampled_from(
        [
            "age",
            "sex",
            "zip",
            "city",
            "diagnosis",
            "income",
            "class",
            "id",
            "name",
            "born",
            "a/b",
            "..",
            "NUL",
            "marital status",
            "job",
            "education",
            "patient id",
            "ÄGE",
            "a b",
            "a_b",
            "A_B",
            "",
        ]
    ),
)
CELLS: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    "words": st.sampled_from(
        ["low", "medium", "high", "", "missing", "*", "NA", "?", ";", '"', "a\nb"]
    ),
    "ranges": st.sampled_from(["<5", "5-9", "10+", "unknown", "20 to 29", "0-1"]),
    "digits": st.integers(0, 99999).map("{:05d}".format),
    "numbers as text": st.floats().map(str) | st.integers().map(str),
    "small": st.integers(-5, 120),
    "huge": st.integers(-(10**30), 10**30),
    "floats": st.floats(),
    "near": st.floats(0, 1e-3),
    "constant": st.just("x"),
    "bools": st.booleans(),
    "dates": st.dates(dt.date(1900, 1, 1), dt.date(2030, 1, 1)),
    "times": st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2030, 1, 1)),  # noqa: DTZ001, RUF100
    "german dates": st.dates(dt.date(1900, 1, 1)).map(lambda day: day.strftime("%d.%m.%Y")),
    "mixed": st.one_of(TEXT, st.integers(), st.floats(), st.booleans(), st.dates(), st.binary()),
    "lists": st.lists(st.integers(), max_size=2),
    "complex": st.complex_numbers(),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    rows = draw(st.integers(2, 40))
    columns: dict[str, Any] = {}
    for name in names:
        cell = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        few = draw(st.booleans())
        if few:
            pool = draw(st.lists(cell, min_size=1, max_size=4))
            drawn = [
                pool[i]
                for i in draw(st.lists(st.integers(0, len(pool) - 1), min_size=rows, max_size=rows))
            ]
        else:
            drawn = draw(st.lists(cell, min_size=rows, max_size=rows))
        if draw(st.booleans()):
            drawn[draw(st.integers(0, rows - 1))] = None
        as_object = pd.Series(drawn, dtype=object)
        columns[name] = as_object if draw(st.booleans()) else as_object.infer_objects()
    return pd.DataFrame(columns)


ODD = settings(
    max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@ODD
@given(frame=frames())
def test_odd_tables_in_memory(frame: pd.DataFrame) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = guess(frame)
            found.write(folder, Path(folder, "odd.csv"))
        except PrivmooError:
            return
        assert [column.name for column in found.columns] == list(frame.columns)
        document = tomllib.loads(Path(folder, "privmoo.toml").read_text(encoding="utf-8"))
        assert list(document["columns"].keys() ^ frame.columns) == []
        assert len(str(found).splitlines()) == len(frame.columns) + 1
        assert found == guess(frame)
        if found.names("quasi-identifying") and not found.note:  # it names rows to remove first
            config = pm.Config.load(Path(folder, "privmoo.toml"))
            used = {name: column.qi for name, column in config.columns.items() if column.qi}
            pm.Table(frame, quasi_identifiers=used)


@ODD
@given(frame=frames())
def test_odd_files(frame: pd.DataFrame) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "odd.csv")
        frame.to_csv(data, index=False)
        try:
            read = read_csv(data)
            found = guess(read)
        except PrivmooError:
            return
        found.write(folder, data)
        if found.names("quasi-identifying") and not found.note:  # it names rows to remove first
            table = pm.Config.load(Path(folder, "privmoo.toml")).table
            assert table.qi_names == found.names("quasi-identifying")
            assert table.n_records == len(read)


def test_many_rows() -> None:
    rng, n = np.random.default_rng(0), 200_000
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(4)})
    frame["age"], frame["sex"] = rng.integers(0, 100, n), rng.choice(["f", "m"], n)
    frame["name"] = np.char.add("Person ", np.arange(n).astype(str))
    assert guess(frame).names("quasi-identifying") == ["age", "sex"]


def wishes_of(text: str) -> list[str]:
    """The commented entries that a reader may want to set."""
    names = ("weight", "min_level", "max_level", "fixed_cuts", "subject", "target")
    lines = [line for line in text.splitlines() if line.startswith("# ") and " = " in line]
    return [
        line
        for line in lines
        if line.removeprefix("# ").partition(" = ")[0].rpartition(".")[2] in names
    ]


def test_each_wish_of_a_guessed_job_can_be_uncommented(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "person id": [f"p{i // 2}" for i in range(200)],
            "age": rng.integers(18, 80, 200),
            "sex": rng.choice(["f", "m"], 200),
            "zip code": rng.choice(["14260", "14221", "90210"], 200),
            "disease": rng.choice(["flu", "cold", "asthma"], 200),
        }
    )
    data = tmp_path / "people.csv"
    frame.to_csv(data, index=False)
    guess(frame).write(tmp_path, data)
    job = tmp_path / "privmoo.toml"
    text = job.read_text(encoding="utf-8")
    wishes = wishes_of(text)
    stated = [line.removeprefix("# ").partition(" = ")[0].rpartition(".")[2] for line in wishes]
    assert {"weight", "min_level", "max_level", "fixed_cuts", "subject", "target"} <= set(stated)
    for line, name in zip(wishes, stated, strict=True):
        job.write_text(text.replace(line, line.removeprefix("# ")), encoding="utf-8")
        config = pm.Config.load(job)
        if name in ("subject", "target"):
            assert getattr(config.table, f"{name}_name") is not None
        else:
            job.write_text(text, encoding="utf-8")
            usual = pm.Config.load(job).table.qis
            pairs = zip(config.table.qis, usual, strict=True)
            assert any(getattr(qi, name) != getattr(before, name) for qi, before in pairs)
        assert config.problem.n_obj == 2
