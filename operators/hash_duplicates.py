"""Duplicate elimination by hash."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.duplicate import DuplicateElimination

__all__ = ["HashDuplicates"]


class HashDuplicates(DuplicateElimination):  # type: ignore[misc]  # pymoo has no types
    """Duplicate elimination that drops individuals whose variables equal those of another, bit by bit.

    The time is linear in the size of the population, while pymoo's default compares all pairs. It works
    for any variables: rows of numbers or bits, and pymoo's mixed variables.

    >>> from pymoo.core.population import Population
    >>> pop = Population.new("X", np.array([[1, 0], [0, 0], [1, 0]], dtype=bool))
    >>> HashDuplicates().do(pop).get("X").astype(int).tolist()
    [[1, 0], [0, 0]]
    """

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        keys = _keys(self.func(pop))
        if other is not None:
            other_keys = set(_keys(self.func(other)))
            is_duplicate |= np.fromiter((key in other_keys for key in keys), np.bool_, len(keys))
            return is_duplicate
        seen: set[Hashable] = set()
        for i, key in enumerate(keys):
            if key in seen:
                is_duplicate[i] = True
            seen.add(key)
        return is_duplicate


def _keys(X: NDArray[Any]) -> list[Hashable]:
    """Return one key per row."""
    if X.dtype == object:
        return [
            tuple(sorted(x.items())) if isinstance(x, dict) else tuple(np.atleast_1d(x).tolist())
            for x in X
        ]
    rows = np.ascontiguousarray(X if X.dtype.kind != "f" else X + 0.0)  # -0.0 equals 0.0
    return [row.tobytes() for row in rows]
