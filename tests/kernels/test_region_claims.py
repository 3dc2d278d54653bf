"""Boxes that claim tuples: the partition stays whole, and the change of the loss is told."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo.kernels.region_claims import Field, claim, draw_box, new_claims
from privmoo.kernels.region_layout import Limits, Outliers, adapt_price
from privmoo.kernels.region_moves import adopt, dissolve, improve
from privmoo.kernels.region_partition import Partition, leave_out, new_partition, total_loss
from privmoo.spaces.region_ground import Ground
from privmoo.spaces.region_limits import Target
from privmoo.spaces.regions import RegionSpace


def people(n: int, rng: np.random.Generator) -> pm.Table:
    """Numbers, a tree, a column with two values and a sensitive one."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 12, n),
            "job": rng.choice(["baker", "miller", "judge", "clerk", "none"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "cold", "burn"], n),
        }
    )
    job = pm.Hierarchy.tree([{"food": ["baker", "miller"]}, {"law": ["judge", "clerk"]}, "none"])
    return pm.Table(
        frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered(range(12)), "job": job, "sex": None},
        sensitive="ill",
    )


class Scene(NamedTuple):
    """A random table with what its regions must keep."""

    rng: np.random.Generator
    table: pm.Table
    space: RegionSpace
    ground: Ground
    limits: Limits
    k: int

    def labels(self) -> np.ndarray[Any, Any]:
        """Return random regions that keep the limits."""
        n = self.table.n_tuples
        labels = self.rng.integers(0, 1 + n // 4, n).astype(np.int32)
        dissolve(self.ground.layout, self.limits, labels, self.ground.cells, self.k)
        return labels


def draw_scene(data: st.DataObject) -> Scene:
    """Draw a table with or without limits on sensitive values, and with or without outliers."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    table = people(data.draw(st.integers(8, 60)), rng)
    demands: list[Any] = data.draw(st.sampled_from([[], [pm.FrequencyDiversity() >= 1.3]]))
    share = data.draw(st.sampled_from([0.0, 0.1, 0.3]))
    policy = pm.Budget(share) if share else None
    space = RegionSpace(table, publish="tight", constraints=demands, suppression=policy)
    k = data.draw(st.integers(2, 6))
    limits = space.demands.limits_for(Target(k, space.demands.loosest.bounds))
    return Scene(rng, table, space, space.ground(np.empty(0, np.int64)), limits, k)


def assert_whole(field: Field) -> None:
    """Compare what a partition says of its regions with a partition that is made anew."""
    partition = field.partition
    anew = new_partition(field.layout, partition.labels.copy(), len(partition.sizes))
    leave_out(anew, field.limits.outliers)
    assert partition.numbers[0] == anew.numbers[0]
    for name in ("sizes", "records", "counts", "is_out"):
        np.testing.assert_array_equal(getattr(partition, name), getattr(anew, name), err_msg=name)
    used = np.flatnonzero(anew.sizes)
    for name in ("low", "high"):
        np.testing.assert_array_equal(getattr(partition, name)[used], getattr(anew, name)[used])
    np.testing.assert_allclose(partition.costs[used], anew.costs[used], atol=1e-12)
    assert (np.sort(partition.places[: partition.numbers[0]]) == used).all()


def records_left_out(partition: Partition) -> int:
    return int(partition.records[partition.is_out].sum())


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_claims_keep_limits_and_tell_the_change_of_the_loss(data: st.DataObject) -> None:
    scene = draw_scene(data)
    rng, table, _, ground, limits, k = scene
    labels = scene.labels()
    partition = new_partition(ground.layout, labels, table.n_tuples + 1)
    limits.outliers.spare[0] = limits.outliers.most - leave_out(partition, limits.outliers)
    limits.outliers.price[0] = data.draw(st.sampled_from([1.0, 1.5]))
    field, claims = (
        Field(ground.layout, limits, ground.cells, partition, k),
        new_claims(ground.layout),
    )
    state = np.array([rng.integers(1 << 30)], np.uint64)
    price = limits.outliers.price[0]
    for _ in range(40):
        t = int(rng.integers(table.n_tuples))
        if not draw_box(ground.layout, partition, claims, t, state):
            continue
        before, former = total_loss(partition, price), partition.labels.copy()
        most = float(rng.choice([0.0, 1.0]))
        cost = price if partition.is_out[labels[t]] else partition.costs[labels[t]]
        change, effort = claim(field, claims, ground.cells[t], cost, most, state)
        assert effort > 0
        assert change < most or change == 0.0
        assert np.isclose(total_loss(partition, price) - before, change, atol=1e-9)
        assert_whole(field)
        assert limits.outliers.spare[0] == limits.outliers.most - records_left_out(partition)
        if change == 0.0 and most == 0.0:
            assert partition_of(former) == partition_of(partition.labels)


def partition_of(labels: np.ndarray[Any, Any]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == r).tolist()) for r in np.unique(labels)}


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_improved_and_adopted_regions_lose_no_more_and_keep_limits(data: st.DataObject) -> None:
    scene = draw_scene(data)
    _, table, space, ground, limits, k = scene

    def loss(labels: np.ndarray[Any, Any]) -> float:
        partition = new_partition(ground.layout, labels.copy(), table.n_tuples + 1)
        assert leave_out(partition, limits.outliers) <= limits.outliers.most
        return float(total_loss(partition, 1.0))

    rows = []
    for seed in (1, 2):
        labels = scene.labels()
        before = loss(labels)
        state = np.array([seed], np.uint64)
        least = improve(ground.layout, limits, labels, ground.cells, k, 3000.0, 100, state)
        assert np.isclose(loss(labels), least, atol=1e-9)
        assert least <= before + 1e-9
        rows.append(labels)
    before = loss(rows[0])
    limits.outliers.price[0] = 1.0
    adopt(ground.layout, limits, rows[0], ground.cells, k, rows[1].copy())
    assert loss(rows[0]) <= before + 1e-9
    vector = np.concatenate([np.full(space.head, k, np.int32), rows[0]])
    assert space.target_of(vector).k >= min(k, table.n_records)


def test_the_price_of_leaving_out_stays_between_one_and_the_least_size() -> None:
    outliers = Outliers(3, 5, np.zeros(1, np.int64), np.ones(1))
    for _ in range(20_000):  # a rise without end would be infinite by now
        adapt_price(outliers)
    assert outliers.price[0] == 5.0
    outliers.spare[0] = 3
    for _ in range(20_000):
        adapt_price(outliers)
    assert outliers.price[0] == 1.0
