"""How large the groups of a folder of parts are, however many there are: no task holds all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.source import COUNT
from privmoo.engines.dask.part_files import part_name, read_part
from privmoo.engines.dask.tallies import tally
from privmoo.hierarchy.canonical import canonical

if TYPE_CHECKING:
    from privmoo.engines.dask.copy import WrittenParts
    from privmoo.engines.dask.source import DaskSource

__all__ = ["group_sizes"]

IntArray = NDArray[np.int64]
# Two hashes of 64 bits with different keys: different groups do not share both.
_KEYS = ("groups of a part", "and once again, ")


def group_sizes(
    source: DaskSource, path: Path, written: WrittenParts, keys: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """Sizes of groups of the parts, and how many groups have each."""
    import dask

    n = written.n_parts
    spread = dask.delayed(_spread, pure=False, nout=n)
    merge = dask.delayed(_merge, pure=False)
    pieces = [spread(i, path, written, list(keys)) for i in range(n)]
    found = source.compute([merge([piece[j] for piece in pieces]) for j in range(n)])
    return _together(found)


def _spread(number: int, path: Path, written: WrittenParts, keys: list[str]) -> list[pd.DataFrame]:
    """The groups of a part as hashes with counts, by the range of the hash."""
    frame = read_part(path / part_name(number, written.ending), written, keys)
    counted = tally(frame, keys, []).parts[0]
    spelled = pd.DataFrame({name: _spelled(counted[name]) for name in keys})
    hashes = [
        pd.util.hash_pandas_object(spelled, index=False, hash_key=key).to_numpy() for key in _KEYS
    ]
    groups = pd.DataFrame({"a": hashes[0], "b": hashes[1], "n": counted[COUNT].to_numpy()})
    owner = (hashes[0] >> np.uint64(32)) * np.uint64(written.n_parts) >> np.uint64(32)
    return [groups[owner == j] for j in range(written.n_parts)]


def _spelled(column: pd.Series[Any]) -> NDArray[Any]:
    """Values as text that is the same in every part; a missing one is no text that looks like it."""
    codes, found = pd.factorize(column)
    texts = [f"={canonical(value)}" for value in found.tolist()]
    return np.array([*texts, "missing"], dtype=object)[codes]


def _merge(pieces: list[pd.DataFrame]) -> tuple[IntArray, IntArray]:
    sums = pd.concat(pieces).groupby(["a", "b"], sort=False)["n"].sum()
    sizes, groups = np.unique(sums.to_numpy(np.int64), return_counts=True)
    return sizes, groups.astype(np.int64)


def _together(found: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """The sum over ranges of hashes.

    >>> one, other = (np.array([1, 3]), np.array([5, 1])), (np.array([3]), np.array([2]))
    >>> [array.tolist() for array in _together([one, other])]
    [[1, 3], [5, 3]]
    """
    sizes, place = np.unique(np.concatenate([own for own, _ in found]), return_inverse=True)
    groups = np.zeros(len(sizes), np.int64)
    np.add.at(groups, place, np.concatenate([own for _, own in found]))
    return sizes, groups
