"""Regions: outliers that are left out within a budget, persons with several records, hierarchical t."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.kernels.region_values import worst_values
from privmoo.operators import RegionExchange, RegionMutation, RegionSampling
from privmoo.problems import Regions
from privmoo.spaces.region_columns import sizes_of
from privmoo.spaces.region_limits import Target
from privmoo.testing import check_problem

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

PUBLISH = ("region", "tight")
NO_STEPS = np.empty(0, np.int64)
POLICIES: dict[str, Any] = {
    "budget": lambda: pm.Budget(0.2),
    "both": lambda: pm.JointBudget(0.2),
    "size": lambda: pm.BelowThreshold(3),
    "thresholds": lambda: pm.Thresholds(k=3, l=1.2),
    "constraint": lambda: pm.suppression.ViolatingGroups(pm.KAnonymity() >= 3),
}


def people(n: int = 60, seed: int = 0, subject: str | None = None) -> pm.Table:
    """Numbers, a tree, an order and a sensitive value with a tree; every person has two rows or so."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.append([90, 95], rng.integers(18, 40, n - 2)),
            "job": rng.choice(["baker", "miller", "judge", "none"], n),
            "pay": rng.choice([10, 20, 30, 50], n),
            "ill": np.append(["flu", "cold"], rng.choice(["flu", "cold", "burn"], n - 2)),
            "who": rng.integers(0, max(n // 2, 1), n),
        }
    )
    job = pm.Hierarchy.tree([{"food": ["baker", "miller"]}, "judge", "none"])
    ill = pm.Hierarchy.tree([{"airways": ["flu", "cold"]}, "burn"])
    return pm.Table(
        frame if subject else frame.drop(columns="who"),
        quasi_identifiers={"age": None, "job": job, "pay": pm.Hierarchy.ordered()},
        sensitive={"ill": ill},
        subject=subject,
    )


def rows_of(problem: Regions, n: int = 4, seed: int = 0) -> np.ndarray[Any, Any]:
    """Sampled decision vectors, and what the operators make of them."""
    rng = np.random.default_rng(seed)
    X = RegionSampling()(problem, n, random_state=rng, to_numpy=True)
    mutated = RegionMutation()._do(problem, X, random_state=rng)
    again = RegionMutation()._do(problem, mutated, random_state=rng)
    crossed = RegionExchange()._do(problem, np.stack([mutated, again[::-1]]), random_state=rng)
    return np.concatenate([X, mutated, again, *crossed])


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_more_are_left_out_than_allowed_and_small_groups_are(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 10_000))
    table = people(data.draw(st.integers(12, 70)), seed=seed)
    policy = POLICIES[data.draw(st.sampled_from(list(POLICIES)))]()
    k = data.draw(st.integers(1, 4))
    demands = data.draw(
        st.sampled_from([[], [pm.FrequencyDiversity() >= 1.2], [pm.Alpha() <= 0.9]])
    )
    publish: Any = data.draw(st.sampled_from(PUBLISH))
    problem = Regions(
        table,
        publish=publish,
        suppression=policy,
        constraints=[pm.KAnonymity() >= k, *demands],
    )
    rule = policy.by_size(table.n_records)
    assert rule is not None
    X = rows_of(problem, seed=seed)
    values = problem.evaluate_measures(X)
    assert (values["records_suppressed"] <= rule.most).all()
    assert (values["k"] >= min(k, rule.below or k)).all()
    for x in X:
        chosen = problem.policy(x)
        grouping = pm.group(table, problem.candidates(x[None]), suppression=chosen)
        assert table.n_records - grouping.n_records <= rule.most
        assert not len(grouping.sizes) or grouping.sizes.min() >= (rule.below or k)
    if problem.evaluator.judge(X).feasible.any():
        check_problem(problem, seed=seed)  # releases some, and compares with the audit


@pytest.mark.parametrize("publish", PUBLISH)
def test_who_stands_alone_is_left_out_if_that_is_allowed(publish: Any) -> None:
    """Twelve people between 20 and 31, and one of 90, who widens the range of everybody near."""
    ages = [*range(20, 32), 90]
    table = pm.Table(
        pd.DataFrame({"age": ages}), quasi_identifiers={"age": pm.Hierarchy.ordered(range(20, 91))}
    )
    losses = {}
    for records in (0, 1):
        problem = Regions(
            table,
            publish=publish,
            max_suppression=records / 13,
            constraints=[pm.KAnonymity() >= 4],
        )
        front = pm.optimize(problem, budget=4, seed=1, progress=False)
        best = front.where(min_k=4).best("loss")
        losses[records] = best.loss
        published = best.release().frame
        assert len(published) == 13 - records
        assert published.groupby("age", observed=True).size().min() >= 4
    assert losses[1] < losses[0] - 0.05


@pytest.mark.parametrize("publish", PUBLISH)
def test_local_search_with_a_budget_never_loses_more(publish: Any) -> None:
    problem = Regions(people(150, seed=2), publish=publish, max_suppression=0.1)
    space = problem.space
    X = RegionSampling()(problem, 6, random_state=np.random.default_rng(1), to_numpy=True)
    before = problem.evaluate_measures(X)
    for seed in range(3):
        X = np.stack([space.improved(x, space.target_of(x), 5_000.0, seed) for x in X])
        after = problem.evaluate_measures(X)
        assert (after["loss"] <= before["loss"] + 1e-12).all()
        assert (after["k"] >= before["k"]).all()
        assert (after["records_suppressed"] <= 15).all()
        before = after
    assert after["records_suppressed"].max() > 0


@pytest.mark.parametrize("publish", PUBLISH)
def test_a_threshold_beyond_the_budget_is_lowered(publish: Any) -> None:
    problem = Regions(people(), publish=publish, max_suppression=0.1)
    [row] = problem.space.grow([Target(2, np.empty(0))], NO_STEPS)
    row[problem.space.head - 1] = 60
    values = problem.evaluate_measures(row[None])
    assert values["records_suppressed"][0] <= 6
    assert values["k"][0] >= 2
    keys = problem.stair_keys(
        np.stack([row, problem.space.grow([Target(2, np.empty(0))], NO_STEPS)[0]])
    )
    assert keys[0] == keys[1]


def test_who_may_not_be_left_out_has_no_threshold() -> None:
    table = people()
    for policy in (None, pm.Budget(0.0), pm.Budget(0.2, by="l"), pm.BelowThreshold(3)):
        assert not Regions(table, suppression=policy).space.has_threshold
    limited = Regions(
        table, suppression=pm.BelowThreshold(3), constraints=[pm.SuppressedShare() <= 0.05]
    )
    assert limited.space.demands.left_out.most == 3
    assert limited.space.demands.k == 3


@pytest.mark.parametrize("publish", PUBLISH)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_regions_have_enough_persons_where_these_are_counted(publish: Any, share: float) -> None:
    table = people(120, seed=5, subject="who")
    problem = Regions(
        table, publish=publish, max_suppression=share, constraints=[pm.KAnonymity() >= 4]
    )
    X = rows_of(problem)
    assert problem.evaluator.judge(X).feasible.all()
    assert len({len(problem.space.decode(x).start) for x in X}) > 1
    check_problem(problem)
    with pytest.raises(ProblemError, match="persons"):
        Regions(table, constraints=[pm.KAnonymity() >= 100])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 40))
def test_parts_of_persons_never_add_up_to_too_many(seed: int, n: int) -> None:
    table = people(n, seed=seed, subject="who")
    sizes, part = sizes_of(table)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        chosen = rng.random(table.n_tuples) < rng.random()
        persons = set(table.frame.who[chosen[table.row_tuple]])
        assert sizes[chosen].sum() <= part * len(persons)
    assert sizes.sum() >= 0.99 * part * table.n_persons


@pytest.mark.parametrize("publish", PUBLISH)
def test_hierarchical_t_limits_splits_and_is_what_the_measure_says(publish: Any) -> None:
    table = people(120, seed=3)
    closeness = pm.TCloseness(distance="hierarchical")
    problem = Regions(table, publish=publish, constraints=[closeness <= 0.25])
    X = rows_of(problem)
    assert problem.evaluator.judge(X).feasible.all()
    assert len({len(problem.space.decode(x).start) for x in X}) > 1
    values = problem.evaluate_measures(X)["t"]
    for x, value in zip(X, values, strict=True):
        regions = problem.space.decode(x)
        layout = problem.space.ground(NO_STEPS).layout
        limits = problem.space.demands.limits
        _, [worst] = worst_values(layout, limits, regions.labels, len(regions.start))
        assert np.isclose(worst, value)


@pytest.mark.parametrize("publish", PUBLISH)
def test_a_column_with_more_weight_keeps_more_detail(publish: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 50, 200), "pay": rng.integers(0, 50, 200)})
    widths = []
    for weight in (0.1, 10.0):
        heavy = pm.QuasiIdentifier(hierarchy=pm.Hierarchy.ordered(), weight=weight)
        table = pm.Table(frame, quasi_identifiers={"age": heavy, "pay": pm.Hierarchy.ordered()})
        space = Regions(table, publish=publish).space
        regions = space.decode(space.grow([Target(10, np.empty(0))], NO_STEPS)[0])
        spans = (regions.stop - regions.start)[regions.labels]
        widths.append((spans * table.weights[:, None]).sum(axis=0))
    assert widths[1][0] < 0.5 * widths[0][0]
    assert widths[1][1] > 2 * widths[0][1]
