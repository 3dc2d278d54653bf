"""The engine for Dask DataFrames."""

from __future__ import annotations

from typing import Any

from privmoo.data.source import ScanEngine, ScanOptions
from privmoo.engines.dask.source import DaskSource
from privmoo.errors import TableError

__all__ = ["DaskEngine"]


class DaskEngine(ScanEngine):
    """Opens Dask DataFrames."""

    name = "dask"
    reads = "a Dask DataFrame"

    def accepts(self, source: Any) -> bool:
        """Return whether something is a collection of Dask; Dask is not imported for it."""
        return type(source).__module__.split(".")[0] == "dask" and hasattr(source, "npartitions")

    def open(self, source: Any, options: ScanOptions) -> DaskSource:
        """Open a Dask DataFrame.

        Args:
            source: The DataFrame.
            options: All but `progress` are for files, and refused.
        """
        for name in options.changed:
            if name != "progress":
                raise TableError(f"{name}: is for files; a Dask DataFrame is read as it was made")
        return DaskSource(source, progress=options.progress)
