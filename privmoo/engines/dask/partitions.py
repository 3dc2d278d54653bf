"""Work on the partitions of a Dask DataFrame, and its results merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from privmoo.data.counting import Tally, merged
from privmoo.errors import PrivmooError, TableError

__all__ = ["Partitions", "concat", "merge_tallies", "merge_tree"]

_FAN = 8


class Partitions:
    """The partitions of a Dask DataFrame, and how tasks on them are computed.

    Args:
        frame: The Dask DataFrame.
        name: The name in messages.
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
        return list(self.frame[list(columns)].to_delayed())

    def tasks(
        self, columns: Sequence[str], work: Callable[..., Any], frame: Any = None
    ) -> list[Any]:
        """Return one task per partition, which reads columns and works on them.

        Args:
            columns: The columns that are read.
            work: The function of a partition.
            frame: Some of the partitions; all by default.
        """
        frame = self.frame if frame is None else frame
        meta = pd.Series([], dtype=object)
        mapped = frame[list(columns)].map_partitions(work, meta=meta, enforce_metadata=False)
        return list(mapped.to_delayed())

    def compute(self, tasks: Sequence[Any], columns: Sequence[str] = ()) -> tuple[Any, ...]:
        """Return the results of tasks.

        Args:
            tasks: Delayed objects.
            columns: The columns that the tasks read, to find the partition that cannot be read.

        Raises:
            TableError: A task failed; the message names the partition.
        """
        try:
            return _with_bar(tasks) if self.progress else _computed(tasks)
        except PrivmooError:
            raise
        except Exception as error:
            raise self._sentence(error, columns) from None

    def _sentence(self, error: Exception, columns: Sequence[str]) -> TableError:
        kind = type(error).__name__
        if kind == "KilledWorker":
            return TableError(
                f"{self.name}: workers were lost again and again while they computed a partition; give "
                "them more memory, or make partitions smaller"
            )
        number = self._first_unreadable(columns) if columns else None
        if number is None:
            return TableError(f"{self.name}: cannot be computed ({kind})")
        return TableError(
            f"{self.name}: partition {number} (counted from 0) cannot be read ({kind}); is it whole?"
        )

    def _first_unreadable(self, columns: Sequence[str]) -> int | None:
        """Find the first partition that cannot be computed, by halves; None if all can now."""
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


def _computed(tasks: Sequence[Any]) -> tuple[Any, ...]:
    import dask

    return tuple(dask.compute(*tasks))


def _with_bar(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Compute tasks with a progress bar: that of the client if there is one, else of this process."""
    from dask.base import get_scheduler
    from dask.diagnostics import ProgressBar

    client: Any = getattr(get_scheduler(), "__self__", None)
    if not hasattr(client, "gather"):
        with ProgressBar():
            return _computed(tasks)
    from distributed import progress

    futures = client.compute(list(tasks))
    progress(futures, notebook=False)
    return tuple(client.gather(futures))


def merge_tree(tasks: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Return the task that merges the results of tasks, a few at a time.

    Args:
        tasks: The tasks.
        merge: Merges a list of results.
    """
    import dask

    delayed = dask.delayed(merge, pure=False)
    level = [delayed([task]) for task in tasks] if len(tasks) < 2 else list(tasks)
    while len(level) > 1:
        level = [delayed(level[i : i + _FAN]) for i in range(0, len(level), _FAN)]
    return level[0]


def concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Join frames as Dask joins partitions: categories are united."""
    from dask.dataframe import methods

    joined: pd.DataFrame = methods.concat(frames)
    return joined


def merge_tallies(tallies: list[Tally | None], max_rows: int | None = None) -> Tally | None:
    """Return the sum of tallies; None where there are too many combinations.

    Args:
        tallies: Sums, or None where there were too many combinations already.
        max_rows: The largest number of combinations of a part.
    """
    present = [single for single in tallies if single is not None]
    return merged(present, concat, max_rows) if len(present) == len(tallies) else None
