"""Candidates of the three kinds that the benchmarks use, and machine facts."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np

import privmoo as pm
from privmoo.data.columns import QIColumn

KINDS = ("levels", "bits p = .5", "bits p ~ U")


def candidates(table: pm.Table, kind: str, count: int, seed: int = 0) -> pm.recodings.Candidates:
    """Random levels; or random cuts, with one probability of a 1 or one drawn per candidate."""
    rng = np.random.default_rng(seed)
    density = np.full(count, 0.5) if kind == KINDS[1] else rng.random(count)
    parts = []
    for qi in table.qis:
        if kind == KINDS[0]:
            steps = _steps(qi)
            parts.append(steps[rng.integers(0, len(steps), count)])
        else:
            bits = rng.random((count, qi.n_leaves - 1)) < density[:, None]
            parts.append(
                np.concatenate([np.zeros((count, 1), int), np.cumsum(bits, axis=1)], axis=1)
            )
    return pm.recodings.Candidates(blocks=np.concatenate(parts, axis=1).astype(np.uint32))


def _steps(qi: QIColumn) -> np.ndarray:
    """Levels of the tree; an order without a tree gets levels of 5, 10 and 20 (or 2 and 4) leaves."""
    if qi.hierarchy is not None and qi.hierarchy.constrained:
        return np.asarray(qi.hierarchy.level_blocks)
    widths = [5, 10, 20] if qi.n_leaves > 40 else [2, 4] if qi.n_leaves > 4 else []
    leaves = np.arange(qi.n_leaves)
    return np.stack([leaves // w for w in (1, *widths, qi.n_leaves)])


def fastest(run: Callable[[], object], rounds: int = 5) -> float:
    """Seconds of the fastest of several rounds, after one that warms up."""
    run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def machine() -> str:
    """Processor, cores, versions and date, as a line for a report."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        model = names[0] if names else model
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "pandas", "numba", "pymoo"))
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}, "
        f"{time.strftime('%Y-%m-%d')}"
    )
