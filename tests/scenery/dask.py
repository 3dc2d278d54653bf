"""Clusters of worker processes, and partitions that kill, fail or fill a disk."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd


@contextmanager
def cluster(n_workers: int = 2) -> Iterator[Any]:
    """A client of a local cluster of processes with one thread each."""
    import dask
    import distributed

    # Else a cluster gives up workers that are killed twice within seconds.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    made = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with made, distributed.Client(made) as client:
        yield client


def deadly(frame: pd.DataFrame, mark: str, armed: str) -> pd.DataFrame:
    """Kills its worker when the third of six partitions is computed, once after it was armed."""
    if Path(armed).exists() and 200 in frame.index and not Path(mark).exists():
        Path(mark).touch()
        time.sleep(0.2)  # others have begun meanwhile
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


def always_deadly(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) and frame.index[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


def unreadable(frame: pd.DataFrame, armed: str) -> pd.DataFrame:
    if Path(armed).exists() and len(frame) and frame.index[0]:
        raise OSError(5, "Input/output error")
    return frame


def small_files(size: int | None) -> None:
    """From now on this process may write files of so many bytes only."""
    most = resource.RLIM_INFINITY if size is None else size
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
