"""The cheapest mixture of two partitions, against all mixtures of their parts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privmoo.data.points import Space
from privmoo.data.table import Table
from privmoo.kernels.class_parts import cheaper_parts
from privmoo.kernels.class_state import Field, new_state, total_cost
from privmoo.spaces.units import cut_up, field_of


def classes_of(labels: NDArray[np.integer]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


def cost(field: Field, labels: NDArray[np.int32]) -> float:
    return float(total_cost(field, new_state(field, labels, int(labels.max()) + 1, 0)))


def cheapest_mixture(field: Field, one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """The slow obvious way: every choice of classes of the two that covers every unit once."""
    pool = list(classes_of(one) | classes_of(other))
    best = np.inf
    for choice in product([False, True], repeat=len(pool)):
        chosen = [c for c, taken in zip(pool, choice, strict=True) if taken]
        if sum(map(len, chosen)) == len(one) and len(frozenset().union(*chosen)) == len(one):
            labels = np.empty(len(one), np.int32)
            for i, members in enumerate(chosen):
                labels[list(members)] = i
            best = min(best, cost(field, labels))
    return best


@given(st.integers(2, 9), st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_no_mixture_is_cheaper(n: int, seed: int, n_one: int, n_other: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.permutation(n), "c": rng.choice(list("ab"), n)})
    table = Table(frame, quasi_identifiers=["x", "c"])
    coordinates = Space.of(table, "raw")
    field = field_of(cut_up(table, coordinates, n)[1], coordinates)
    one = rng.integers(0, n_one, n).astype(np.int32)
    other = np.where(rng.random(n) < 0.7, one, rng.integers(0, n_other, n)).astype(np.int32)
    mixture = cheaper_parts(field, one, other)
    assert classes_of(mixture) <= classes_of(one) | classes_of(other)
    assert np.unique(mixture).tolist() == list(range(int(mixture.max()) + 1))
    assert cost(field, mixture) == pytest.approx(cheapest_mixture(field, one, other), abs=1e-9)
    assert classes_of(cheaper_parts(field, one, one)) == classes_of(one)
