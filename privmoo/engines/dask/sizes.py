"""The sizes of the groups in a folder of parts, of which no task has to hold all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.counting import tally
from privmoo.data.source import WEIGHT
from privmoo.engines.dask.part_files import PartFiles, part_name, read_part
from privmoo.engines.dask.partitions import Partitions
from privmoo.hierarchy.canonical import canonical

__all__ = ["group_sizes"]

IntArray = NDArray[np.int64]
# Two hashes of 64 bits with different keys: different groups do not share both.
_KEYS = ("groups of a part", "and once again, ")


def group_sizes(
    partitions: Partitions, path: Path, handle: PartFiles, keys: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Return the sizes of the groups in the parts, and how many groups have each size.

    Args:
        partitions: Computes the tasks.
        path: The folder of the parts.
        handle: What was written.
        keys: The columns whose equal values form a group.
    """
    import dask

    n = handle.n_parts
    spread = dask.delayed(_spread, pure=False, nout=n)
    merge = dask.delayed(_merge, pure=False)
    pieces = [spread(i, path, handle, list(keys)) for i in range(n)]
    sizes = partitions.compute([merge([piece[j] for piece in pieces]) for j in range(n)])
    return _total(sizes)


def _spread(number: int, path: Path, handle: PartFiles, keys: list[str]) -> list[pd.DataFrame]:
    """Return the groups of a part as hashes with weights, by the range of the hash."""
    frame = read_part(path / part_name(number, handle.ending), handle, keys)
    combinations = tally(frame, keys, []).parts[0]
    spellings = pd.DataFrame({name: _spellings(combinations[name]) for name in keys})
    hashes = [
        pd.util.hash_pandas_object(spellings, index=False, hash_key=key).to_numpy() for key in _KEYS
    ]
    groups = pd.DataFrame({"a": hashes[0], "b": hashes[1], "n": combinations[WEIGHT].to_numpy()})
    owner = (hashes[0] >> np.uint64(32)) * np.uint64(handle.n_parts) >> np.uint64(32)
    return [groups[owner == j] for j in range(handle.n_parts)]


def _spellings(column: pd.Series[Any]) -> NDArray[Any]:
    """Return values as text that is the same in every part; no text equals that of a missing value."""
    codes, values = pd.factorize(column)
    texts = [f"={canonical(value)}" for value in values.tolist()]
    return np.array([*texts, "missing"], dtype=object)[codes]


def _merge(pieces: list[pd.DataFrame]) -> tuple[IntArray, IntArray]:
    sums = pd.concat(pieces).groupby(["a", "b"], sort=False)["n"].sum()
    sizes, groups = np.unique(sums.to_numpy(np.int64), return_counts=True)
    return sizes, groups.astype(np.int64)


def _total(ranges: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Return the sum over ranges of hashes.

    >>> low, high = (np.array([1, 3]), np.array([5, 1])), (np.array([3]), np.array([2]))
    >>> [array.tolist() for array in _total([low, high])]
    [[1, 3], [5, 3]]
    """
    sizes, place = np.unique(np.concatenate([sizes for sizes, _ in ranges]), return_inverse=True)
    groups = np.zeros(len(sizes), np.int64)
    np.add.at(groups, place, np.concatenate([groups for _, groups in ranges]))
    return sizes, groups
