"""The index that Dewri et al. print for (k, ℓ)-safety, against its equations, and what it is worth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.suppression.budget import largest_number


def by_the_equations(sizes: list[int], diversity: list[int], limit: int, prefer: str) -> list[int]:
    """d₁ and d₂ of the first class with which more than the limit would go (Eqs. 8 and 9)."""
    classes = [
        (size, ell) for size in range(1, max(sizes) + 1) for ell in range(1, max(diversity) + 1)
    ]
    total = 0
    for size, ell in sorted(classes, key=lambda d: d if prefer == "l" else d[::-1]):
        pairs = zip(sizes, diversity, strict=True)
        total += sum(s for s, other in pairs if (s, other) == (size, ell))
        if total > limit:
            return [size, ell]
    raise AssertionError("a limit below all records is always exceeded")


@pytest.mark.parametrize("prefer", ["k", "l"])
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=40),
    fraction=st.sampled_from([0, 0.1, 0.3, 0.6]),
)
def test_the_index_is_that_of_the_equations(
    prefer: str, rows: list[tuple[int, int]], fraction: float
) -> None:
    frame = pd.DataFrame([*rows, (6, 0), (7, 1)], columns=["age", "ill"])
    frame["ill"] = frame["ill"].map(str)
    table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
    problem = pm.problems.KLSafe(table, max_suppression=fraction, prefer=prefer, index=True)
    measured = problem.evaluate_measures(np.ones((1, problem.n_var), dtype=bool))
    counts = frame.groupby("age")["ill"].value_counts().groupby("age")
    sizes, largest = counts.sum(), counts.max()
    expected = by_the_equations(
        sizes.tolist(),
        (sizes // largest).tolist(),
        largest_number(fraction, len(frame)),
        prefer,
    )
    assert [measured["d1"][0], measured["d2"][0]] == expected
    assert measured["k"][0] <= measured["d1"][0] and int(measured["l"][0]) <= measured["d2"][0]


def test_the_true_diversity_is_recorded_beside_the_index() -> None:
    table = pm.datasets.german_credit()
    problem = pm.problems.KLSafe(table, prefer="l", index=True)
    front = pm.optimize(problem, budget=5, seed=1, progress=False)
    assert problem.objective_names[:2] == ["d1", "d2"]
    assert (front.column("k") == front.column("d1")).all()
    assert (front.column("l") < front.column("d2")).any()


def test_the_index_needs_the_policy_of_the_paper() -> None:
    with pytest.raises(ProblemError, match="index: belongs to the paper's policy"):
        pm.problems.KLSafe(pm.datasets.german_credit(), index=True)
