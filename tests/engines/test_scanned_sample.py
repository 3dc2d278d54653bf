"""A sample of a scanned table: records of it, each as likely, typed as in the whole."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import privmoo as pm
from privmoo import Table
from privmoo.errors import TableError
from tests.engines.test_scanning import VALUES, outcome, tables
from tests.scenery.scanning import same, scans

pytest.importorskip("duckdb")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "sensitive": "ill"}


def people(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 30, n),
            "zip": [*(str(z) for z in rng.integers(100, 120, n - 1)), "A1"],
            "ill": rng.choice(list("xy"), n),
            "row": np.arange(n),
        }
    )
    frame.loc[3, "ill"] = None
    return frame


def all_of(source: Any, roles: dict[str, Any]) -> Table | str:
    found = outcome(lambda: Table.scan(source, **roles))
    return found if isinstance(found, str) else found.sample(1000, seed=1)


def unordered(table: Table) -> Counter[tuple[str, ...]]:
    frame = table.frame[table.released_columns].astype(object).where(lambda f: f.notna(), "missing")
    return Counter(map(tuple, frame.astype(str).to_numpy().tolist()))


@pytest.mark.faults
@settings(deadline=None, max_examples=20)
@given(tables(tuple(VALUES)))
def test_a_sample_of_all_is_the_table_in_memory(drawn: tuple[pd.DataFrame, dict[str, Any]]) -> None:
    frame, roles = drawn
    with tempfile.TemporaryDirectory() as folder:
        paths = scans(frame, Path(folder))
        for kind, read in (("parquet", Table.read_parquet), ("csv", Table.read_csv)):
            expected = outcome(lambda k=kind, r=read: r(paths[k], **roles))
            found = all_of(paths[kind], roles)
            if isinstance(expected, str):
                assert found == expected
                continue
            assert not isinstance(found, str)
            seen = dict(vars(expected), n_dropped=0)
            seen["roles"] = {k: v for k, v in expected.roles.items() if v != "identifying"}
            vars(expected).update(seen)
            same(found, expected)
            assert unordered(found) == unordered(expected)


@pytest.mark.faults
def test_records_are_drawn_once_and_each_as_likely() -> None:
    frame, often = people(), np.zeros(60)
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        paths = scans(frame, Path(folder))
        sources = [*paths.values(), dd.from_pandas(frame, npartitions=4)]
        for source in sources:
            table = Table.scan(source, others="insensitive", **ROLES)
            one, two = (table.sample(20, seed=seed) for seed in (1, 2))
            assert len(one.frame) == 20 and one.frame["row"].is_unique
            assert one.frame.equals(table.sample(20, seed=1).frame)
            assert not one.frame.equals(two.frame)
            assert not one.frame["row"].is_monotonic_increasing
            merged = one.frame.merge(frame, on="row", suffixes=("", " before"))
            assert (merged["age"] == merged["age before"]).all()
            # In the sample all may be digits, but the column is text.
            assert pd.api.types.infer_dtype(one.frame["zip"]) == "string"
        table = Table.scan(paths["csv"], others="insensitive", **ROLES)
        for seed in range(60):
            often[table.sample(20, seed=seed).frame["row"]] += 1
    # 60 draws of a third of the records: 20 times each, with a spread of about 3.7.
    assert often.sum() == 1200 and often.min() > 3 and often.max() < 37


def test_a_sample_has_the_hierarchies_of_the_whole() -> None:
    ages = pm.QI(hierarchy=pm.Hierarchy.ordered(), weight=2.0, min_level=0, fixed_cuts=(25,))
    roles: dict[str, Any] = {**ROLES, "quasi_identifiers": {"age": ages, "zip": None}}
    with tempfile.TemporaryDirectory() as folder:
        table = Table.scan(scans(people(), Path(folder))["parquet"], missing="drop", **roles)
        sample = table.sample(5, seed=3)
    assert sample.qis[0].leaves == table.qis[0].leaves
    assert sample.qis[0].fixed_cuts == table.qis[0].fixed_cuts and sample.qis[0].weight == 2.0
    assert sample.frame["ill"].notna().all()
    assert list(sample.frame) == ["age", "zip", "ill"]


@pytest.mark.parametrize("wrong", [0, 2.5, True, "3"])
def test_wrong_numbers(wrong: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Table.scan(scans(people(), Path(folder))["csv"], **ROLES)
        with pytest.raises(TableError, match="n: must be a whole number of at least 1"):
            table.sample(wrong)
        if not isinstance(wrong, int):
            with pytest.raises(TableError, match="seed: must be a whole number"):
                table.sample(3, seed=wrong)
