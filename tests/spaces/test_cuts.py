"""Cut spaces against the hierarchies themselves and against slow versions, on random trees."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.errors import HierarchyError, ProblemError
from privmoo.hierarchy import Hierarchy
from privmoo.operators.space import space_of
from privmoo.spaces.cuts import CutSpace

SHAPES = st.recursive(st.none(), lambda part: st.lists(part, min_size=1, max_size=4), max_leaves=9)


def tree_of(shape: Any) -> Hierarchy:
    """The tree of nested lists, with numbered leaves."""
    number = itertools.count()

    def named(part: Any) -> Any:
        return f"v{next(number)}" if part is None else [named(child) for child in part]

    return Hierarchy.tree([named(shape)] if shape is None else named(shape))


@st.composite
def quasi_identifiers(draw: st.DrawFn) -> QuasiIdentifier:
    """A random tree or order, with random bounds."""
    if draw(st.booleans()):
        hierarchy = tree_of(draw(SHAPES))
    else:
        hierarchy = Hierarchy.ordered([f"v{i}" for i in range(draw(st.integers(1, 8)))])
    low = draw(st.sampled_from([0, 0, *range(hierarchy.n_levels)]))
    high = draw(st.integers(low, hierarchy.height))
    cuts = draw(st.one_of(st.just([]), st.lists(st.sampled_from(hierarchy.leaves), max_size=2)))
    return QuasiIdentifier(
        hierarchy=hierarchy,
        min_level=low,
        max_level=draw(st.sampled_from([None, high])),
        fixed_cuts=cuts,
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A table of one to three such columns whose cuts exist."""
    qis = {f"q{j}": draw(quasi_identifiers()) for j in range(draw(st.integers(1, 3)))}
    frame = pd.DataFrame({name: ["v0", "v0"] for name in qis})
    table = Table(frame, quasi_identifiers=qis)
    assume(all(allowed(table, j).any() for j in range(table.n_qis)))
    return table


def all_bits(n: int) -> NDArray[np.bool_]:
    return np.array(list(itertools.product([False, True], repeat=n)), dtype=bool).reshape(2**n, n)


def allowed(table: Table, j: int) -> NDArray[np.bool_]:
    """Which of all bit strings of one attribute are valid, said by its hierarchy and its bounds."""
    qi = table.qis[j]
    hierarchy = qi.hierarchy
    assert hierarchy is not None
    must = hierarchy.cut_of_level(qi.max_level)
    must[list(qi.fixed_cuts)] = True
    never = ~hierarchy.cut_of_level(qi.min_level)
    return np.array(
        [
            hierarchy.is_valid_cut(bits) and bits[must].all() and not bits[never].any()
            for bits in all_bits(qi.n_leaves - 1)
        ],
        dtype=bool,
    )


def small_space() -> CutSpace:
    tree = Hierarchy.tree([["a", "b"], ["c", "d"]])
    frame = pd.DataFrame({"age": [1, 2, 3], "job": ["a", "b", "d"]})
    return CutSpace(Table(frame, quasi_identifiers={"age": Hierarchy.ordered(), "job": tree}))


@given(tables(), st.randoms(use_true_random=False))
def test_valid_is_what_every_hierarchy_says(table: Table, random: Any) -> None:
    space = CutSpace(table)
    parts = [all_bits(qi.n_leaves - 1) for qi in table.qis]
    chosen = [[random.randrange(len(part)) for _ in range(50)] for part in parts]
    expected = np.all([allowed(table, j)[rows] for j, rows in enumerate(chosen)], axis=0)
    X = np.hstack([part[rows] for part, rows in zip(parts, chosen, strict=True)])
    assert space.valid(X).tolist() == expected.tolist()


@given(tables())
def test_fixed_bits_are_those_that_never_vary(table: Table) -> None:
    space = CutSpace(table)
    for j in range(table.n_qis):
        cuts = all_bits(table.qis[j].n_leaves - 1)[allowed(table, j)]
        own = slice(space.offsets[j], space.offsets[j + 1])
        assert space.fixed_one[own].tolist() == cuts.all(axis=0).tolist()
        assert space.fixed_zero[own].tolist() == (~cuts).all(axis=0).tolist()
        assert space.finest()[own].tolist() == cuts.any(axis=0).tolist()
        assert space.coarsest()[own].tolist() == cuts.all(axis=0).tolist()
    assert space.valid([space.finest(), space.coarsest()]).all()


@given(tables(), st.integers(0, 2**32 - 1))
def test_blocks_count_the_ones_to_the_left(table: Table, seed: int) -> None:
    space = CutSpace(table)
    X = np.random.default_rng(seed).random((7, space.n_bits)) < 0.5
    expected = [
        np.concatenate([np.concatenate([[0], np.cumsum(part)]) for part in space.split(x)])
        for x in X
    ]
    blocks = space.blocks(X)
    assert blocks.dtype == np.uint32
    assert blocks.tolist() == [row.tolist() for row in expected]
    assert blocks.shape[1] == sum(qi.n_leaves for qi in table.qis)


@given(tables(), st.integers(0, 2**32 - 1))
def test_repair_changes_as_few_bits_as_possible(table: Table, seed: int) -> None:
    space = CutSpace(table)
    X = np.random.default_rng(seed).random((12, space.n_bits)) < 0.5
    repaired = space.repair(X)
    assert space.valid(repaired).all()
    assert np.array_equal(space.repair(repaired), repaired)
    for j in range(table.n_qis):
        own = slice(space.offsets[j], space.offsets[j + 1])
        cuts = all_bits(table.qis[j].n_leaves - 1)[allowed(table, j)]
        nearest = (X[:, None, own] != cuts[None]).sum(axis=2).min(axis=1)
        assert (X[:, own] != repaired[:, own]).sum(axis=1).tolist() == nearest.tolist()


@given(tables())
def test_switches_are_a_forest_in_pre_order(table: Table) -> None:
    space = CutSpace(table)
    numbers = np.arange(len(space.first))
    assert (space.parent < numbers).all()
    assert (space.owner[space.first] == numbers).all()
    for switch in numbers:
        below = []
        for bit, owner in enumerate(space.owner):
            above = owner
            while above > switch:
                above = space.parent[above]
            if above == switch:
                below.append(bit)
        assert below == list(range(space.begin[switch], space.stop[switch]))


def test_every_cut_of_a_tree_is_reached_by_its_switches() -> None:
    space = small_space()
    assert space.n_bits == 5 and len(space.first) == 2 + 3
    assert int(space.valid(all_bits(5)).sum()) == 4 * 5


def test_bits_accepts_numbers() -> None:
    space = small_space()
    assert space.bits([[0.0, 0.5, 1.0, 0.49, 1.2]]).tolist() == [[False, True, True, False, True]]
    assert space.bits(np.array([[0, 1, 0, 1, 1]])).dtype == np.bool_
    assert len(space.blocks(np.empty((0, 5), dtype=bool))) == 0


@pytest.mark.parametrize("wrong", [np.zeros(5, dtype=bool), np.zeros((2, 4)), np.zeros((1, 2, 5))])
def test_wrong_shapes_are_named(wrong: NDArray[Any]) -> None:
    with pytest.raises(ProblemError, match=r"X: one row of 5 bits .* got an array of shape"):
        small_space().valid(wrong)


def test_constant_attributes_have_no_bits() -> None:
    qis = {"a": Hierarchy.flat(), "b": Hierarchy.ordered()}
    space = CutSpace(Table(pd.DataFrame({"a": ["x", "x"], "b": [1, 1]}), quasi_identifiers=qis))
    assert space.n_bits == 0
    assert space.valid(np.zeros((2, 0), dtype=bool)).all()
    assert space.blocks(np.zeros((1, 0), dtype=bool)).tolist() == [[0, 0]]
    assert [len(part) for part in space.split(np.zeros(0, dtype=bool))] == [0, 0]


def test_a_fixed_cut_below_min_level_is_refused() -> None:
    tree = Hierarchy.tree([["a", "b"], ["c", "d"]])
    qi = QuasiIdentifier(hierarchy=tree, min_level=1, fixed_cuts=["b"])
    table = Table(pd.DataFrame({"job": ["a", "b"]}), quasi_identifiers={"job": qi})
    with pytest.raises(ProblemError, match="merges leaves that its fixed_cuts keep apart"):
        CutSpace(table)


def test_a_fixed_cut_in_a_tree_opens_all_nodes_above_it() -> None:
    tree = Hierarchy.tree([["a", "b"], ["c", "d"]])
    qi = QuasiIdentifier(hierarchy=tree, fixed_cuts=["b"])
    space = CutSpace(Table(pd.DataFrame({"job": ["a", "b"]}), quasi_identifiers={"job": qi}))
    assert space.fixed_one.tolist() == [True, True, False]


def test_a_hierarchy_is_needed() -> None:
    table = Table(pd.DataFrame({"job": ["a", "b"]}), quasi_identifiers=["job"])
    with pytest.raises(HierarchyError, match="'job' has no hierarchy"):
        CutSpace(table)


def test_arrays_are_frozen() -> None:
    space = small_space()
    for array in (space.offsets, space.owner, space.fixed_one, space.parent, space.begin):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_space_of_a_problem() -> None:
    class Holder:
        space = small_space()

    assert space_of(Holder(), "cuts") is Holder.space
    with pytest.raises(ProblemError, match="int does not search cuts; use a problem such as Cuts"):
        space_of(3, "cuts")


def test_a_kind_of_a_plug_in_has_no_example() -> None:
    with pytest.raises(
        ProblemError, match=r"does not search mine; use a problem whose space does$"
    ):
        space_of(object(), "mine")


def slow_neighbours(space: CutSpace, row: NDArray[np.bool_]) -> list[list[bool]]:
    """One switch after the other, then one boundary after the other, moved to every place in reach."""
    fixed = space.fixed_one | space.fixed_zero
    rows = []
    for switch, bit in enumerate(space.first):
        above = space.parent[switch]
        if fixed[bit] or not (row[bit] or above < 0 or row[space.first[above]]):
            continue
        moved = row.copy()
        for place in range(space.begin[switch], space.stop[switch]):
            if row[bit]:
                moved[place] = row[place] and space.fixed_one[place]
            elif space.owner[place] == switch:
                moved[place] = True
        rows.append(moved.tolist())
    for j, tree in enumerate(space.constrained):
        bits = range(space.offsets[j], space.offsets[j + 1])
        for bit in bits:
            for place in bits:
                movable = row[bit] and not row[place] and not fixed[bit] and not fixed[place]
                if not tree and movable and abs(bit - place) <= 3:
                    moved = row.copy()
                    moved[bit], moved[place] = False, True
                    rows.append(moved.tolist())
    return rows


@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_neighbours_are_all_single_moves_in_their_order(table: Table, seed: int) -> None:
    space = CutSpace(table)
    bits = np.random.default_rng(seed).random((3, space.n_bits)) < 0.5
    for row in [*space.repair(bits), space.finest(), space.coarsest()]:
        assert space.neighbours(row).tolist() == slow_neighbours(space, row)
