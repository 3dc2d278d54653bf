"""The grouper refuses candidates that do not fit its table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.groups.grouper import Grouper
from privmoo.recodings import Candidates, identity_recoding


def table_of(ages: int) -> pm.Table:
    data = pd.DataFrame({"age": range(ages), "zip": [1, 2] * (ages // 2)})
    ordered = pm.Hierarchy.ordered
    return pm.Table(data, quasi_identifiers={"age": ordered(), "zip": ordered()})


SMALL, LARGE = table_of(6), table_of(3000)
GOOD = np.array([[0, 0, 1, 2, 2, 2, 0, 1]], np.uint32)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({"blocks": GOOD[:, :-1]}, r"blocks must have one column for each of the table's 8 leaves"),
        ({"blocks": np.tile(GOOD, 2)}, r"got the shape \(1, 16\)"),
        ({"blocks": GOOD[0]}, r"got the shape \(8,\)"),
        (
            {"blocks": GOOD * np.uint32(3)},
            "'age' must be numbered from 0 to at most 5",
        ),
        (
            {"blocks": np.roll(GOOD, 1, axis=1)[:, [0, 1, 2, 3, 4, 5, 6, 5]]},
            "'zip' must be numbered from 0 to at most 1",
        ),
        ({"blocks": GOOD.astype(np.int64) - [[0] * 7 + [2]]}, "'zip' must be numbered from 0"),
        ({"labels": np.zeros((1, 7), np.int32)}, "labels must have .* 6 distinct tuples"),
        ({"labels": np.full((1, 6), -1, np.int32)}, "labels of clusters must be numbered from 0"),
        (
            {"labels": np.zeros((1, 6), np.int32), "losses": np.zeros((1, 5))},
            "losses must have .* 6 distinct tuples",
        ),
    ],
)
def test_candidates_that_do_not_fit_the_table_are_refused(
    candidates: dict[str, Any], message: str
) -> None:
    with pytest.raises(ProblemError, match=message):
        Grouper(SMALL).group(Candidates(**candidates))


def test_candidates_that_fit_are_grouped() -> None:
    grouper = Grouper(SMALL)
    assert grouper.group(Candidates(blocks=GOOD)).n_groups.tolist() == [5]
    assert len(grouper.group(Candidates(blocks=GOOD[:0]))) == 0
    assert grouper.group(Candidates(labels=np.zeros((1, 6), np.int32))).n_groups.tolist() == [1]


@pytest.mark.parametrize(("table", "origin"), [(LARGE, SMALL), (SMALL, LARGE)])
def test_recodings_of_another_table_are_refused(table: pm.Table, origin: pm.Table) -> None:
    recoding = identity_recoding(origin)
    with pytest.raises(ProblemError, match="made for another table"):
        pm.make_release(table, recoding)
    with pytest.raises(ProblemError, match="made for another table"):
        pm.problems.Cuts(table).measure(recoding)
