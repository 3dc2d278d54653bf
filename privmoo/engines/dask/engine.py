"""The engine for Dask DataFrames."""

from __future__ import annotations

from typing import Any

from privmoo.data.source import ScanEngine, ScanOptions, folder_for
from privmoo.engines.dask.source import DaskSource
from privmoo.errors import TableError

__all__ = ["DaskEngine"]


class DaskEngine(ScanEngine):
    """Opens Dask DataFrames."""

    name = "dask"
    reads = "a Dask DataFrame"

    def accepts(self, source: Any) -> bool:
        """Return whether something is a Dask collection, without importing Dask."""
        return type(source).__module__.split(".")[0] == "dask" and hasattr(source, "npartitions")

    def open(self, source: Any, options: ScanOptions) -> DaskSource:
        """Open a Dask DataFrame.

        Args:
            source: The DataFrame.
            options: Only `temporary` and `progress` are accepted; all others are for files.
        """
        for name in options.changed_options:
            if name not in ("progress", "temporary"):
                raise TableError(
                    f"{name} is for files, and a Dask DataFrame is read as it was made; leave it out"
                )
        return DaskSource(
            source, temporary=folder_for(options.temporary), progress=options.progress
        )
