"""A table of a PostgreSQL database, which DuckDB reads where it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from privmoo.engines.duckdb.names import name_of, text_of
from privmoo.engines.duckdb.session import Limits, session
from privmoo.errors import TableError

__all__ = ["DatabaseTable", "is_address", "open_table"]

_SCHEMES = ("postgresql", "postgres")
_ATTACHED = "attached"


@dataclass(frozen=True)
class DatabaseTable:
    """A table or view of a database.

    Attributes:
        name: The address without a password, and the table, for messages.
        relation: The table in SQL, once the database is attached.
        attach: The statements that attach the database to a session.
        schema: The columns with their types, as Arrow has them.
    """

    name: str
    relation: str
    attach: tuple[str, ...] = field(repr=False)
    schema: Any

    paths: tuple[Path, ...] = ()
    n_rows: int | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)


def is_address(source: object) -> bool:
    """Return whether something is the address of a database.

    >>> is_address("postgresql://reader@localhost/census"), is_address("people.csv")
    (True, False)
    """
    return isinstance(source, str) and source.partition("://")[0] in _SCHEMES


def open_table(address: str, table: str | None, limits: Limits) -> DatabaseTable:
    """Look at the columns of a table.

    Args:
        address: The address of the database, such as `postgresql://reader@localhost/census`.
        table: The table, with its schema if that is not `public`.
        limits: What the session may use.

    Raises:
        TableError: The database cannot be reached, or there is no such table.
    """
    if not table:
        raise TableError("table: a database has several; name one, such as table='people'")
    schema_name, _, relation_name = table.rpartition(".")
    relation = ".".join(map(name_of, (_ATTACHED, schema_name or "public", relation_name)))
    name = f"table {table} of {_without_password(address)}"
    attach = (
        _load_statement(),
        f"ATTACH {text_of(address)} AS {_ATTACHED} (TYPE postgres, READ_ONLY)",
    )
    with session(name, limits, attach=attach) as opened:
        columns = opened.arrow(f"SELECT * FROM {relation} LIMIT 0").schema
    return DatabaseTable(name, relation, attach, columns)


def _without_password(address: str) -> str:
    """Return an address that may be shown.

    >>> _without_password("postgresql://reader:secret@localhost:5432/census?password=x")
    'postgresql://reader@localhost:5432/census'
    """
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, user.partition(":")[0] + at + host, parts.path, "", ""))


def _load_statement() -> str:
    """Return the statement that loads DuckDB's extension: that of the package, or an installed one."""
    try:
        import duckdb_extension_postgres_scanner as package
    except ImportError:
        return "LOAD postgres"
    files = sorted(Path(str(package.__file__)).parent.rglob("*.duckdb_extension"))
    return f"LOAD {text_of(str(files[0]))}" if files else "LOAD postgres"
