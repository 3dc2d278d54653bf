"""Writing files so that a reader never sees half of one, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from privmoo.errors import ReleaseError

__all__ = ["check_place", "replacing", "told", "write_all", "write_text"]


@contextmanager
def replacing(path: str | Path, *, force: bool, private: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`, moved there when the block ends without an error.

    Args:
        path: Where the file goes.
        force: Whether a file that exists is replaced.
        private: Whether only its owner may read it; by default the system's umask decides.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt", force=False) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    check_place(target, force=force)
    with _beside(target) as temporary, told(target):
        yield temporary
        _move(temporary, target, private=private)


def write_text(path: str | Path, text: str, *, force: bool, private: bool = False) -> None:
    """Write a text file whole or not at all."""
    with replacing(path, force=force, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_all(
    writers: dict[Path, Callable[[Path], None]], *, force: bool, private: bool = False
) -> None:
    """Write several files, all or none: where one cannot be moved into place, those before go back.

    Args:
        writers: What writes each file, given a temporary path. The last file is what the others are
            about: complaints name it first, it is written first, and it appears last.
        force: Whether files that exist are replaced.
        private: Whether only their owner may read them; by default the system's umask decides.

    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "b").mkdir()
    >>> say = lambda path: path.write_text("whole")
    >>> write_all({folder / "a": say, folder / "b": say}, force=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privmoo.errors.ReleaseError: ...b: is a folder; choose another name
    >>> [p.name for p in folder.iterdir()]
    ['b']
    """
    for target in reversed(writers):
        check_place(target, force=force)
    with ExitStack() as undoing:
        temporaries = {target: undoing.enter_context(_beside(target)) for target in writers}
        for target in reversed(writers):
            with told(target):
                writers[target](temporaries[target])
        # What was there stays beside until all are moved; the stack puts it back if one fails. It is a
        # second name of the same file, so that there is no moment at which the first is missing.
        earlier = {
            target: undoing.enter_context(_beside(target))
            for target in writers
            if os.path.lexists(target)
        }
        moved = undoing.enter_context(ExitStack())
        for target, temporary in temporaries.items():
            with told(target):
                if target in earlier:
                    _second_name(target, earlier[target])
                    moved.callback(earlier[target].replace, target)
                else:
                    moved.callback(target.unlink, missing_ok=True)
                _move(temporary, target, private=private)
        moved.pop_all()


def check_place(target: Path, *, force: bool) -> None:
    """Raise one sentence where a file cannot be put, as far as that can be known before."""
    with told(target):
        if target.is_dir():
            raise ReleaseError(f"{target}: is a folder; choose another name")
        if os.path.lexists(target) and not force:
            raise ReleaseError(f"{target}: exists already; choose another name or pass force=True")
        if not target.parent.is_dir():
            raise ReleaseError(
                f"{target}: there is no folder {str(target.parent)!r}; make it first"
            )
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise ReleaseError(
                f"{target}: the folder {str(target.parent)!r} is not yours to write in; choose another"
            )


@contextmanager
def told(target: Path) -> Iterator[None]:
    """Say of an error of the system which file was to be written: not the hidden temporary one."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise ReleaseError(f"{target}: cannot be written ({reason})") from problem


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """An empty hidden file in the same folder, gone at the end if it is still there."""
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix
        )
    except ValueError:  # a null byte in the name
        raise ReleaseError(f"{str(target)!r}: is no name of a file; choose another") from None
    except OSError as problem:
        raise ReleaseError(f"{target}: cannot be written ({problem.strerror})") from problem
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _second_name(target: Path, other: Path) -> None:
    """Give a file a second name, or where the file system has none, copy it."""
    other.unlink()
    try:
        os.link(target, other, follow_symlinks=False)
    except OSError:
        shutil.copy2(target, other, follow_symlinks=False)


def _move(temporary: Path, target: Path, *, private: bool) -> None:
    temporary.chmod(0o600 if private else 0o666 & ~_umask())
    with temporary.open("rb") as file:
        os.fsync(file.fileno())  # else a power cut could leave the new name on an empty file
    temporary.replace(target)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
