"""Writing files so that a reader never sees half of one, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from privmoo.errors import ReleaseError

__all__ = ["replacing", "write_text"]


@contextmanager
def replacing(path: str | Path, *, force: bool) -> Iterator[Path]:
    """A temporary path beside `path`, moved there when the block ends without an error.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt", force=False) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    if target.exists() and not force:
        raise ReleaseError(f"{target}: exists already; choose another name or pass force=True")
    if not target.parent.is_dir():
        raise ReleaseError(f"{target}: there is no folder {str(target.parent)!r}; make it first")
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_text(path: str | Path, text: str, *, force: bool) -> None:
    """Write a text file whole or not at all."""
    with replacing(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_all(writers: dict[Path, Callable[[Path], None]], *, force: bool) -> None:
    """Write several files: none is moved into place before all are complete."""
    if not writers:
        return
    (path, write), *rest = writers.items()
    with replacing(path, force=force) as temporary:
        write(temporary)
        write_all(dict(rest), force=force)
