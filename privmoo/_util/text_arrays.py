"""Arrays as text, for recodings in JSON; reading trusts nothing."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import ReleaseError

__all__ = ["packed", "unpacked"]


def packed(values: NDArray[Any], kind: str) -> str:
    """An array as text.

    >>> unpacked(packed(np.array([1, 2]), "<i4"), "<i4", 2).tolist()
    [1, 2]
    """
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 6)).decode("ascii")


def unpacked(text: Any, kind: str, n: int) -> NDArray[Any]:
    """The n numbers that `packed` wrote; a file that says otherwise is refused."""
    size = n * np.dtype(kind).itemsize
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error) as error:
        raise ReleaseError("recoding: its numbers cannot be unpacked") from error
    if len(content) != size:
        raise ReleaseError("recoding: it is of another number of records")
    return np.frombuffer(content, kind)
