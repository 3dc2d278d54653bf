"""A Dask DataFrame, counted and copied partition by partition, wherever its workers are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import Counted, Mapped, Sample
from privmoo.engines.dask.tallies import Tally, as_counted, numbered, tally, together
from privmoo.engines.duckdb.sampling import drawn, fewest
from privmoo.engines.duckdb.source import too_many
from privmoo.errors import PrivmooError, TableError

__all__ = ["DaskSource", "concat", "is_dask", "together_by_dask", "tree"]

IntArray = NDArray[np.int64]
_FAN = 8
_SAMPLED = 8


def is_dask(source: Any) -> bool:
    """Whether something is a DataFrame of Dask; Dask is not imported for it."""
    return type(source).__module__.split(".")[0] == "dask" and hasattr(source, "npartitions")


class DaskSource:
    """The partitions of a Dask DataFrame; a `Source`.

    They are computed by the scheduler that Dask would use: the client that is active, or one of this
    process.
    """

    in_parts = True
    name = "the Dask DataFrame"

    def __init__(self, frame: Any, *, progress: bool = False) -> None:
        from dask.dataframe import DataFrame

        if not isinstance(frame, DataFrame):
            raise TableError(
                f"source: must be a DataFrame of Dask, got its {type(frame).__name__}; convert it"
            )
        for name in frame.columns:
            if not isinstance(name, str):
                raise TableError(f"source: column names must be strings, got {name!r}; rename it")
        twice = frame.columns[frame.columns.duplicated()]
        if len(twice):
            raise TableError(f"source: column name {twice[0]!r} occurs more than once; rename one")
        self.frame = frame
        self.progress = progress

    @property
    def columns(self) -> list[str]:
        """Its columns, in their order."""
        return list(self.frame.columns)

    @property
    def facts(self) -> dict[str, Any]:
        """The types of columns; how they are cut into partitions does not matter."""
        return {"columns": {name: str(kind) for name, kind in self.frame.dtypes.items()}}

    @property
    def paths(self) -> Sequence[Path]:
        """Not known: partitions may come from anywhere."""
        return ()

    @property
    def n_rows(self) -> int | None:
        """Not known before partitions are computed."""
        return None

    def sample(self, columns: Sequence[str], n_rows: int) -> Sample:
        """The first rows of some partitions that are spread evenly."""
        n = self.frame.npartitions
        chosen = np.unique(np.linspace(0, n - 1, _SAMPLED).astype(int)).tolist()
        few = max(n_rows // len(chosen), 1)
        tasks = [
            task
            for i in chosen
            for task in self._each(columns, partial(_head, n_rows=few), self.frame.partitions[i])
        ]
        found = self.compute(tasks, columns)
        heads = [head for head, _ in found if len(head)] or [found[0][0]]
        rows = sum(n for _, n in found)
        frame = concat(heads).reset_index(drop=True)
        whole = len(chosen) == n and len(frame) == rows
        return Sample(frame, whole, round(rows / len(chosen) * n))

    def count(
        self,
        keys: Sequence[str],
        attributes: Sequence[str],
        *,
        complete: Sequence[str] = (),
        others: Sequence[str] = (),
        most: int,
    ) -> Counted:
        """Partitions are counted where they are, and only distinct combinations travel."""
        used = [*keys, *attributes]
        own = partial(_tally, keys=list(keys), attributes=list(attributes), complete=list(complete))
        leaves = self._each(used, own, self.frame)
        found: Tally | None = self.compute(
            [tree(leaves, partial(together_by_dask, most=most))], used
        )[0]
        if found is None:
            raise too_many(self.name, most)
        if not found.n_rows:
            raise TableError(f"{self.name}: has columns but no rows")
        return as_counted(found, keys, attributes, concat)

    def first_rows(
        self, column: str, counted: Counted, *, complete: Sequence[str] = ()
    ) -> IntArray:
        """One more scan, for a message."""
        used = list(dict.fromkeys([column, *complete]))
        own = partial(_firsts, column=column, complete=list(complete))
        found = self.compute(self._each(used, own, self.frame), used)
        starts = np.cumsum([0, *(n for _, _, n in found)])
        part = counted.parts.get(column, slice(None))
        known = counted.keys if column in counted.keys else counted.attributes
        values = known[column] if column in counted.attributes else known[column].iloc[part]
        frames = [values.to_frame(column), *(v.to_frame(column) for v, _, _ in found if len(v))]
        numbers = numbered(concat(frames).reset_index(drop=True), [column])[0]
        places = [
            rows + start for (v, rows, _), start in zip(found, starts, strict=False) if len(v)
        ]
        first = pd.Series(np.concatenate(places)).groupby(numbers[len(values) :]).min()
        return np.asarray(first.reindex(numbers[: len(values)]), dtype=np.int64)

    def draw(
        self,
        counted: Counted,
        columns: Sequence[str],
        n: int,
        secret: str,
        *,
        complete: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Every partition gives the records with its smallest keys, and the smallest of all are kept."""
        import dask

        used = list(columns)
        own = dask.delayed(partial(drawn, n=n, secret=secret, complete=list(complete)), pure=False)
        leaves = [own(p, i) for i, p in enumerate(self.frame[used].to_delayed())]
        found: pd.DataFrame = self.compute([tree(leaves, partial(_fewest, n=n))], used)[0]
        return found[used].reset_index(drop=True)

    def copy(self, counted: Counted, mapped: Mapped, path: Path) -> Any:
        """Every partition is mapped and cut into pieces, then pieces of all make one part each."""
        from privmoo.engines.dask.copy import copy

        return copy(self, counted, mapped, path)

    def recount(
        self,
        path: Path,
        written: Any,
        keys: Sequence[str],
        attributes: Sequence[str],
        others: Sequence[str],
    ) -> tuple[Counted, dict[str, tuple[int, int]]]:
        """The parts are read and counted like partitions."""
        from privmoo.engines.dask.copy import recount

        return recount(self, path, written, keys, attributes, others)

    def group_sizes(
        self, path: Path, written: Any, keys: Sequence[str]
    ) -> tuple[IntArray, IntArray]:
        """Groups of every part travel by a hash of what they are, each range of it to one task."""
        from privmoo.engines.dask.sizes import group_sizes

        return group_sizes(self, path, written, keys)

    # Computing

    def _each(self, columns: Sequence[str], work: Callable[..., Any], frame: Any) -> list[Any]:
        """Work on the columns of every partition, in one task with reading them."""
        meta = pd.Series([], dtype=object)
        done = frame[list(columns)].map_partitions(work, meta=meta, enforce_metadata=False)
        return list(done.to_delayed())

    def compute(self, tasks: Sequence[Any], columns: Sequence[str] = ()) -> tuple[Any, ...]:
        """The results of tasks; an error becomes one sentence that names the partition."""
        try:
            return _shown(tasks) if self.progress else _computed(tasks)
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
        number = self._first_bad(columns) if columns else None
        if number is None:
            return TableError(f"{self.name}: cannot be computed ({kind})")
        return TableError(
            f"{self.name}: partition {number} (counted from 0) cannot be read ({kind}); is it whole?"
        )

    def _first_bad(self, columns: Sequence[str]) -> int | None:
        """The first partition that cannot be computed, by halves; None if all can now."""
        import dask

        def fails(start: int, stop: int) -> bool:
            some = self.frame.partitions[start:stop]
            try:
                dask.compute(*self._each(columns, _nothing, some))
            except Exception:
                return True
            return False

        start, stop = 0, self.frame.npartitions
        if not fails(start, stop):
            return None
        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (start, middle) if fails(start, middle) else (middle, stop)
        return start


def _computed(tasks: Sequence[Any]) -> tuple[Any, ...]:
    import dask

    return tuple(dask.compute(*tasks))


def _shown(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """The results of tasks, with a bar: of the client's if there is one, else of this process."""
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


def tree(tasks: Sequence[Any], merge: Callable[[list[Any]], Any]) -> Any:
    """Merge the results of tasks, a few at a time."""
    import dask

    merged = dask.delayed(merge, pure=False)
    left = [merged([task]) for task in tasks] if len(tasks) < 2 else list(tasks)
    while len(left) > 1:
        left = [merged(left[i : i + _FAN]) for i in range(0, len(left), _FAN)]
    return left[0]


def concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """As Dask puts partitions together: categories are united."""
    from dask.dataframe import methods

    joined: pd.DataFrame = methods.concat(frames)
    return joined


def _tally(frame: pd.DataFrame, **how: Any) -> Tally:
    return tally(frame, **how)


def together_by_dask(tallies: list[Tally | None], most: int | None = None) -> Tally | None:
    """The sum of tallies; None where there are too many combinations."""
    known = [one for one in tallies if one is not None]
    return together(known, concat, most) if len(known) == len(tallies) else None


def _fewest(frames: list[pd.DataFrame], n: int) -> pd.DataFrame:
    return fewest(frames, concat, n)


def _head(frame: pd.DataFrame, n_rows: int) -> tuple[pd.DataFrame, int]:
    return frame.head(n_rows), len(frame)


def _firsts(
    frame: pd.DataFrame, column: str, complete: list[str]
) -> tuple[pd.Series[Any], IntArray, int]:
    """The distinct values of a partition's column, the first row of each, and all rows."""
    rows = np.arange(len(frame))
    if complete:
        rows = rows[frame[complete].notna().all(axis=1).to_numpy()]
    numbers = numbered(frame.iloc[rows], [column])[0]
    first = np.unique(numbers, return_index=True)[1]
    return frame[column].iloc[rows[first]], rows[first], len(frame)


def _nothing(frame: pd.DataFrame) -> None:
    return None
