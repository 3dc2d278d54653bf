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


def test_a_loop_is_compiled_anew_when_a_loop_that_it_calls_has_changed(tmp_path: Path) -> None:
    head = "from privmoo.kernels.compiled import compiled\n"
    caller = f"{head}from part import part\n@compiled()\ndef whole(x):\n    return part(x) + 1\n"
    (tmp_path / "whole.py").write_text(caller + "print(whole(1))\n")
    for factor in (2, 3):
        text = f"{head}@compiled()\ndef part(x):\n    return {factor} * x\n"
        (tmp_path / "part.py").write_text(text)
        run = [sys.executable, "-c", "import whole"]
        assert subprocess.check_output(run, cwd=tmp_path, text=True).split() == [str(factor + 1)]
