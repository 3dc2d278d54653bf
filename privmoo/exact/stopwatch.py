"""Stopwatch: how long an exact search may run, and who stops its kernels."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stopwatch"]


class Stopwatch:
    """The time of one search, from its start on.

    Args:
        seconds: How long it may run; without an end by default.
        nodes: How many nodes it may visit, for ends that can be repeated; any number if negative.

    >>> Stopwatch().is_over(), Stopwatch(0).is_over()
    (False, True)
    """

    def __init__(self, seconds: float | None = None, nodes: int = -1) -> None:
        self.seconds = seconds
        self.nodes = nodes
        self.began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """The seconds that have gone by."""
        return time.perf_counter() - self.began

    @property
    def share(self) -> float:
        """The share of the time that has gone by; 0 if there is no end."""
        return 0.0 if self.seconds is None else min(1.0, self.elapsed / max(self.seconds, 1e-9))

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether a share of the time has gone by, or all nodes are spent."""
        return self.nodes == 0 or (
            self.seconds is not None and self.elapsed >= share * self.seconds
        )

    def spend(self, nodes: int) -> None:
        """Take note of visited nodes."""
        if self.nodes >= 0:
            self.nodes = max(0, self.nodes - nodes)

    @contextlib.contextmanager
    def stops(self, counters: NDArray[np.int64], place: int, share: float = 1.0) -> Iterator[None]:
        """Set a counter of a running kernel to 1 when a share of the time has gone by.

        Args:
            counters: The counters that the kernel looks at.
            place: Which of them.
            share: The share of the time.
        """
        if self.seconds is None:
            yield
            return
        remaining = max(0.0, share * self.seconds - self.elapsed)
        timer = threading.Timer(remaining, counters.__setitem__, (place, 1))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
