"""Memory: how much a run on a file needs, and how much is free."""

from __future__ import annotations

from pathlib import Path

from privmoo.cli.console import say

__all__ = ["available", "estimate_memory", "warn_if_too_large"]

# Peak memory of a run, measured with 300,000 and 1,000,000 resampled records of Adult: 380 MB, and 2.3
# bytes for each byte of CSV or 15 for each cell of Parquet. Other tables have more distinct values, hence
# nearly twice as much here; tests/cli/test_cli_memory.py measures it again.
_BASE = 350 * 1024 * 1024
_PER_BYTE = 4.0
_PER_CELL = 30.0


def estimate_memory(path: Path) -> int:
    """Estimate the memory that a run on a file takes, in bytes."""
    size = path.stat().st_size
    if path.suffix == ".parquet":
        return int(_BASE + _parquet_content(path, size))
    if path.suffix == ".gz":
        size = max(size, _unpacked_size(path, size))
    return int(_BASE + _PER_BYTE * size)


def _parquet_content(path: Path, size: int) -> float:
    """Estimate the memory for a Parquet file from its cells, because its compressed size says little."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        size_of_groups = sum(group.total_byte_size for group in groups)
        cells = metadata.num_rows * metadata.num_columns
        return float(_PER_CELL * cells + _PER_BYTE * size_of_groups)
    except (OSError, ValueError, TypeError, pa.ArrowException):
        return _PER_BYTE * size  # reading it will say what is wrong


def _unpacked_size(path: Path, size: int) -> int:
    """Return the size of a gzip file when unpacked, as its last bytes state it (up to 4 GB)."""
    with path.open("rb") as file:
        file.seek(max(0, size - 4))
        return int.from_bytes(file.read(4), "little")


def available() -> int | None:
    """Return the memory that is free for this process in bytes; None if the system does not say."""
    limits = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        fields = (line.partition(":") for line in lines)
        kilobytes = {name: int(value.split()[0]) for name, _, value in fields}
        limits.append(kilobytes["MemAvailable"] * 1024)
    except (OSError, ValueError, KeyError, IndexError):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        maximum = int((group / "memory.max").read_text(encoding="ascii"))
        limits.append(maximum - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass  # no limit
    return min(limits)


def warn_if_too_large(path: Path) -> None:
    """Warn if a run needs more memory than is free."""
    if not path.is_file():
        return  # reading it will say what is wrong
    demand, free = estimate_memory(path), available()
    if free is not None and demand > free:
        say(
            f"Reading {path.name} needs about {_gigabytes(demand)} GB of memory, and {_gigabytes(free)} GB "
            "are free, so the run may fail. With scan = true in [data] the records stay on the disk."
        )


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f}"
