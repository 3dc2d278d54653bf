"""Fuzz every target for some seconds: python tests/fuzz/fuzz_files.py [seconds] [target ...]."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hypothesis import HealthCheck, given, settings

from tests.scenery.fuzz import TARGETS


def fuzz(name: str, seconds: float) -> int:
    """Try inputs until the time is over; returns how many."""
    function, strategy = TARGETS[name]
    count, end = 0, time.monotonic() + seconds

    @settings(
        max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(content=strategy())
    def some(content: bytes) -> None:
        nonlocal count
        if time.monotonic() < end:
            count += 1
            function(content)

    while time.monotonic() < end:
        some()
    return count


def main() -> None:
    warnings.simplefilter("ignore")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    names = sys.argv[2:] or list(TARGETS)
    total = 0
    for name in names:
        tried = fuzz(name, seconds)
        total += tried
        print(f"{name}: {tried:,} inputs, only privmoo's own errors", flush=True)
    print(f"inputs tried: {total:,}")


if __name__ == "__main__":
    main()
