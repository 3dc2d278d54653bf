"""The log of a run: an append-only file that an interrupted run is continued from.

It holds what candidates were worth, by the key of their recoding, and when each generation ended.
Continuing means running again from the seed and answering from the log, so that nothing of the
algorithm's state is stored: no code, no pickles.

What is checked: that the log is of the same table, problem (as described by `problem.describe()`),
algorithm, seed and start, and that no byte has changed by accident. Checksums keep nobody from writing
a false log on purpose: search and front believe its values, so continue only logs that you trust. What
a false value cannot do is to reach a release: there the rows are measured anew, and one whose audited
measures differ is refused.

The file: a magic line, then records. A record is its kind, the length and checksum of its content, a
checksum of these three, and the content. Whatever a killed process left unfinished at the end is
dropped; damage anywhere else is an error.
"""

from __future__ import annotations

import itertools
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from privmoo.errors import CheckpointError, Hint
from privmoo.evaluation.climb import Measured
from privmoo.evaluation.evaluator import Observer

__all__ = ["RunLog"]

_MAGIC = b"privmoo run log 1\n"
_FRAME = struct.Struct("<cQII")
_BATCH = struct.Struct("<II")
_GENERATION = struct.Struct("<Qd")
_STAIRS_BATCH = struct.Struct("<III")
_HEADER, _EVALUATIONS, _STAIRS, _PROGRESS = b"H", b"E", b"S", b"G"
_LONGEST_HEADER = 16 << 20


class RunLog(Observer):
    """A file of everything that a run has evaluated; open it with the identity of the run.

    Args:
        path: The file; made if it does not exist.
        identity: Problem, algorithm, seed, start: a file of anything else is refused.
        width: Values per candidate.

    Attributes:
        header: The identity as the file has it.
        keys: Keys of the candidates that were in the file.
        values: Their values.
        stairs: By the key of a recoding, the thresholds and values of its steps that were measured.
        seconds: Time used until the end of each generation that the file knows.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "run.log")
    >>> with RunLog(path, {"seed": 7}, width=2) as log:
    ...     log.add([b"a", b"b"], np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> with RunLog(path, {"seed": 7}, width=2) as log:
    ...     log.keys, log.values.tolist()
    ([b'a', b'b'], [[1.0, 2.0], [3.0, 4.0]])
    """

    def __init__(self, path: str | Path, identity: dict[str, Any], *, width: int) -> None:
        self.path = Path(path)
        self.width = width
        self.keys: list[bytes] = []
        self.values = np.empty((0, width))
        self.stairs: dict[bytes, Measured] = {}
        self.seconds: list[float] = []
        self.header = identity
        self._file: IO[bytes] | None = None
        try:
            # Keys of candidates are made from the data: nobody else's to read.
            mode = "r+b" if self.path.exists() else "x+b"
            self._file = open(self.path, mode, opener=_private)  # noqa: SIM115  # closed by close()
        except OSError as problem:
            raise CheckpointError(
                f"checkpoint: {str(self.path)!r} cannot be written ({problem.strerror})"
            ) from None
        try:
            _lock(self.path, self._file)
            end = self._read(self._file, identity)
            self._file.truncate(end)
            self._file.seek(end)
            if not end:
                self._file.write(_MAGIC)
                self._append(_HEADER, json.dumps(identity, sort_keys=True).encode())
        except BaseException:
            self.close()
            raise

    @staticmethod
    def seed_in(path: str | Path) -> int | None:
        """Return the seed that a log was begun with; None if there is no log yet."""
        seed = _identity_in(Path(path)).get("seed")
        return seed if isinstance(seed, int) else None

    @staticmethod
    def secret_in(path: str | Path) -> str | None:
        """Return the secret of the search space that a log was begun with; None if it had none."""
        secret = _identity_in(Path(path)).get("secret")
        return secret if isinstance(secret, str) else None

    @staticmethod
    def generations_in(path: str | Path) -> int:
        """Return how many generations a log contains; 0 if there is no log."""
        return len(_generations_in(Path(path)))

    @staticmethod
    def seconds_in(path: str | Path) -> float:
        """Return the time that all generations of a log took; 0 if there is no log."""
        return max((seconds for _, seconds in _generations_in(Path(path))), default=0.0)

    def on_values(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Append the values of new candidates.

        Args:
            keys: The keys of their recodings.
            values: A row of values for each.
        """
        self.add(keys, values)

    def add(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Append a batch of evaluations.

        Args:
            keys: The keys of the recodings.
            values: A row of values for each.
        """
        for length, group in itertools.groupby(range(len(keys)), key=lambda i: len(keys[i])):
            rows = list(group)
            content = _BATCH.pack(len(rows), length) + b"".join(keys[i] for i in rows)
            self._append(_EVALUATIONS, content + values[rows].astype("<f8").tobytes())

    def on_stairs(self, stairs: Mapping[bytes, Measured]) -> None:
        """Append the steps that were measured of new recodings, by their keys."""
        for key, (thresholds, values) in stairs.items():
            shape = _STAIRS_BATCH.pack(len(key), *thresholds.shape)
            numbers = thresholds.astype("<f8").tobytes() + values.astype("<f8").tobytes()
            self._append(_STAIRS, shape + key + numbers)

    def end_generation(self, generation: int, seconds: float) -> None:
        """Append that a generation ended; those already in the file are left as they are.

        Args:
            generation: The number of the generation.
            seconds: The time used so far.
        """
        if generation > len(self.seconds):
            self.seconds.append(seconds)
            self._append(_PROGRESS, _GENERATION.pack(generation, seconds))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):  # what could not be appended was told when it was tried
                self._file.close()
            self._file = None

    def __enter__(self) -> RunLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, kind: bytes, content: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(_framed(kind, content))
            self._file.flush()  # to the system: a killed process loses nothing that it appended
        except OSError as problem:
            raise CheckpointError(
                f"checkpoint: {str(self.path)!r} cannot be written any further ({problem.strerror}); "
                "make room, and the same call continues from what is there"
            ) from None

    def _read(self, stream: IO[bytes], identity: dict[str, Any]) -> int:
        """Read the file; returns where its last whole record ends."""
        batches: list[NDArray[np.float64]] = []
        header = _header(self.path, stream)
        if header is None:
            return 0
        self._check(header, identity)
        self.header = header
        end = stream.tell()
        for kind, content in _records(self.path, stream):
            if kind == _EVALUATIONS:
                batches.append(self._batch(content))
            elif kind == _STAIRS:
                self._read_stairs(content)
            elif kind == _PROGRESS and len(content) == _GENERATION.size:
                generation, seconds = _GENERATION.unpack(content)
                if generation != len(self.seconds) + 1:
                    raise _damaged(self.path, "its generations are not in order")
                self.seconds.append(seconds)
            else:
                raise _damaged(self.path, f"it has an unknown record {kind!r}")
            end = stream.tell()
        if batches:
            self.values = np.concatenate(batches)
        return end

    def _batch(self, content: bytes) -> NDArray[np.float64]:
        if len(content) >= _BATCH.size:
            n, length = _BATCH.unpack_from(content)
            split = _BATCH.size + n * length
            if len(content) == split + 8 * n * self.width:
                places = range(_BATCH.size, split, length) if length else ()
                self.keys += [content[i : i + length] for i in places]
                values = np.frombuffer(content, "<f8", offset=split).reshape(n, self.width)
                if length and np.isfinite(values).all():
                    return values.astype(np.float64)
        raise _damaged(self.path, "a batch of evaluations has the wrong size or values")

    def _read_stairs(self, content: bytes) -> None:
        if len(content) >= _STAIRS_BATCH.size:
            length, n, width = _STAIRS_BATCH.unpack_from(content)
            begin = _STAIRS_BATCH.size + length
            if len(content) == begin + 8 * n * (width + self.width):
                numbers = np.frombuffer(content, "<f8", offset=begin).astype(np.float64)
                if np.isfinite(numbers).all():
                    thresholds = numbers[: n * width].reshape(n, width)
                    values = numbers[n * width :].reshape(n, self.width)
                    self.stairs[content[_STAIRS_BATCH.size : begin]] = thresholds, values
                    return
        raise _damaged(self.path, "the steps of a staircase have the wrong size or values")

    def _check(self, header: dict[str, Any], identity: dict[str, Any]) -> None:
        for part, what in (
            ("table", "another table"),
            ("measures", "a problem with other measures"),
            ("problem", "another problem"),
            ("algorithm", "another algorithm or other settings of it"),
            ("seed", "another seed"),
            ("start", "another start"),
            ("polish", "a run with another polish or focus"),
        ):
            if part == "polish" and part not in header:
                continue
            mine = json.loads(json.dumps(identity.get(part)))
            if header.get(part) != mine:
                seeds = f" ({header.get(part)}, not {mine})" if part == "seed" else ""
                raise CheckpointError(
                    f"checkpoint: {str(self.path)!r} belongs to {what}{seeds}",
                    hint=Hint("undo the change", parameter="checkpoint"),
                )


def _generations_in(file: Path) -> list[tuple[int, float]]:
    """The number of every generation in a log, and the time used at its end."""
    if not file.is_file():
        return []
    with file.open("rb") as stream:
        if _header(file, stream) is None:
            return []
        records = _records(file, stream)
        return [_GENERATION.unpack(content) for kind, content in records if kind == _PROGRESS]


def _identity_in(file: Path) -> dict[str, Any]:
    """Return the identity that a log was begun with; empty if there is no log yet."""
    if not file.is_file() or not file.stat().st_size:
        return {}
    with file.open("rb") as stream:
        return _header(file, stream) or {}


def _lock(path: Path, file: IO[bytes]) -> None:
    """Keep a second run from writing to the same file, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CheckpointError(
            f"checkpoint: {str(path)!r} is in use by another run; give each run its own"
        ) from None
    except OSError:
        return  # a file system without locks


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _framed(kind: bytes, content: bytes) -> bytes:
    start = struct.pack("<cQI", kind, len(content), zlib.crc32(content))
    return start + struct.pack("<I", zlib.crc32(start)) + content


def _damaged(path: Path, why: str) -> CheckpointError:
    return CheckpointError(f"checkpoint: {str(path)!r} is damaged: {why}; delete it to start anew")


def _header(path: Path, stream: IO[bytes]) -> dict[str, Any] | None:
    """Return the first record; None if a killed process did not even finish that."""
    magic = stream.read(len(_MAGIC))
    if magic != _MAGIC:
        if _MAGIC.startswith(magic):
            return None
        raise CheckpointError(
            f"checkpoint: {str(path)!r} is not a run log of this version",
            hint=Hint(parameter="checkpoint"),
        )
    for kind, content in _records(path, stream):
        if kind != _HEADER or len(content) > _LONGEST_HEADER:
            break
        try:
            header = json.loads(content)
        except (ValueError, RecursionError):
            break
        if isinstance(header, dict):
            return header
        break
    else:
        return None
    raise _damaged(path, "its header cannot be read")


def _records(path: Path, stream: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the complete records from here on; a torn one at the end is skipped."""
    size = os.fstat(stream.fileno()).st_size
    while True:
        frame = stream.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return
        kind, length, checksum, frame_checksum = _FRAME.unpack(frame)
        if zlib.crc32(frame[:-4]) != frame_checksum:
            if not frame.strip(b"\0") and not stream.read().strip(b"\0"):
                return  # a system that went down may leave zeros at the end
            raise _damaged(path, f"a record at byte {stream.tell() - _FRAME.size} is not whole")
        if length > size - stream.tell():
            return
        content = stream.read(length)
        if zlib.crc32(content) != checksum:
            if stream.tell() == size:
                return
            raise _damaged(path, f"the record before byte {stream.tell()} has a wrong checksum")
        yield kind, content
