"""EvaluationCache: the measured values of every candidate that was evaluated."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EvaluationCache"]


class EvaluationCache:
    """Keeps the values of every candidate that was evaluated, by the key of its recoding.

    Args:
        width: The number of values per candidate.

    Attributes:
        hits: How many candidates were answered from the cache.

    >>> cache = EvaluationCache(1)
    >>> cache.store([b"a", b"b"], np.array([[1.0], [2.0]]))
    >>> cache.missing([b"b", b"c"]), cache.values([b"b", b"a"]).tolist()
    ([1], [[2.0], [1.0]])
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.hits = 0
        self._lock = threading.Lock()
        self._rows: dict[bytes, int] = {}
        self._values = np.empty((256, width))

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: bytes) -> bool:
        return key in self._rows

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """Return the positions of the keys to evaluate: unknown ones, each once."""
        first: dict[bytes, int] = {}
        for position, key in enumerate(keys):
            if key not in self._rows:
                first.setdefault(key, position)
        self.hits += len(keys) - len(first)
        return list(first.values())

    def store(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Keep the values of new keys.

        Args:
            keys: One key per candidate.
            values: One row per candidate.
        """
        with self._lock:
            while len(self._rows) + len(keys) > len(self._values):
                self._values = np.concatenate([self._values, np.empty_like(self._values)])
            for key, row in zip(keys, values, strict=True):
                if key not in self._rows:  # another thread may have been faster
                    self._values[len(self._rows)] = row
                    self._rows[key] = len(self._rows)

    def values(self, keys: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the values of known keys, a row each."""
        with self._lock:
            return self._values[[self._rows[key] for key in keys]]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()
