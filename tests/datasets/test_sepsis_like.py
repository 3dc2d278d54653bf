"""Invented patients: roles, repeatable, and of the size that the paper prints."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.datasets import sepsis_like
from privmoo.errors import TableError


def test_roles_and_seeds() -> None:
    table = sepsis_like(400, seed=2)
    names = ["age", "visits", "days", "gender", "race", "ethnicity"]
    assert list(table.qi_names) == names
    assert len(table.sensitive) == 30 and table.target_name == "sepsis"
    assert set(np.unique(table.frame[list(table.sensitive)])) == {0, 1}
    pd.testing.assert_frame_equal(table.frame, sepsis_like(400, seed=2).frame)
    assert not table.frame.equals(sepsis_like(400, seed=3).frame)
    assert table.frame["age"].between(18, 102).all()
    assert (table.frame["first_location"] == "emergency").tolist() == (
        table.frame["days"] == 0
    ).tolist()


@pytest.mark.parametrize("n", [0, 99, 1.5, "many"])
def test_a_number_of_records_is_needed(n: object) -> None:
    with pytest.raises(TableError, match="n_records"):
        sepsis_like(n)


def test_it_has_about_as_many_combinations_and_records_at_risk_as_the_paper_prints() -> None:
    table = sepsis_like()
    sizes = table.weights
    assert table.n_records == 120_000 and abs(table.n_tuples / 23_553 - 1) < 0.05
    for inverse, printed in ((20, 56_113), (40 / 3, 48_396), (10, 41_445)):
        assert abs(sizes[sizes < inverse].sum() / printed - 1) < 0.05
    assert 0.02 < table.frame["sepsis"].mean() < 0.04
    # What the paper counts as open to homogeneity cannot be one value in any of thirty attributes.
    any_of_them = int(pm.evaluate({}, table=table, original=True)["homogeneity"].iloc[0])
    assert any_of_them > 5 * 14_937
