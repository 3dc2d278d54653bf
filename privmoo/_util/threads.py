"""How many threads to use."""

from __future__ import annotations

import os

__all__ = ["thread_count"]


def thread_count() -> int:
    """Return the number of threads to use: PRIVMOO_THREADS, or the cores this process may use."""
    setting = os.environ.get("PRIVMOO_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
