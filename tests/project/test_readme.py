"""README and pages run, away from the checkout: their Python in one namespace, commands in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.scenery.jobs import call
from tests.scenery.paths import TOP

README = TOP / "README.md"
PAGES = sorted((TOP / "notebooks").rglob("*.md"))
WALK = TOP / "notebooks" / "tutorials" / "command_line.md"
# People search longer, and in more records, than a test has to.
SHORTER = {
    "README": [
        ('datasets.adult("dewri")', 'datasets.adult("dewri").sample(3000, seed=1)'),
        ('budget={"cuts": 40, "regions": 1}', 'budget={"cuts": 5, "regions": 1}'),
    ],
    "attack_a_release": [
        ('datasets.adult("dewri-kl")', 'datasets.adult("dewri-kl").sample(3000, seed=1)'),
        ("attempts=200", "attempts=50"),
    ],
    "choose_a_solution": [
        ('datasets.adult("dewri")', 'datasets.adult("dewri").sample(3000, seed=1)'),
        ('budget={"cuts": 10, "regions": 1}', 'budget={"cuts": 5, "regions": 1}'),
    ],
    "cluster_records": [
        ("german_credit()", "german_credit().sample(300, seed=1)"),
        ("n_clusters=100", "n_clusters=50"),
    ],
    "command_line": [("--seeds 3 --evaluations 2000", "--seeds 2 --evaluations 200")],
}
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


def text_of(page: Path) -> str:
    """Return the text of a page, with shorter searches."""
    text = page.read_text(encoding="utf-8")
    for long, short in SHORTER.get(page.stem, []):
        assert long in text
        text = text.replace(long, short)
    return text


def test_marked_blocks_are_left_out() -> None:
    text = "```python\na = 1\n```\n<!-- not run -->\n```python\nb = 2\n```\n```bash\nls\n```\n"
    assert blocks(text) == [(2, "a = 1\n")]


# Two releases of one table are compared there, and a reader is warned of that, rightly.
@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
@pytest.mark.parametrize(
    "page",
    [page for page in (README, *PAGES) if blocks(page.read_text(encoding="utf-8"))],
    ids=lambda page: page.stem,
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    for line, code in blocks(text_of(page)):
        # The blank lines make a traceback point at the page's own line.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)  # noqa: S102


def test_readme_and_pages_have_examples() -> None:
    assert blocks(README.read_text(encoding="utf-8"))
    assert sum(bool(blocks(page.read_text(encoding="utf-8"))) for page in PAGES) >= 10


def commands(text: str) -> list[list[str]]:
    """The commands of all ```console blocks, without the prompt and what is said about them."""
    found = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in found for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line[2:], comments=True) for line in lines]


@pytest.mark.filterwarnings(
    "ignore::privmoo.release.release.ReleaseWarning"
)  # here all in one process
def test_the_walk_through_all_verbs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from privmoo.cli.main import app

    walk = commands(text_of(WALK))
    verbs = {command.name for command in app.registered_commands}
    assert {words[1] for words in walk if words[0] == "privmoo"} == verbs
    monkeypatch.chdir(tmp_path)
    for words in walk:
        if words[1] == "demo":
            words += ["--generations", "3"]
        assert call(*words[1:], monkeypatch=monkeypatch) == 0, capsys.readouterr().err
        if words[1] == "datasets":
            pd.read_csv("adult.csv", dtype=str, nrows=5000).to_csv("adult.csv", index=False)
        if words[1] == "init":  # a shorter search than a person would want
            job = tmp_path / "privmoo.toml"
            text = job.read_text(encoding="utf-8")
            assert 'name = "TradeOff"' in text and "\n# generations = 200" in text
            short = text.replace("\n# generations = 200", "\ngenerations = 2")
            job.write_text(short, encoding="utf-8")
            cuts = short.replace('name = "TradeOff"', 'name = "BudgetSuppression"')
            (tmp_path / "cuts.toml").write_text(cuts, encoding="utf-8")
            people = pd.read_csv("adult.csv", dtype=str)
            columns = enumerate(people.columns)  # invented people: each column is drawn by itself
            others = {
                name: people[name].sample(500, random_state=i).to_numpy() for i, name in columns
            }
            pd.DataFrame(others).to_csv("others.csv", index=False)
    for name in ("public.csv", "public.certificate.txt", "out/front.html", "study/table.tex"):
        assert (tmp_path / name).stat().st_size
