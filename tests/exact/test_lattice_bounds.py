"""On tables where bounds leave much out, the sweep finds what evaluating every vector finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.problems import Levels


def middling(seed: int, n: int = 400) -> pm.Table:
    """Six quasi-identifiers of uneven distribution, 2,304 vectors of levels."""
    rng = np.random.default_rng(seed)
    codes = {f"q{j}": (rng.random(n) ** 2 * 16).astype(int) for j in range(4)}
    codes |= {"a": rng.choice(4, n, p=[0.7, 0.2, 0.07, 0.03]), "b": rng.choice(2, n)}
    frame = pd.DataFrame({**codes, "ill": rng.choice(list("xyz"), n)})
    wide = pm.Hierarchy.intervals(0, 15, widths=[4, 8])
    return pm.Table(
        frame,
        quasi_identifiers={
            **{f"q{j}": wide for j in range(4)},
            "a": pm.Hierarchy.intervals(0, 3, widths=[2]),
            "b": pm.Hierarchy.flat(),
        },
        sensitive="ill",
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("limit", [0.0, 0.05, 0.3, 1.0])
def test_bounds_leave_out_nothing_that_matters(seed: int, limit: float) -> None:
    table = middling(seed)
    swept = pm.exact_front(Levels(table, max_suppression=limit), progress=False)
    # A constraint on ℓ that always holds is one that the sweep does not know.
    asked = Levels(
        table, max_suppression=limit, constraints=[pm.FrequencyDiversity() >= 1.0], extras=[]
    )
    evaluated = pm.exact_front(asked, progress=False)
    assert swept.run["visited"] + swept.run["left_out_by_bounds"] == swept.run["nodes"]
    if limit < 0.3:
        assert swept.run["left_out_by_bounds"] > 0
    # Losses that differ in the last bit only can both be on a front: compare the least loss by k.
    for k in {*swept.column("k").tolist(), *evaluated.column("k").tolist()}:
        assert least_loss(swept, k) == pytest.approx(least_loss(evaluated, k), rel=1e-9, abs=1e-12)


def least_loss(front: pm.Front, k: float) -> float:
    return float(front.column("loss")[front.column("k") >= k].min())
