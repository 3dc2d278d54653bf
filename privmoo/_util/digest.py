"""Digests: the content of a value in a few characters, to distinguish parameters in files."""

from __future__ import annotations

import hashlib
from types import CodeType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["content_digest", "row_hashes"]


def row_hashes(data: pd.DataFrame | pd.Series[Any]) -> NDArray[np.uint64]:
    """Return a hash of every row; lists and other nested values count by what they hold.

    >>> len(set(row_hashes(pd.Series([[1], [2], [1]])).tolist()))
    2
    """
    try:
        hashes = pd.util.hash_pandas_object(data, index=False)
    except TypeError:  # a list cannot be hashed
        hashes = pd.util.hash_pandas_object(data.map(_spelling), index=False)
    return np.asarray(hashes, dtype=np.uint64)


def _spelling(value: Any) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def content_digest(value: Any) -> str:
    """Return the content of data, or the code of a function, in a few characters.

    For a function its code counts, with that of functions inside it; what it calls by name does not.

    >>> content_digest(np.arange(3)) == content_digest(np.arange(3))
    True
    >>> content_digest(lambda x: x + 1) == content_digest(lambda x: x + 2)
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    if isinstance(value, pd.DataFrame | pd.Series):
        digest.update(row_hashes(value).tobytes())
        digest.update(repr(list(getattr(value, "columns", ()))).encode())
    elif isinstance(value, np.ndarray):
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        code = getattr(getattr(value, "py_func", value), "__code__", None)
        digest.update(repr(value).encode() if code is None else _code(code))
    return f"{type(value).__name__} {digest.hexdigest()}"


def _code(code: CodeType) -> bytes:
    constants = [c for c in code.co_consts if not isinstance(c, CodeType)]
    inner = [_code(c) for c in code.co_consts if isinstance(c, CodeType)]
    return b"".join([code.co_code, repr((constants, code.co_names)).encode(), *inner])
