"""Tables in memory, and the same scanned from files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo import Table
from privmoo.errors import TableWarning


def scans(frame: pd.DataFrame, folder: Path, n_parts: int = 2) -> dict[str, Path]:
    """The same rows as one Parquet file, a folder of them, one CSV file and a folder of them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"parquet": folder / "all.parquet", "csv": folder / "all.csv"}
    frame.to_parquet(paths["parquet"], index=False)
    frame.to_csv(paths["csv"], index=False)
    for kind in ("parquet", "csv"):
        parts = folder / f"{kind}-parts"
        parts.mkdir(exist_ok=True)
        paths[f"{kind} parts"] = parts
        for i, rows in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
            part = frame.iloc[rows]
            path = parts / f"part-{i}.{kind}"
            if kind == "parquet":
                part.to_parquet(path, index=False)
            else:
                part.to_csv(path, index=False)
    return paths


def table_by(engine: str, frame: pd.DataFrame, folder: Path, **roles: Any) -> Table:
    """The table as an engine reads it, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        if engine == "memory":
            return Table(frame, **roles)
        if engine == "duckdb":
            pytest.importorskip("duckdb")
            frame.to_parquet(folder / "data.parquet")
            return Table.scan(folder / "data.parquet", **roles)
        dd = pytest.importorskip("dask.dataframe")
        return Table.scan(dd.from_pandas(frame, npartitions=2), **roles)


def same(scanned: Table, table: Table) -> None:
    """Assert that the optimiser sees the same."""
    assert scanned.n_records == table.n_records
    assert scanned.n_dropped == table.n_dropped
    assert scanned.roles == table.roles
    assert np.array_equal(scanned.tuples, table.tuples)
    assert scanned.tuples.dtype == table.tuples.dtype
    assert np.array_equal(scanned.weights, table.weights)
    assert scanned.sort_order == table.sort_order
    for own, other in zip(scanned.qis, table.qis, strict=True):
        for name, value in vars(other).items():
            got = getattr(own, name)
            if isinstance(value, np.ndarray):
                assert np.array_equal(got, value, equal_nan=True), name
            elif name == "hierarchy":
                assert (got is None) == (value is None)
                assert got is None or got.fingerprint == value.fingerprint
            else:
                assert got == value, (own.name, name)
    assert list(scanned.sensitive) == list(table.sensitive)
    both = [(scanned.sensitive[n], table.sensitive[n]) for n in table.sensitive]
    assert (scanned.target is None) == (table.target is None)
    if table.target is not None and scanned.target is not None:
        both.append((scanned.target, table.target))
    for attribute, expected in both:
        assert attribute.values == expected.values
        assert (attribute.kind, attribute.ordered, attribute.has_missing) == (
            expected.kind,
            expected.ordered,
            expected.has_missing,
        )
        for name in ("offsets", "codes", "counts"):
            assert np.array_equal(getattr(attribute, name), getattr(expected, name)), name


def roles_of(table: Table) -> dict[str, Any]:
    """The roles of a table with its hierarchies, to be given to `Table.scan`."""
    return {
        "quasi_identifiers": {qi.name: qi.hierarchy for qi in table.qis},
        "sensitive": {name: a.hierarchy for name, a in table.sensitive.items()},
        "insensitive": [n for n in table.columns_of("insensitive") if n != table.target_name],
        "target": table.target_name,
    }
