"""The Python blocks of the README run, in order, in one namespace, away from the checkout."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(
    r"(?P<skip><!--\s*not run\s*-->\s*)?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(text: str) -> list[tuple[int, str]]:
    """Line number and code of every block that is not marked `<!-- not run -->`."""
    return [
        (text.count("\n", 0, match.start("code")) + 1, match["code"])
        for match in BLOCK.finditer(text)
        if not match["skip"]
    ]


def test_marked_blocks_are_left_out() -> None:
    text = "```python\na = 1\n```\n<!-- not run -->\n```python\nb = 2\n```\n```bash\nls\n```\n"
    assert blocks(text) == [(2, "a = 1\n")]


# Two releases of one table are compared there, and a reader is warned of that, rightly.
@pytest.mark.filterwarnings("ignore::privmoo.release.ReleaseWarning")
def test_readme_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks(README.read_text(encoding="utf-8"))
    assert found, "README.md has no ```python block that runs"
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "readme"}
    for line, code in found:
        # The blank lines make a traceback point at the README's own line.
        exec(compile("\n" * (line - 1) + code, str(README), "exec"), namespace)  # noqa: S102
