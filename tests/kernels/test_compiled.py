"""Compiled loops and their cache on disk."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo import kernels
from privmoo.kernels import compiled

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
    body = "@compiled()\ndef whole(x):\n    return part(x) + 1\nprint(whole(1))\n"
    (tmp_path / "direct.py").write_text(f"{head}from part import part\n{body}")
    (tmp_path / "through.py").write_text(f"{head}import shop\npart = shop.part\n{body}")
    (tmp_path / "shop.py").write_text("from part import part\n")
    for factor in (2, 3):
        (tmp_path / "part.py").write_text(
            f"{head}@compiled()\ndef part(x):\n    return {factor} * x\n"
        )
        # Python's bytecode is dated by the second and would hide the change itself.
        run = [sys.executable, "-B", "-c", "import direct, through"]
        result = subprocess.check_output(run, cwd=tmp_path, text=True).split()
        assert result == [str(factor + 1)] * 2


#: Ways to import a module; with True, its package is imported as well.
STATEMENTS = [
    ("import {name}", False),
    ("import os, {name} as part", False),
    ("from {name} import *", False),
    ("from .{name} import loop", True),
    ("from . import {name}", True),
    ("from house.{name} import loop  # noqa", True),
    ("from house import (\n    os,\n    {name},\n)", True),
    ("from house import os, \\\n    {name}", True),
    ("def loop():\n    from house.{name} import (loop)", True),
    ("if True:\n\timport house.{name}", True),
]
IMPORTS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 5), st.sampled_from(STATEMENTS)), max_size=12
)


@given(imports=IMPORTS)
def test_a_digest_changes_with_what_a_module_imports_and_nothing_else(
    imports: list[tuple[int, int, tuple[str, bool]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("kernels") / "house"
    folder.mkdir()
    names = ["__init__", *(f"room_{i}" for i in range(1, 6))]
    texts = dict.fromkeys(names, "x = 1\n")
    reachable = {name: {name} for name in names}
    for importer, imported, (statement, package) in imports:
        texts[names[importer]] += statement.format(name=names[imported]) + "\n"
        reachable[names[importer]] |= {names[imported]} | ({"__init__"} if package else set())
    for _ in names:  # the slow version: neighbours of neighbours, until nothing is new
        reachable = {
            name: set().union(*(reachable[other] for other in others))
            for name, others in reachable.items()
        }

    def digests() -> dict[str, str]:
        for function in (compiled._neighbours, compiled._digest):
            function.cache_clear()
        return {name: compiled._digest(folder / f"{name}.py") for name in names}

    for name in names:
        (folder / f"{name}.py").write_text(texts[name])
    before = digests()
    for changed in names:
        (folder / f"{changed}.py").write_text(texts[changed].replace("x = 1", "x = 2"))
        after = digests()
        (folder / f"{changed}.py").write_text(texts[changed])
        differing = {name for name in names if after[name] != before[name]}
        assert differing == {name for name in names if changed in reachable[name]}


def test_digests_of_kernels_cover_every_import_and_every_loop_that_is_called() -> None:
    folder = Path(str(kernels.__file__)).parent
    paths = {path.stem: path for path in folder.glob("*.py")}
    for name, path in paths.items():
        modules = {module.stem for module in compiled._reachable(path)}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("privmoo"):
                assert str(node.module).rpartition(".")[2] in modules, (
                    f"{name} imports {node.module}"
                )
        values: list[Any] = list(vars(import_module(f"privmoo.kernels.{name}")).values())
        for value in values:
            module = getattr(value, "__module__", None)
            if isinstance(module, str) and module.startswith("privmoo.kernels."):
                assert module.rpartition(".")[2] in modules, f"{name} uses {value}"
    assert len(paths) > 40


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
