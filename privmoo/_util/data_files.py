"""The files that a path, a folder or a pattern stands for: all of one kind, in the order of their names."""

from __future__ import annotations

import glob
import itertools
from pathlib import Path

from privmoo.errors import TableError

__all__ = ["find_files"]

_KINDS = {".parquet": "Parquet", ".pq": "Parquet", ".csv": "CSV", ".tsv": "CSV", ".txt": "CSV"}


def find_files(source: str | Path) -> tuple[str, tuple[Path, ...]]:
    """Return the kind of files, and their paths in the order of their names.

    Args:
        source: A file, a folder or a pattern.

    >>> find_files("nowhere/*.parquet")
    Traceback (most recent call last):
    privmoo.errors.TableError: nowhere/*.parquet: no such file
    """
    if not isinstance(source, str | Path):
        raise TableError(
            f"source: must be a file, a folder or a pattern, got {type(source).__name__}"
        )
    path = Path(source)
    if path.is_dir():
        inside = (p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
        paths = [p for p in inside if _kind(p)]
        _check_folders(source, path, paths)
        if not paths:
            raise TableError(f"{source}: the folder has no .parquet and no .csv file")
    elif path.is_file():
        paths = [path]
    else:
        paths = [Path(p) for p in glob.glob(str(source), recursive=True) if Path(p).is_file()]
        if not paths:
            raise TableError(f"{source}: no such file")
        plain_parts = itertools.takewhile(lambda part: not glob.has_magic(part), path.parts)
        _check_folders(source, Path(*plain_parts), paths)
    kinds = {_kind(p) for p in paths}
    if "" in kinds:
        odd = next(p for p in sorted(paths) if not _kind(p))
        raise TableError(f"{odd}: only .parquet and .csv files can be scanned")
    if len(kinds) > 1:
        raise TableError(f"{source} has Parquet and CSV files; scan one kind, e.g. *.parquet")
    return kinds.pop(), tuple(sorted(paths))


def _check_folders(source: str | Path, root: Path, paths: list[Path]) -> None:
    """Raise if the names of folders below the root hold a column, without naming its values."""
    folders = (part for p in paths for part in p.relative_to(root).parent.parts)
    partition = next((part for part in folders if "=" in part), None)
    if partition is not None:
        raise TableError(
            f"{source} has folders such as '{partition.split('=')[0]}=…' that hold values of a column in "
            "their names; write that column into the files"
        )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _kind(path: Path) -> str:
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    return _KINDS.get(ending.lower(), "")
