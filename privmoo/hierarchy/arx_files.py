"""Hierarchies in ARX's file format; reading checks everything."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import os
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any, Literal

from privmoo.errors import HierarchyError
from privmoo.hierarchy.builders import from_rows
from privmoo.hierarchy.definition import Definition

__all__ = ["read_csv", "to_csv"]

MAX_BYTES = 64 * 1024 * 1024
MAX_LEVELS = 100
MAX_LEAVES = 1_000_000

_SPECIAL = frozenset(';,\r\n"\ufeff')


def read_csv(path: str | PathLike[str] | IO[Any]) -> Definition:
    """Read a file in ARX's format; see `Hierarchy.read_csv`."""
    name, content = _content(path)
    text = _decode(content, name)
    rows, lines = _parse_rows(text, name)
    return from_rows(rows, lambda i: f"hierarchy {name!r}, line {lines[i]}", source=name)


def _content(path: str | PathLike[str] | IO[Any]) -> tuple[str, bytes | str]:
    """Return a short name for messages, and the content of the file."""
    place = path if isinstance(path, str | PathLike) else getattr(path, "name", None)
    name = Path(place).name if isinstance(place, str | PathLike) else "file"
    try:
        if not isinstance(path, str | PathLike):
            content = path.read(MAX_BYTES + 1)
        elif os.path.exists(path) and not os.path.isfile(path):  # a pipe could keep us waiting
            raise HierarchyError(f"hierarchy {name!r} cannot be read: it is not a plain file")
        else:
            with gzip.open(path, "rb") if name.endswith(".gz") else open(path, "rb") as file:
                content = file.read(MAX_BYTES + 1)
    except HierarchyError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HierarchyError(f"hierarchy {name!r} cannot be read: {reason}") from error
    if len(content) > MAX_BYTES:
        raise HierarchyError(
            f"hierarchy {name!r} is larger than {MAX_BYTES >> 20} MB; is it the right file?"
        )
    return name, content


def _decode(content: bytes | str, name: str) -> str:
    if isinstance(content, bytes):
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise HierarchyError(
                f"hierarchy {name!r}, line {line}: the text is not UTF-8; save the file as UTF-8"
            ) from error
    else:
        text = content
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise HierarchyError(
            f"hierarchy {name!r}, line {line}: there is a NUL byte; is it a text file?"
        )
    return text.removeprefix("\ufeff")


def _parse_rows(text: str, name: str) -> tuple[list[list[str]], list[int]]:
    """Return rows and their line numbers, by the separator that splits all lines alike."""
    attempts: list[tuple[int, list[list[str]], list[int], csv.Error | None]] = []
    for delimiter in ";,":
        try:
            rows, lines = _split_lines(text, delimiter, name)
        except csv.Error as error:
            attempts.append((2, [], [], error))
            continue
        widths = {len(row) for row in rows}
        if len(widths) == 1 and widths != {1}:
            return rows, lines
        attempts.append((3 if widths <= {1} else 1, rows, lines, None))
    _, rows, lines, failure = min(attempts, key=lambda attempt: attempt[0])
    if failure is not None:
        raise HierarchyError(
            f"hierarchy {name!r} is not a CSV file with ; or , between the fields: {failure}"
        ) from failure
    return rows, lines


def _split_lines(text: str, delimiter: str, name: str) -> tuple[list[list[str]], list[int]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    for row in reader:
        if len(row) > MAX_LEVELS or len(rows) > MAX_LEAVES:
            raise HierarchyError(
                f"hierarchy {name!r}, line {reader.line_num}: more than {MAX_LEVELS} levels or "
                f"{MAX_LEAVES} values; is it the right file?"
            )
        if row:
            rows.append(row)
            lines.append(reader.line_num)
    return rows, lines


def to_csv(
    rows: Sequence[Sequence[str]], path: str | PathLike[str] | IO[str], *, delimiter: str = ";"
) -> None:
    """Write a hierarchy in ARX's format; see `Hierarchy.to_csv`.

    Args:
        rows: The leaves, each with its labels upwards.
        path: The file to write; one named .gz is compressed.
        delimiter: What separates the fields, `;` or `,`.
    """
    if delimiter not in (";", ","):
        raise HierarchyError(f"delimiter must be ';' or ',', got {delimiter!r}")
    cells = set(itertools.chain.from_iterable(rows))
    if any("\0" in cell for cell in cells):
        raise HierarchyError(
            "a label with a NUL character cannot be written to a CSV file; rename it"
        )
    # a foreign separator or line end must not mislead the reader's choice of separator
    special = any(not _SPECIAL.isdisjoint(cell) for cell in cells)
    buffer = io.StringIO(newline="")
    quoting: Literal[0, 1] = csv.QUOTE_ALL if special else csv.QUOTE_MINIMAL
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(rows)
    text = buffer.getvalue()
    if not isinstance(path, str | PathLike):
        path.write(text)
        return
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise HierarchyError(
            "a label is not valid Unicode and cannot be written; rename it"
        ) from error
    if Path(path).name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    Path(path).write_bytes(content)
