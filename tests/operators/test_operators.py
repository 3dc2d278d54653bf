"""Operators of cuts: valid children on random trees, spans, seeds, and whole runs of pymoo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.pso import PSO
from pymoo.core.problem import Problem
from pymoo.operators.crossover.pntx import TwoPointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.sampling.rnd import BinaryRandomSampling
from pymoo.optimize import minimize

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.hierarchy import Hierarchy
from privmoo.operators import (
    AttributeExchange,
    BitFlips,
    CutMutation,
    CutRepair,
    CutSampling,
    HashDuplicates,
    LunacekCrossover,
    for_problem,
)
from privmoo.spaces.cuts import CutSpace
from privmoo.testing import check_operator, valid_rows

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.recursive(st.none(), lambda part: st.lists(part, min_size=1, max_size=4), max_leaves=12)
OPERATORS = [
    CutSampling(),
    CutSampling(probability=0.5),
    LunacekCrossover(),
    AttributeExchange(),
    CutMutation(),
    CutMutation(prob=1.0, shift=1.0, reach=2),
    CutRepair(),
    HashDuplicates(),
]


class Balance(Problem):  # type: ignore[misc]  # pymoo has no types
    """Few blocks against small blocks: a problem of cuts that is not one of ours."""

    def __init__(self, table: Table, *, n_obj: int = 2, vtype: Any = bool) -> None:
        self.space = CutSpace(table)
        super().__init__(n_var=self.space.n_bits, n_obj=n_obj, xl=0, xu=1, vtype=vtype)

    def _evaluate(self, X: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        assert self.space.valid(X).all()
        blocks = self.space.blocks(X)
        largest = np.array([np.bincount(row).max() for row in blocks.astype(np.int64)])
        out["F"] = np.column_stack([self.space.bits(X).sum(axis=1), largest])[:, : self.n_obj]


def tree_of(shape: Any) -> Hierarchy:
    """The tree of nested lists, with numbered leaves."""
    names = iter(range(1000))

    def named(part: Any) -> Any:
        return f"v{next(names)}" if part is None else [named(child) for child in part]

    return Hierarchy.tree([named(shape)] if shape is None else named(shape))


@st.composite
def problems(draw: st.DrawFn) -> Balance:
    """Random trees and orders side by side, some with levels or cuts that are fixed."""
    qis: dict[str, QuasiIdentifier] = {}
    for j in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            hierarchy = tree_of(draw(SHAPES))
        else:
            hierarchy = Hierarchy.ordered([f"v{i}" for i in range(draw(st.integers(1, 12)))])
        bounds: dict[str, Any] = draw(
            st.sampled_from(
                [
                    {},
                    {},
                    {"min_level": min(1, hierarchy.height)},
                    {"max_level": max(hierarchy.height - 1, 0)},
                    {"fixed_cuts": [hierarchy.leaves[hierarchy.n_leaves // 2]]},
                ]
            )
        )
        qis[f"q{j}"] = QuasiIdentifier(hierarchy=hierarchy, **bounds)
    assume(any(qi.hierarchy is not None and qi.hierarchy.n_leaves > 1 for qi in qis.values()))
    return Balance(Table(pd.DataFrame({name: ["v0", "v0"] for name in qis}), quasi_identifiers=qis))


def wide(*, n_trees: int = 2, **options: Any) -> Balance:
    """Two orders and some trees of ten leaves."""
    tree = Hierarchy.tree([[["a", "b"], ["c", "d", "e"]], ["f", "g"], [["h", "i"], "j"]])
    frame = pd.DataFrame(
        {"age": ["0", "1"], "size": ["0", "1"], **{f"t{i}": ["a", "b"] for i in range(n_trees)}}
    )
    order = Hierarchy.ordered([str(i) for i in range(20)])
    trees = {f"t{i}": tree for i in range(n_trees)}
    qis = {"age": order, "size": order, **trees}
    return Balance(Table(frame, quasi_identifiers=qis), **options)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: type(operator).__name__)
def test_operators_keep_the_contract(operator: Any) -> None:
    check_operator(operator, wide())
    check_operator(operator, wide(n_trees=0), seed=3)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: type(operator).__name__)
@settings(max_examples=50)
@given(problem=problems(), seed=SEEDS)
def test_children_are_valid_on_random_trees(operator: Any, problem: Balance, seed: int) -> None:
    check_operator(operator, problem, seed=seed)


# Sampling -------------------------------------------------------------------------------------


@given(problems(), SEEDS)
def test_sampling_begins_with_both_extremes(problem: Balance, seed: int) -> None:
    space = problem.space
    for n in (1, 2, 9):
        rng = np.random.default_rng(seed)
        X = CutSampling()(problem, n, random_state=rng, to_numpy=True)
        assert X.shape == (n, space.n_bits)
        assert np.array_equal(X[:2], np.array([space.finest(), space.coarsest()])[:n])


def test_sampling_spans_all_densities_and_depths() -> None:
    problem = wide()
    X = CutSampling()(problem, 400, random_state=np.random.default_rng(1), to_numpy=True)
    for part in np.split(X[2:], problem.space.offsets[1:-1], axis=1):
        density = part.mean(axis=1)
        shares = np.histogram(density, bins=4, range=(0, 1))[0] / len(density)
        assert (shares > 0.05).all()
    assert len(np.unique(X, axis=0)) > 330


# Crossover ------------------------------------------------------------------------------------


def crossed(problem: Balance, crossover: Any, n: int = 300) -> tuple[NDArray[Any], NDArray[Any]]:
    parents = np.stack([valid_rows(problem, n, seed=s) for s in (1, 2)])
    return parents, crossover._do(problem, parents, random_state=np.random.default_rng(3))


@pytest.mark.parametrize("crossover", [LunacekCrossover(), AttributeExchange()])
def test_children_share_out_the_bits_of_their_parents(crossover: Any) -> None:
    parents, children = crossed(wide(), crossover)
    assert np.array_equal(parents.sum(axis=0), children.sum(axis=0))
    assert (children[0] != parents[0]).any(axis=1).mean() > 0.9


def test_lunacek_changes_parent_once_per_attribute_where_both_have_a_one() -> None:
    problem = wide()
    space = problem.space
    parents, children = crossed(problem, LunacekCrossover())
    cut, whole = 0, 0
    for j in range(space.n_attributes):
        own = slice(space.offsets[j], space.offsets[j + 1])
        for a, b, c in zip(
            parents[0, :, own], parents[1, :, own], children[0, :, own], strict=True
        ):
            n = len(a)
            points = [
                at
                for at in range(n + 1)
                if not space.constrained[j] or at in (0, n) or (a[at] and b[at])
            ]
            made = [
                np.concatenate(pair)
                for at in points
                for pair in ((a[:at], b[at:]), (b[:at], a[at:]))
            ]
            assert any(np.array_equal(c, option) for option in made)
            is_whole = np.array_equal(c, a) or np.array_equal(c, b)
            whole, cut = whole + is_whole, cut + (not is_whole)
    assert cut > 100 and whole > 100


def test_lunacek_reaches_every_point_and_both_ends() -> None:
    problem = wide(n_trees=1)
    space = problem.space
    n = 4000
    finest, other = space.finest(), space.finest()
    tree = slice(space.offsets[2], space.offsets[3])
    # {a, b} {c, d, e} | f g | {h, i} j against all leaves: ones in common at bits 1, 4, 5, 6, 8
    other[tree] = [0, 1, 0, 0, 1, 1, 1, 0, 1]
    other[: space.offsets[1]] = False
    assert space.valid([other]).all()
    parents = np.stack([np.tile(finest, (n, 1)), np.tile(other, (n, 1))])
    children = LunacekCrossover()._do(problem, parents, random_state=np.random.default_rng(0))[0]
    n_age = int(space.offsets[1])
    ages = {tuple(row) for row in children[:, :n_age].astype(int).tolist()}
    prefixes = {(1,) * at + (0,) * (n_age - at) for at in range(n_age + 1)}
    assert ages == prefixes | {tuple(1 - bit for bit in prefix) for prefix in prefixes}
    assert {tuple(row) for row in children[:, tree].astype(int).tolist()} == {
        (a, 1, c, c, 1, 1, 1, e, 1)
        for a, c, e in [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
    }


def test_attribute_exchange_inherits_whole_attributes_evenly() -> None:
    problem = wide()
    parents, children = crossed(problem, AttributeExchange())
    for j in range(problem.space.n_attributes):
        own = slice(problem.space.offsets[j], problem.space.offsets[j + 1])
        straight = (children[0, :, own] == parents[0, :, own]).all(axis=1)
        swapped = (children[0, :, own] == parents[1, :, own]).all(axis=1)
        assert (straight | swapped).all()
        assert 0.35 < straight[~(straight & swapped)].mean() < 0.65


# Mutation -------------------------------------------------------------------------------------


def mutated(problem: Balance, X: NDArray[Any], **options: Any) -> NDArray[Any]:
    result: NDArray[Any] = CutMutation(**options)._do(
        problem, X, random_state=np.random.default_rng(4)
    )
    return result


def test_a_tree_is_changed_by_one_node() -> None:
    problem = wide()
    space = problem.space
    X = valid_rows(problem, 400, seed=5)
    Y = mutated(problem, X, prob=1.0, shift=0.0)
    touched = [part.any(axis=1) for part in np.split(X != Y, space.offsets[1:-1], axis=1)]
    assert np.mean(touched) > 0.6
    opened, closed = 0, 0
    for j in range(space.n_attributes):
        switches = np.arange(space.switch_offsets[j], space.switch_offsets[j + 1])
        before, after = X[:, space.first[switches]], Y[:, space.first[switches]]
        changed = before != after
        for row in np.flatnonzero(changed.any(axis=1)):
            flipped = switches[changed[row]]
            top = flipped[0]
            if after[row, top - switches[0]]:
                assert len(flipped) == 1
                opened += 1
            else:
                below = space.owner[space.begin[top] : space.stop[top]]
                assert (
                    set(flipped) <= set(below)
                    and not Y[row, space.begin[top] : space.stop[top]].any()
                )
                closed += 1
    assert min(opened, closed) > 200


def test_every_neighbour_is_reached() -> None:
    problem = wide()
    space = problem.space
    start = np.tile(space.coarsest(), (2000, 1))
    roots = np.flatnonzero(space.parent < 0)
    Y = mutated(problem, start, prob=1.0, shift=0.0)
    assert Y[:, space.first[roots]].any(axis=0).all()


def test_a_shift_moves_one_boundary_within_reach() -> None:
    problem = wide(n_trees=0)
    space = problem.space
    X = np.zeros((500, space.n_bits), dtype=bool)
    X[:, [9, 19 + 9]] = True
    Y = mutated(problem, X, prob=1.0, shift=1.0, reach=3)
    assert (Y.reshape(500, 2, 19).sum(axis=2) == 1).all()
    at = Y.reshape(-1, 19).argmax(axis=1) - 9
    assert sorted(set(at.tolist())) == [-3, -2, -1, 1, 2, 3]


def test_the_rate_is_the_mean_over_attributes_and_grows_with_their_choices() -> None:
    problem = wide()
    space = problem.space
    X = valid_rows(problem, 4000, seed=6)
    weights = np.sqrt(np.diff(space.switch_offsets))
    for prob in (0.0, 0.1, 0.6):
        parts = np.split(mutated(problem, X, prob=prob) != X, space.offsets[1:-1], axis=1)
        touched = [part.any(axis=1).mean() for part in parts]
        assert touched == pytest.approx(prob * weights / weights.mean(), abs=0.03)


def test_an_attribute_without_choice_is_never_chosen() -> None:
    order = Hierarchy.ordered([str(i) for i in range(8)])
    qis = {
        "a": QuasiIdentifier(hierarchy=order, max_level=0),
        "b": QuasiIdentifier(hierarchy=order),
    }
    problem = Balance(
        Table(pd.DataFrame({"a": ["0", "1"], "b": ["0", "1"]}), quasi_identifiers=qis)
    )
    X = valid_rows(problem, 300)
    changed = mutated(problem, X, prob=0.5) != X
    assert not changed[:, :7].any()
    assert changed[:, 7:].any(axis=1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prob": 1.5}, "prob: must be a number from 0 to 1, got 1.5"),
        ({"shift": -0.1}, "shift: must be a number from 0 to 1, got -0.1"),
        ({"reach": 0}, "reach: must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        CutMutation(**options)


# Whole runs -----------------------------------------------------------------------------------


def run(problem: Balance, seed: int, **operators: Any) -> Any:
    algorithm = NSGA2(pop_size=20, **operators)
    return minimize(problem, algorithm, ("n_gen", 15), seed=seed)


OURS = {
    "sampling": CutSampling(),
    "crossover": LunacekCrossover(),
    "mutation": CutMutation(),
    "eliminate_duplicates": HashDuplicates(),
}


def test_a_run_is_valid_and_the_seed_decides_it() -> None:
    first, second, other = (run(wide(), seed, **OURS) for seed in (1, 1, 2))
    assert first.X.dtype == np.bool_
    assert np.array_equal(first.X, second.X)
    assert not np.array_equal(first.pop.get("X"), other.pop.get("X"))
    assert 0 in first.F[:, 0]


def test_pymoo_bit_operators_work_with_repair() -> None:
    result = run(
        wide(),
        1,
        sampling=BinaryRandomSampling(),
        crossover=TwoPointCrossover(repair=CutRepair()),
        mutation=BitflipMutation(),
        repair=CutRepair(),
    )
    assert wide().space.valid(result.X).all()


def test_a_swarm_works_with_repair() -> None:
    problem = wide(n_obj=1, vtype=float)
    start = valid_rows(problem, 10).astype(float)  # pymoo does not repair the first swarm
    swarm = PSO(pop_size=10, sampling=start, repair=CutRepair(), adaptive=False)
    result = minimize(problem, swarm, ("n_gen", 5), seed=1)
    assert problem.space.valid(result.X[None]).all()


def test_for_problem_asks_the_problem() -> None:
    class Own:
        def default_operators(self) -> dict[str, Any]:
            return OURS

    assert for_problem(Own()) is OURS


def test_operators_need_a_space() -> None:
    problem = Problem(n_var=3, n_obj=1, xl=0, xu=1, vtype=bool)
    with pytest.raises(ProblemError, match="Problem does not search cuts"):
        CutSampling()(problem, 3)


def test_bit_flips_leave_trees_and_fixed_bits_alone() -> None:
    table = Table(
        pd.DataFrame({"age": [1, 2, 3, 4, 5], "job": list("abcab")}),
        quasi_identifiers={
            "age": QuasiIdentifier(hierarchy=Hierarchy.ordered(), fixed_cuts=(3,)),
            "job": Hierarchy.tree([["a", "b"], "c"]),
        },
    )
    problem = Balance(table)
    check_operator(BitFlips(0.5), problem)
    rows = np.tile(valid_rows(problem, 20), (200, 1))
    flipped = BitFlips(0.1)._do(problem, rows, random_state=1) != rows
    space = problem.space
    free = ~(space.fixed_one | space.fixed_zero) & ~np.repeat(
        space.constrained, np.diff(space.offsets)
    )
    assert flipped[:, free].mean() == pytest.approx(0.1, abs=0.02)
    assert not flipped[:, ~free].any() and (~free).any() and free.any()
