"""Data and hierarchies in the folder layout of the anonymisation tool ARX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo.data.table import Table
from privmoo.datasets._files import files_in, read_strings
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["load_arx"]

_MARK = "_hierarchy_"


def load_arx(
    folder: str | Path,
    *,
    data: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: str | Sequence[str] = (),
    separator: str | None = None,
    **roles: Any,
) -> Table:
    r"""Read `<name>.csv` and its `<name>_hierarchy_<column>.csv` files.

    The hierarchies lie beside the data or in a subfolder `hierarchies`; all files may be
    compressed (`.gz`) and separated by `;` or `,`.

    Args:
        folder: The folder with the files.
        data: The data file, needed if the folder holds several.
        quasi_identifiers: Columns that an attacker may know; by default those with a hierarchy
            and without another role.
        sensitive: Columns that must not be inferred; a hierarchy of theirs is used as well.
        separator: The character between the cells of the data file; by default the one its header uses.
        **roles: Further arguments of `Table`: identifiers, target, subject, missing, …

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "toy.csv").write_text("zip;ill\n81667;flu\n81668;flu\n81675;cold\n")
    ...     _ = Path(folder, "toy_hierarchy_zip.csv").write_text(
    ...         "81667;8166*;*\n81668;8166*;*\n81675;8167*;*\n")
    ...     table = load_arx(folder, sensitive="ill")
    >>> table.qi_names, table.qis[0].hierarchy.label(0, 2)
    (['zip'], '8166*')
    """
    folder = Path(folder)
    file = _data_file(folder, data)
    frame = read_strings(file, separator=separator)
    hierarchies = _hierarchies(folder, file, list(frame.columns))
    sensitive = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if quasi_identifiers is None:
        with_role = {*sensitive, *_columns_with_role(roles)}
        quasi_identifiers = [
            name for name in frame.columns if name in hierarchies.keys() - with_role
        ]
    elif isinstance(quasi_identifiers, str):
        quasi_identifiers = [quasi_identifiers]
    if not quasi_identifiers:
        raise TableError(
            f"{folder}: no file {_stem(file)}{_MARK}<column>.csv belongs to a column without "
            "another role; name the quasi_identifiers"
        )
    for name in frame.columns:
        frame[name] = _plain_numbers(frame[name], whole_only=name in hierarchies)
    return Table(
        frame,
        quasi_identifiers={name: hierarchies.get(name) for name in quasi_identifiers},
        sensitive={name: hierarchies.get(name) for name in sensitive},
        **roles,
    )


def _data_file(folder: Path, data: str | None) -> Path:
    candidates = [file for file in files_in(folder) if _MARK not in file.name]
    if data is not None:
        for file in candidates:
            if data in (file.name, _stem(file)):
                return file
        names = [file.name for file in candidates]
        raise TableError(f"{folder} has no data file {data!r}{nearest(data, names)}")
    if len(candidates) != 1:
        what = "no CSV file" if not candidates else f"{len(candidates)} CSV files"
        raise TableError(f"{folder}: {what} beside the hierarchies; name the data file with data=")
    return candidates[0]


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").removesuffix(".csv")


def _hierarchies(folder: Path, file: Path, columns: list[str]) -> dict[str, Hierarchy]:
    inner = folder / "hierarchies"
    files = files_in(folder) + (files_in(inner) if inner.is_dir() else [])
    prefix = _stem(file) + _MARK
    paths: dict[str, Path] = {}
    for path in files:
        if not path.name.startswith(prefix):
            continue
        column = _stem(path).removeprefix(prefix)
        if column not in columns:
            raise ColumnError(
                f"{path}: {file.name} has no column {column!r}{nearest(column, columns)}"
            )
        if column in paths:
            raise TableError(
                f"{path}: {paths[column]} is a hierarchy of {column!r} too; keep one of them"
            )
        paths[column] = path
    return {column: Hierarchy.read_csv(path) for column, path in paths.items()}


def _columns_with_role(roles: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    for role in ("identifiers", "insensitive", "target", "subject"):
        columns = roles.get(role) or ()
        names |= {columns} if isinstance(columns, str) else set(columns)
    return names


def _plain_numbers(cells: pd.Series[Any], *, whole_only: bool) -> pd.Series[Any]:
    """Return texts as numbers if all are spelled as plain numbers: `007` and `1e5` stay texts."""
    present = cells.dropna()
    if present.empty:
        return cells
    if present.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all():
        return pd.to_numeric(cells).astype("int64" if len(present) == len(cells) else "Int64")
    if not whole_only and present.str.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").all():
        return pd.to_numeric(cells).astype("float64")
    return cells
