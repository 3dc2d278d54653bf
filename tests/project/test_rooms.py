"""A room imports only rooms that are listed before it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.scenery.paths import TOP

# Lowest first. Imports inside functions count, those for type checkers do not. A room may be listed before
# it exists; `.github/CONTRIBUTING.md` names those that do.
ORDER = [
    "errors",
    "registry",
    "_util",
    "stats",
    "kernels",
    "hierarchy",
    "data",
    "recodings",
    "engines",
    "datasets",
    "guessing",
    "audit",
    "attacks",
    "groups",
    "measures",
    "suppression",
    "evaluation",
    "operators",
    "spaces",
    "problem",
    "baselines",
    "release",
    "front",
    "search",
    "exact",
    "learning",
    "hybrid",
    "problems",
    "families",
    "analysis",
    "study",
    "benchmarks",
    "plot",
    "explorer",
    "config",
    "testing",
    "cli",
]
PLACE = {room: place for place, room in enumerate(ORDER)}
STRINGS_ALLOWED = {"privmoo", "privmoo.registry"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module of the package."""
    for folder, package in (
        ("privmoo", "privmoo"),
        ("problems", "privmoo.problems"),
        ("operators", "privmoo.operators"),
    ):
        for path in sorted((TOP / folder).rglob("*.py")):
            inside = path.relative_to(TOP / folder)
            if not any((TOP / folder / parent).is_symlink() for parent in inside.parents[:-1]):
                name = ".".join([package, *inside.with_suffix("").parts])
                yield name.removesuffix(".__init__"), path


def imported(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of every import, those for type checkers left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".") if is_package else module.split(".")[:-1]
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            if base == "privmoo":
                yield from ((node.lineno, f"privmoo.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, base
        yield from imported(node, module, is_package)


def room_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "privmoo" and len(parts) > 1 else None


def upward(name: str, path: Path) -> list[str]:
    """Imports of a module that lead to a room above its own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = room_of(name)
    if own is None:
        return []
    wrong = []
    for line, target in imported(tree, name, path.name == "__init__.py"):
        room = room_of(target)
        if room is None:
            if target == "privmoo":
                wrong.append(f"{name}:{line} imports the whole package")
        elif PLACE.get(room, len(ORDER)) > PLACE[own]:
            wrong.append(f"{name}:{line} imports {target}")
    return wrong


def test_every_module_has_a_room() -> None:
    rooms = {room_of(name) for name, _ in modules()} - {None}
    assert rooms <= set(ORDER), "a new room needs its place in the order"


def test_the_contributing_guide_lists_the_rooms_in_order() -> None:
    guide = (TOP / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("## The rooms")[2].partition("\n## ")[0]
    entries = re.findall(r"^\d+\. ((?:.|\n   )*?):", section, flags=re.MULTILINE)
    listed = [room for entry in entries for room in re.findall(r"`(\w+)`", entry)]
    rooms = {room_of(name) for name, _ in modules()}
    assert listed == [room for room in ORDER if room in rooms]


def test_rooms_import_downwards_only() -> None:
    wrong = [problem for name, path in modules() for problem in upward(name, path)]
    assert not wrong, "\n".join(wrong)


def test_only_the_registry_imports_by_string() -> None:
    found = []
    for name, path in modules():
        if name in STRINGS_ALLOWED:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            function = node.func if isinstance(node, ast.Call) else None
            called = getattr(function, "attr", getattr(function, "id", None))
            if called in {"import_module", "__import__"}:
                found.append(f"{name}:{node.lineno}")  # type: ignore[attr-defined]
    assert not found


def test_an_upward_import_is_seen_in_every_form(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from privmoo.cli import main\n"
        "def f():\n    from privmoo.front.front import Front\n"
        "from privmoo import plot\nimport privmoo.search\nfrom ..exact import lattice\n"
        "from privmoo.kernels import sizes\n"
    )
    lines = [problem.split(":")[1].split()[0] for problem in upward("privmoo.data.module", module)]
    assert lines == ["5", "6", "7", "8"]
