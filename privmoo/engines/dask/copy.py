"""The copy of a Dask DataFrame: partitions are mapped and cut into pieces, pieces make parts.

Every record draws a number from a key of its partition. Parts are ranges of these numbers, and a part is
sorted by them: the order does not depend on who computes what, and nobody holds more than a partition and
a part. All workers must reach the folder.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.spreadsheets import safe_text
from privmoo.data.source import Counted, Mapped
from privmoo.engines.dask.part_files import part_name, part_of, read_part, write_whole
from privmoo.engines.dask.sketch import Sketch
from privmoo.engines.dask.tallies import Tally, as_counted, numbered, tally
from privmoo.engines.noise import Noised, draws
from privmoo.errors import ReleaseError
from privmoo.hierarchy.canonical import canonical

if TYPE_CHECKING:
    from privmoo.engines.dask.source import DaskSource

__all__ = ["WrittenParts", "copy", "recount"]

IntArray = NDArray[np.int64]
_PIECES = "pieces"
_LOOKUP = "released"
_KEY = "\x01key"


@dataclass(frozen=True)
class WrittenParts:
    """The columns of parts, and their hashes once they were counted.

    Attributes:
        schema: Names and types of the columns, as Arrow has them.
        headings: Their names in the files.
        dates: Columns of points in time that are all midnight.
        spreadsheets: Whether texts have an apostrophe where they need one.
        ending: Of the files.
        n_parts: How many there are.
        sha256: Hash by name of the file.
    """

    schema: Any
    headings: list[str]
    dates: frozenset[str]
    spreadsheets: bool
    ending: str
    n_parts: int
    sha256: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Copying:
    """What every task must know of a copy."""

    room: Path
    columns: list[str]
    complete: list[str]
    secret: str | None
    noise_secret: str
    n_parts: int


def copy(source: DaskSource, counted: Counted, mapped: Mapped, path: Path) -> WrittenParts:
    """Write parts into the folder `path`, which exists; pieces lie beside it meanwhile."""
    import dask
    import pyarrow as pa

    room = path.parent
    (room / _PIECES).mkdir()
    write_whole(room / _LOOKUP, partial(_pickle, _lookup(counted, mapped)))
    used = list(dict.fromkeys([*mapped.columns, *mapped.values, *mapped.complete]))
    partitions = source.frame[used].to_delayed()
    how = _Copying(
        room,
        list(mapped.columns),
        list(mapped.complete),
        mapped.secret,
        mapped.noise_secret,
        len(partitions),
    )
    spread = dask.delayed(_spread, pure=False)
    found = source.compute([spread(p, i, how) for i, p in enumerate(partitions)], used)
    try:
        schema = pa.unify_schemas([own for own, _ in found], promote_options="permissive")
    except pa.ArrowException:
        raise ReleaseError(
            f"release: {_differing(found)} has values of different types in different partitions; "
            "convert it to one type"
        ) from None
    times = frozenset[str]().union(*(own for _, own in found))
    stamps = {f.name for f in schema if pa.types.is_timestamp(f.type)}
    written = WrittenParts(
        schema=schema,
        headings=[str(safe_text(name)) if mapped.spreadsheets else name for name in mapped.columns],
        dates=frozenset(stamps - times),
        spreadsheets=mapped.spreadsheets,
        ending=path.suffix,
        n_parts=len(partitions),
    )
    join = dask.delayed(_join, pure=False)
    source.compute([join(i, how, path, written) for i in range(how.n_parts)])
    return written


def recount(
    source: DaskSource,
    path: Path,
    written: WrittenParts,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> tuple[Counted, dict[str, tuple[int, int]]]:
    """Count the parts in a folder; per column of `others`, distinct and present values (about)."""
    import dask

    from privmoo.engines.dask.source import concat, tree

    look = dask.delayed(partial(_look, keys=list(keys), attributes=list(attributes)), pure=False)
    leaves = [look(i, path, written, list(others)) for i in range(written.n_parts)]
    found, sketches, hashes = source.compute([tree(leaves, _looked_at)])[0]
    written.sha256.update(sorted(hashes.items()))
    spread = {name: sketch.estimate() for name, sketch in sketches.items()}
    return as_counted(found, keys, attributes, concat), spread


# Where a combination of original values goes


@dataclass(frozen=True)
class _Lookup:
    """Released values by the spelling of original ones, and noise by column."""

    codes: dict[str, dict[str, int]]
    rows: dict[tuple[int, ...], int]
    values: dict[str, Any]
    noise: dict[str, Noised]

    def row_of(self, frame: pd.DataFrame) -> IntArray:
        """The released row of every record; -1 where it is left out."""
        names = list(self.codes)
        own, found = pd.factorize(numbered(frame, names)[0])
        first = np.zeros(len(found), np.int64)
        first[own[::-1]] = np.arange(len(own))[::-1]
        columns = []
        for name in names:
            codes, uniques = pd.factorize(frame[name].iloc[first])
            known = self.codes[name]
            spelled = [known.get(canonical(value), -1) for value in uniques.tolist()]
            columns.append(np.array([*spelled, known.get(canonical(None), -1)])[codes].tolist())
        rows = [self.rows.get(key, -1) for key in zip(*columns, strict=True)]
        return np.array(rows, np.int64)[own] if rows else np.empty(0, np.int64)


def _lookup(counted: Counted, mapped: Mapped) -> _Lookup:
    codes: dict[str, dict[str, int]] = {}
    columns = []
    values: dict[str, Any] = {}
    for name, released in mapped.values.items():
        spelled = [canonical(value) for value in counted.raw[name].iloc[mapped.rows].tolist()]
        known = {text: i for i, text in enumerate(dict.fromkeys(spelled))}
        columns.append([known[text] for text in spelled])
        codes[name] = known
        values[name] = _arrow(released, name)
    rows = {key: i for i, key in enumerate(zip(*columns, strict=True))}
    return _Lookup(codes, rows, values, dict(mapped.noise))


def _pickle(value: Any, path: Path) -> None:
    with path.open("wb") as file:
        pickle.dump(value, file, protocol=5)


@lru_cache(maxsize=1)
def _read_lookup(path: Path) -> _Lookup:
    with path.open("rb") as file:
        lookup: _Lookup = pickle.load(file)  # noqa: S301  # written by `copy`, in a folder of its own
    return lookup


# What workers do


def _spread(frame: pd.DataFrame, number: int, how: _Copying) -> tuple[Any, frozenset[str]]:
    """Map a partition and write it as pieces, one for every part; types and columns with times."""
    import pyarrow as pa

    lookup = _read_lookup(how.room / _LOOKUP)
    rows = lookup.row_of(frame)
    if how.complete:
        rows[~frame[how.complete].notna().all(axis=1).to_numpy()] = -1
    kept = np.flatnonzero(rows >= 0)
    ends = np.zeros(how.n_parts, np.int64)
    ends[number:] = len(kept)
    if how.secret is not None:
        # Drawn for all records, kept or not: what is suppressed does not move the others.
        key = hashlib.shake_256(f"{how.secret}|{number}".encode()).digest(8 * len(rows))
        drawn = np.frombuffer(key, "<u8")[kept]
        order = np.argsort(drawn, kind="stable")
        kept, drawn = kept[order], drawn[order]
        bounds = [(i + 1) * 2**64 // how.n_parts - 1 for i in range(how.n_parts)]
        ends = np.searchsorted(drawn, np.array(bounds, np.uint64), side="right")
    else:
        drawn = kept.astype(np.uint64)
    arrays, chosen = [], pa.array(rows[kept])
    for name in how.columns:
        if name in lookup.noise:
            # Drawn for all records, too.
            noised, place = lookup.noise[name], list(lookup.codes).index(name)
            own = draws(how.noise_secret, place, number, noised.salts[np.maximum(rows, 0)])[kept]
            base = lookup.values[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
            arrays.append(pa.array(noised.add(base, rows[kept], own)))
        elif name in lookup.values:
            arrays.append(lookup.values[name].take(chosen))
        else:
            arrays.append(_arrow(frame[name].iloc[kept], name))
    batch = pa.RecordBatch.from_arrays(
        [*arrays, pa.array(drawn)], names=[*(f"c{i}" for i in range(len(arrays))), _KEY]
    )
    write_whole(how.room / _PIECES / f"{number}", partial(_write_pieces, batch, ends))
    times = {name for name, a in zip(how.columns, arrays, strict=True) if _has_times(a)}
    return pa.schema(list(zip(how.columns, (a.type for a in arrays), strict=True))), frozenset(
        times
    )


def _write_pieces(batch: Any, ends: IntArray, path: Path) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(
        compression="lz4" if pa.Codec.is_available("lz4_frame") else None
    )
    with path.open("wb") as file, pa.ipc.new_file(file, batch.schema, options=options) as writer:
        start = 0
        for end in ends.tolist():
            writer.write_batch(batch.slice(start, end - start))
            start = end


def _join(number: int, how: _Copying, path: Path, written: WrittenParts) -> None:
    """Put the pieces of a part together, in their order, and write it."""
    import pyarrow as pa

    schema = pa.schema(
        [*((f"c{i}", f.type) for i, f in enumerate(written.schema)), (_KEY, pa.uint64())]
    )
    pieces = []
    for i in range(how.n_parts) if how.secret is not None else [number]:
        with (how.room / _PIECES / f"{i}").open("rb") as file:
            pieces.append(pa.ipc.open_file(file).get_batch(number))
    table = pa.concat_tables([pa.Table.from_batches([piece]).cast(schema) for piece in pieces])
    order = np.argsort(table.column(_KEY).to_numpy(), kind="stable")
    table = table.drop_columns([_KEY]).take(pa.array(order)).rename_columns(written.schema.names)
    write_whole(path / part_name(number, written.ending), partial(part_of(written), table))


def _look(
    number: int,
    path: Path,
    written: WrittenParts,
    others: list[str],
    *,
    keys: list[str],
    attributes: list[str],
) -> tuple[Tally, dict[str, Sketch], dict[str, str]]:
    """Read a part: its counts, what other columns have, its hash."""
    file = path / part_name(number, written.ending)
    frame = read_part(file, written, [*keys, *attributes, *others])
    sketches = {name: Sketch.of(frame[name]) for name in others}
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return tally(frame, keys, attributes), sketches, {file.name: digest}


def _looked_at(found: list[Any]) -> Any:
    from privmoo.engines.dask.source import together_by_dask

    tallies, sketches, hashes = zip(*found, strict=True)
    merged = {name: Sketch.together([own[name] for own in sketches]) for name in sketches[0]}
    return together_by_dask(list(tallies)), merged, {k: v for own in hashes for k, v in own.items()}


def _arrow(values: pd.Series[Any], name: str) -> Any:
    """The values as Arrow has them; categories as what they are."""
    import pyarrow as pa

    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        raise ReleaseError(
            f"release: column {name!r} has values that a file cannot hold; convert it to numbers, "
            "text or dates"
        ) from None
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _has_times(array: Any) -> bool:
    """Whether an array has a point in time that is not midnight."""
    import pyarrow as pa

    if not pa.types.is_timestamp(array.type):
        return False
    if array.type.tz is not None:
        return True
    values = pd.Series(array.drop_null().to_pandas())
    return bool((values != values.dt.normalize()).any())


def _differing(found: Sequence[tuple[Any, Any]]) -> str:
    """The column whose types cannot be one."""
    import pyarrow as pa

    for name in found[0][0].names:
        try:
            pa.unify_schemas(
                [pa.schema([own.field(name)]) for own, _ in found], promote_options="permissive"
            )
        except pa.ArrowException:
            return f"column {name!r}"
    return "a column"
