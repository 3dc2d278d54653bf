"""No sentence promises more than counting rows can: whoever knows the method may learn more."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

import pytest

from tests.scenery.paths import TOP

FORBIDDEN = (
    "cannot be linked",
    "can not be linked",
    "can be linked with a probability",
    "all that a reader can",
    "all that anybody can",
    "no sensitive value can",
    "nobody can tell",
    "no one can tell",
    "nobody can learn",
    "no attacker can",
    "an attacker cannot",
    "attackers cannot",
    "cannot be identified",
    "cannot be re-identified",
    "cannot be singled out",
    "k hides",
    "hides who a person is",
    "these are harmless",
    "fully anonymous",
    "completely anonymous",
    "safe to publish",
    "guarantees anonymity",
    "guarantees privacy",
)


def texts() -> Iterator[tuple[str, str]]:
    """All that people read: strings of the code with docstrings, the README, sources of notebooks."""
    for folder in ("privmoo", "problems", "operators"):
        for path in sorted((TOP / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{path.relative_to(TOP)}:{node.lineno}", node.value
                elif isinstance(node, ast.JoinedStr):
                    parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                    yield f"{path.relative_to(TOP)}:{node.lineno}", "…".join(map(str, parts))
    yield "README.md", (TOP / "README.md").read_text("utf-8")
    for path in sorted((TOP / "notebooks").rglob("*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
            yield f"{path.name}:{number}", "".join(cell["source"])


def claims(text: str) -> list[str]:
    """The forbidden phrases in a text, wherever its lines and emphasis are."""
    words = " ".join(text.replace("*", "").replace("#", "").lower().split())
    return [phrase for phrase in FORBIDDEN if phrase in words]


def test_nothing_is_promised_that_does_not_hold() -> None:
    everything = list(texts())
    assert len(everything) > 5_000 and any(".ipynb" in place for place, _ in everything)
    made = {(place.split(":")[0], phrase) for place, text in everything for phrase in claims(text)}
    assert not made


@pytest.mark.parametrize(
    "sentence",
    [
        "No sensitive value can be linked with a probability above 1/ℓ.",
        "A person\n    **cannot be\n    linked** to a row.",
        "# k hides who a person is.",
    ],
)
def test_a_promise_is_noticed(sentence: str) -> None:
    assert claims(sentence)
