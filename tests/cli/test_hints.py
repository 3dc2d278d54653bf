"""Hints on the command line name options and entries of a job."""

from __future__ import annotations

import pandas as pd
import pytest

import privmoo as pm
from privmoo.cli.hints import advice, sentence
from privmoo.errors import Hint, TableError


def test_another_value_has_another_hint() -> None:
    drop = Hint(parameter="missing", value="drop", call="Table")
    keep = Hint("write them alike", parameter="missing", value="value", call="Table")
    assert advice(drop) == 'leave out rows with missing values with missing = "drop" in [data]'
    assert advice(keep) == (
        'write them alike, or count them as values with missing = "value" in [data]'
    )


def test_missing_targets_are_explained_in_both_worlds() -> None:
    people = pd.DataFrame({"age": [1, 2, 3, 4], "ill": ["NA", "?", "x", "y"]})
    with pytest.raises(TableError) as caught:
        pm.Table(people, quasi_identifiers=["age"], sensitive="ill", target="ill")
    assert "missing='value'" in str(caught.value)
    assert 'missing = "value" in [data]' in sentence(caught.value)


def test_choices_without_k_say_what_to_type() -> None:
    hint = Hint(call="front.choices(loss=[…]) or front.best(…)")
    assert "front.best(…)" in str(hint)
    assert advice(hint) == "list solutions with privmoo choose --all, and rank them with --best"
