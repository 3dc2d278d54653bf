"""The conformance suite of policies: built-in ones pass it, and violations are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import privmoo as pm
from privmoo import registry
from privmoo.suppression import Suppression
from privmoo.testing import check_policy

BUILT_IN = {
    "BelowAverage": pm.BelowAverage("l"),
    "BelowThreshold": pm.BelowThreshold(3),
    "Budget": pm.Budget(0.2, by="l"),
    "JointBudget": pm.JointBudget(0.2),
    "KLBudget": pm.KLBudget(0.2),
    "Thresholds": pm.Thresholds(k=2, l=1.5),
    "NoSuppression": pm.NoSuppression(),
    "ViolatingGroups": pm.ViolatingGroups(
        pm.KAnonymity() >= 3, pm.TCloseness(reference="original") <= 0.5
    ),
}


def test_every_built_in_policy_is_among_them() -> None:
    # The candidates of ExplicitRecords choose records, which random recodings do not.
    assert {*BUILT_IN, "ExplicitRecords"} == set(registry.built_in_names("policies"))


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_policies_conform(name: str) -> None:
    check_policy(BUILT_IN[name])


@dataclass(frozen=True)
class Moody(Suppression):
    """Keeps groups only where candidates come in company."""

    def keep(self, groups: Any) -> np.ndarray:
        return np.full(len(groups.sizes), len(groups) > 1)


class Secret(Suppression):
    """Does not describe itself in plain data."""

    def __init__(self) -> None:
        self.sizes = (1, 2)

    def keep(self, groups: Any) -> None:
        return None


class Unheard(Suppression):
    """Needs what does not exist."""

    needs = frozenset({"names"})


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (Moody(), "keeps different groups"),
        (Secret(), "must return plain data"),
        (Unheard(), r"needs \['names'\], but only"),
        (3, "is not a privmoo Suppression"),
    ],
)
def test_breaches_are_found(policy: Any, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_policy(policy)
