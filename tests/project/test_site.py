"""The documentation builds without warnings, loads nothing from elsewhere and knows every public name.

Building takes half a minute, so only the sources of the pages are looked at in every run.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import privmoo as pm
from tests.scenery.paths import TOP

ROOMS = {name for name in pm.__all__ if not hasattr(getattr(pm, name), "__module__")}
SOURCES = sorted((TOP / "notebooks").rglob("*.md"))
NAMES = re.compile(r"^```\{names\} (.+)\n```$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|^:?(?:```)?\{include\} (\S+)$", re.MULTILINE)


def test_links_of_sources_lead_to_files() -> None:
    checked = 0
    for path in (*SOURCES, TOP / "README.md", TOP / ".github" / "CONTRIBUTING.md"):
        for found in LINK.finditer(path.read_text("utf-8")):
            parts = urlsplit(found[1] or found[2])
            if not parts.scheme and parts.path:
                assert (path.parent / unquote(parts.path)).exists(), f"{path.name}: {parts.path}"
                checked += 1
    assert checked > 50


def test_every_public_name_is_in_the_sources_of_the_reference() -> None:
    listed: set[str] = set()
    for path in SOURCES:
        for words in NAMES.findall(path.read_text("utf-8")):
            for word in words.split():
                room = word.removesuffix("/")
                rooms = (
                    importlib.import_module(f"privmoo.{room}").__all__ if room != word else [word]
                )
                listed.update(rooms)
    assert set(pm.__all__) - ROOMS <= listed


class Page(HTMLParser):
    """The identifiers, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.add(values.get("id", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in ("script", "img", "iframe", "source", "link"):
            self.loaded.append(values.get("src") or values.get("href", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_nb")
    folder = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", ".site"]
    result = subprocess.run(
        [*command, "notebooks", str(folder)],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


@pytest.mark.faults
def test_pages_load_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 30
    for path, page in pages.items():
        assert page.loaded
        for address in page.loaded:
            assert urlsplit(address).scheme in ("", "data"), f"{path.name} loads {address[:80]}"


@pytest.mark.faults
def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name} links to {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"
            checked += 1
    assert checked > 1_000


@pytest.mark.faults
def test_every_public_name_is_in_the_reference(pages: dict[Path, Page]) -> None:
    documented = {anchor for page in pages.values() for anchor in page.anchors}
    missing = [
        name for name in pm.__all__ if name not in ROOMS and f"privmoo.{name}" not in documented
    ]
    assert not missing


@pytest.mark.faults
def test_every_command_is_in_the_reference(site: Path) -> None:
    from privmoo.cli.main import app

    text = (site / "reference" / "commands.html").read_text("utf-8")
    for command in app.registered_commands:
        assert re.search(rf"Usage: privmoo {command.name}\b", text)
