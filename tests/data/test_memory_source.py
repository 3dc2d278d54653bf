"""Records in memory as a source: counted, drawn, copied and counted again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privmoo import Table
from privmoo.audit import canonical
from privmoo.data.memory import MemorySource
from privmoo.data.source import WEIGHT, CopyPlan
from privmoo.errors import ReleaseError, TableError


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [31, 45, 31, 45, 31],
            "zip": ["02139", None, "02139", "=1", "02139"],
            "paid": [1.5, None, 2.5, 2.5, 1.5],
            "smokes": [True, False, True, True, False],
            "born": pd.to_datetime(
                ["1990-01-01", "1980-02-03 10:00", None, "1970-01-01", None], format="ISO8601"
            ),
            "ill": list("xyxyz"),
        }
    )


def counted(frames: dict[str, pd.DataFrame]) -> dict[str, dict[tuple[str, ...], int]]:
    return {
        name: {
            tuple(canonical(value) for value in row[:-1]): int(row[-1])
            for row in frame.itertuples(index=False)
        }
        for name, frame in frames.items()
    }


def test_counts_are_those_of_the_records() -> None:
    source = MemorySource(people())
    counts = source.count(["age", "zip"], ["ill"], max_rows=5)
    assert counts.n_records == 5 and counts.n_dropped == 0
    expected = people().groupby(["age", "zip", "ill"], dropna=False, observed=True).size()
    found = counts.frames(["age", "zip"])["ill"]
    assert dict(zip(found["ill"], found[WEIGHT], strict=True)).keys() == {"x", "y", "z"}
    assert sorted(found[WEIGHT]) == sorted(expected)
    complete = source.count(["age"], [], complete=["zip"], max_rows=5)
    assert (complete.n_records, complete.n_dropped) == (4, 1)
    with pytest.raises(TableError, match="more than 2 distinct combinations"):
        source.count(["age", "zip"], [], max_rows=2)


def test_the_first_rows_of_values() -> None:
    source = MemorySource(people())
    counts = source.count(["age", "zip"], ["ill"], max_rows=5)
    first = source.first_rows("zip", counts)
    zips = people()["zip"].map(canonical)
    assert [zips.iloc[row] for row in first] == counts.keys["zip"].map(canonical).tolist()
    assert source.first_rows("ill", counts).tolist() == [0, 1, 1, 4]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("spreadsheets", [False, True])
def test_a_copy_reads_back_as_it_was_written(
    ending: str, spreadsheets: bool, tmp_path: Path
) -> None:
    frame = people()
    source = MemorySource(frame)
    rows = np.array([4, 0, 3, 1])
    plan = CopyPlan(
        rows=rows,
        values={"age": pd.Series(["30–39", "30–39", "*", "*"])},
        columns=list(frame),
        spreadsheets=spreadsheets,
    )
    path = tmp_path / f"copy.{ending}"
    keys = ["age", "zip", "smokes", "born"]
    counts = source.count(["age"], ["ill"], max_rows=5)
    written = source.copy(counts, plan, path)
    released = source.copied_rows(plan)
    assert released["ill"].tolist() == list("zxyy")
    copied = source.recount(path, written, keys, ["ill", "paid"], ["zip"])
    again, spread = copied.counts, copied.spread
    expected = MemorySource(released).count(keys, ["ill", "paid"], max_rows=5)
    assert counted(again.frames(keys)) == counted(expected.frames(keys))
    assert spread == {"zip": (2, 3)}
    sizes, groups = source.group_sizes(path, written, ["age"])
    assert (sizes.tolist(), groups.tolist()) == ([2], [2])


def test_what_cannot_be_copied(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2], "note": [1, "a"]})
    source = MemorySource(frame)
    counts = source.count(["age"], [], max_rows=2)
    plan = CopyPlan(rows=np.arange(2), values={"age": frame["age"]}, columns=["age", "note"])
    with pytest.raises(ReleaseError, match="'note' has values that a Parquet file cannot hold"):
        source.copy(counts, plan, tmp_path / "copy.parquet")
    shuffled = CopyPlan(rows=plan.rows, values=plan.values, columns=["age"], secret="s")  # noqa: S106
    with pytest.raises(TableError, match="copied as planned"):
        source.copy(counts, shuffled, tmp_path / "copy.csv")


def test_samples_of_a_table_in_memory() -> None:
    frame = pd.DataFrame({"name": list("abcdef"), "age": [1, 2, 3, 4, 5, 6], "ill": list("xyxyxy")})
    table = Table(frame, quasi_identifiers=["age"], sensitive="ill", identifiers="name")
    sample = table.sample(4, seed=2)
    assert sample.n_records == 4 and list(sample.frame) == ["age", "ill"]
    assert sample.frame.equals(table.sample(4, seed=2).frame)
    assert not sample.frame.equals(table.sample(4, seed=3).frame)
    rows = frame.set_index("age").loc[sample.frame["age"], "ill"]
    assert rows.tolist() == sample.frame["ill"].tolist()
    few = table.source.sample(["age"], 3)
    assert few.n_rows == 6 and len(few.frame) == 3 and not few.complete


def test_records_and_originals_are_the_same_in_memory() -> None:
    table = Table(people(), quasi_identifiers=["age"], sensitive="ill", missing="drop")
    assert table.has_records and table.originals is table.records
    assert table.originals.weights is None
    assert table.originals.row_weights.tolist() == [1] * 5
    assert table.source.columns == list(people())
    assert table.counts.n_records == table.n_records
