"""Operators on centroids: the contract, what each keeps and changes, and repair."""

from __future__ import annotations

from typing import Any, cast

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.hierarchy import Hierarchy
from privmoo.operators import (
    CentroidMutation,
    CentroidSampling,
    ClusterExchange,
    LloydStep,
    MergeRepair,
    OneOf,
    SplitMergeDrop,
)
from privmoo.operators.space import space_of
from privmoo.problems import MOOBAM, Clusters, Cuts
from privmoo.recodings import PartitionRecoding
from privmoo.spaces.centroids import CentroidSpace
from privmoo.testing import check_operator, is_valid, valid_rows
from tests.scenery.clusters import people, tables

TABLE = people(120, 1)
PROBLEMS = {
    "balanced": Clusters(TABLE, 12, k=3, assignment="balanced"),
    "nearest": Clusters(TABLE, 12, k=3, assignment="nearest", release="centroid", scale="minmax"),
    "categories": Clusters(people(60, 2, qis=["sex", "job"]), 9, k=3, assignment="balanced"),
    "whole tuples": MOOBAM(TABLE, 10, 3, scale="standard", assignment="balanced", split=0),
    "one cluster": Clusters(people(6, 2), 1, k=5, assignment="balanced"),
    "a constant": Clusters(people(60, 2, qis=["same"]), 9, k=3, assignment="balanced"),
}
OPERATORS = {
    "records": CentroidSampling(),
    "values": CentroidSampling("values"),
    "all clusters": CentroidSampling("values", vary=False),
    "exchange": ClusterExchange(),
    "mutation": CentroidMutation(),
    "far mutation": CentroidMutation(1.0, reach=1.0),
    "split, merge, drop": SplitMergeDrop(),
    "many": SplitMergeDrop(1.0),
    "Lloyd": LloydStep(),
    "Lloyd anew": LloydStep(explore=1.0, share=1.0),
    "one of": OneOf([LloydStep(), SplitMergeDrop(), CentroidMutation()], [1, 2, 3]),
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_contract(operator: str, problem: str) -> None:
    if problem in ("one cluster", "a constant") and "Lloyd" in operator:
        pytest.skip("a single cluster has one mean, whatever the seed")
    check_operator(OPERATORS[operator], PROBLEMS[problem])


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_children_are_clean(operator: str, problem: str) -> None:
    """Rows mean what they look like: whole categories and demands, within bounds, no other spelling."""
    own, made = PROBLEMS[problem], cast("Any", OPERATORS[operator])
    parents = valid_rows(own, 12, seed=4)
    rng = np.random.default_rng(1)
    if isinstance(made, CentroidSampling):
        children = made(own, 12, random_state=rng, to_numpy=True)
    elif isinstance(made, ClusterExchange):
        children = made._do(own, parents.reshape(2, 6, -1), random_state=rng).reshape(12, -1)
    else:
        children = made._do(own, parents, random_state=rng)
    assert is_valid(own, children).all()
    assert np.array_equal(own.space.clean(children), children)


def clusters_of(space: CentroidSpace, row: NDArray[np.float64]) -> set[tuple[float, ...]]:
    return {tuple(centroid) for centroid in space.matrices(row)[0]}


def test_sampled_centroids_are_records_or_values() -> None:
    problem = PROBLEMS["balanced"]
    space = problem.space
    records = {tuple(row) for row in (space.coordinates.points * space.coordinates.units).tolist()}
    rng = np.random.default_rng(0)
    rows = CentroidSampling()(problem, 60, random_state=rng, to_numpy=True)
    assert all(clusters_of(space, row) <= records for row in rows)
    used = [len(clusters_of(space, row)) for row in rows]
    assert min(used) == 2 and max(used) >= 11
    columns = list(zip(*records, strict=True))
    for row in CentroidSampling("values", vary=False)(problem, 20, random_state=rng, to_numpy=True):
        for centroid in clusters_of(space, row):
            assert all(value in column for value, column in zip(centroid, columns, strict=True))


def test_exchange_makes_children_of_their_parents_clusters() -> None:
    problem = PROBLEMS["balanced"]
    space = problem.space
    parents = np.stack([valid_rows(problem, 15, seed=1), valid_rows(problem, 15, seed=2)])
    children = ClusterExchange()._do(problem, parents, random_state=np.random.default_rng(0))
    mixed = 0
    for i in range(15):
        own = [clusters_of(space, parents[p, i]) for p in (0, 1)]
        for child in (0, 1):
            found = clusters_of(space, children[child, i])
            assert found <= own[0] | own[1]
            mixed += bool(found - own[0]) and bool(found - own[1])
        ends = {tuple(parents[p, i, -3:]) for p in (0, 1)}
        for column in range(3):
            values = {end[column] for end in ends}
            assert {children[0, i, column - 3], children[1, i, column - 3]} == values
    assert mixed > 10


def test_a_mutated_category_is_one_of_the_data() -> None:
    """A domain has leaves that nobody has; a search shall not release them."""
    df = pd.DataFrame({"kind": list("aabbd") * 6})
    tree = Hierarchy.tree({"x": ["a", "b", "c"], "y": ["d", "e"]})
    problem = Clusters(Table(df, quasi_identifiers={"kind": tree}), 5, k=2, release="centroid")
    leaves = problem.table.qis[0].leaves
    rows = valid_rows(problem, 30)
    for mutation in (CentroidMutation(1.0, reach=1.0), SplitMergeDrop(1.0), LloydStep()):
        children = mutation._do(problem, rows, random_state=np.random.default_rng(0))
        codes = space_of(problem, "centroids").matrices(children).astype(int).ravel()
        assert {leaves[c] for c in codes} <= {"a", "b", "d"}


@settings(max_examples=30)
@given(table=tables(), seed=st.integers(0, 99))
def test_a_lloyd_step_moves_centroids_to_the_means_of_their_classes(
    table: Table, seed: int
) -> None:
    problem = Clusters(table, max(1, table.n_records // 2), assignment="balanced")
    rows = valid_rows(problem, 3, seed=seed)
    moved = LloydStep(explore=0.0)._do(problem, rows, random_state=np.random.default_rng(0))
    for row, child in zip(rows, moved, strict=True):
        recoding = problem.space.recoding(row)
        assert isinstance(recoding, PartitionRecoding)
        assert clusters_of(problem.space, child) == {tuple(c) for c in recoding.centres + 0.0}
        assert np.array_equal(child[-3:], row[-3:])


def sizes_of(problem: Clusters, row: NDArray[np.float64]) -> NDArray[np.int64]:
    """Records of every cluster when each goes to its nearest centroid, by looking at all."""
    space, table = space_of(problem, "centroids"), problem.table
    matrix = space.matrices(row)[0]
    gap = (space.coordinates.points[:, None] - (matrix / space.coordinates.units)[None]) ** 2
    gap = np.where(space.numeric, gap, gap != 0)
    nearest = np.argmin(gap.sum(axis=2), axis=1)
    counts = np.bincount(nearest[table.row_tuple])
    return np.asarray(counts[counts > 0])


@settings(max_examples=60)
@given(data=st.data())
def test_repair_leaves_no_small_cluster(data: st.DataObject) -> None:
    table = data.draw(tables(most=40))
    k = data.draw(st.integers(2, 4))
    scale = data.draw(st.sampled_from(["raw", "standard", "minmax"]))
    n = max(1, table.n_records // k)
    problem = Clusters(table, n, k=k, assignment="nearest", scale=scale)
    sampling = CentroidSampling(data.draw(st.sampled_from(["values", "records"])), vary=False)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = sampling(problem, 3, random_state=rng, to_numpy=True)
    given_rows = rows.copy()
    repaired = MergeRepair().do(problem, Population.new("X", rows)).get("X")
    assert np.array_equal(rows, given_rows)
    assert is_valid(problem, repaired).all()
    measured = problem.evaluate_measures(repaired)["k"]
    for before, after, own in zip(rows, repaired, measured, strict=True):
        sizes = sizes_of(problem, after)
        assert len(sizes) == 1 or sizes.min() >= k
        assert own >= k
        if sizes_of(problem, before).min() >= k:
            assert np.array_equal(before, after)
    again = MergeRepair().do(problem, Population.new("X", repaired)).get("X")
    assert np.array_equal(again, repaired)


class _Constant(Mutation):  # type: ignore[misc]
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def _do(self, problem: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        return np.full_like(X, self.value)


def test_one_of_draws_by_weight_and_leaves_nobody_out() -> None:
    X = np.zeros((2000, 2))
    both = OneOf([_Constant(1.0), _Constant(2.0), _Constant(3.0)], [3, 1, 0])
    children = both._do(None, X, random_state=np.random.default_rng(0))
    share = (children[:, 0] == 1).mean()
    assert 0.7 < share < 0.8 and set(children.ravel()) == {1.0, 2.0}
    assert not X.any()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: OneOf([]), "weights: give one for each of 0 mutations, got 0"),
        (lambda: OneOf([LloydStep()], [1, 2]), "weights: give one for each of 1 mutations, got 2"),
        (
            lambda: OneOf([LloydStep()], [0]),
            "weights: must be numbers of at least 0, and not all 0",
        ),
        (
            lambda: OneOf([LloydStep()], [-1]),
            "weights: must be numbers of at least 0, and not all 0",
        ),
        (
            lambda: OneOf([LloydStep()], [float("nan")]),
            "weights: must be numbers of at least 0, and not all 0",
        ),
        (lambda: CentroidMutation(1.5), "rate: must be a number from 0 to 1, got 1.5"),
        (lambda: CentroidMutation(reach=-1), "reach: must be a number from 0 to 1, got -1"),
        (
            lambda: CentroidMutation(float("nan")),
            "rate: must be a number from 0 to 1, got nan",
        ),
        (lambda: SplitMergeDrop(0), "share: must be above 0 and at most 1, got 0"),
        (lambda: LloydStep(2), "explore: must be a number from 0 to 1, got 2"),
        (lambda: LloydStep(share=-0.1), "share: must be a number from 0 to 1, got -0.1"),
        (lambda: CentroidSampling("rows"), "of: must be 'records' or 'values', got 'rows'"),
    ],
)
def test_wrong_settings(make: Any, sentence: str) -> None:
    with pytest.raises(ProblemError) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "operator",
    [ClusterExchange(), CentroidMutation(), SplitMergeDrop(), LloydStep(), MergeRepair()],
)
def test_operators_name_the_problems_they_work_on(operator: Any) -> None:
    table = Table(pd.DataFrame({"a": [1, 2]}), quasi_identifiers={"a": Hierarchy.ordered()})
    X = np.zeros((2, 1, 1)) if isinstance(operator, ClusterExchange) else np.zeros((1, 1))
    with pytest.raises(ProblemError) as caught:
        operator._do(Cuts(table), X, random_state=np.random.default_rng(0))
    sentence = (
        "problem: Cuts does not search centroids; use a problem such as "
        "Clusters(..., assignment='balanced')"
    )
    assert str(caught.value) == sentence
