"""Cards of many solutions at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

import privmoo as pm
from privmoo.explorer.cards import card_of, cards_of


def test_cards_of_a_front_are_those_of_its_solutions() -> None:
    rng = np.random.default_rng(1)
    records = pd.DataFrame({"age": rng.geometric(0.2, 200), "ill": rng.choice(list("xyz"), 200)})
    ages = {"age": pm.Hierarchy.ordered()}
    table = pm.Table(records, quasi_identifiers=ages, sensitive="ill")
    front = pm.optimize(pm.problems.KLSafe(table), budget=5, seed=1, progress=False)
    vectors = {row.tobytes() for row in front.X}
    assert len(vectors) < len(front)  # several steps of one staircase, which share a recoding
    assert list(cards_of(front)) == [card_of(solution) for solution in front]
