"""One way to compile: nopython, cached on disk, without the GIL."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

try:
    from privmoo.kernels.parts import compile_callees_with_callers
except (ImportError, AttributeError):  # this version of numba is made of other parts

    def compile_callees_with_callers(jit: Any, function: Callable[..., Any]) -> None:
        """Leave the loop as numba compiles it."""


__all__ = ["compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


# The names that a statement imports, and from where: the whole text of brackets, or the rest of the line.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\S+)[ \t]+)?import[ \t]+(\([^)]*\)|(?:.*\\\n)*.*)", re.MULTILINE
)


@cache
def _neighbours(path: Path) -> frozenset[Path]:
    """Return the modules of a module's folder whose names stand in its imports.

    This reads text, since parsing all kernels would take longer than everything else at import. A name too
    many does no harm.

    Args:
        path: The module's file.
    """
    statements = IMPORT.findall(path.read_text(encoding="utf-8"))
    names = {name for statement in statements for name in re.findall(r"\w+", " ".join(statement))}
    if path.parent.name in names or any(origin.startswith(".") for origin, _ in statements):
        names.add("__init__")
    return frozenset(file for name in names if (file := path.with_name(f"{name}.py")).is_file())


def _reachable(path: Path) -> set[Path]:
    """Return a module and all that it imports from its folder, directly or through others.

    Args:
        path: The module's file.
    """
    modules, waiting = {path}, [path]
    while waiting:
        imported = _neighbours(waiting.pop()) - modules
        modules |= imported
        waiting.extend(imported)
    return modules


@cache
def _digest(path: Path) -> str:
    """Return a digest of a module and of all that it imports from its folder, directly or through others.

    Args:
        path: The module's file.
    """
    digest = hashlib.blake2b(digest_size=16)
    for module in sorted(_reachable(path)):
        digest.update(f"{module.name}\0{module.stat().st_size}\0".encode())
        digest.update(module.read_bytes())
    return digest.hexdigest()


def compiled(*, inline: bool = False) -> Callable[[Function], Function]:
    """Compile a loop over arrays; division by zero gives inf or nan, as in numpy.

    Loops are serial: threads run whole chunks of candidates (see `privmoo.evaluation.engine`). That needs
    no threading layer of numba's and is safe beside other threads and after a fork.

    Args:
        inline: Whether the code becomes part of every loop that calls it. A call counts references to
            all arrays that it passes on, which takes longer than a few lines of work.

    >>> @compiled()
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """

    def decorate(function: Function) -> Function:
        jit: Any = numba.njit(
            nogil=True,
            error_model="numpy",
            inline="always" if inline else "never",
            no_cfunc_wrapper=True,
        )(function)
        compile_callees_with_callers(jit, function)
        if "<" not in function.__code__.co_filename:  # nothing to cache beside, as in a doctest
            jit._cache = _Cache(function)
        return cast("Function", jit)

    return decorate


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """The cache of numba, except for three things that go wrong when kernels change or processes meet.

    numba looks at the file of a function, and not at the functions that it calls: after an update, a
    kernel whose own file stayed the same would go on calling the old version of another. Here a change in
    any module of its folder counts that the kernel's module imports, directly or through others.

    An index also names the classes of the arguments. An update that moves such a class would leave files
    behind that cannot be read, and numba would raise instead of compiling anew.

    A cache that cannot be written, because the disk is full, is no reason to fail: the kernel is compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = (
            self._impl.locator.get_source_stamp(),
            _digest(Path(function.__code__.co_filename)),
        )
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

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

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled for a signature, if there is room.

        Args:
            sig: The signature.
            data: What was compiled.
        """
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


class _Files(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """The files of one kernel: an index, and machine code for each signature.

    numba numbers the files of code from 1 and writes the index first. Two processes that compile a kernel
    for different signatures at the same time may then both write number 1, and the index leads a third
    process to code for other arguments. So may a process that dies in between, after an update. Here the
    number is a digest of all that the code depends on, and the index comes last: whoever comes second
    replaces a file by an equal one, or loses a line of the index and compiles again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save machine code, then the index.

        Args:
            key: The signature, the processor and the code of the function.
            data: The machine code.
        """
        text = repr((self._version, self._source_stamp, key)).encode()
        name = self._data_name(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()))
        self._save_data(name, data)
        codes = self._load_index()
        if not codes:  # the kernel is new here, or was changed: files of before are of no use
            pattern = self._data_name_pattern.replace("{number:d}", "*")
            for path in Path(self._cache_path).glob(pattern):
                if path.name != name:
                    path.unlink(missing_ok=True)
        self._save_index({**codes, key: name})
