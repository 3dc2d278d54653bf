"""Minimality: whoever knows how a recoding was chosen may learn more than ℓ says, and is warned of."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.release.certificate import NOT_GUARANTEED

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

# Six people, two in one town and four in another. Everybody's town is known. Two have the same illness.
TOWNS = ["A", "A", "B", "B", "B", "B"]
ILLS = ["HIV", "HIV", "flu", "cold", "cough", "gout"]


def chosen(ills: tuple[str, ...]) -> pm.Solution:
    """What the publisher releases: the least loss with ℓ of at least 2, proven."""
    hierarchy = pm.Hierarchy.tree({"land": ["A", "B"]})
    frame = pd.DataFrame({"town": TOWNS, "ill": ills})
    table = pm.Table(frame, quasi_identifiers={"town": hierarchy}, sensitive="ill")
    problem = pm.problems.Levels(
        table,
        objectives=[pm.FrequencyDiversity(), pm.GeneralLoss()],
        suppression=pm.NoSuppression(),
    )
    front = pm.exact_front(problem, progress=False)
    assert front.proven
    return front.where(min_l=2).best("loss")


def rows_of(solution: pm.Solution) -> list[tuple[str, ...]]:
    frame = solution.release().frame
    return sorted(map(tuple, frame.astype(str).to_numpy().tolist()))


def test_a_knower_of_the_method_is_certain_where_the_certificate_says_three() -> None:
    release = chosen(tuple(ILLS)).release()
    certificate = release.certificate
    assert certificate.privacy["sensitive"]["ill"]["l"] == 3
    published = rows_of(chosen(tuple(ILLS)))

    # Who has HIV? Other illnesses are all different, so that their places do not matter.
    by_counting, by_method = [], []
    for sick in itertools.combinations(range(6), 2):
        others = iter(ILLS[2:])
        ills = tuple("HIV" if i in sick else next(others) for i in range(6))
        has = np.isin(np.arange(6), sick)
        by_counting.append(has)  # all of them give these rows, if the town is not published
        if rows_of(chosen(ills)) == published:
            by_method.append(has)
    assert np.mean(by_counting, axis=0) == pytest.approx(1 / 3)
    assert np.mean(by_method, axis=0).tolist() == [1, 1, 0, 0, 0, 0]

    text = certificate.to_text()
    assert NOT_GUARANTEED[1] in text and "who knows how the recoding was chosen" in text
    for claim in (
        "1/ℓ",
        "1/l",
        "1/3",
        "probab",
        "cannot be linked",
        "at most one third",
        "protects",
    ):
        assert claim not in text
