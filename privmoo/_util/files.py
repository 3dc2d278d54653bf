"""Write files so that a reader never sees half of one, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from privmoo._util.folders import TemporaryFolder
from privmoo.errors import FileError, Hint

__all__ = [
    "REPLACE",
    "check_place",
    "named_errors",
    "replacing",
    "write_all",
    "write_text",
]

REPLACE = Hint("choose another name", parameter="force", value=True)


@contextmanager
def replacing(path: str | Path, *, force: bool, private: bool = False) -> Iterator[Path]:
    """Open a temporary path beside `path`, moved there when the block ends without an error.

    Args:
        path: Where the file goes.
        force: Whether a file that exists is replaced.
        private: Whether only its owner may read it; by default the system's umask decides.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt", force=False) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    check_place(target, force=force)
    with _beside(target) as folder, named_errors(target):
        temporary = folder / f"new{target.suffix}"
        yield temporary
        _settle(temporary, private=private)
        temporary.replace(target)
        _sync(target.parent)


def write_text(path: str | Path, text: str, *, force: bool, private: bool = False) -> None:
    """Write a text file whole or not at all.

    Args:
        path: Where the file goes.
        text: Its content.
        force: Whether a file that exists is replaced.
        private: Whether only its owner may read it; by default the system's umask decides.
    """
    with replacing(path, force=force, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_all(
    writers: dict[Path, Callable[[Path], None]], *, force: bool, private: bool = False
) -> None:
    """Write several files, all or none: where one cannot be moved into place, those before go back.

    Args:
        writers: Per file the function that writes it to a temporary path. The last file is what the
            others are about: errors name it first, it is written first, and it appears last.
        force: Whether files that exist are replaced.
        private: Whether only their owner may read them, from the moment they are there.

    A process that is killed leaves the old files or the new ones. Only between two moves, which take
    microseconds each because everything else is done before, can it leave a mixture, the last one old: so
    the others should name the one they belong to, such as by its hash.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "b").mkdir()
    >>> say = lambda path: path.write_text("whole")
    >>> write_all({folder / "a": say, folder / "b": say}, force=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    privmoo.errors.FileError: ...b is a folder; choose another name
    >>> [p.name for p in folder.iterdir()]
    ['b']
    """
    for target in reversed(writers):
        check_place(target, force=force)
    with ExitStack() as undoing:
        folders = {target: undoing.enter_context(_beside(target)) for target in writers}
        temporaries = {target: folder / f"new{target.suffix}" for target, folder in folders.items()}
        for target in reversed(writers):
            with named_errors(target):
                writers[target](temporaries[target])
                _settle(temporaries[target], private=private)
        # What was there stays beside until all are moved; the stack puts it back if one fails. It is a
        # second name of the same file, so that there is no moment at which the first is missing.
        earlier = {
            target: folder / "earlier"
            for target, folder in folders.items()
            if os.path.lexists(target)
        }
        for target, second_name in earlier.items():
            with named_errors(target):
                _second_name(target, second_name)
        undo_moves = undoing.enter_context(ExitStack())
        for target, temporary in temporaries.items():
            with named_errors(target):
                if target in earlier:
                    undo_moves.callback(earlier[target].replace, target)
                else:
                    undo_moves.callback(target.unlink, missing_ok=True)
                temporary.replace(target)
        undo_moves.pop_all()
    for folder in {target.parent for target in writers}:
        _sync(folder)


def check_place(target: Path, *, force: bool) -> None:
    """Raise if a file cannot be written to a place, as far as that is known before writing.

    Args:
        target: Where the file goes.
        force: Whether a file that exists is replaced.

    Raises:
        FileError: If the place is a folder, is taken, or cannot be written to.
    """
    if "\0" in str(target):
        raise FileError(f"{str(target)!r} is not a valid file name; choose another")
    with named_errors(target):
        if target.is_dir():
            raise FileError(f"{target} is a folder; choose another name")
        if os.path.lexists(target) and not force:
            raise FileError(f"{target} exists already", hint=REPLACE)
        if not target.parent.is_dir():
            raise FileError(f"{target}: there is no folder {str(target.parent)!r}; make it first")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise FileError(
                f"{target}: the folder {str(target.parent)!r} is not yours to write in; choose another"
            )


@contextmanager
def named_errors(target: Path) -> Iterator[None]:
    """Turn errors of the system into a FileError that names the target, not the temporary file."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise FileError(f"{target} cannot be written ({reason})") from problem


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Make a hidden folder beside a file; it is removed at the end, or by the next process."""
    try:
        folder = TemporaryFolder(target.parent)
    except OSError as problem:
        raise FileError(f"{target} cannot be written ({problem.strerror})") from problem
    try:
        yield folder.path
    finally:
        folder.remove()


def _second_name(target: Path, second_name: Path) -> None:
    """Give a file a second name, or where the file system has none, copy it."""
    try:
        os.link(target, second_name, follow_symlinks=False)
    except OSError:
        shutil.copy2(target, second_name, follow_symlinks=False)


def _settle(temporary: Path, *, private: bool) -> None:
    """Make a file ready to be moved: set its rights, and bring its content to the disk."""
    temporary.chmod(0o600 if private else 0o666 & ~_umask())
    with temporary.open("rb") as file:
        os.fsync(file.fileno())  # else a power cut could leave the new name on an empty file


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can; files are whole either way."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
