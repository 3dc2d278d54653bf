"""Arrays and JSON in a zip, without code: the files of fronts and studies; reading trusts nothing."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Collection, Mapping
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from privmoo.errors import CheckpointError, PrivmooError

__all__ = ["Packed", "pack", "plain"]

_LARGEST = 1 << 30  # bytes, unpacked


def pack(
    to: Any,
    head: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    name: str,
    small: bool = False,
) -> None:
    """Write plain data and arrays of numbers to a path or an open file; see `Packed`.

    Args:
        to: A path or an open file.
        head: The plain data.
        arrays: The arrays.
        name: The plain data's name in the zip, without `.json`.
        small: Whether to take more time for a smaller file.
    """
    method = zipfile.ZIP_LZMA if small else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(to, "w", method) as archive:
        archive.writestr(f"{name}.json", json.dumps(head, ensure_ascii=False, indent=1))
        for key, array in arrays.items():
            content = io.BytesIO()
            npy.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(f"{key}.npy", content.getvalue())


class Packed:
    """What `pack` wrote, read so that a damaged or foreign file is one CheckpointError.

    Args:
        source: A path or an open file.
        where: What messages call it.
        what: The kind of file: the name that `pack` got.
        form: The format that `head["format"]` must name.
        arrays: The names of the arrays.

    Attributes:
        head: The plain data.
        arrays: The arrays.

    >>> content = io.BytesIO()
    >>> pack(content, {"format": "walk 1"}, {"steps": np.arange(3)}, name="walk")
    >>> Packed(content, where="a walk", what="walk", form="walk 1", arrays=["steps"]).arrays["steps"]
    array([0, 1, 2])
    >>> Packed(io.BytesIO(b"no"), where="'x'", what="walk", form="walk 1", arrays=[])
    Traceback (most recent call last):
    privmoo.errors.CheckpointError: walk: 'x' is damaged or not a walk: it is not a complete zip file
    """

    def __init__(
        self, source: Any, *, where: str, what: str, form: str, arrays: Collection[str]
    ) -> None:
        self._where, self._what = where, what
        content = self._content(source, {f"{what}.json", *(f"{name}.npy" for name in arrays)})
        self.head = self._head(content[f"{what}.json"], form)
        self.arrays = {name: self._array(name, content[f"{name}.npy"]) for name in arrays}

    def damaged(self, why: str) -> CheckpointError:
        """Return the error to raise if the content is not what it should be."""
        return CheckpointError(
            f"{self._what}: {self._where} is damaged or not a {self._what}: {why}"
        )

    def _content(self, source: str | IO[bytes], names: set[str]) -> dict[str, bytes]:
        try:
            with zipfile.ZipFile(source) as archive:
                members = {info.filename: info for info in archive.infolist()}
                if set(members) != names or len(archive.infolist()) != len(names):
                    raise self.damaged(f"it does not hold the parts of a {self._what}")
                if sum(info.file_size for info in members.values()) > _LARGEST:
                    raise self.damaged(f"it would unpack to more than {_LARGEST >> 20} MB")
                return {name: archive.read(info) for name, info in members.items()}
        except PrivmooError:
            raise
        except Exception:  # zipfile, zlib and the system raise many kinds for a broken file
            raise self.damaged("it is not a complete zip file") from None

    def _head(self, content: bytes, form: str) -> dict[str, Any]:
        try:
            head = json.loads(content)
        except (ValueError, RecursionError):
            raise self.damaged("its description is not JSON") from None
        if not isinstance(head, dict) or head.get("format") != form:
            raise CheckpointError(
                f"{self._what}: {self._where} is not a {self._what} of this version ({form!r})"
            )
        return head

    def _array(self, name: str, content: bytes) -> NDArray[Any]:
        """Read an array of plain numbers, without numpy's reader, which allocates what a header claims."""
        stream = io.BytesIO(content)
        try:
            major, _ = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if major == 1 else npy.read_array_header_2_0
            shape, fortran, dtype = read(stream)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, TokenError):
            raise self.damaged(f"the array {name!r} has no valid header") from None
        if dtype.kind not in "biuf" or fortran or any(n < 0 for n in shape):
            raise self.damaged(f"the array {name!r} is not of plain numbers")
        size = math.prod(shape) * dtype.itemsize
        if max(shape, default=0) > _LARGEST or size != len(content) - stream.tell():
            raise self.damaged(f"the array {name!r} has another size than it says")
        return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()


def plain(value: Any) -> Any:
    """Return data as JSON would give it back; what JSON does not know becomes text.

    >>> plain({"a": (1, np.float64(2.5)), 3: {4}})
    {'a': [1, 2.5], '3': '{4}'}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)
