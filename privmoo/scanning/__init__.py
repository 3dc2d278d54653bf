"""Tables larger than memory: counted where they lie, and released batch by batch.

A `Source` knows how to count, look up and copy; everything else, from hierarchies to certificates, is
shared with tables in memory. DuckDB does it for files on one machine.
"""

from __future__ import annotations

from privmoo.scanning.scanned import ScannedTable
from privmoo.scanning.source import Counted, Mapped, Source

__all__ = ["Counted", "Mapped", "ScannedTable", "Source"]
