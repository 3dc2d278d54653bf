"""Operators of classes: contract, at most n_clusters classes of k, vectors that mean what is encoded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.data.table import Table
from privmoo.operators import ClassCrossover, ClassSampling, ClassSearch
from privmoo.problems import MOOBAM, Clusters
from privmoo.spaces import ClassSpace
from privmoo.testing import check_operator
from tests.scenery.clusters import people, tables

TABLE = people(60, 1)
PROBLEMS = {
    "sizes": Clusters(TABLE, 15, k=3),
    "few": Clusters(TABLE, 4, k=3),
    "values": MOOBAM(TABLE, 15, 3),
    "whole tuples": MOOBAM(TABLE, 10, 3, scale="standard", split=0),
    "categories": Clusters(people(40, 2, qis=["sex", "job"]), 9, k=3),
}
OPERATORS = {
    "sampling": ClassSampling(),
    "crossover": ClassCrossover(),
    "search": ClassSearch(),
    "anew": ClassSearch(anew=1.0, vary=1.0),
}


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_contract(operator: str, problem: str) -> None:
    check_operator(OPERATORS[operator], PROBLEMS[problem])


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_children_have_k_and_at_most_n_clusters(problem: str) -> None:
    own = PROBLEMS[problem]
    rng = np.random.default_rng(3)
    rows = ClassSampling()(own, 12, random_state=rng, to_numpy=True)
    pairs = ClassCrossover()._do(own, rows.reshape(2, 6, -1), random_state=rng)
    children = np.concatenate([rows, pairs.reshape(12, -1), ClassSearch()._do(own, rows)])
    assert own.evaluate_measures(children)["k"].min() >= own.k
    assert children.max() < own.n_clusters
    assert (own.space.clean(children) == children).all()


@given(table=tables(), k=st.integers(2, 3), seed=st.integers(0, 9))
def test_what_a_baseline_found_is_a_decision_vector(table: Table, k: int, seed: int) -> None:
    if table.n_records < k or not table.has_records or table.subjects is not None:
        return
    space = ClassSpace(table, table.n_records // k, k=k, split=table.n_records)
    recoding = pm.baselines.local_search(table, k, steps=300, seed=seed)
    assert space.recoding(space.encode(recoding)).key() == recoding.key()
