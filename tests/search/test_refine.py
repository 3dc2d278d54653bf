"""Refine: the search goes on near wishes, and nothing that was known is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import privmoo as pm
from privmoo.errors import ProblemError
from tests.scenery.fronts import EVERY, FRONT, PROBLEM


def test_refining_only_adds_and_can_be_repeated() -> None:
    coarse = pm.Front.of(PROBLEM, EVERY[::97])
    refined = [
        coarse.refine({"k": 10, "loss": 0.5}, budget=6, seed=3, progress=False) for _ in range(2)
    ]
    assert refined[0] == refined[1] and refined[0].hypervolume() >= coarse.hypervolume()
    known = {tuple(values) for values in FRONT.values[:, :2]}
    best = {tuple(values) for values in refined[0].values[:, :2]}
    assert best & known  # what every cut was tried for is reached somewhere
    assert coarse == pm.Front.of(PROBLEM, EVERY[::97])


def test_families_stay_known() -> None:
    table = pm.testing.example_table()
    options = {"families": ["levels", "cuts"], "seed": 1, "progress": False}
    front = pm.trade_off(table, budget=3, **options)
    refined = front.refine({"k": 3}, budget=2, seed=1, progress=False)
    assert refined.families is not None and set(refined.families) <= {"levels", "cuts"}
    assert refined.hypervolume() >= front.hypervolume()


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="near: 'kk' is not recorded"):
        FRONT.refine({"kk": 5}, seconds=1)
    with pytest.raises(ProblemError, match="give one of seconds and budget"):
        FRONT.refine({"k": 5})
    with pytest.raises(ProblemError, match="say where to search"):
        FRONT.refine({}, seconds=1)
    with pytest.raises(ProblemError, match=r"did you mean 0\.2"):
        FRONT.refine({"loss": 20}, seconds=1)
    FRONT.save(tmp_path / "front.npz")
    with pytest.raises(ProblemError, match="loaded without its problem"):
        pm.Front.load(tmp_path / "front.npz").refine({"k": 5}, seconds=1)
