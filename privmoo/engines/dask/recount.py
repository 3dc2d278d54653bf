"""Count the parts of a copy from their files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from privmoo.data.counting import Tally, counts_of, tally
from privmoo.data.source import CopyCounts
from privmoo.engines.dask.part_files import PartFiles, part_name, read_part
from privmoo.engines.dask.partitions import Partitions, concat, merge_tallies, merge_tree
from privmoo.engines.dask.sketch import Sketch

__all__ = ["recount"]


@dataclass(frozen=True)
class _Columns:
    keys: list[str]
    attributes: list[str]
    others: list[str]


@dataclass(frozen=True)
class _PartReport:
    """What was read from one part or several.

    Attributes:
        tally: The counts.
        sketches: Per further column a sketch of its values.
        sha256: The hash of every file, by its name.
    """

    tally: Tally
    sketches: dict[str, Sketch]
    sha256: dict[str, str]


def recount(
    partitions: Partitions,
    path: Path,
    handle: PartFiles,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> CopyCounts:
    """Count the parts in a folder.

    Args:
        partitions: Computes the tasks.
        path: The folder.
        handle: What was written.
        keys: The quasi-identifiers.
        attributes: The sensitive attributes and the target.
        others: Further columns.
    """
    import dask

    columns = _Columns(list(keys), list(attributes), list(others))
    read = dask.delayed(_read_part, pure=False)
    tasks = [read(i, path, handle, columns) for i in range(handle.n_parts)]
    total: _PartReport = partitions.compute([merge_tree(tasks, _merge)])[0]
    spread = {name: sketch.estimate() for name, sketch in total.sketches.items()}
    counts = counts_of(total.tally, keys, attributes, concat)
    combinations = partial(_combinations, partitions, path, handle)
    return CopyCounts(counts, spread, combinations, dict(sorted(total.sha256.items())))


def _read_part(number: int, path: Path, handle: PartFiles, columns: _Columns) -> _PartReport:
    file = path / part_name(number, handle.ending)
    frame = read_part(file, handle, [*columns.keys, *columns.attributes, *columns.others])
    sketches = {name: Sketch.of(frame[name]) for name in columns.others}
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    counts = tally(frame, columns.keys, columns.attributes)
    return _PartReport(counts, sketches, {file.name: digest})


def _combinations(
    partitions: Partitions, path: Path, handle: PartFiles, columns: Sequence[str]
) -> tuple[int, int]:
    """Return the approximate number of combinations of values in some columns, and the number of rows."""
    import dask

    sketch = dask.delayed(_sketch_rows, pure=False)
    tasks = [sketch(i, path, handle, list(columns)) for i in range(handle.n_parts)]
    total: Sketch = partitions.compute([merge_tree(tasks, Sketch.together)])[0]
    return total.estimate()


def _sketch_rows(number: int, path: Path, handle: PartFiles, columns: list[str]) -> Sketch:
    file = path / part_name(number, handle.ending)
    return Sketch.of_rows(read_part(file, handle, columns))


def _merge(reports: list[_PartReport]) -> _PartReport:
    total = merge_tallies([report.tally for report in reports])
    assert total is not None  # noqa: S101, there is no limit
    return _PartReport(
        total,
        {
            name: Sketch.together([report.sketches[name] for report in reports])
            for name in reports[0].sketches
        },
        {name: digest for report in reports for name, digest in report.sha256.items()},
    )
