"""Tables with nearly the same records are recognised, others are not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.data import table_sketch
from privmoo.data.table_sketch import TableSketch


def sketch(frame: pd.DataFrame) -> TableSketch:
    return TableSketch.of(pm.Table(frame, quasi_identifiers=["age"], sensitive="ill"))


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    ills = [f"ill{i}" for i in range(30)]
    return pd.DataFrame({"age": rng.integers(0, 90, n), "ill": rng.choice(ills, n)})


@given(n=st.sampled_from([12, 100, 2_000]), seed=st.integers(0, 1000))
def test_one_row_more_or_less(n: int, seed: int) -> None:
    frame = people(n, seed)
    first = sketch(frame)
    more = pd.concat([frame, people(1, seed + 1)])
    for other in (
        more,
        frame[1:],
        frame.sample(frac=1, random_state=1),
        frame.astype({"age": float}),
    ):
        assert first.resembles(sketch(other)) and sketch(other).resembles(first)
    assert sketch(frame.iloc[::-1]) == first and first.overlap(first) == 1
    assert not first.resembles(sketch(people(n, seed + 2)))
    assert TableSketch.from_json(json.loads(json.dumps(first.to_json()))) == first


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_shared_part_is_estimated(share: float) -> None:
    n = 4_000
    frame = pd.DataFrame({"age": range(2 * n), "ill": ["x", "y"] * n})
    equal = round(2 * n * share)
    rest = 2 * n - equal
    first, second = (
        frame[: equal + rest // 2],
        pd.concat([frame[:equal], frame[equal + rest // 2 :]]),
    )
    assert sketch(first).overlap(sketch(second)) == pytest.approx(share, abs=0.16)


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_a_scanned_table_has_the_sketch_of_its_counted_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(table_sketch, "_CHUNK", chunk)
    frame = people(300, seed=1).assign(note=range(300), pay=1)
    path = tmp_path / "people.parquet"
    frame.to_parquet(path)
    whole = TableSketch.of(
        pm.Table.scan(path, quasi_identifiers=["age"], sensitive=["ill"], insensitive=["note"])
    )
    assert whole == sketch(frame[["age", "ill"]])
    frame[3:].to_parquet(path)
    fewer = TableSketch.of(pm.Table.scan(path, quasi_identifiers=["age"], sensitive=["ill"]))
    assert fewer.resembles(whole) and fewer != whole
    other = TableSketch.of(pm.Table.scan(path, quasi_identifiers=["age"], insensitive=["ill"]))
    assert not other.resembles(whole)  # only ages were counted


def test_equal_rows_count() -> None:
    frame = pd.DataFrame({"age": [1, 2] * 200, "ill": ["x", "y"] * 200})
    assert sketch(frame).resembles(sketch(frame[:-1]))
    assert not sketch(frame).resembles(sketch(frame[:100]))


def test_odd_values() -> None:
    frame = pd.DataFrame({"age": ["\u00e9", None, "a"], "ill": ["x", "y", "x"]}, dtype=object)
    assert sketch(frame).resembles(sketch(frame))


@pytest.mark.parametrize("n", [40, 200, 5_000])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.8, 0.95])
def test_the_estimate_is_right_on_average_for_tables_of_all_sizes(n: int, share: float) -> None:
    """Bins that are empty in one table cannot be equal by chance, which small tables have most of."""
    rng = np.random.default_rng(1)
    common = round(2 * n * share / (1 + share))  # of two tables of n records
    estimates = []
    for _ in range(12):
        numbers = rng.integers(0, 10**12, 2 * n - common)
        frame = pd.DataFrame({"age": numbers})
        frame["ill"] = np.where(frame["age"] % 2, "x", "y")
        first, second = frame[:n], frame[n - common :]
        estimates.append(sketch(first).overlap(sketch(second)))
    exact = common / (2 * n - common)
    assert np.mean(estimates) == pytest.approx(exact, abs=0.06)
    assert np.std(estimates) < 0.06
