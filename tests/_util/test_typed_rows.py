"""Spreadsheets and queries enter as they are."""

from __future__ import annotations

import datetime
import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo import Table
from privmoo._util.typed_rows import frame_of_rows, read_excel, read_sql
from privmoo.errors import TableError

ROWS: list[tuple[Any, ...]] = [
    (31, "02139", 1.5, "2020-01-02", 2**60 + 1),
    (None, "02140", None, None, None),
    (45, "NA", 2.5, "2020-01-03", 7),
]
NAMES = ["age", "zip", "size", "day", "number"]


@pytest.fixture
def database() -> Any:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (age INT, zip TEXT, size REAL, day TEXT, number INT)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", ROWS)
    yield connection
    connection.close()


def test_a_query_keeps_values(database: Any) -> None:
    frame = read_sql("SELECT * FROM people", database)
    assert frame.dtypes.astype(str).tolist() == ["Int64", "str", "float64", "str", "Int64"]
    assert frame["number"].tolist()[0] == 2**60 + 1 and frame["zip"].tolist()[2] == "NA"
    some = Table.read_sql(
        "SELECT * FROM people WHERE age > ?",
        database,
        parameters=[30],
        quasi_identifiers=["age"],
        sensitive="zip",
    )
    assert some.n_records == 2


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM people WHERE age > 99", "returns no rows"),
        ("DELETE FROM people", "returns no table; pass a SELECT"),
        ("SELECT age, age FROM people", "'age' occurs more than once"),
    ],
)
def test_queries_without_a_table(database: Any, query: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table.read_sql(query, database, quasi_identifiers=["age"])


def test_a_connection_is_needed() -> None:
    with pytest.raises(TableError, match="connection of a DBAPI or ADBC driver, got str"):
        read_sql("SELECT 1", "people.db")


def test_adbc_gives_what_dbapi_gives(tmp_path: Path) -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with sqlite3.connect(tmp_path / "people.db") as plain:
        plain.execute("CREATE TABLE people (age INT, zip TEXT, number INT)")
        plain.executemany("INSERT INTO people VALUES (?, ?, ?)", [(r[0], r[1], r[4]) for r in ROWS])
        plain.commit()
        expected = read_sql("SELECT * FROM people", plain)
    with dbapi.connect(str(tmp_path / "people.db")) as connection:
        frame = read_sql("SELECT * FROM people", connection)
    pd.testing.assert_frame_equal(frame, expected)


@given(
    st.lists(
        st.tuples(
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.text(max_size=3),
            st.none() | st.booleans(),
            st.none() | st.decimals(0, 9, places=2),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_rows_come_back(rows: list[tuple[Any, ...]]) -> None:
    frame = frame_of_rows(list("abcd"), rows)
    back = [tuple(None if pd.isna(v) else v for v in row) for row in frame.astype(object).values]
    assert back == rows


def book(path: Path, rows: list[list[Any]], sheet: str = "people") -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.title = "notes"
    page = workbook.create_sheet(sheet)
    for row in rows:
        page.append(row)
    workbook.save(path)
    return path


def test_a_sheet_keeps_values(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 2)
    rows = [
        ["age", "zip", None, "day"],
        [31, "02139", None, day],
        [None, None, None, None],
        [None, "NA", None, day],
    ]
    path = book(tmp_path / "people.xlsx", rows)
    frame = read_excel(path, sheet="people", missing_values=["NA"])
    assert list(frame) == ["age", "zip", "day"] and len(frame) == 2
    assert frame.dtypes.astype(str).tolist() == ["Int64", "str", "datetime64[us]"]
    assert frame["zip"].tolist()[0] == "02139" and frame["zip"].isna().tolist() == [False, True]
    table = Table.read_excel(path, sheet=1, quasi_identifiers=["age", "zip", "day"])
    assert [qi.leaves for qi in table.qis][1] == ("02139", "NA")


@pytest.mark.parametrize(
    ("rows", "sheet", "message"),
    [
        ([], "people", "the sheet is empty"),
        ([["age"]], "people", "has columns but no rows"),
        ([["age", None], [1, 2]], "people", "column 2 has values but no name"),
        ([["age"], [1]], "persons", "no sheet 'persons', only 'notes', 'people'"),
        ([["age"], [1]], 7, "no sheet 7"),
    ],
)
def test_sheets_that_cannot_be_read(
    tmp_path: Path, rows: list[list[Any]], sheet: str | int, message: str
) -> None:
    with pytest.raises(TableError, match=message):
        read_excel(book(tmp_path / "a.xlsx", rows), sheet=sheet)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    with pytest.raises(TableError, match="no such file"):
        read_excel(tmp_path / "a.xlsx")
    for name in ("a.xlsx", "a.xls"):
        (tmp_path / name).write_text("age\n1\n")
        with pytest.raises(TableError, match=r"is not a readable Excel file .*; save it as .xlsx"):
            read_excel(tmp_path / name)


def test_without_openpyxl_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(TableError, match=r"run pip install 'privmoo\[excel\]'"):
        read_excel("people.xlsx")


def test_decimals_stay_decimals() -> None:
    assert frame_of_rows(["a"], [(Decimal("1.10"),)])["a"].tolist() == [Decimal("1.10")]


def test_rows_of_a_sheet_may_have_different_lengths(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (["age", "zip"], [31], [45, "02139"]):
        sheet.append(row)
    book.save(tmp_path / "ragged.xlsx")
    frame = read_excel(tmp_path / "ragged.xlsx")
    assert frame["age"].tolist() == [31, 45] and frame["zip"].isna().tolist() == [True, False]


def test_whole_numbers_of_any_length() -> None:
    assert frame_of_rows(["account"], [(10**30,), (None,)])["account"].tolist() == [10**30, None]
