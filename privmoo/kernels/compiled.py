"""One way to compile: nopython, cached on disk, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled() -> Callable[[Function], Function]:
    """Compile a loop over arrays; division by zero gives inf or nan, as in numpy.

    Loops are serial: threads run whole chunks of candidates (see `privmoo.evaluation.engine`). That needs
    no threading layer of numba's and is safe beside other threads and after a fork.

    >>> @compiled()
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """

    def decorate(function: Function) -> Function:
        cache = "<" not in function.__code__.co_filename  # nothing to cache beside, as in a doctest
        jit = numba.njit(cache=cache, nogil=True, error_model="numpy")
        return cast("Function", jit(function))

    return decorate
