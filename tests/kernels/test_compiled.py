"""Compiled loops and their cache on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOOP = """
from privmoo.kernels.compiled import compiled
from {module} import Pair

@compiled()
def total(pair):
    return pair.a + pair.b

print(total(Pair(1, 2)), sum(total.stats.cache_hits.values()))
"""
PAIR = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"


def output(folder: Path, module: str) -> list[str]:
    """What a run of the loop prints: the result, and how often the cache was used."""
    for name, text in ((f"{module}.py", PAIR), ("loop.py", LOOP.format(module=module))):
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)
    run = [sys.executable, "-c", "import loop"]
    return subprocess.check_output(run, cwd=folder, text=True).split()


def test_a_cache_that_names_a_moved_class_is_compiled_anew(tmp_path: Path) -> None:
    assert output(tmp_path, "before") == ["3", "0"]
    assert output(tmp_path, "before") == ["3", "1"]
    (tmp_path / "before.py").unlink()
    assert output(tmp_path, "after") == ["3", "0"]
    assert output(tmp_path, "after") == ["3", "1"]
