"""The conformance suite of recodings: built-in ones pass it, and violations are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import privmoo as pm
from privmoo import recodings, registry
from privmoo.testing import check_recoding, example_hybrid_table, example_table

TABLE = example_table()
HYBRID = example_hybrid_table()
BUILT_IN: dict[str, Callable[[], tuple[Any, pm.Table]]] = {
    "cuts": lambda: (recodings.identity_recoding(TABLE), TABLE),
    "levels": lambda: (recodings.level_recoding(TABLE, [1, 1, 0]), TABLE),
    "classes": lambda: (recodings.cluster_recoding(TABLE, np.arange(TABLE.n_records) % 4), TABLE),
    "cells": lambda: (pm.HybridScheme(HYBRID, 5, patterns=["race"]).recoding(1), HYBRID),
}


def test_every_built_in_recoding_is_among_them() -> None:
    # "tuples" is for scanned tables, which keep no records to compare with.
    assert {*BUILT_IN, "tuples"} == set(registry.built_in_names("recodings"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_recodings_conform(name: str) -> None:
    recoding, table = BUILT_IN[name]()
    assert recoding.to_json()["kind"] == name
    check_recoding(recoding, table)


def test_breaches_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="is not a privmoo Recoding"):
        check_recoding(3, TABLE)
    recoding = recodings.identity_recoding(TABLE)
    # The registry remembers names, and must not learn this one.
    registry.built_in_names("recodings")
    monkeypatch.setattr(type(recoding), "name", "secret")
    with pytest.raises(AssertionError, match="no recoding is registered as 'secret'"):
        check_recoding(recoding, TABLE)
