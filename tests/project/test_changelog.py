"""The changelog sends readers to modules and names that exist."""

from __future__ import annotations

import re

import pytest

import privmoo as pm
from privmoo import registry
from tests.scenery.paths import TOP

CHANGELOG = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")


def section(title: str) -> list[tuple[str, str]]:
    """Return the rows of the table below a heading."""
    text = CHANGELOG.partition(f"### {title}\n")[2].partition("\n#")[0]
    rows: list[tuple[str, str]] = re.findall(r"^\| (`.*) \| (`.*) \|$", text, re.MULTILINE)
    assert rows
    return rows


def test_renamed_modules_are_where_the_table_says() -> None:
    targets = {name for _, new in section("Renamed modules") for name in re.findall("`(.*?)`", new)}
    files = {
        ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__")
        for path in (TOP / "privmoo").rglob("*.py")
    }
    short = {name.rpartition(".")[2] for name in files}
    missing = {n for n in targets if n not in files and ("." in n or n not in short)}
    assert not missing


@pytest.mark.parametrize(("old", "new"), section("Names that are reached through their room"))
def test_old_names_say_where_they_are(old: str, new: str) -> None:
    name, place = old.strip("`").removeprefix("pm."), new.strip("`").removeprefix("pm.")
    with pytest.raises(AttributeError, match=re.escape(f"privmoo.{place}")):
        getattr(pm, name)
    room, _, attribute = place.partition(".")
    assert registry.load_object(f"privmoo.{room}:{attribute}") is not None
