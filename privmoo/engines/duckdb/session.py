"""One DuckDB session: its limits, progress, Ctrl-C, and a folder for what does not fit into memory."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from privmoo._util.checks import whole_number
from privmoo._util.folders import TemporaryFolder
from privmoo._util.progress_bar import new_bar
from privmoo.data.source import DiskFullError, folder_for
from privmoo.errors import Hint, TableError

__all__ = ["Limits", "Session", "session"]

Result = TypeVar("Result")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", re.IGNORECASE)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_CELLS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_FILE = re.compile(r"^\s*file = (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Limits:
    """What a session may use.

    Attributes:
        memory: Bytes for its tables; the process itself needs about 300 MB more.
        threads: The number of threads; all cores by default.
        temporary: The folder in which to create one for what does not fit into memory.
        progress: Whether progress is shown.
    """

    memory: int = 2**30
    threads: int | None = None
    temporary: Path | None = None
    progress: bool = False

    @classmethod
    def read(
        cls,
        memory: str | int,
        threads: int | None,
        temporary: str | Path | None,
        progress: bool,
    ) -> Limits:
        """Check the limits that a user passed to `Table.scan`.

        Args:
            memory: A size such as "1GB", or bytes.
            threads: The number of threads; all cores by default.
            temporary: An existing folder; that of the system by default.
            progress: Whether progress is shown.

        >>> Limits.read("2 GB", None, None, False).memory == 2**31
        True
        """
        match = _SIZE.fullmatch(str(memory))
        size = 0.0 if match is None else float(match[1]) * _UNITS[match[2].upper()]
        if not 2**26 <= size < 2**60:
            raise TableError(
                f"memory: must be a size of at least 64 MB such as '1GB', got {memory!r}"
            )
        if threads is not None:
            threads = whole_number("threads", threads, error=TableError)
        return cls(int(size), threads, folder_for(temporary), progress)


class Session:
    """A connection to DuckDB.

    Args:
        connection: The connection.
        name: What it reads, for messages.
        progress: Whether progress is shown.
    """

    def __init__(self, connection: Any, name: str, *, progress: bool) -> None:
        self.connection = connection
        self.name = name
        self.progress = progress

    def arrow(self, query: str, what: str = "") -> Any:
        """Return the whole result of a query as an Arrow table.

        Args:
            query: The query.
            what: What the progress bar says; nothing is shown without it.
        """
        return self.run(lambda: self.connection.sql(query).to_arrow_table(), what)

    def run(self, work: Callable[[], Result], what: str = "") -> Result:
        """Do work on the connection in a thread, so that Ctrl-C interrupts it at once.

        Args:
            work: A function that uses the connection.
            what: What the progress bar says; nothing is shown without it.
        """
        result: list[Result] = []
        failure: list[BaseException] = []
        finished = threading.Event()

        def target() -> None:
            try:
                result.append(work())
            except BaseException as error:
                failure.append(error)
            finally:
                finished.set()

        thread = threading.Thread(target=target, daemon=True)
        bar = _bar(what) if what and self.progress else None
        thread.start()
        try:
            while not finished.wait(0.2):
                if bar is not None:
                    bar.n = max(bar.n, min(100.0, self.connection.query_progress()))
                    bar.refresh()
        except BaseException:
            while not finished.wait(0.05):
                self.connection.interrupt()
            raise
        finally:
            thread.join()
            if bar is not None:
                bar.n = 100.0 if result else bar.n
                bar.close()
        if failure:
            raise failure[0]
        return result[0]


@contextmanager
def session(name: str, limits: Limits, *, attach: Sequence[str] = ()) -> Iterator[Session]:
    """Open a session in memory; its temporary folder is removed at the end.

    Args:
        name: What the session reads, for messages.
        limits: What the session may use.
        attach: Statements that attach a database.

    Raises:
        TableError: If a query fails; the message is one sentence without values of the data.
    """
    duckdb = _duckdb()
    try:
        # An engine spills original records; nobody would look for those of a killed process.
        folder = TemporaryFolder(limits.temporary)
    except OSError as error:
        raise TableError(
            f"temporary: no folder can be created there ({error.strerror}); give another one"
        ) from None
    connection = None
    try:
        connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": f"{limits.memory // 2**20}MiB",
                "temp_directory": str(folder.path / "spilled"),
                "autoinstall_known_extensions": "false",
                **({} if limits.threads is None else {"threads": str(limits.threads)}),
            },
        )
        connection.execute("SET TimeZone = 'UTC'")  # connect does not accept it before version 2
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        for statement in attach:
            connection.execute(statement)
        yield Session(connection, name, progress=limits.progress)
    except duckdb.Error as error:
        raise sentence(error, name, limits) from None
    finally:
        if connection is not None:
            connection.close()
        folder.remove()


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise TableError(
            "scan: needs DuckDB, which is not installed; install privmoo[duckdb]"
        ) from None
    return duckdb


def sentence(error: Exception, name: str, limits: Limits) -> TableError:
    """Return an error of the engine as one sentence, since its own text may quote values of the data.

    Args:
        error: The error of DuckDB.
        name: What the session reads.
        limits: What the session may use.
    """
    duckdb = _duckdb()
    text = str(error)
    if isinstance(error, duckdb.OutOfMemoryException) and "temp_directory" not in text:
        return TableError(
            f"{name}: the scan does not fit into {limits.memory // 2**20} MB of memory",
            hint=Hint("use fewer threads", parameter="memory", value="4GB"),
        )
    if "No space left" in text or "File too large" in text or "max_temp_directory_size" in text:
        return DiskFullError(
            f"{name}: the disk is full",
            hint=Hint("make room", parameter="temporary"),
        )
    if name.startswith("table "):
        return _database_sentence(error, name)
    if "CSV" in text:
        return _csv_sentence(text, name)
    file = re.search(r"['\"]([^'\"]*\.(?:parquet|pq))['\"]", text)
    where = file[1] if file else name
    return TableError(
        f"{where} cannot be read as Parquet ({type(error).__name__}); is it whole?"
        if "parquet" in text.lower() or file
        else f"{where} cannot be read ({type(error).__name__})"
    )


def _database_sentence(error: Exception, name: str) -> TableError:
    text = str(error)
    if "xtension" in text:
        return TableError(
            f"{name}: DuckDB's extension for PostgreSQL cannot be loaded; "
            "run pip install 'privmoo[postgres]'"
        )
    if "onnect" in text:
        return TableError(
            f"{name}: the database cannot be reached; check the address, the password and that it runs"
        )
    if type(error).__name__ == "CatalogException":
        return TableError(f"{name}: there is no such table, or you may not read it")
    return TableError(f"{name} cannot be read ({type(error).__name__})")


def _csv_sentence(text: str, name: str) -> TableError:
    file, line, cells = _FILE.search(text), _LINE.search(text), _CELLS.search(text)
    where = file[1].strip() if file else name
    row = int(line[1]) - 1 if line else 0
    if line and cells:
        return TableError(
            f"{where}: row {row} after the header has {cells[2]} cells, but the header has {cells[1]}"
        )
    if "unicode" in text.lower():
        return TableError(
            f"{where} is not utf-8 text",
            hint=Hint("convert it", parameter="encoding", value="latin-1", call="Table.scan"),
        )
    if "Maximum line size" in text:
        return TableError(f"{where}: a line is longer than DuckDB reads (2 MB); is it a CSV file?")
    place = f" in row {row} after the header" if line else ""
    return TableError(
        f"{where} is not a readable CSV file: quotes or line ends are not regular{place}"
    )


def _bar(what: str) -> Any:
    return new_bar(
        total=100, desc=what, bar_format="{desc} {percentage:3.0f}% |{bar}|", leave=False
    )
