"""Regions that grow: what they keep, what they take, and what splits cannot reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.kernels.region_growth import grow_regions
from privmoo.kernels.region_values import worst_values
from privmoo.operators import RegionSampling
from privmoo.problems import Regions
from privmoo.spaces.region_limits import Target
from privmoo.spaces.regions import RegionSpace

LIMITS: list[list[Any]] = [
    [],
    [pm.TCloseness(distance="equal") <= 0.3],
    [pm.TCloseness(distance="ordered") <= 0.2, pm.DistinctDiversity() >= 2],
    [pm.BetaLikeness() <= 1.0],
    [pm.Alpha() <= 0.6],
]


def people(n: int, rng: np.random.Generator) -> pm.Table:
    """Return records with a number, a tree and a sensitive value."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 12, n),
            "job": rng.choice(["baker", "miller", "judge", "clerk"], n),
            "ill": rng.choice(["burn", "cold", "flu"], n),
        }
    )
    job = pm.Hierarchy.tree([{"food": ["baker", "miller"]}, {"law": ["judge", "clerk"]}])
    columns = {"age": pm.Hierarchy.ordered(range(12)), "job": job}
    return pm.Table(frame, quasi_identifiers=columns, sensitive="ill")


@given(data=st.data())
def test_every_region_keeps_k_and_the_limits_and_stays_in_its_cell(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    table = people(data.draw(st.integers(6, 60)), rng)
    consistent = data.draw(st.sampled_from([[], ["job"]]))
    demands = data.draw(st.sampled_from(LIMITS))
    space = RegionSpace(table, publish="tight", constraints=demands, consistent=consistent)
    steps = rng.integers(0, space.n_steps)
    ground = space.ground(steps)
    k = data.draw(st.integers(1, 5))
    limits = space.demands.limits_for(Target(k, space.demands.loosest.bounds))
    labels = np.full(table.n_tuples, -9, np.int32)
    order = rng.permutation(table.n_tuples)
    number = grow_regions(ground.layout, limits, ground.cells, k, order, labels)
    assert labels.min() >= 0
    assert labels.max() < number
    for region in np.unique(labels):
        members = labels == region
        [cell] = np.unique(ground.cells[members])
        whole = ground.cells == cell
        size, worst = of_group(ground, limits, members)
        size_of_cell, worst_of_cell = of_group(ground, limits, whole)
        demands_met = size >= k and keeps(space, worst)
        assert demands_met or not (size_of_cell >= k and keeps(space, worst_of_cell))


def of_group(ground: Any, limits: Any, members: np.ndarray[Any, Any]) -> tuple[int, Any]:
    """Return the size of a group and the values of its limits."""
    layout = ground.layout._replace(
        codes=ground.layout.codes[members],
        weights=ground.layout.weights[members],
        sizes=ground.layout.sizes[members],
    )
    counts = np.diff(limits.starts)
    entries = np.repeat(members, counts)
    inner = limits._replace(
        starts=np.concatenate([[0], np.cumsum(counts[members])]),
        values=limits.values[entries],
        counts=limits.counts[entries],
    )
    labels = np.zeros(int(members.sum()), np.int32)
    return worst_values(layout, inner, labels, 1)


def keeps(space: RegionSpace, values: Any) -> bool:
    """Return whether values keep the constraints of a space."""
    demands = space.demands
    pairs = zip(values, demands.limits.bounds, strict=True)
    return all(
        value >= bound - 1e-9 if demands.at_least(i) else value <= bound + 1e-9
        for i, (value, bound) in enumerate(pairs)
    )


def test_neighbours_who_complete_each_other_become_a_region() -> None:
    """No age divides these people so that both sides have as many burns as colds, but pairs have."""
    frame = pd.DataFrame({"age": range(8), "ill": ["burn"] * 4 + ["cold"] * 4})
    table = pm.Table(
        frame, quasi_identifiers={"age": pm.Hierarchy.ordered(range(8))}, sensitive="ill"
    )
    problem = Regions(table, publish="tight", constraints=[pm.TCloseness() <= 0.0])
    rows = RegionSampling()(problem, 4, random_state=1, to_numpy=True)
    values = problem.evaluate_measures(rows)
    assert values["t"].max() == 0.0
    assert values["k"].min() == 2
    split = problem.evaluate_measures(
        problem.space.grow([Target(2, np.zeros(1))], np.empty(0, int))
    )
    assert values["loss"].min() < split["loss"].min() == 1.0


def test_growth_is_for_tight_ranges_that_must_resemble_the_table() -> None:
    table = people(30, np.random.default_rng(1))
    closeness = [pm.TCloseness() <= 0.3]
    tight = RegionSpace(table, publish="tight", constraints=closeness)
    assert tight.can_grow(tight.demands.loosest)
    bounds = RegionSpace(table, publish="region", constraints=closeness)
    assert not bounds.can_grow(bounds.demands.loosest)
    diverse = RegionSpace(table, publish="tight", constraints=[pm.DistinctDiversity() >= 2])
    assert not diverse.can_grow(diverse.demands.loosest)
