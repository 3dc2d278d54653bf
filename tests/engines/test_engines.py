"""An engine is a class that the registry finds; `Table.scan` needs no other change."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from privmoo import Table, registry
from privmoo.data.memory import MemorySource
from privmoo.data.source import ScanEngine, ScanOptions
from privmoo.errors import TableError


class DictEngine(ScanEngine):
    """Opens dictionaries of columns."""

    name = "dicts"
    reads = "a dictionary"

    def accepts(self, source: Any) -> bool:
        return isinstance(source, dict)

    def open(self, source: Any, options: ScanOptions) -> MemorySource:
        return MemorySource(pd.DataFrame(source))


def test_an_engine_of_a_plug_in_is_used() -> None:
    columns = {"age": [31, 45, 31], "ill": list("xyx")}
    with pytest.raises(TableError, match=r"source: must be .*, got dict"):
        Table.scan(columns, quasi_identifiers=["age"])
    registry.register("engines", "dicts", DictEngine)
    try:
        table = Table.scan(columns, quasi_identifiers=["age"], sensitive="ill")
    finally:
        registry.unregister("engines", "dicts")
    assert not table.has_records and table.weights.tolist() == [2, 1]
    assert table.originals.frame["age"].tolist() == [31, 45]


def test_built_in_engines_are_folders() -> None:
    assert registry.built_in_names("engines") == ["dask", "duckdb"]
    assert ScanOptions().changed_options == []
