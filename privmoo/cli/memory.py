"""Whether a file fits into memory, foreseen before it is read."""

from __future__ import annotations

from pathlib import Path

from privmoo.cli.console import say

__all__ = ["available", "foresee", "needed"]

# Peak memory of a run, measured with 300,000 and 1,000,000 resampled records of Adult: 380 MB, and 2.3
# bytes for each byte of CSV or 15 for each cell of Parquet. Other tables have more distinct values, hence
# nearly twice as much here; tests/test_cli_memory.py measures it again.
_BASE = 350 * 1024 * 1024
_PER_BYTE = 4.0
_PER_CELL = 30.0


def needed(path: Path) -> int:
    """About how much memory a run on a file takes, in bytes."""
    size = path.stat().st_size
    if path.suffix == ".parquet":
        return int(_BASE + _in_parquet(path, size))
    if path.suffix == ".gz":
        size = max(size, _unpacked(path, size))
    return int(_BASE + _PER_BYTE * size)


def _in_parquet(path: Path, size: int) -> float:
    """What a Parquet file takes in memory, by its cells: its own size says little, it is compressed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
        packed = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        return float(_PER_CELL * facts.num_rows * facts.num_columns + _PER_BYTE * packed)
    except (OSError, ValueError, TypeError, pa.ArrowException):
        return _PER_BYTE * size  # reading it will say what is wrong


def _unpacked(path: Path, size: int) -> int:
    """The size of a gzip file when unpacked, as its last bytes say (up to 4 GB)."""
    with path.open("rb") as file:
        file.seek(max(0, size - 4))
        return int.from_bytes(file.read(4), "little")


def available() -> int | None:
    """How much memory is left for this process, in bytes; None where the system does not say."""
    limits = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines)}
        limits.append(found["MemAvailable"] * 1024)
    except (OSError, ValueError, KeyError, IndexError):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text(encoding="ascii"))
        limits.append(most - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass  # no limit
    return min(limits)


def foresee(path: Path) -> None:
    """Say how much memory a run will take where that is more than there is."""
    if not path.is_file():
        return  # reading it will say what is wrong
    want, have = needed(path), available()
    if have is not None and want > have:
        say(
            f"About {_giga(want)} GB of memory are needed to read {path.name}, {_giga(have)} GB are free: "
            "it may end here. Write scan = true in [data], and they stay on the disk."
        )


def _giga(size: int) -> str:
    return f"{size / 2**30:.1f}"
