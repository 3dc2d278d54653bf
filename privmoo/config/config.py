"""Config: a job in a TOML file, which is checked before any data is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmoo._util.data_files import find_files
from privmoo._util.reading import read_records
from privmoo.config.columns import Column, columns_of
from privmoo.config.problems import check_parameters, problem_of
from privmoo.config.search import Search
from privmoo.config.section import Section
from privmoo.data.table import Table
from privmoo.errors import ColumnError, ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from privmoo.front.front import Front
    from privmoo.problem import AnonymizationProblem

__all__ = ["Config"]

_MAX_BYTES = 4 * 1024 * 1024
_TEXTS = re.compile(
    r"""\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?|\#[^\n]*+""",
    re.DOTALL,
)
"""Strings and comments of TOML, even unterminated ones, so that looking for the end takes one pass."""
_DEEP_KEY = re.compile(r"""(?<![\w".-])(?:(?:[\w-]++|"")[ \t]*+\.[ \t]*+){8}""")
"""A key with more than eight parts; eight are more than a job has."""
_TABLES = ("data", "columns", "problem", "search")
_QUOTED = re.compile(r"""\(?(['"]).*\1,?\)?""")
_DATA_FILES = (".csv", ".tsv", ".txt", ".gz", ".parquet")


@dataclass(frozen=True)
class Config:
    """A whole job: the file, the roles of its columns, the problem and the search.

    `Config.load` reads a file such as this one. Everything but the file and one quasi-identifying column
    may be left out::

        [data]
        file = "people.csv"

        [columns]
        name = "identifying"
        illness = "sensitive"

        [columns.age]
        role = "quasi-identifying"
        hierarchy = { kind = "intervals", low = 0, high = 110, widths = [5, 10, 20] }

        [problem]
        name = "TradeOff"
        max_suppression = 0.05

        [search]
        seconds = 120
        seed = 7

    Attributes:
        path: The TOML file.
        data: The table [data]: file, separator, encoding, missing values and so on.
        columns: The columns that the file names, by name.
        problem_name: The name of the problem's class; `TradeOff` if the file names none.
        problem_parameters: The parameters of the problem as the file states them.
        search: How the problem is solved.
    """

    path: Path
    data: Mapping[str, Any]
    columns: Mapping[str, Column]
    problem_name: str
    problem_parameters: Mapping[str, Any] = field(default_factory=dict)
    search: Search = field(default_factory=Search)

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Read a file, and check everything that can be checked without the data.

        Args:
            path: The TOML file; file names in it are relative to its folder.

        Raises:
            ConfigError: If the file cannot be used; the message names the place.
        """
        file = Path(path)
        document = Section(file.name, _read(file))
        data = _data(Section(f"{file.name}, [data]", document.take("data", dict)))
        columns = columns_of(document.take("columns", dict), file.name, file.parent)
        target = data["target"]
        if target in columns and columns[target].role == "identifying":
            raise ConfigError(
                f"{file.name}, [data]: the target {target!r} is identifying, so no release contains it"
            )
        problem = Section(f"{file.name}, [problem]", document.take("problem", dict, {}))
        name = problem.take("name", str, "TradeOff")
        parameters = problem.rest()
        if name == "BudgetSuppression":
            parameters.setdefault("max_suppression", 0.05)
        check_parameters(name, parameters, problem.where)
        search = Search.of(Section(f"{file.name}, [search]", document.take("search", dict, {})))
        document.end(_TABLES)
        return cls(file, data, columns, name, parameters, search)

    @property
    def source(self) -> Path:
        """The file of the records or, for a scan, a folder or a pattern."""
        return self.path.parent / str(self.data["file"])

    @property
    def inputs(self) -> list[Path]:
        """All files that decide the result: the job, the records and the hierarchies."""
        files = [path for column in self.columns.values() for path in column.files]
        records = [self.source]
        if self.data["scan"]:
            records = list(find_files(self.source)[1])
        return [self.path, *records, *dict.fromkeys(files)]

    def frame(self) -> pd.DataFrame:
        """Read the records as they are in the file."""
        return read_records(
            self.source,
            separator=self.data["separator"],
            encoding=self.data["encoding"],
            missing_values=self.data["missing_values"],
            decimal=self.data["decimal"],
        )

    @cached_property
    def table(self) -> Table:
        """The records with their roles; they are read at the first access."""
        by_role: dict[str, list[Column]] = {}
        for column in self.columns.values():
            by_role.setdefault(column.role, []).append(column)
        roles: dict[str, Any] = dict(
            quasi_identifiers={c.name: c.qi for c in by_role.get("quasi-identifying", [])},
            sensitive={c.name: c.hierarchy for c in by_role.get("sensitive", [])},
            identifiers=[c.name for c in by_role.get("identifying", [])],
            insensitive=[c.name for c in by_role.get("insensitive", [])],
            **{key: self.data[key] for key in ("target", "subject", "missing", "others", "domain")},
        )
        try:
            return self._table(roles)
        except ColumnError as error:
            raise self._error_with_place(error) from error

    def _table(self, roles: Mapping[str, Any]) -> Table:
        """Read the records into memory, or scan them."""
        if not self.data["scan"]:
            return Table(self.frame(), **roles)
        options = ("separator", "encoding", "missing_values", "decimal")
        reading = {key: self.data[key] for key in options}
        temporary = self.data["temporary"]
        return Table.scan(
            self.source,
            memory=self.data["memory"] or "1GB",
            max_tuples=self.data["max_tuples"],
            temporary=None if temporary is None else self.path.parent / temporary,
            **reading,
            **roles,
        )

    def _error_with_place(self, error: ColumnError) -> ConfigError:
        """Return an error about a missing column that names its place in the file."""
        argument, _, reason = error.message.partition(": ")
        if argument in ("target", "subject"):
            return ConfigError(f"{self.path.name}, [data], {argument!r}: {reason}")
        return ConfigError(f"{self.path.name}, [columns]: {reason}")

    @cached_property
    def problem(self) -> AnonymizationProblem:
        """The problem with the table."""
        where = f"{self.path.name}, [problem]"
        return problem_of(self.problem_name, self.problem_parameters, self.table, where)

    def optimize(
        self,
        *,
        progress: bool = True,
        checkpoint: str | Path | None = None,
        focus: Mapping[str, Any] | None = None,
    ) -> Front:
        """Search for the front as [search] says.

        Args:
            progress: Whether to show a progress bar.
            checkpoint: The file to continue from, as for `privmoo.optimize`.
            focus: Replaces the focus in the file; see `privmoo.optimize`.
        """
        search = self.search if focus is None else replace(self.search, focus=dict(focus))
        return search.run(self.problem, progress=progress, checkpoint=checkpoint)


def _read(file: Path) -> dict[str, Any]:
    """Read a TOML file that anybody may have written."""
    try:
        if file.exists() and not file.is_file():  # a pipe could keep us waiting forever
            raise ConfigError(f"{file} is not a plain file; give the TOML file of a job")
        with file.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except ConfigError:
        raise
    except FileNotFoundError as error:
        raise ConfigError(f"{file}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(f"{file} cannot be read ({reason})") from error
    if len(content) > _MAX_BYTES:
        raise ConfigError(
            f"{file.name} is larger than {_MAX_BYTES >> 20} MB; is it the right file?"
        )
    too_deep = ConfigError(f"{file.name} is nested too deeply to be a job")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file.name} is not UTF-8 text; save it as UTF-8") from None
    if _DEEP_KEY.search(_TEXTS.sub('""', text)):  # a few of them would fill the memory
        raise too_deep
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if file.suffix in (".csv", ".parquet"):
            raise ConfigError(
                f"{file.name} is not a job but data; make a job with: privmoo init {file.name}"
            ) from None
        raise ConfigError(f"{file.name} is not valid TOML: {_reason(error)}") from None
    except RecursionError:
        raise too_deep from None
    except ValueError:  # Python refuses numbers of thousands of digits
        raise _too_large(file) from None
    if _has_large_number(document):
        raise _too_large(file)
    return document


def _too_large(file: Path) -> ConfigError:
    return ConfigError(f"{file.name} has a whole number of more than 64 bits; write a smaller one")


def _has_large_number(value: Any) -> bool:
    """Return whether a number in a document exceeds the range that TOML guarantees."""
    if isinstance(value, dict):
        return any(map(_has_large_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_large_number, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _reason(error: tomllib.TOMLDecodeError) -> str:
    """Return the reason that Python gives, with an ellipsis for text quoted from the file."""
    message = str(error)
    if message.startswith("Expected"):  # it quotes the syntax only
        return message
    return _QUOTED.sub("…", message)


def _data(section: Section) -> dict[str, Any]:
    """Read the table [data]."""
    data = {
        "file": section.take("file", str),
        "separator": section.take("separator", str, None),
        "decimal": section.choice("decimal", (".", ","), "."),
        "encoding": section.take("encoding", str, "utf-8-sig"),
        "missing_values": section.texts("missing_values", [""]),
        "missing": section.choice("missing", ("unknown", "value", "drop"), "unknown"),
        "others": section.choice("others", ("identifying", "insensitive"), "identifying"),
        "domain": section.choice("domain", ("hierarchy", "observed"), "hierarchy"),
        "target": section.take("target", str, None),
        "subject": section.take("subject", str, None),
        "scan": section.take("scan", bool, False),
        "memory": section.take("memory", str, None),
        "max_tuples": section.take("max_tuples", int, None),
        "temporary": section.take("temporary", str, None),
    }
    section.end()
    for key in ("memory", "max_tuples", "temporary"):
        if data[key] is not None and not data["scan"]:
            raise ConfigError(f"{section.where}: {key!r} needs scan = true")
    readable = data["scan"] or data["file"].lower().endswith(_DATA_FILES)
    if not readable or not data["file"] or "\0" in data["file"]:
        raise ConfigError(
            f"{section.where}: 'file' must be a name ending in {', '.join(_DATA_FILES)}"
        )
    if data["separator"] is not None and len(data["separator"]) != 1:
        raise ConfigError(f"{section.where}: 'separator' must be one character")
    return data
