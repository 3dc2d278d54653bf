"""Arrays as text, for recodings in JSON; reading trusts nothing."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import RecodingError

__all__ = ["pack_numbers", "unpack_numbers"]


def pack_numbers(values: NDArray[Any], kind: str) -> str:
    """Return an array as text.

    Args:
        values: The numbers.
        kind: The type in which they are stored, such as `"<i4"`.

    >>> unpack_numbers(pack_numbers(np.array([1, 2]), "<i4"), "<i4", 2).tolist()
    [1, 2]
    """
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 6)).decode("ascii")


def unpack_numbers(text: Any, kind: str, n: int) -> NDArray[Any]:
    """Read back the numbers that `pack_numbers` wrote.

    Args:
        text: The text.
        kind: The type in which they are stored.
        n: How many there must be.

    Raises:
        RecodingError: The text is damaged, or there are more or fewer numbers.
    """
    size = n * np.dtype(kind).itemsize
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error) as error:
        raise RecodingError(
            "recoding: its stored numbers are damaged; use an undamaged copy of the file"
        ) from error
    if len(content) != size:
        raise RecodingError(
            "recoding: it was stored for another number of records; give the table that it was made for"
        )
    return np.frombuffer(content, kind)
