"""A sample of a Dask DataFrame: the records with the smallest random keys."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd

from privmoo.engines.dask.partitions import concat

__all__ = ["partition_sample", "smallest_keys"]

_KEY = "\x01key"


def partition_sample(
    frame: pd.DataFrame, number: int, *, n: int, secret: str, complete: list[str]
) -> pd.DataFrame:
    """Return the records of a partition that a sample may contain, with their keys.

    Args:
        frame: The partition.
        number: Its number.
        n: The number of records of the sample.
        secret: Determines the keys.
        complete: Columns in which no value may be missing.
    """
    key = hashlib.shake_256(f"{secret}|{number}".encode()).digest(8 * len(frame))
    frame = frame.assign(**{_KEY: np.frombuffer(key, "<u8")})
    if complete:
        frame = frame[frame[complete].notna().all(axis=1)]
    return frame.nsmallest(n, _KEY)


def smallest_keys(frames: list[pd.DataFrame], n: int) -> pd.DataFrame:
    """Return the records with the smallest keys of several partitions.

    Args:
        frames: Records with keys.
        n: The number of records.
    """
    with_rows = [frame for frame in frames if len(frame)] or frames[:1]
    return concat(with_rows).nsmallest(n, _KEY)
