"""Values that a release loses: told to the publisher, and to others only as a rounded share."""

from __future__ import annotations

import numpy as np
import pandas as pd

import privmoo as pm


def table_of(rare: dict[str, int], common: int) -> pm.Table:
    """People in one large town, and a few in others."""
    towns = ["Uptown"] * common + [town for town, n in rare.items() for _ in range(n)]
    return pm.Table(pd.DataFrame({"town": towns}), quasi_identifiers={"town": pm.Hierarchy.flat()})


def solution_without_rare_towns(table: pm.Table, k: int) -> pm.Solution:
    problem = pm.problems.Levels(table, suppression=pm.BelowThreshold(k))
    return pm.Front.of(problem, [[0]])[0]


def test_a_town_that_many_lived_in_is_a_rounded_share() -> None:
    table = table_of({"Hamlet": 37, "Borough": 41}, common=922)
    solution = solution_without_rare_towns(table, k=50)
    assert str(solution.lost_values()["town"]) == "1 of 3 values remains, 78 people affected"
    assert "1 of 3 values remains, 78 people affected" in solution.explain()
    certificate = solution.release().certificate
    stated = certificate.to_dict()["release"]["share_of_records_whose_value_no_longer_occurs"]
    assert stated == {"town": 0.08}
    text = certificate.to_text() + certificate.to_json()
    assert "Hamlet" not in text and "Borough" not in text and "of 3 values" not in text
    assert "Some values of 'town' no longer occur" in certificate.to_text()


def test_a_town_of_one_person_is_not_betrayed() -> None:
    solution = solution_without_rare_towns(table_of({"Hamlet": 1}, common=999), k=5)
    assert solution.lost_values()["town"].records == 1  # its publisher is told
    certificate = solution.release().certificate
    assert "share_of_records_whose_value" not in certificate.to_json()
    assert "no longer occur" not in certificate.to_text()


def test_means_lose_no_values_and_modes_do() -> None:
    frame = pd.DataFrame({"age": np.arange(12.0), "job": list("aaabaaacaaad")})
    table = pm.Table(frame, quasi_identifiers=["age", "job"])
    release = pm.make_release(table, pm.baselines.mdav(table, 4))
    lost = release.certificate.release["share_of_records_whose_value_no_longer_occurs"]
    assert set(lost) == {"job"} and 0 < lost["job"] <= 0.25
