"""A scanned table is the table: distinct tuples, weights, counts, checks, messages and fronts."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenery_scanning import roles_of, same, scans

import privmoo as pm
from privmoo import Table
from privmoo.errors import PrivmooError

pytest.importorskip("duckdb")

TEXTS = st.sampled_from(
    ["a", "b", "c ", " d", "ü", 'q"q', "x,y", "two\nlines", "NA", "007", "*", "'"]
)
NUMBERS = st.one_of(st.integers(-20, 20), st.sampled_from([0.5, -0.0, 1e15, 12.25]))
VALUES = {
    "text": st.one_of(TEXTS, st.none()),
    "digits": st.sampled_from(["1", "02", "3", "10"]),
    "whole": st.integers(-5, 30),
    "holes": st.one_of(st.integers(0, 6), st.none()),
    "real": st.one_of(NUMBERS.map(float), st.none()),
    "bool": st.booleans(),
    "maybe": st.one_of(st.booleans(), st.none()),
    "date": st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9)).map(pd.Timestamp),
}


@st.composite
def tables(draw: st.DrawFn, kinds: tuple[str, ...]) -> tuple[pd.DataFrame, dict[str, Any]]:
    n = draw(st.integers(2, 25))
    columns = draw(st.lists(st.sampled_from(kinds), min_size=2, max_size=5))
    cells = [draw(st.lists(VALUES[kind], min_size=n, max_size=n)) for kind in columns]
    frame = pd.DataFrame({f"{kind} {i}": cells[i] for i, kind in enumerate(columns)})
    names = list(frame)
    cut = draw(st.integers(1, len(names)))
    target = draw(st.sampled_from([None, *names]))
    roles = {
        "quasi_identifiers": names[:cut],
        "sensitive": names[cut : cut + draw(st.integers(0, 3))],
        "target": target,
        "missing": draw(st.sampled_from(["value", "drop"])),
        "others": draw(st.sampled_from(["identifying", "insensitive"])),
    }
    return frame, roles


def outcome(make: Any) -> Table | str:
    try:
        table: Table = make()
    except PrivmooError as error:
        return f"{type(error).__name__}: {error}"
    return table


def compare(path: Path, read: Any, roles: dict[str, Any]) -> None:
    expected = outcome(lambda: read(path, **roles))
    found = outcome(lambda: Table.scan(path, **roles))
    if isinstance(expected, str):
        assert found == expected
        return
    assert not isinstance(found, str), found
    same(found, expected)


@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)))
def test_parquet_is_the_table_in_memory(drawn: tuple[pd.DataFrame, dict[str, Any]]) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        frame.to_parquet(path, index=False)
        compare(path, Table.read_parquet, roles)


@settings(deadline=None, max_examples=60)
@given(tables(tuple(VALUES)))
def test_csv_is_the_table_in_memory(drawn: tuple[pd.DataFrame, dict[str, Any]]) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        frame.to_csv(path, index=False)
        compare(path, Table.read_csv, roles)


@pytest.mark.parametrize("kind", ["parquet", "csv parts"])
@pytest.mark.parametrize(
    "name", ["ZeroSuppression", "BudgetSuppression", "AnySuppression", "KLSafe"]
)
def test_fronts_of_adult_are_equal(kind: str, name: str, adult: Any) -> None:
    table, paths = adult
    scanned = Table.scan(paths[kind], **roles_of(table))
    same(scanned, table)
    make = getattr(pm.problems, name)
    budget = {"max_suppression": 0.1} if name in ("BudgetSuppression", "KLSafe") else {}
    mine, other = (
        pm.optimize(make(t, **budget), budget=pm.Evaluations(1500), seed=3, progress=False)
        for t in (scanned, table)
    )
    assert np.array_equal(mine.X, other.X)
    assert np.array_equal(mine.values, other.values)


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Any:
    table = pm.datasets.adult("dewri-kl")
    return table, scans(table.frame, tmp_path_factory.mktemp("adult"))
