"""The tree stays tidy: no machine paths, no giant files, dependencies that point one way."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenery.paths import TOP

CORE = TOP / "privmoo"
# A path is absolute when nothing that could be its beginning stands before the slash.
MACHINE_PATH = re.compile(r"(?<![\w.~})-])/(?:home|root|tmp|work)/")
SKIPPED = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}


def tracked() -> list[Path]:
    """Files that are, or would be, committed; symbolic links are not files of their own."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=TOP, capture_output=True, check=True).stdout.decode()
        paths = [TOP / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        paths = []
        for folder, subfolders, names in os.walk(TOP):
            subfolders[:] = [name for name in subfolders if name not in SKIPPED]
            paths += [Path(folder, name) for name in names]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def texts() -> Iterator[tuple[Path, str]]:
    """Every tracked text file."""
    for path in tracked():
        if path.suffix in {".gz", ".png", ".study", ".front", ".npz", ".log", ".run"}:
            continue
        yield path.relative_to(TOP), path.read_text(encoding="utf-8")


def imported(path: Path, package: str) -> set[str]:
    """Absolute dotted names that a module imports anywhere, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if name in {"import_module", "__import__"} and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


def core_modules() -> list[tuple[str, Path]]:
    """Dotted name and file of every module of the core, without the linked folders."""
    found = []
    for folder, subfolders, names in os.walk(CORE):
        subfolders[:] = [n for n in subfolders if not Path(folder, n).is_symlink()]
        for name in names:
            if name.endswith(".py"):
                path = Path(folder, name)
                parts = path.relative_to(TOP).with_suffix("").parts
                found.append((".".join(parts), path))
    return found


def package_of(name: str) -> str:
    return name.removesuffix(".__init__") if name.endswith("__init__") else name.rpartition(".")[0]


def test_no_machine_paths() -> None:
    found = [
        f"{path}:{number}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]
    assert not found


@pytest.mark.parametrize(
    ("line", "hit"),
    [
        ("see {}x/y", True),
        ("'{}x'", True),
        ("file://{}x", True),
        ("a/b{}x", False),
        ("$(TOP){}x", False),
        ("~{}x", False),
    ],
)
def test_machine_paths_are_recognised(line: str, hit: bool) -> None:
    assert bool(MACHINE_PATH.search(line.format("/" + "work" + "/"))) is hit


def test_kernels_know_only_arrays() -> None:
    kernels = [(name, path) for name, path in core_modules() if name.startswith("privmoo.kernels")]
    assert kernels
    for name, path in kernels:
        tops = {module.split(".")[0] for module in imported(path, package_of(name))}
        own = {m for m in imported(path, package_of(name)) if m.startswith("privmoo.")}
        standard = {"__future__", "collections", "contextlib", "typing"}
        if name == "privmoo.kernels.compiled":  # it looks at the files of kernels
            standard |= {"functools", "hashlib", "pathlib", "re"}
        assert tops - {"privmoo"} <= {"numpy", "numba"} | standard, name
        assert all(module.startswith("privmoo.kernels") for module in own), name


def test_audit_stands_alone() -> None:
    audits = [(name, path) for name, path in core_modules() if name.startswith("privmoo.audit")]
    assert audits
    for name, path in audits:
        own = {m for m in imported(path, package_of(name)) if m.split(".")[0] == "privmoo"}
        strangers = {m for m in own if not m.startswith(("privmoo.errors", "privmoo.audit"))}
        assert not strangers, name


def test_imports_are_found_in_every_form(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "from privmoo import problems\nfrom . import operators\n"
        "def f():\n    from .problems.dewri import Dewri\n"
        "import importlib\nimportlib.import_module('privmoo.operators.cut')\n"
    )
    assert {
        "privmoo.problems",
        "privmoo.operators",
        "privmoo.problems.dewri",
        "privmoo.operators.cut",
    } <= imported(module, "privmoo")
