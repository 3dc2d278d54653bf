"""Loops that other loops call: compiled with their callers, and for Python only when Python calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from privmoo.kernels.copying import write_into

LOOPS = """
from privmoo.kernels.compiled import compiled

@compiled()
def doubled(x):
    if x < 0:
        raise ValueError("below zero")
    return 2 * x

@compiled()
def quadrupled(x):
    return doubled(doubled(x))

@compiled()
def total(xs):
    result = 0
    for x in xs:
        result += quadrupled(x) + doubled(x)
    return result
"""


def run(folder: Path, line: str) -> list[str]:
    (folder / "loops.py").write_text(LOOPS)
    command = [sys.executable, "-c", f"import numpy as np; from loops import *; {line}"]
    return subprocess.check_output(command, cwd=folder, text=True).split()


def test_a_part_is_stored_with_its_caller_only(tmp_path: Path) -> None:
    assert run(tmp_path, "print(total(np.arange(4)))") == ["36"]
    stored = {path.name.split("-")[0] for path in tmp_path.glob("__pycache__/*.nbc")}
    assert stored == {"loops.total"}
    hits = "sum(total.stats.cache_hits.values())"
    assert run(tmp_path, f"print(total(np.arange(4)), {hits})") == ["36", "1"]


def test_a_part_is_a_loop_for_python_too(tmp_path: Path) -> None:
    line = "print(doubled(3), total(np.arange(4)), quadrupled(1.5), doubled(2))"
    assert run(tmp_path, line) == run(tmp_path, line) == ["6", "36", "6.0", "4"]


def test_another_version_of_numba_compiles_as_usual(tmp_path: Path) -> None:
    """Parts rest on numba's inner workings: where these are different, every loop is compiled by itself."""
    line = """
from privmoo.kernels.parts import _PartLibrary
_PartLibrary.finalize = lambda library: library.no_such_attribute
print(total(np.arange(4)), doubled(3))"""
    assert run(tmp_path, line) == ["36", "6"]


@pytest.mark.parametrize(
    "before",
    [
        "import numba.core.codegen as codegen; del codegen.JITCodeLibrary",
        "import numba; numba.version_info = numba.version_info._replace(short=(0, 99))",
        "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'",
    ],
)
def test_where_parts_cannot_be_had_loops_are_as_usual(tmp_path: Path, before: str) -> None:
    (tmp_path / "loops.py").write_text(LOOPS)
    code = (
        f"{before}; import numpy as np; from loops import *; print(total(np.arange(4)), doubled(3))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, cwd=tmp_path, text=True).split() == ["36", "6"]


def test_an_error_of_a_part_reaches_python(tmp_path: Path) -> None:
    line = (
        "print(total(np.arange(4)));\ntry: total(np.array([-1]))\nexcept ValueError as e: print(e)"
    )
    assert run(tmp_path, line) == run(tmp_path, line) == ["36", "below", "zero"]


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (2, 3, 2)])
def test_copies_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    source = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    target = np.full(shape, -1.0)
    write_into(target, source)
    assert np.array_equal(target, source)
