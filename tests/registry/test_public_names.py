"""Public names: the table, the stub of type checkers, `dir` and the built-in objects agree."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest

import privmoo as pm
from privmoo import registry
from tests.scenery.paths import TOP


def stub() -> tuple[dict[str, str], list[str]]:
    """Names of the stub with the modules they come from, and its `__all__`."""
    tree = ast.parse((TOP / "privmoo" / "__init__.pyi").read_text(encoding="utf-8"))
    imported: dict[str, str] = {}
    listed: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            imported |= {alias.name: node.module or "" for alias in node.names}
        elif isinstance(node, ast.Assign):
            listed = ast.literal_eval(node.value)
    return imported, listed


def test_stub_and_table_agree() -> None:
    imported, listed = stub()
    table = {name: f"privmoo.{home}" for home, names in pm._NAMES.items() for name in names}  # type: ignore[attr-defined]
    rooms = dict.fromkeys(pm._ROOMS, "privmoo")  # type: ignore[attr-defined]
    assert imported == table | rooms
    assert sorted(listed) == sorted(pm.__all__) == sorted(imported)


def test_the_stub_is_in_the_wheel() -> None:
    settings = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    assert "*.pyi" in settings["tool"]["setuptools"]["package-data"]["privmoo"]


@pytest.mark.parametrize("name", dir(pm))
def test_every_name_is_there(name: str) -> None:
    assert getattr(pm, name) is not None


@pytest.mark.parametrize(("room", "kind"), [("measures", "measures"), ("suppression", "policies")])
def test_public_measures_and_policies_are_registered(room: str, kind: str) -> None:
    """A registered object need not have a public name: a new one is a file, not a line in this table."""
    built_ins = [registry.load(kind, name) for name in registry.built_in_names(kind)]
    for name in pm._NAMES[room]:  # type: ignore[attr-defined]
        if name not in {"Measure", "measure"}:  # the base class and its decorator
            assert getattr(pm, name) in built_ins


def test_the_version_is_that_of_the_package() -> None:
    assert pm.__version__ == version("privmoo")


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'privmoo' has no attribute 'Tabel'"):
        _ = pm.Tabel  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", pm._MOVED)  # type: ignore[attr-defined]
def test_names_of_the_first_version_say_where_they_are_now(name: str) -> None:
    place: str = pm._MOVED[name]  # type: ignore[attr-defined]
    room, _, attribute = place.partition(".")
    assert room in pm._ROOMS  # type: ignore[attr-defined]
    assert not attribute or hasattr(getattr(pm, room), attribute)
    with pytest.raises(AttributeError, match=f"privmoo.{name} is now privmoo.{place}"):
        getattr(pm, name)


def test_importing_privmoo_imports_nothing_else() -> None:
    code = "import sys, privmoo; dir(privmoo); print([m for m in ('pandas', 'numba') if m in sys.modules])"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TOP)
    assert result.stdout == "[]\n"


def test_a_name_that_left_its_room_says_where_it_is() -> None:
    with pytest.raises(
        AttributeError, match=r"privmoo\.evaluation\.evaluate is now privmoo\.evaluate"
    ):
        _ = pm.evaluation.evaluate
    assert pm.evaluate is pm.analysis.evaluate
