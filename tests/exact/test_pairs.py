"""The bound by pairs of records, against the obvious version and against searches of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.exact import exact_front, lower_bound
from privmoo.exact.pairs import pair_bound, pair_leaves
from privmoo.problems import Levels, Regions
from tests.scenery.cuts import random_cuts
from tests.scenery.levels import is_bound


@given(st.integers(0, 10**6))
def test_every_pair_one_by_one(seed: int) -> None:
    table = random_cuts(np.random.default_rng(seed)).table
    shares = np.array([qi.weight for qi in table.qis]) / sum(qi.weight for qi in table.qis)
    codes = table.tuples[table.row_tuple]
    loss = np.zeros((table.n_records, table.n_records))
    for j, qi in enumerate(table.qis):
        leaves = pair_leaves(qi)[codes[:, j][:, None], codes[:, j]]
        loss += shares[j] * (leaves - 1) / max(qi.n_leaves - 1, 1)
    nearest = np.sort(loss, axis=1)
    bound = pair_bound(table, "loss")
    for k in range(1, table.n_records + 1):
        true = nearest[:, k - 1].sum()
        assert true - table.n_records / 4096 - 1e-6 <= bound[k] <= true + 1e-9


@given(st.integers(0, 10**6))
def test_common_nodes_and_ranges(seed: int) -> None:
    problem = random_cuts(np.random.default_rng(seed))
    for j, qi in enumerate(problem.table.qis):
        leaves = pair_leaves(qi)
        space = problem.space
        bits = (np.arange(2 ** (qi.n_leaves - 1))[:, None] >> np.arange(qi.n_leaves - 1)) % 2 == 1
        rows = np.repeat(space.finest()[None], len(bits), axis=0)
        rows[:, space.offsets[j] : space.offsets[j + 1]] = bits
        free = rows[space.valid(rows)][:, space.offsets[j] : space.offsets[j + 1]]
        for row in free:
            blocks = np.concatenate([[0], np.cumsum(row)])
            together = blocks[:, None] == blocks
            size = np.bincount(blocks)[blocks]
            assert (leaves <= np.where(together, size[:, None], qi.n_leaves)).all()


@pytest.mark.parametrize("limit", [0.0, 0.2])
def test_the_bound_holds_for_regions_and_is_said(limit: float) -> None:
    for seed in range(3):
        table = random_cuts(np.random.default_rng(seed), most=40).table
        problem = Regions(table, max_suppression=limit)
        few = pm.search.make_algorithm(problem, population=8)
        found = pm.optimize(problem, few, pm.Evaluations(20), seed=1, progress=False, polish=False)
        assert is_bound(lower_bound(problem), found, "loss", 1)
        front = exact_front(problem, start=found, progress=False)
        assert not front.proven and front.run["algorithm"] == "bound by pairs"
        gap = front.gap()
        assert (gap.possible <= gap.found + 1e-9).all() and "recoding of this kind" in gap.at(2)


def test_the_bound_holds_for_levels_and_transparency() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({c: rng.integers(10, 99, 30).astype(str) for c in "ab"})
    table = pm.Table(frame, quasi_identifiers={c: pm.Hierarchy.masking() for c in "ab"})
    objectives = [pm.KAnonymity(), pm.Transparency()]
    problem = Levels(table, objectives=objectives, max_suppression=0.5)
    bound = pair_bound(table, "transparency")
    front = exact_front(problem, progress=False)
    for k, value in zip(front.column("k"), front.column("transparency"), strict=True):
        assert 2 * 30 - value >= bound[int(k)] - 1e-9
