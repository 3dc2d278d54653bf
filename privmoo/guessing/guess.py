"""Guess: roles and hierarchies for the columns of a table, as files that a user can edit."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from privmoo._util.data_frames import AnyFrame
from privmoo._util.files import write_all
from privmoo.data.roles import check_rows, checked_frame
from privmoo.errors import ColumnError, FileError, Hint, nearest
from privmoo.guessing.column_facts import facts_of
from privmoo.guessing.file_names import file_names
from privmoo.guessing.job import job_text
from privmoo.guessing.odd_rows import odd_rows, odd_rows_in_words
from privmoo.guessing.related_columns import follow_twins, nest_places, without_twins
from privmoo.guessing.role_guesses import ColumnGuess, decide, propose_some
from privmoo.guessing.toml_writer import quote

__all__ = ["Guess", "guess"]

FILE = "privmoo.toml"
FOLDER = "hierarchies"


@dataclass(frozen=True)
class Guess:
    """Guessed roles and hierarchies for the columns of a table; `guess` returns it.

    Attributes:
        columns: One guess for every column, in their order.
        n_records: The number of rows.
        note: What to do about blank rows and totals; an empty text if there are none.
        decimal_commas: Whether a column has numbers with decimal commas, which were read as text.
    """

    columns: tuple[ColumnGuess, ...]
    n_records: int
    note: str = ""
    decimal_commas: bool = False

    def __getitem__(self, name: str) -> ColumnGuess:
        """Return the guess about one column."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ColumnError(
            f"column {name!r} is not in the data{nearest(name, [c.name for c in self.columns])}"
        )

    def names(self, role: str) -> list[str]:
        """Return the columns with a role."""
        return [column.name for column in self.columns if column.role == role]

    @cached_property
    def files(self) -> dict[str, str]:
        """The hierarchy file of each column that has one, by the column's name."""
        names = file_names([c.name for c in self._in_files()], ".csv")
        return {name: f"{FOLDER}/{file}" for name, file in names.items()}

    def _in_files(self) -> list[ColumnGuess]:
        return [c for c in self.columns if c.hierarchy and c.hierarchy.content is not None]

    def to_toml(
        self,
        data_file: str,
        *,
        separator: str | None = None,
        encoding: str | None = None,
        missing_values: Sequence[str] | None = None,
        decimal: str | None = None,
    ) -> str:
        """Return a job with comments, for `privmoo.Config.load`.

        Args:
            data_file: The file of the records, as the job names it.
            separator: The character between cells, if it must be stated.
            encoding: The encoding of the text, if it must be stated.
            missing_values: What stands for a missing value, if it must be stated.
            decimal: The sign before the fraction of a number, if it must be stated.
        """
        options = {
            "separator": separator,
            "decimal": decimal,
            "encoding": encoding,
            "missing_values": missing_values,
        }
        reading = {key: value for key, value in options.items() if value is not None}
        return job_text(self.columns, self.files, data_file, reading, FILE, self.note)

    def write(
        self,
        folder: str | Path,
        data_file: str | Path,
        *,
        force: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        missing_values: Sequence[str] | None = None,
        decimal: str | None = None,
    ) -> list[Path]:
        """Write `privmoo.toml` and a folder of hierarchies, all or nothing, readable by their owner only.

        Args:
            folder: The folder to write to, which must exist.
            data_file: The file of the records.
            force: Whether to replace existing files.
            separator: The character between cells, if it must be stated.
            encoding: The encoding of the text, if it must be stated.
            missing_values: What stands for a missing value, if it must be stated.
            decimal: The sign before the fraction of a number, if it must be stated.

        Returns:
            The files that were written, the job last.
        """
        folder = Path(folder)
        text = self.to_toml(
            _from(folder, Path(data_file)),
            separator=separator,
            encoding=encoding,
            missing_values=missing_values,
            decimal=decimal,
        )
        contents = {
            folder / self.files[column.name]: column.hierarchy.content
            for column in self._in_files()
            if column.hierarchy is not None and column.hierarchy.content is not None
        }
        contents[folder / FILE] = text
        if not folder.is_dir():
            raise FileError(f"there is no folder {folder}; create it first")
        if not force and os.path.lexists(folder / FILE):
            raise FileError(
                f"{folder / FILE} exists already",
                hint=Hint("choose another folder", parameter="force", value=True),
            )
        is_new = bool(self.files) and _make(folder / FOLDER)
        try:
            write_all(
                {path: _writer(content) for path, content in contents.items()},
                force=force,
                private=True,
            )
        except BaseException:
            if is_new:
                with suppress(OSError):
                    (folder / FOLDER).rmdir()
            raise
        return list(contents)

    def __str__(self) -> str:
        """Return a table for the terminal: column, role, hierarchy, reason."""
        rows = [("column", "role", "hierarchy", "reason")]
        for column in self.columns:
            hierarchy = "" if column.hierarchy is None else str(column.hierarchy)
            rows.append((_printable_name(column.name), column.role, hierarchy, column.reason))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]
            )
            for row in rows
        )


def guess(frame: AnyFrame) -> Guess:
    """Guess the roles of all columns, and hierarchies for the quasi-identifying ones.

    A column whose role is unknown is identifying, so that no release has it unless a user assigns a role.

    Args:
        frame: The records, as `privmoo._util.reading.read_csv` returns them.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"name": [f"P{i}" for i in range(30)], "age": range(20, 50),
    ...                        "ill": ["flu", "cold", "none"] * 10})
    >>> print(guess(people))
    column  role               hierarchy               reason
    name    identifying                                the name says a person's name
    age     quasi-identifying  intervals of 5, 10, 20  the name says age; numbers with 30 distinct values
    ill     sensitive                                  the name says health; 3 distinct values
    """
    records = checked_frame(frame)
    check_rows(records, [], n=len(records), dropped=0)
    usual = np.setdiff1d(np.arange(len(records)), np.concatenate(odd_rows(records)))
    people = records.iloc[usual] if 2 <= len(usual) < len(records) else records
    facts = {name: facts_of(people[name].reset_index(drop=True), name) for name in records.columns}
    columns = [decide(column_facts) for column_facts in facts.values()]
    columns = nest_places(without_twins(follow_twins(columns, facts), facts), facts)
    if not any(column.role == "quasi-identifying" for column in columns):
        columns = propose_some(columns, facts)
    commas = any(column_facts.commas for column_facts in facts.values())
    return Guess(tuple(columns), len(records), odd_rows_in_words(records), commas)


def _from(folder: Path, data_file: Path) -> str:
    """Return the path of the data file relative to a folder, or absolute if there is no such path."""
    try:
        source = data_file.parent.resolve() / data_file.name
        try:
            return Path(os.path.relpath(source, folder.resolve())).as_posix()
        except ValueError:  # another drive
            return source.as_posix()
    except (OSError, ValueError, RuntimeError):
        raise FileError("data_file is not a valid file name; choose another") from None


def _make(folder: Path) -> bool:
    """Create a folder that only its owner may read; return False if it exists already."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if folder.is_dir():
            return False
        raise FileError(f"{folder} is a file, but a folder is needed; move it away") from None
    except OSError as error:
        raise FileError(f"{folder} cannot be created ({error.strerror})") from error
    return True


def _writer(content: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content.encode())

    return write


def _printable_name(name: str, longest: int = 40) -> str:
    """Return a column name that is harmless in a terminal."""
    plain = name if name.isprintable() and name.strip() else quote(name)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"
