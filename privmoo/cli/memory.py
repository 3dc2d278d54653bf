"""Whether a file fits into memory, foreseen before it is read."""

from __future__ import annotations

from pathlib import Path

from privmoo.cli.saying import say

__all__ = ["available", "foresee", "needed"]

# Peak memory over the size of the file, measured on Adult-like tables (see tests/benchmarks).
_PER_BYTE = {".csv": 8.0, ".gz": 60.0, ".parquet": 40.0}
_BASE = 400 * 1024 * 1024


def needed(path: Path) -> int:
    """About how much memory a run on a file takes, in bytes."""
    factor = _PER_BYTE.get(path.suffix, _PER_BYTE[".csv"])
    return int(_BASE + factor * path.stat().st_size)


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
            "it may end here. Fewer columns or rows, or more memory, would help."
        )


def _giga(size: int) -> str:
    return f"{size / 2**30:.1f}"
