"""Texts that spreadsheets take for formulas, in every place where a cell may begin."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo._util.spreadsheets import PROTECT, RESTORE, plain_text, safe_text
from privmoo.data.frame_files import read_frame, write_frame
from tests.scenery.scanning import table_by

TEXTS = st.text(alphabet="=+-@'＝＋－＠;|,\t\r\n a1\"\u00a0\u2009\u3000\ufeff\v", max_size=8)
SIGNS = tuple("=+-@＝＋－＠")
BLANKS = ' "\v\f\u00a0\u2009\u200b\u3000\ufeff'


def check_cells(text: str) -> None:
    """Fail where a program finds a formula in a CSV file, whatever separator it expects."""
    for separator in ",;|\t":
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            assert not any(cell.lstrip(BLANKS).startswith(SIGNS) for cell in row), (separator, row)


@given(TEXTS)
def test_no_reader_finds_a_formula_and_the_text_comes_back(text: str) -> None:
    safe = str(safe_text(text))
    assert plain_text(safe) == text
    cells = [safe]
    for separator in ";|\t\r\n":
        cells = [piece for cell in cells for piece in cell.split(separator)]
    assert not any(cell.lstrip(BLANKS).startswith(SIGNS) for cell in cells)
    assert not safe.startswith(("\t", "\r", "\n"))


ROWS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4)


@given(ROWS)
def test_no_cell_of_a_file_begins_a_formula(rows: list[tuple[str, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        file = write_frame(frame, path, spreadsheets=True)
        text = path.read_bytes().decode()
        check_cells(text)
        again = read_frame(path, file, ["a", "b"])
    assert list(again.itertuples(index=False, name=None)) == rows


@given(ROWS)
def test_no_cell_of_a_file_by_duckdb_begins_a_formula(rows: list[tuple[str, str]]) -> None:
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    from privmoo.engines.duckdb.copy import _apply_rules as by_sql

    texts = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})  # noqa: F841  # DuckDB finds it
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        cells = ", ".join(f"{by_sql(name, PROTECT)} AS {name}" for name in "ab")
        duckdb.sql(f"COPY (SELECT {cells} FROM texts) TO '{path}' (HEADER)")  # noqa: S608
        check_cells(path.read_bytes().decode())


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_engines_write_the_same(texts: list[str]) -> None:
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    from privmoo.engines.dask.part_files import _apply_rules as by_arrow
    from privmoo.engines.duckdb.copy import _apply_rules as by_sql

    texts_column = pa.table({"t": pa.array(texts, pa.string())})  # noqa: F841  # DuckDB finds it by name
    for rules, expected in ((PROTECT, safe_text), (RESTORE, plain_text)):
        wanted = [expected(text) for text in texts]
        assert by_arrow(pa.array(texts, pa.string()), rules).to_pylist() == wanted
        query = f"SELECT {by_sql('t', rules)} FROM texts_column"  # noqa: S608
        assert [row[0] for row in duckdb.sql(query).fetchall()] == wanted


ATTACKS = [
    *("a;=1+1", "\n=1", "＝1+1", "x\t@cmd", " =1", "a|-2", 'a;"=1+1', 'a|"=1+1', 'a\t"=1+1'),
    *("a;\u00a0=1", "a;\u00a0\u3000=1", "\u00a0=1", 'a;"" \u00a0"=1', "a\r=1"),
]


@pytest.mark.parametrize("engine", ["memory", "duckdb", "dask"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_release_has_no_formula_for_readers_with_other_separators(
    attack: str, engine: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "ill": [attack, "flu", "cold", attack]})
    roles: dict[str, Any] = {"quasi_identifiers": {"age": pm.Hierarchy.flat()}, "sensitive": "ill"}
    table = table_by(engine, frame, tmp_path, **roles)
    chosen = pm.Front.of(pm.problems.Cuts(table), [[1]])[0]
    chosen.write(tmp_path / "public.csv", spreadsheets=True)
    target = tmp_path / "public.csv"
    for path in sorted(target.glob("*.csv")) if target.is_dir() else [target]:
        check_cells(path.read_bytes().decode())
