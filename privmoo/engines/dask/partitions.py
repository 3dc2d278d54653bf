"""Tasks on the partitions of a Dask DataFrame, and how their results are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from privmoo.data.counting import Tally, sum_tallies
from privmoo.errors import PrivmooError, TableError

__all__ = ["Partitions", "concat", "merge_tallies", "merge_tree"]

_FAN = 8


class Partitions:
    """The partitions of a Dask DataFrame, and how tasks on them are computed.

    Args:
        frame: The Dask DataFrame.
        name: The name of the DataFrame in messages.
        progress: Whether progress is shown.
    """

    def __init__(self, frame: Any, name: str, *, progress: bool = False) -> None:
        self.frame = frame
        self.name = name
        self.progress = progress

    def __len__(self) -> int:
        return int(self.frame.npartitions)

    def delayed(self, columns: Sequence[str]) -> list[Any]:
        """Return the partitions as delayed frames.

        Args:
            columns: The columns that are read.
        """
        with self._planning():
            return list(self.frame[list(columns)].to_delayed())

    def tasks(
        self, columns: Sequence[str], work: Callable[..., Any], frame: Any = None
    ) -> list[Any]:
        """Return one task per partition, which reads columns and applies a function to them.

        Args:
            columns: The columns that are read.
            work: The function to apply to each partition.
            frame: Some of the partitions; all by default.
        """
        frame = self.frame if frame is None else frame
        meta = pd.Series([], dtype=object)
        with self._planning():
            parts = frame[list(columns)].map_partitions(work, meta=meta, enforce_metadata=False)
            return list(parts.to_delayed())

    @contextmanager
    def _planning(self) -> Iterator[None]:
        """Replace an error of planning: Dask converts texts of a frame in memory, and would quote one."""
        try:
            yield
        except UnicodeError:
            raise TableError(
                f"{self.name}: a text has half of a surrogate pair, which no file can hold; correct it"
            ) from None

    def compute(self, tasks: Sequence[Any], columns: Sequence[str] = ()) -> tuple[Any, ...]:
        """Return the results of tasks.

        Args:
            tasks: Delayed objects.
            columns: The columns that the tasks read, to find the partition that cannot be read.

        Raises:
            TableError: If a task fails; the message names the partition.
        """
        try:
            return _with_bar(tasks) if self.progress else _compute(tasks)
        except PrivmooError:
            raise
        except Exception as error:
            raise self._sentence(error, columns) from None

    def _sentence(self, error: Exception, columns: Sequence[str]) -> TableError:
        kind = type(error).__name__
        if kind == "KilledWorker":
            return TableError(
                f"{self.name}: workers were lost repeatedly while they computed a partition; give "
                "them more memory, or make partitions smaller"
            )
        number = self._first_unreadable(columns) if columns else None
        if number is None:
            return TableError(f"{self.name} cannot be computed ({kind})")
        return TableError(
            f"{self.name}: partition {number} (counted from 0) cannot be read ({kind}); is it whole?"
        )

    def _first_unreadable(self, columns: Sequence[str]) -> int | None:
        """Find the first partition that cannot be computed, by bisection; None if all can be by now."""
        import dask

        def fails(start: int, stop: int) -> bool:
            part = self.frame.partitions[start:stop]
            try:
                dask.compute(*self.tasks(columns, _nothing, part))
            except Exception:
                return True
            return False

        start, stop = 0, len(self)
        if not fails(start, stop):
            return None
        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (start, middle) if fails(start, middle) else (middle, stop)
        return start


def _nothing(frame: pd.DataFrame) -> None:
    return None


def _compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    import dask

    return tuple(dask.compute(*tasks))


def _with_bar(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Compute tasks with the progress bar of the client, or of this process if there is no client."""
    from dask.base import get_scheduler
    from dask.diagnostics import ProgressBar

    client: Any = getattr(get_scheduler(), "__self__", None)
    if not hasattr(client, "gather"):
        with ProgressBar():
            return _compute(tasks)
    from distributed import progress

    futures = client.compute(list(tasks))
    progress(futures, notebook=False)
    return tuple(client.gather(futures))


def merge_tree(tasks: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Return the task that merges the results of tasks, a few at a time.

    Args:
        tasks: The tasks.
        merge: A function that merges a list of results.
    """
    import dask

    merge_task = dask.delayed(merge, pure=False)
    level = [merge_task([task]) for task in tasks] if len(tasks) < 2 else list(tasks)
    while len(level) > 1:
        level = [merge_task(level[i : i + _FAN]) for i in range(0, len(level), _FAN)]
    return level[0]


def concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Join frames as Dask joins partitions: categories are united."""
    from dask.dataframe import methods

    frame: pd.DataFrame = methods.concat(frames)
    return frame


def merge_tallies(tallies: list[Tally | None], max_rows: int | None = None) -> Tally | None:
    """Return the sum of tallies; None if there are too many combinations.

    Args:
        tallies: The tallies; None for one that already has too many combinations.
        max_rows: The largest number of combinations of a part.
    """
    present = [single for single in tallies if single is not None]
    return sum_tallies(present, concat, max_rows) if len(present) == len(tallies) else None
