"""One way to compile: nopython, cached on disk, without the GIL."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _digest(folder: Path) -> str:
    """Return a digest of all modules in a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


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
    """The cache of numba, except that changed kernels and files about moved classes count as empty.

    numba looks at the file of a function, and not at the functions that it calls: after an update, a
    kernel whose own file stayed the same would go on calling the old version of another. Here any change
    in its folder counts. An index also
    names the classes of the arguments. An update that moves such a class would leave files behind that
    cannot be read, and numba would raise instead of compiling anew.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        folder = Path(function.__code__.co_filename).parent
        self._cache_file._source_stamp = (self._cache_file._source_stamp, _digest(folder))

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
