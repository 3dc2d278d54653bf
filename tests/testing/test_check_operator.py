"""The contract suite of operators must be able to fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling
from pymoo.operators.crossover.pntx import TwoPointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation

from privmoo.operators import (
    HashDuplicates,
)
from privmoo.problems import Cuts
from privmoo.testing import check_operator, example_table


class GlobalState(Mutation):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return problem.space.repair(X ^ (np.random.random(X.shape) < 0.1))  # noqa: NPY002


class InPlace(Mutation):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        for row in X:
            row[:] = problem.space.coarsest()
        return X


class Unseeded(Mutation):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return problem.space.repair(X ^ (np.random.default_rng().random(X.shape) < 0.3))


class Numbers(Mutation):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return X.astype(int)


class Constant(Mutation):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return X.copy()


class Eager(Repair):  # type: ignore[misc]
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return np.ones_like(X)


class Plain(Sampling):  # type: ignore[misc]
    def _do(self, problem: Any, n_samples: int, **kwargs: Any) -> Any:
        return problem.space.repair(np.zeros((n_samples - 1, problem.n_var), dtype=bool))


class KeepsLast(HashDuplicates):
    def _do(self, pop: Any, other: Any, is_duplicate: Any) -> Any:
        found = super()._do(pop[::-1], other, is_duplicate[::-1])
        return found[::-1]


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (GlobalState(), "global random state"),
        (Unseeded(), "same seed gives different children"),
        (Numbers(), "parents are bool, but children int64"),
        (Constant(), "every seed gives the same children"),
        (Eager(), "changes rows that are valid"),
        (Plain(), "children of shape"),
        (KeepsLast(), "keep the first"),
        (InPlace(), "changes its parents"),
        (TwoPointCrossover(), "not valid"),
        (BitflipMutation(), "not valid"),
        ("nothing", "must be one of pymoo's"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_contract_suite_finds_faults(operator: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_operator(operator, Cuts(example_table()))
