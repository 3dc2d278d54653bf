"""Counting the parts of a copy from their files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from privmoo.data.counting import Tally, counts_of, tally
from privmoo.data.source import Counts
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
    """What was read of one part, or of several.

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
    written: PartFiles,
    keys: Sequence[str],
    attributes: Sequence[str],
    others: Sequence[str],
) -> tuple[Counts, dict[str, tuple[int, int]]]:
    """Count the parts in a folder, and note their hashes in `written`.

    Args:
        partitions: Computes the tasks.
        path: The folder.
        written: What was written.
        keys: The quasi-identifiers.
        attributes: The sensitive attributes and the target.
        others: Further columns.

    Returns:
        The counts, and per column of `others` about how many distinct values and how many present
        values it has.
    """
    import dask

    columns = _Columns(list(keys), list(attributes), list(others))
    read = dask.delayed(_read_part, pure=False)
    tasks = [read(i, path, written, columns) for i in range(written.n_parts)]
    total: _PartReport = partitions.compute([merge_tree(tasks, _merge)])[0]
    written.sha256.update(sorted(total.sha256.items()))
    spread = {name: sketch.estimate() for name, sketch in total.sketches.items()}
    return counts_of(total.tally, keys, attributes, concat), spread


def _read_part(number: int, path: Path, written: PartFiles, columns: _Columns) -> _PartReport:
    file = path / part_name(number, written.ending)
    frame = read_part(file, written, [*columns.keys, *columns.attributes, *columns.others])
    sketches = {name: Sketch.of(frame[name]) for name in columns.others}
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    counted = tally(frame, columns.keys, columns.attributes)
    return _PartReport(counted, sketches, {file.name: digest})


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
