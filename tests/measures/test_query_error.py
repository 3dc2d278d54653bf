"""QueryError: against a slow count over released rows, for every kind of recoding."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo.analysis.usefulness import association_error, query_error
from privmoo.errors import MeasureError
from privmoo.measures import QueryError
from privmoo.recodings import Recoding, cluster_recoding, level_recoding, range_recoding
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import Labels, Noised
from privmoo.recodings.nodes import node_cells


def random_table(seed: int, n: int = 40) -> pm.Table:
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + rng.integers(2, 30), size=n),
            "sex": rng.choice(list("fm"), size=n),
            "ill": rng.choice(list("xyz"), size=n),
            "job": rng.choice(["baker", "clerk", "nurse", "pilot"], size=n, p=[0.7, 0.1, 0.1, 0.1]),
        }
    )
    return pm.Table(
        df,
        quasi_identifiers={
            "age": pm.Hierarchy.ordered(),
            "sex": pm.Hierarchy.flat(),
            "job": pm.Hierarchy.flat(),
        },
        sensitive="ill",
    )


def possible(table: pm.Table, release: pm.Release, row: Any, j: int) -> list[int]:
    """The leaves that a released value may stand for."""
    qi = table.qis[j]
    value = row[qi.name]
    meanings = release.meanings.get(qi.name, {})
    if str(value) in meanings:
        return [qi.leaves.index(leaf) for leaf in meanings[str(value)]]
    if qi.numbers is not None:
        return [int(np.abs(qi.numbers - float(value)).argmin())]
    return [qi.leaves.index(str(value))]


def slow_association_error(table: pm.Table, release: pm.Release) -> float:
    """The definition, by cells of the contingency table of every pair."""
    changes = []
    for i, j in combinations(range(table.n_qis), 2):
        before: dict[tuple[int, int], float] = defaultdict(float)
        after: dict[tuple[int, int], float] = defaultdict(float)
        for row in table.tuples[table.row_tuple].tolist():
            before[row[i], row[j]] += 1
        for _, row in release.frame.iterrows():
            pairs = list(
                product(possible(table, release, row, i), possible(table, release, row, j))
            )
            for pair in pairs:
                after[pair] += 1 / len(pairs)
        changes.append(abs(slow_v(before) - slow_v(after)))
    return float(np.mean(changes))


def slow_v(cells: dict[tuple[int, int], float]) -> float:
    """Cramér's V, cell by cell."""
    rows: dict[int, float] = defaultdict(float)
    columns: dict[int, float] = defaultdict(float)
    for (a, b), count in cells.items():
        rows[a] += count
        columns[b] += count
    n, smaller = sum(rows.values()), min(len(rows), len(columns)) - 1
    if smaller == 0:
        return 0.0
    chi = sum(
        (cells.get((a, b), 0.0) - rows[a] * columns[b] / n) ** 2 / (rows[a] * columns[b] / n)
        for a in rows
        for b in columns
    )
    return float(np.sqrt(chi / n / smaller))


def slow_error(table: pm.Table, release: pm.Release, measure: QueryError) -> float:
    """The definition, row by row and leaf by leaf."""
    workload = measure.workload(table)
    original = table.tuples[table.row_tuple]
    errors = []
    for query in workload.conditions:
        count = sum(all(leaves[row[j]] for j, leaves in query.items()) for row in original)
        estimate = 0.0
        for _, row in release.frame.iterrows():
            share = 1.0
            for j, leaves in query.items():
                codes = possible(table, release, row, j)
                share *= sum(leaves[code] for code in codes) / len(codes)
            estimate += share
        floor = measure.floor * table.n_records
        errors.append(abs(estimate - count) / max(count, floor))
    return float(np.mean(errors))


def recodings(table: pm.Table, rng: np.random.Generator) -> list[Recoding]:
    classes = rng.integers(4, size=table.n_tuples)
    levels = [int(rng.integers(qi.hierarchy.n_levels)) for qi in table.qis if qi.hierarchy]
    return [
        level_recoding(table, levels),
        range_recoding(table, classes, by="tuples"),
        cluster_recoding(table, classes, by="tuples"),
        pm.baselines.local_suppression(table, 3),
        cells(table, rng),
    ]


def cells(table: pm.Table, rng: np.random.Generator) -> CellRecoding:
    """Numbers that are a little off, and categories that are kept or blanked, record by record."""
    # No number is as far from one leaf as from the next.
    ages = table.frame["age"].to_numpy() + rng.normal(size=table.n_records).round(1) + 0.013
    nodes = node_cells(table)
    labels = [
        Labels.of_nodes(
            table,
            j,
            nodes[j].ids[rng.integers(2, size=table.n_records), table.tuples[table.row_tuple, j]],
        )
        for j in (1, 2)
    ]
    return CellRecoding(table, [Noised.of_numbers(table, 0, ages), *labels])


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
@settings(max_examples=25)  # every example releases and evaluates a recoding of each kind
@given(st.integers(0, 10**6))
def test_the_measure_is_the_slow_count_over_released_rows(seed: int) -> None:
    table = random_table(seed)
    measure = QueryError(queries=10, selectivity=0.2, seed=seed)
    rng = np.random.default_rng(seed)
    for recoding in recodings(table, rng):
        view = recoding.view(table)
        value = measure(pm.group(view, recoding.candidate(view)))
        release = pm.make_release(table, recoding, seed=1)
        assert value == pytest.approx(slow_error(table, release, measure))
        assert value == pytest.approx(query_error(table, release, measure))
        slow = slow_association_error(table, release)
        assert association_error(table, release) == pytest.approx(slow)
        report = pm.evaluate(release, table=table, queries=measure, original=False)
        assert report["query_error"].item() == pytest.approx(value)
        assert report["association_error"].item() == pytest.approx(slow)


def test_suppressed_records_are_missing_from_the_answers() -> None:
    table = pm.Table(pd.DataFrame({"age": [20] * 9 + [40]}), quasi_identifiers=["age"])
    measure = QueryError(queries=50, most_columns=1, selectivity=1.0)
    groups = pm.group(table, suppression=pm.BelowThreshold(2))
    assert measure(groups) == pytest.approx(0.1)


def test_queries_are_drawn_once_per_seed_and_never_count_nothing() -> None:
    table = random_table(3)
    first, second = QueryError(seed=1).workload(table), QueryError(seed=2).workload(table)
    assert QueryError(seed=1).workload(table) is first
    assert not np.array_equal(first.counts, second.counts)
    assert (first.counts > 0).all()
    assert {len(query) for query in first.conditions} == {1, 2, 3}


def test_selectivity_is_met_where_values_allow_it() -> None:
    df = pd.DataFrame({"a": np.arange(1000), "b": np.random.default_rng(0).permutation(1000)})
    table = pm.Table(df, quasi_identifiers=["a", "b"])
    counts = QueryError(selectivity=0.1, most_columns=2).workload(table).counts
    assert np.median(counts) == pytest.approx(100, rel=0.1)


def test_an_objective_of_a_search() -> None:
    problem = pm.problems.Levels(
        random_table(5), objectives=[pm.KAnonymity(), QueryError(queries=20)]
    )
    front = pm.optimize(problem, budget=pm.Evaluations(60), seed=1)
    assert front.F[:, 1].min() < front.F[:, 1].max()


def test_the_hybrid_scheme_has_an_error_too() -> None:
    table = random_table(8, n=200)
    release = pm.HybridScheme(table, k=3).run(seed=1)
    assert 0 < query_error(table, release) < 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"queries": 0}, "queries: must be a whole number of at least 1"),
        ({"selectivity": 0}, "selectivity: must be above 0"),
        ({"floor": 2}, "floor: must"),
    ],
)
def test_wrong_arguments(options: dict[str, float], reason: str) -> None:
    with pytest.raises(MeasureError, match=reason):
        QueryError(**options)
