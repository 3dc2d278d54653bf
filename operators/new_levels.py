"""Duplicate elimination that remembers every vector of levels of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.duplicate import DuplicateElimination

if TYPE_CHECKING:
    from privmoo.spaces.levels import LevelSpace

__all__ = ["NewLevels"]


class NewLevels(DuplicateElimination):  # type: ignore[misc]  # pymoo has no types
    """Duplicate elimination that drops individuals whose levels occurred earlier in the run.

    It is for problems that evaluate all thresholds of every vector of levels: the same levels would
    bring nothing new, whatever records are published. It remembers levels, so it belongs to one run;
    `optimize` copies it.

    Args:
        space: The levels.

    >>> import pandas as pd, privmoo as pm
    >>> from pymoo.core.population import Population
    >>> table = pm.Table(pd.DataFrame({"zip": ["123", "200"]}),
    ...                  quasi_identifiers={"zip": pm.Hierarchy.masking()})
    >>> new = NewLevels(pm.spaces.LevelSpace(table))
    >>> new.do(Population.new("X", np.array([[1, 1, 1], [1, 0, 1], [2, 1, 1]]))).get("X").tolist()
    [[1, 1, 1], [2, 1, 1]]
    >>> len(new.do(Population.new("X", np.array([[2, 0, 0]]))))
    0
    """

    def __init__(self, space: LevelSpace) -> None:
        super().__init__()
        self._space = space
        self._seen: set[bytes] = set()

    def do(self, pop: Any, *args: Any, **kwargs: Any) -> Any:
        """Drop known levels, and remember the others."""
        result = super().do(pop, *args, **kwargs)
        remaining = result[0] if isinstance(result, tuple) else result
        if len(remaining):
            self._seen.update(self._keys(remaining))
        return result

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if other is not None:
            return is_duplicate  # whoever is there has been remembered
        batch: set[bytes] = set()
        for i, key in enumerate(self._keys(pop)):
            if key in self._seen or key in batch:
                is_duplicate[i] = True
            batch.add(key)
        return is_duplicate

    def _keys(self, pop: Any) -> list[bytes]:
        return [row.tobytes() for row in self._space.levels(self.func(pop))]
