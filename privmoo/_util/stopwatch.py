"""A stopwatch that stands still while kernels are compiled."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from numba.core.event import TimingListener, register, unregister

__all__ = ["Stopwatch"]

_COMPILING = "numba:compile"


class Stopwatch:
    """Measures time without that in which kernels are compiled, which happens once on a machine.

    >>> with Stopwatch() as stopwatch:
    ...     seconds = stopwatch.seconds
    >>> seconds >= 0
    True
    """

    def __enter__(self) -> Self:
        self._compiling = TimingListener()
        register(_COMPILING, self._compiling)
        self._began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        unregister(_COMPILING, self._compiling)

    @property
    def seconds(self) -> float:
        """The seconds since the beginning, without those of compiling."""
        compiling = self._compiling.duration if self._compiling.done else 0.0
        return float(time.perf_counter() - self._began - compiling)
