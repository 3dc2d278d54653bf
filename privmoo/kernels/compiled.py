"""One way to compile: nopython, cached on disk, without the GIL."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

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
        jit: Any = numba.njit(nogil=True, error_model="numpy")(function)
        if "<" not in function.__code__.co_filename:  # nothing to cache beside, as in a doctest
            jit._cache = _Cache(function)
        return cast("Function", jit)

    return decorate


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """The cache of numba, except that a file about moved classes counts as empty.

    An index names the classes of the arguments. An update that moves such a class would leave files
    behind that cannot be read, and numba would raise instead of compiling anew.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature; None if there is nothing, or nothing readable.

        Args:
            sig: The signature.
            target_context: The target that it was compiled for.
        """
        try:
            return super().load_overload(sig, target_context)
        except (ImportError, AttributeError):
            with contextlib.suppress(OSError):
                self.flush()
            return None
