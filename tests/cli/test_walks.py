"""From a file that nobody prepared to a release, with nothing but the commands that are proposed."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo._util.reading import read_csv
from privmoo.config import Config
from privmoo.guessing import guess
from privmoo.hierarchy.canonical import canonical
from tests.scenery.jobs import call
from tests.scenery.paths import SHARED

ROWS = 600
REAL = [
    "casc/census.csv.gz",
    "casc/tarragona.csv.gz",
    "cmc/cmc.csv.gz",
    "german_uci/german_credit_text.csv.gz",
    "sparcs/sparcs_2016_statewide_sample1000.csv.gz",
    "synthea/synthea_patients.csv.gz",
]

Said = pytest.CaptureFixture[str]


def patients() -> pd.DataFrame:
    """Invented people with the columns of a hospital's export: names, keys, dates, nested places."""
    rng = np.random.default_rng(1)
    places = {"Boston": ("Suffolk", "MA"), "Salem": ("Essex", "MA"), "Keene": ("Cheshire", "NH")}
    cities = rng.choice(list(places), ROWS)
    births = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 30_000, ROWS), "D")
    return pd.DataFrame(
        {
            "Id": [f"{rng.integers(2**60):016x}" for _ in range(ROWS)],
            "BIRTHDATE": births.strftime("%Y-%m-%d"),
            "FIRST": [f"Ann{i}" for i in range(ROWS)],
            "MARITAL": rng.choice(["M", "S"], ROWS),
            "RACE": rng.choice(["white", "black", "asian"], ROWS, p=[0.8, 0.15, 0.05]),
            "GENDER": rng.choice(["F", "M"], ROWS),
            "CITY": cities,
            "COUNTY": [places[city][0] for city in cities],
            "STATE": [places[city][1] for city in cities],
            "HEALTHCARE_EXPENSES": rng.lognormal(8, 1, ROWS).round(2),
        }
    )


def amounts() -> pd.DataFrame:
    """Invented companies: numbers only, nearly all different, whose names say nothing of a role."""
    rng = np.random.default_rng(2)
    names = ("FIXED.ASSETS", "SALES", "DEPRECIATION", "NET.PROFIT")
    return pd.DataFrame({name: rng.lognormal(9, 2, ROWS).round().astype(int) for name in names})


def household_survey() -> str:
    """A survey as a European spreadsheet writes it: semicolons, decimal commas, short names, a total."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "urbrur": rng.choice([1, 2], ROWS),
            "hhsize": rng.integers(1, 9, ROWS),
            "age": rng.integers(0, 95, ROWS),
            "sex": rng.choice(["m", "w"], ROWS),
            "income": [f"{value:.1f}".replace(".", ",") for value in rng.lognormal(7, 1, ROWS)],
        }
    )
    return frame.to_csv(sep=";", index=False)


STAND_INS = {
    "discharges": lambda: pm.datasets.sparcs_like(ROWS, seed=1).to_csv(index=False),
    "patients": lambda: patients().to_csv(index=False),
    "amounts": lambda: amounts().to_csv(index=False),
    "household survey": household_survey,
}


def text_of(name: str) -> str:
    """The first lines of a file; the test is skipped where a real one is not here."""
    if name in STAND_INS:
        return STAND_INS[name]()
    if not (SHARED / name).is_file():
        pytest.skip("needs the evaluation data in ../shared/data")
    with gzip.open(SHARED / name, "rt", encoding="utf-8") as file:
        return "".join(itertools.islice(file, ROWS + 1))


def discharges(n: int) -> str:
    """The first lines of a real export of one region; skipped where it is not here."""
    path = SHARED / "sparcs" / "sparcs_2016_western_ny_first10000.csv.gz"
    if not path.is_file():
        pytest.skip("needs the evaluation data in ../shared/data")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return "".join(itertools.islice(file, n + 1))


def proposed(text: str) -> list[str]:
    """The arguments of the last command that a text proposes."""
    commands = re.findall(r"privmoo ((?:check|run|choose|release) .+)", text)
    return shlex.split(commands[-1])


def shorten(job: Path) -> None:
    """A short search, so that the test is one: cuts, few generations."""
    text = job.read_text(encoding="utf-8")
    for long, short in {
        'name = "TradeOff"': 'name = "BudgetSuppression"',
        "# generations = 200": "generations = 3",
        "# population = 200": "population = 20",
    }.items():
        assert long in text
        text = text.replace(long, short)
    job.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", [*STAND_INS, *REAL])
def test_following_the_hints_leads_to_a_release(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text_of(name), encoding="utf-8")
    assert call("init", "data.csv", monkeypatch=monkeypatch) == 0
    shorten(Path("privmoo.toml"))
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
    people = Path("data.csv").read_text(encoding="utf-8")
    assert not any(name in rows.to_csv() for name in re.findall(r"Ann\d+", people))


def test_a_file_without_quasi_identifiers_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"name": [f"Ann{i}" for i in range(60)], "illness": ["flu", "cold"] * 30})
    people.to_csv("data.csv", index=False)
    assert call("init", "data.csv", monkeypatch=monkeypatch) == 0
    said = capsys.readouterr().out
    assert "Give at least one column the role quasi-identifying in privmoo.toml" in said


def guessed(text: str, folder: Path) -> pm.Table:
    """The table of a job as it was guessed."""
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8")
    guess(read_csv(path)).write(folder, path)
    return Config.load(folder / "privmoo.toml").table


def share_kept(solution: pm.Solution) -> dict[str, float]:
    """The share of released records whose value is the original one, by column."""
    table, rows = solution.table, solution.released_rows()
    released = solution.recoding.apply(table, rows)
    return {
        name: float(
            np.mean(
                [
                    canonical(new) == canonical(old)
                    for new, old in zip(released[name], table.frame[name].iloc[rows], strict=True)
                ]
            )
        )
        for name in table.qi_names
    }


N = 1500
KEPT: dict[str, tuple[Callable[[Path], pm.Table], dict[str, float]]] = {
    "Adult": (
        lambda folder: pm.datasets.adult("dewri").sample(N, seed=1),
        {"sex": 0.95, "race": 0.7, "native-country": 0.75},
    ),
    "SPARCS": (
        lambda folder: guessed(discharges(N), folder),
        {
            "Gender": 0.95,
            "Race": 0.9,
            "Hospital County": 0.9,
            "Emergency Department Indicator": 0.9,
        },
    ),
    "invented discharges": (
        lambda folder: guessed(
            pm.datasets.sparcs_like(N, seed=1, county="Allegany").to_csv(index=False), folder
        ),
        {"Gender": 0.95, "Race": 0.9, "Ethnicity": 0.8},
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_local_recoding_keeps_what_a_publisher_would_keep(name: str, tmp_path: Path) -> None:
    make, kept = KEPT[name]
    problem = pm.problems.Regions(make(tmp_path), max_suppression=0.05)
    front = pm.optimize(
        problem, budget=pm.Evaluations(60), seed=1, progress=False, focus={"k": (5, 10)}
    )
    choice = front.where(min_k=5).best("loss")
    shares = share_kept(choice)
    assert {column: shares[column] for column in kept if shares[column] < kept[column]} == {}
    assert choice.k >= 5


def test_a_column_that_must_stay_is_kept_whole() -> None:
    whole = pm.datasets.adult("dewri").sample(N, seed=1)
    qis = {
        qi.name: pm.QuasiIdentifier(
            hierarchy=qi.hierarchy, max_level=0 if qi.name in ("sex", "race") else None
        )
        for qi in whole.qis
    }
    table = pm.Table(whole.frame, quasi_identifiers=qis)
    problem = pm.problems.Regions(table, max_suppression=0.05)
    front = pm.optimize(
        problem, budget=pm.Evaluations(60), seed=1, progress=False, focus={"k": (5, 10)}
    )
    choice = front.where(min_k=5).best("loss")
    assert {"sex", "race"} <= set(choice.kept_columns()) and choice.loss < 0.5
