"""The copy of a Dask DataFrame: partitions are recoded and cut into pieces, pieces make parts.

Every record draws a number from a key of its partition. Parts are ranges of these numbers, and a part is
sorted by them: the order does not depend on which worker computes what, and no worker holds more than a
partition and a part. All workers must reach the folder of the parts and the temporary folder. Original
values and pieces are only in the temporary folder, never beside a publication.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.folders import temporary_folder
from privmoo._util.spreadsheets import safe_text
from privmoo.data.noise import partition_draws
from privmoo.data.source import CopyPlan, Counts
from privmoo.engines.dask.lookup import Lookup, arrow_array, read_lookup, write_lookup
from privmoo.engines.dask.part_files import PartFiles, part_name, part_writer, write_whole
from privmoo.engines.dask.partitions import Partitions
from privmoo.errors import ReleaseError

__all__ = ["copy"]

IntArray = NDArray[np.int64]
_PIECES = "pieces"
_LOOKUP = "released"
_KEY = "\x01key"


@dataclass(frozen=True)
class _Job:
    """The facts about a copy that every task must know.

    Attributes:
        folder: Holds the lookup and the pieces.
        columns: The columns of the copy.
        complete: Columns in which no value may be missing.
        secret: Determines the order; None keeps it.
        noise_secret: Determines the draws of the noise.
        n_parts: The number of partitions, and of parts.
    """

    folder: Path
    columns: list[str]
    complete: list[str]
    secret: str | None
    noise_secret: str
    n_parts: int


@dataclass(frozen=True)
class _PieceColumns:
    """The columns of one partition's pieces: their Arrow schema, and those with a time of day."""

    schema: Any
    with_times: frozenset[str]


def copy(
    partitions: Partitions, temporary: Path | None, counts: Counts, plan: CopyPlan, path: Path
) -> PartFiles:
    """Write parts into a folder; pieces are kept in a temporary folder in the meantime.

    Args:
        partitions: The records.
        temporary: The folder in which to create the temporary one; by default that of the system.
        counts: What was counted.
        plan: The released values and the order.
        path: An existing, empty folder.

    Raises:
        ReleaseError: If a column has different types in different partitions or cannot be written, or if
            the workers do not reach the temporary folder.
    """
    with temporary_folder(temporary) as folder:
        return _copy(partitions, counts, plan, folder, path)


def _copy(
    partitions: Partitions, counts: Counts, plan: CopyPlan, folder: Path, path: Path
) -> PartFiles:
    import dask
    import pyarrow as pa

    (folder / _PIECES).mkdir()
    write_lookup(Lookup.of(counts, plan), folder / _LOOKUP)
    column_names = list(dict.fromkeys([*plan.columns, *plan.values, *plan.complete]))
    frames = partitions.delayed(column_names)
    job = _Job(
        folder,
        list(plan.columns),
        list(plan.complete),
        plan.secret,
        plan.noise_secret,
        len(frames),
    )
    spread = dask.delayed(_spread, pure=False)
    pieces = partitions.compute(
        [spread(frame, i, job) for i, frame in enumerate(frames)], column_names
    )
    try:
        schema = pa.unify_schemas([piece.schema for piece in pieces], promote_options="permissive")
    except pa.ArrowException:
        raise ReleaseError(
            f"release: {_differing_column(pieces)} has values of different types in different "
            "partitions; convert it to one type"
        ) from None
    with_times = frozenset[str]().union(*(piece.with_times for piece in pieces))
    stamps = {field.name for field in schema if pa.types.is_timestamp(field.type)}
    handle = PartFiles(
        schema=schema,
        headings=[str(safe_text(name)) if plan.spreadsheets else name for name in plan.columns],
        dates=frozenset(stamps - with_times),
        spreadsheets=plan.spreadsheets,
        ending=path.suffix,
        n_parts=len(frames),
    )
    join = dask.delayed(_join, pure=False)
    partitions.compute([join(i, job, path, handle) for i in range(job.n_parts)])
    return handle


def _spread(frame: pd.DataFrame, number: int, job: _Job) -> _PieceColumns:
    """Recode a partition, and write it as pieces, one for every part."""
    import pyarrow as pa

    lookup = read_lookup(job.folder / _LOOKUP)
    rows = lookup.rows_of(frame)
    if job.complete:
        rows[~frame[job.complete].notna().all(axis=1).to_numpy()] = -1
    released, keys, ends = _release_order(rows, number, job)
    arrays, lookup_rows = [], pa.array(rows[released])
    for name in job.columns:
        if name in lookup.noise:
            arrays.append(pa.array(_with_noise(lookup, name, rows, released, number, job)))
        elif name in lookup.values:
            arrays.append(lookup.values[name].take(lookup_rows))
        else:
            arrays.append(arrow_array(frame[name].iloc[released], name))
    batch = pa.RecordBatch.from_arrays(
        [*arrays, pa.array(keys)], names=[*(f"c{i}" for i in range(len(arrays))), _KEY]
    )
    write_whole(job.folder / _PIECES / f"{number}", partial(_write_pieces, batch, ends))
    with_times = {name for name, a in zip(job.columns, arrays, strict=True) if _has_times(a)}
    types = [array.type for array in arrays]
    return _PieceColumns(
        pa.schema(list(zip(job.columns, types, strict=True))), frozenset(with_times)
    )


def _release_order(
    rows: IntArray, number: int, job: _Job
) -> tuple[IntArray, NDArray[np.uint64], IntArray]:
    """Return the released records of a partition in order, their keys, and where each piece ends."""
    released = np.flatnonzero(rows >= 0)
    if job.secret is None:
        ends = np.zeros(job.n_parts, np.int64)
        ends[number:] = len(released)
        return released, released.astype(np.uint64), ends
    # Drawn for all records, released or not, so that suppression does not move the others.
    digest = hashlib.shake_256(f"{job.secret}|{number}".encode()).digest(8 * len(rows))
    keys = np.frombuffer(digest, "<u8")[released]
    order = np.argsort(keys, kind="stable")
    bounds = [(i + 1) * 2**64 // job.n_parts - 1 for i in range(job.n_parts)]
    ends = np.searchsorted(keys[order], np.array(bounds, np.uint64), side="right")
    return released[order], keys[order], ends


def _with_noise(
    lookup: Lookup, name: str, rows: IntArray, released: IntArray, number: int, job: _Job
) -> NDArray[np.generic]:
    """Return the numbers of released records with noise."""
    import pyarrow as pa

    noise, place = lookup.noise[name], list(lookup.codes).index(name)
    # Drawn for all records here, too.
    draws = partition_draws(job.noise_secret, place, number, noise.salts[np.maximum(rows, 0)])
    values = lookup.values[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    return noise.add(values, rows[released], draws[released])


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


def _join(number: int, job: _Job, path: Path, handle: PartFiles) -> None:
    """Join the pieces of a part in their order and write it."""
    import pyarrow as pa

    schema = pa.schema(
        [*((f"c{i}", f.type) for i, f in enumerate(handle.schema)), (_KEY, pa.uint64())]
    )
    pieces = []
    for i in range(job.n_parts) if job.secret is not None else [number]:
        with (job.folder / _PIECES / f"{i}").open("rb") as file:
            pieces.append(pa.ipc.open_file(file).get_batch(number))
    table = pa.concat_tables([pa.Table.from_batches([piece]).cast(schema) for piece in pieces])
    order = np.argsort(table.column(_KEY).to_numpy(), kind="stable")
    table = table.drop_columns([_KEY]).take(pa.array(order)).rename_columns(handle.schema.names)
    write_whole(path / part_name(number, handle.ending), partial(part_writer(handle), table))


def _has_times(array: Any) -> bool:
    """Return whether an array has a point in time that is not midnight."""
    import pyarrow as pa

    if not pa.types.is_timestamp(array.type):
        return False
    if array.type.tz is not None:
        return True
    values = pd.Series(array.drop_null().to_pandas())
    return bool((values != values.dt.normalize()).any())


def _differing_column(pieces: Sequence[_PieceColumns]) -> str:
    """Return the column whose types cannot be unified."""
    import pyarrow as pa

    for name in pieces[0].schema.names:
        fields = [pa.schema([piece.schema.field(name)]) for piece in pieces]
        try:
            pa.unify_schemas(fields, promote_options="permissive")
        except pa.ArrowException:
            return f"column {name!r}"
    return "a column"
