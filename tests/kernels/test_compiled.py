"""Compiled loops and their cache on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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


DOUBLE = """
from privmoo.kernels.compiled import compiled

@compiled()
def double(x):
    return x + x
"""
AT_ONCE = """
import loop

files = loop.double._cache._cache_file
save_data = files._save_data

def meanwhile(name, data):  # another process, which saw no index, has compiled for whole numbers
    files._save_data = save_data
    load_index, files._load_index = files._load_index, dict
    loop.double(1)
    files._load_index = load_index
    save_data(name, data)

files._save_data = meanwhile
print(loop.double(1.5))
"""


def test_processes_that_compile_at_the_same_time_do_not_mix_up_their_code(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(DOUBLE)
    lines = [AT_ONCE, *["import loop; print(loop.double(1.5), loop.double(2))"] * 2]
    texts = [
        subprocess.check_output([sys.executable, "-c", line], cwd=tmp_path, text=True).split()
        for line in lines
    ]
    assert texts == [["3.0"], ["3.0", "4"], ["3.0", "4"]]
    folder = tmp_path / "__pycache__"
    assert len(list(folder.glob("*.nbc"))) == 2
    (tmp_path / "loop.py").write_text(DOUBLE.replace("x + x", "2 * x"))
    subprocess.check_call([sys.executable, "-c", "import loop; loop.double(1)"], cwd=tmp_path)
    assert len(list(folder.glob("*.nbc"))) == 1  # those of before are gone


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of files")
def test_a_full_disk_costs_the_cache_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(DOUBLE)
    run = (
        "import resource, loop\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "print(loop.double(1))"
    )
    text = subprocess.check_output([sys.executable, "-B", "-c", run], cwd=tmp_path, text=True)
    assert text == "2\n" and not list(tmp_path.glob("__pycache__/*.nb?"))
