"""From a file that nobody prepared to a release, with nothing but the commands that are proposed."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from tests.scenery.jobs import call

FOREIGN = [
    "casc/census.csv.gz",
    "casc/tarragona.csv.gz",
    "cmc/cmc.csv.gz",
    "german_uci/german_credit_text.csv.gz",
    "sparcs/sparcs_2016_statewide_sample1000.csv.gz",
    "synthea/synthea_patients.csv.gz",
]
ROWS = 600

Said = pytest.CaptureFixture[str]


def proposed(text: str) -> list[str]:
    """The arguments of the last command that a text proposes."""
    commands = re.findall(r"privmoo ((?:check|run|choose|release) .+)", text)
    return shlex.split(commands[-1])


@pytest.mark.parametrize("name", FOREIGN)
def test_following_the_hints_leads_to_a_release(
    name: str,
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Said,
) -> None:
    monkeypatch.chdir(tmp_path)
    with gzip.open(shared_data / name, "rt", encoding="utf-8") as file:
        lines = [line for line, _ in zip(file, range(ROWS + 1), strict=False)]
    Path("data.csv").write_text("".join(lines), encoding="utf-8")
    assert call("init", "data.csv", monkeypatch=monkeypatch) == 0
    job = Path("privmoo.toml")
    # A short search, so that the test is one: cuts, few generations.
    text = job.read_text(encoding="utf-8").replace(
        'name = "TradeOff"', 'name = "BudgetSuppression"'
    )
    job.write_text(
        text.replace("# generations = 200", "generations = 3").replace(
            "# population = 200", "population = 20"
        ),
        encoding="utf-8",
    )
    check = proposed(capsys.readouterr().out)
    assert check[0] == "check" and call(*check, monkeypatch=monkeypatch) == 0
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 40
    assert call(*proposed(screen), "--quiet", monkeypatch=monkeypatch) == 0
    choose = proposed(capsys.readouterr().out)
    assert choose[0] == "choose" and "--solution" in choose
    assert call(*choose, monkeypatch=monkeypatch) == 0
    release = proposed(capsys.readouterr().out)
    assert release[0] == "release" and call(*release, monkeypatch=monkeypatch) == 0
    assert len(capsys.readouterr().err.splitlines()) <= 7
    certificate = json.loads(Path("public.certificate.json").read_text(encoding="utf-8"))
    roles = certificate["release"]["columns"]
    columns = [column for column, role in roles.items() if role == "quasi-identifying"]
    rows = pd.read_csv("public.csv", dtype=str, keep_default_na=False)
    k = rows.groupby(columns, dropna=False).size().min()
    assert k == certificate["privacy"]["k"] >= 2
