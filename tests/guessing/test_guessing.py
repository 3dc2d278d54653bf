"""What is guessed of columns: roles, hierarchies, reasons; and the files that say so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo._util.files import write_all, write_text
from privmoo.errors import ColumnError, FileError, TableError
from privmoo.guessing import Guess, guess
from privmoo.guessing.file_names import file_names
from privmoo.guessing.word_orders import in_order
from privmoo.hierarchy import Hierarchy

N = 400


def of(name: str, values: object) -> Guess:
    return guess(pd.DataFrame({name: values, "sex": ["f", "m"] * (N // 2)}))


def cycle(*values: object) -> list[object]:
    return [values[i % len(values)] for i in range(N)]


@pytest.mark.parametrize(
    "name",
    [
        "Name",
        "nachname",
        "PRÉNOM",
        "apellidos",
        "lastName",
        "SSN",
        "phone_number",
        "IBAN",
        "adresse",
        "e-mail",
        "Patient ID",
        "user",
        "street address",
        "Reisepassnummer",
    ],
)
def test_names_and_numbers_of_persons_identify(name: str) -> None:
    assert of(name, [f"x{i}" for i in range(N)])[name].role == "identifying"


@pytest.mark.parametrize(
    "name",
    [
        "age group",
        "Alter",
        "edad",
        "Gender",
        "Geschlecht",
        "sexe",
        "race",
        "native-country",
        "PLZ",
        "Familienstand",
        "marital.status",
        "Beruf",
        "occupation",
        "education",
        "Postleitzahl",
        "city_name",
        "Facility Name",
        "country code",
        "age at diagnosis",
        "num_children",
        "hospital",
    ],
)
def test_what_others_may_know_is_quasi_identifying(name: str) -> None:
    found = of(name, cycle("red", "green", "blue"))[name]
    assert found.role == "quasi-identifying"
    assert found.hierarchy is not None
    assert "3 distinct values" in found.reason


@pytest.mark.parametrize(
    "name",
    [
        "diagnosis",
        "Krankheit",
        "maladie",
        "enfermedad",
        "ICD-10",
        "income",
        "Gehalt",
        "salaire",
        "Religion",
        "household income",
        "political party",
        "sexual orientation",
        "HIV status",
    ],
)
def test_what_others_must_not_learn_is_sensitive(name: str) -> None:
    assert of(name, cycle("red", "green", "blue"))[name].role == "sensitive"


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        ("e-mail", [f"p{i}@example.org" for i in range(N)]),
        ("UUID", [f"{i:08x}-0000-4000-8000-{i:012x}" for i in range(N)]),
        ("IP", [f"10.0.{i // 256}.{i % 256}" for i in range(N)]),
        ("web", [f"https://example.org/{i}" for i in range(N)]),
        ("IBAN", [f"DE89 3704 0044 0532 {i:04d} 00" for i in range(N)]),
        ("phone", [f"+49 30 {i:07d}" for i in range(N)]),
        ("every value occurs once", [f"x{i}" for i in range(N)]),
        ("every value occurs once", list(range(N))),
        ("free text", [f"the patient came in with number {i} and left again" for i in range(N)]),
        ("the same value", ["x"] * N),
        ("no values", [None] * N),
        ("not all numbers", cycle(1, "a", 2.5)),
        ("role unknown", cycle(1, 2, 3)),
    ],
)
def test_values_tell_where_names_do_not(shape: str, values: list[object]) -> None:
    found = of("column", values)["column"]
    assert found.role == "identifying"
    assert shape in found.reason


def test_class_with_two_values_is_the_target() -> None:
    found = of("class", cycle("good", "bad"))
    assert found["class"].role == "insensitive" and found["class"].target
    assert 'target = "class"' in found.to_toml("data.csv")
    assert not of("class", cycle("good", "bad", "so"))["class"].target
    both = of("salary-class", cycle("low", "high"))["salary-class"]
    assert both.role == "sensitive" and both.target


def test_without_any_quasi_identifier_some_are_proposed() -> None:
    found = guess(
        pd.DataFrame(
            {"a": cycle(1, 2, 3), "b": cycle("x", "y"), "name": [f"x{i}" for i in range(N)]}
        )
    )
    assert found.names("quasi-identifying") == ["a", "b"]
    assert "no other column looks better" in found["a"].reason
    none = guess(pd.DataFrame({"name": [f"x{i}" for i in range(N)]}))
    assert not none.names("quasi-identifying")
    assert "No column looks quasi-identifying" in none.to_toml("data.csv")


def test_exact_sensitive_numbers_and_unique_postal_codes() -> None:
    charges = of("charges", np.arange(N) + 0.25)["charges"]
    assert charges.role == "sensitive" and "round them" in charges.reason
    assert (
        of("zip code", [f"{i * 37:05d}" for i in range(N)])["zip code"].role == "quasi-identifying"
    )
    assert (
        of("last visit date", cycle("2020-01-01", "2020-01-02"))["last visit date"].role
        == "quasi-identifying"
    )
    assert of("last", [f"x{i // 2}" for i in range(N)])["last"].role == "identifying"
    assert of("city id", list(range(N)))["city id"].role == "identifying"


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        example()["aeg"]


def test_codes_beside_words_are_left_out() -> None:
    words = cycle("a1", "b1", "c1")
    frame = pd.DataFrame(
        {"city code": cycle(1, 2, 3), "city": words, "town": cycle("x", "y", "z", "u")}
    )
    found = guess(frame)
    assert found.names("quasi-identifying") == ["city", "town"]
    assert 'column "city"' in found["city code"].reason


def test_persons_with_several_rows_are_noticed() -> None:
    found = of("patient_id", [f"p{i // 3}" for i in range(N)])
    assert '# subject = "patient_id"' in found.to_toml("data.csv")
    once = of("patient_id", list(range(N)))
    assert found["patient_id"].subject and not once["patient_id"].subject
    few = of("PatNr", [f"P{i % (N - 9)}" for i in range(N)])  # nine came twice
    assert '# subject = "PatNr"' in few.to_toml("data.csv")
    assert "some occur in several rows" in few["PatNr"].reason


def test_reasons_say_what_can_be_done() -> None:
    names = of("Vorname", cycle("Anna", "Paul", "Lena"))["Vorname"]
    assert names.role == "identifying" and not names.unsure
    assert names.reason == "the name says a person's name, though it has only 3 distinct values"
    weights = of("BMI", cycle(*(f"{20 + i},5" for i in range(15))))["BMI"]
    assert "read as text because of decimal commas; write decimal points" in weights.reason


def hierarchy(name: str, values: object) -> tuple[str, dict[str, Any]]:
    found = of(name, values)[name].hierarchy
    assert found is not None
    return found.kind, dict(found.arguments)


def test_numbers_get_nice_intervals_beyond_their_extremes() -> None:
    rng = np.random.default_rng(1)
    assert hierarchy("age", rng.integers(20, 70, N)) == (
        "intervals",
        {"low": 10, "high": 79, "widths": [5, 10, 20]},
    )
    old = hierarchy("age", rng.integers(18, 95, N))[1]
    assert old["high"] == 89 and old["open_ends"] is True
    for low, high in [(3, 200), (-50, 80), (1000, 1400), (11, 69), (10, 70)]:
        values = np.append(rng.integers(low, high, N - 2), [low, high])
        kind, found = hierarchy("height", values)
        assert kind == "intervals"
        assert found["low"] < low and found["high"] > high
    kind, skewed = hierarchy("hours", np.append(rng.integers(0, 60, N - 2), [300, 500]))
    assert kind == "intervals" and skewed["open_ends"] is True
    assert hierarchy("height", rng.normal(1.7, 0.1, N))[0] == "ordered"
    assert hierarchy("children", cycle(0, 1, 2, 3)) == ("ordered", {})
    assert hierarchy("region", cycle(*range(30)))[0] == "flat"


def test_dates_have_periods_and_postal_codes_are_masked() -> None:
    days = pd.date_range("1950-01-01", periods=N, freq="40D")
    assert hierarchy("born", days) == ("dates", {})
    assert hierarchy("born", days.strftime("%Y-%m-%d")) == ("dates", {})
    assert hierarchy("when", days.strftime("%Y-%m-%d %H:%M:%S")) == ("dates", {})
    assert hierarchy("when", days.strftime("%d.%m.%Y")) == ("dates", {"order": "day first"})
    assert hierarchy("when", days.strftime("%m/%d/%Y")) == ("dates", {"order": "month first"})
    assert hierarchy("zip", [f"{i * 37:05d}" for i in range(N)]) == ("masking", {})
    assert hierarchy("unknown", cycle(*(f"{i * 1234:05d}" for i in range(40)))) == ("masking", {})


@pytest.mark.parametrize(
    "order",
    [
        ["<5", "5-9", "10-19", "20+"],
        ["Monday", "Tuesday", "Saturday"],
        ["Januar", "April", "Dezember"],
        ["1st-4th", "5th-6th", "9th", "10th"],
        ["under 18", "18 to 29", "30 to 49", "50 or older", "unknown"],
        ["up to 1,000", "1,000-2,500", "more than 2,500"],
        ["0-9 years", "10-19 years"],
        ["Mild", "Moderate", "Severe"],
    ],
)
def test_words_with_a_natural_order(order: list[str]) -> None:
    assert in_order(sorted(order)) == order


@pytest.mark.parametrize(
    "words", [["red", "blue"], ["Low", "low"], ["9-1", "2-3"], ["x"], [], ["?"]]
)
def test_words_without_an_order(words: list[str]) -> None:
    assert in_order(words) is None


def test_reasons_and_tables_hold_no_values() -> None:
    frame = pd.DataFrame(
        {
            "age": range(N),
            "city": cycle("SECRET1", "SECRET2"),
            "x": cycle("SECRET3", "SECRET4", "5"),
        }
    )
    assert "SECRET" not in str(guess(frame))


def test_the_table_for_a_terminal_is_harmless() -> None:
    shown = str(of("\x1b[31mred\n" + "x" * 300, cycle("a", "b")))
    assert "\x1b" not in shown and len(shown.splitlines()) == 3 and "…" in shown


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": []}), "0 rows"),
        (pd.DataFrame({1: [1, 2]}), "must be strings"),
        (
            pd.DataFrame([[1], [2]], columns=pd.Index(["a\ud800"], dtype=object)),
            "name of column 1 has a character that files do not keep",
        ),
    ],
)
def test_what_is_no_table_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        guess(frame)


def test_names_of_files_are_safe() -> None:
    columns = [
        "",
        "a" * 500,
        "a" * 499,
        "../../etc/passwd",
        "COM1",
        "a\0b",
        "😀",
        "Straße",
        ".",
        "a:b",
    ]
    names = list(file_names(columns, ".csv").values())
    assert len({name.lower() for name in names}) == len(columns)
    for name in names:
        assert len(name) < 80
        assert set(name.removesuffix(".csv")) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
        )
    assert "COM1.csv" not in names


def example() -> Guess:
    return guess(
        pd.DataFrame({"age": cycle(*range(20, 60)), "city": cycle("Rome", "Bonn", "Oslo")})
    )


def test_files_are_private_and_whole(tmp_path: Path) -> None:
    data = tmp_path / "data" / "people.csv"
    data.parent.mkdir()
    written = example().write(tmp_path, data)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "hierarchies/age.csv",
        "hierarchies/city.csv",
        "privmoo.toml",
    ]
    if os.name == "posix":
        assert {path.stat().st_mode & 0o777 for path in written} == {0o600}
    assert 'file = "data/people.csv"' in written[-1].read_text(encoding="utf-8")
    assert Hierarchy.read_csv(written[1]).leaves == ("Bonn", "Oslo", "Rome")
    with pytest.raises(FileError, match=r"privmoo\.toml exists already"):
        example().write(tmp_path, data)
    example().write(tmp_path, data, force=True)


def test_nothing_is_left_where_something_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "privmoo.toml").mkdir()
    with pytest.raises(FileError):
        example().write(tmp_path, tmp_path / "people.csv", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["privmoo.toml"]
    with pytest.raises(FileError, match="there is no folder"):
        example().write(tmp_path / "nowhere", tmp_path / "people.csv")
    (tmp_path / "privmoo.toml").rmdir()
    (tmp_path / "hierarchies").write_text("a file")
    with pytest.raises(FileError, match="is a file"):
        example().write(tmp_path, tmp_path / "people.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["hierarchies"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_private_files_are_their_owners(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "text", force=False, private=True)
    write_all({tmp_path / "b": lambda path: path.touch()}, force=False, private=True)
    write_text(tmp_path / "c", "text", force=False)
    (tmp_path / "c").chmod(0o644)
    write_text(tmp_path / "c", "text", force=True, private=True)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
