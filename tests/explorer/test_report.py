"""The report and the demonstration: readable for any number of objectives, and nothing too much."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import privmoo as pm
from privmoo.cli.commands.demo import demonstrate
from privmoo.front.advice import remarks
from privmoo.front.front import Front
from privmoo.hierarchy.canonical import canonical
from privmoo.measures import (
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    SuppressedShare,
    WeightedK,
)
from privmoo.problem import AnonymizationProblem
from privmoo.problems import Cuts, KLSafe
from privmoo.suppression import BelowThreshold, Budget

# Tests release one table many times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def solved(problem: AnonymizationProblem) -> Front:
    problem.default_population = 30
    return pm.optimize(problem, budget=8, seed=1, progress=False)


def report(front: Front, path: Path, pick: pm.Solution | None, **options: Any) -> str:
    front.report(path, pick=pick, **options)
    return path.read_text(encoding="utf-8")


def content(text: str) -> Any:
    """The data in a report."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize(
    "measures",
    [
        (GeneralLoss(),),
        (GeneralLoss(), SuppressedShare()),
        (KAnonymity(), FrequencyDiversity(), GeneralLoss(), WeightedK()),
    ],
)
def test_any_number_of_objectives(tmp_path: Path, measures: tuple[Any, ...]) -> None:
    problem = Cuts(
        pm.datasets.german_credit(), objectives=measures, constraints=[KAnonymity() >= 2]
    )
    front = solved(problem)
    text = report(front, tmp_path / "report.html", front.knee())
    assert "Certificate of the pick" in text and not plt.get_fignums()
    assert "<h3>In words</h3>" in text


def test_what_was_done_is_told(tmp_path: Path) -> None:
    front = solved(KLSafe(pm.datasets.german_credit()))
    text = report(front, tmp_path / "report.html", front.knee())
    told = dict(re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', text))
    assert told["problem"] == "KLSafe" and told["max suppression"] == "0.1"
    assert told["algorithm"] == "NSGA2" and told["seed"] == "1" and told["generations"] == "8"
    assert told["privmoo"] and told["pymoo"] and told["pop size"] == "30"
    for title, sentence in remarks(front, calls=False):
        assert html.unescape(told[title]) == sentence
    assert "To ask" not in told


def test_there_are_rows_of_the_pick_only(tmp_path: Path) -> None:
    front = solved(KLSafe(pm.datasets.german_credit()))
    pick = front.where(min_k=2).best("loss")
    release = pick.release()
    held = content(report(front, tmp_path / "a.html", pick, release=release))
    assert held["preview"]["total"] == len(release)
    shown = pd.DataFrame(held["preview"]["rows"], columns=held["preview"]["columns"])
    assert set(list(shown)[:3]) == set(pick.table.qi_names)
    assert shown[list(release.frame)].equals(release.frame.head(8).map(canonical))
    held = content(report(front, tmp_path / "b.html", None))
    assert held["preview"] is None
    assert "Certificate of the pick" not in (tmp_path / "b.html").read_text(encoding="utf-8")
    other = next(s for s in front if s.records_suppressed != pick.records_suppressed)
    with pytest.raises(pm.errors.ProblemError, match="a solution other than the pick"):
        front.report(tmp_path / "c.html", pick=other, release=release)
    with pytest.raises(pm.errors.ProblemError, match="also pass the solution it was made from"):
        front.report(tmp_path / "c.html", release=release)
    assert not (tmp_path / "c.html").exists()


def test_rows_with_a_k_of_one_are_not_shown(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20, 30, 41], "ill": ["plague", "pest", "cold"]})
    table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()}, sensitive="ill")
    front = Front.of(Cuts(table), [[1, 1], [0, 0]])
    text = report(front, tmp_path / "report.html", front.best("loss"))
    assert content(text)["preview"].keys() == {"note"}
    assert "plague" not in text and "audited k of this release is 1" in text


def test_nothing_of_the_records_but_labels_and_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "name": [f"Mister{i}" for i in range(40)],
            "age": [20 + i // 2 for i in range(40)],
            "job": (["baker", "clerk"] * 19) + ["spy", "spy"],
            "ill": [f"illness{i % 7}" for i in range(40)],
        }
    )
    table = pm.Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(0, 99, widths=[10, 50]),
            "job": pm.Hierarchy.tree({"work": ["baker", "clerk"], "other": ["spy", "count"]}),
        },
        sensitive="ill",
        identifiers="name",
    )
    front = solved(Cuts(table, suppression=Budget(0.2)))
    text = report(front, tmp_path / "report.html", None)
    assert "Mister" not in text and "illness" not in text and table.fingerprint not in text
    assert table.fingerprint[:8] not in text and '"X"' not in text
    cards = content(text)["cards"]
    told = {label for pack in cards["packs"] for label in pack["labels"]}
    for solution in front:
        words = solution.describe_columns()
        assert all(part in told for text in words.values() for part in text.split(" | "))


def test_labels_of_suppressed_records_are_not_told() -> None:
    tree = pm.Hierarchy.tree({"common": ["baker", "clerk"], "rare": ["spy", "count"]})
    frame = pd.DataFrame({"job": ["baker"] * 5 + ["clerk"] * 4 + ["spy", "count"]})
    table = pm.Table(frame, quasi_identifiers={"job": tree})
    problem = Cuts(table, suppression=BelowThreshold(3))
    for x, told in (([0, 1, 1], "common"), ([0, 1, 0], "common"), ([1, 1, 0], "baker | clerk")):
        solution = Front.of(problem, [x])[0]
        assert f"  job: {told}; 2 of 4 values remain, 2 people affected\n" in solution.explain()
        assert "rare" not in solution.explain() and "spy" not in solution._repr_html_()


def test_the_seed_of_the_search_does_not_tell_the_order_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[object] = []
    release = pm.Solution.release

    def spied(self: pm.Solution, *, seed: int | None = None, shuffle: bool = True) -> pm.Release:
        seeds.append(seed)
        return release(self, seed=seed, shuffle=shuffle)

    monkeypatch.setattr(pm.Solution, "release", spied)
    small = pm.datasets.german_credit()
    monkeypatch.setattr(pm.datasets, "adult", lambda _: small)
    demonstrate(tmp_path, generations=3, max_loss=1.0, seed=7)
    assert seeds == [None]
    assert {"report.html", "front.png", "front.npz"} < {p.name for p in tmp_path.iterdir()}


def test_only_a_release_of_the_pick_goes_into_the_file(tmp_path: Path) -> None:
    df = pd.DataFrame({"age": [20, 21, 22, 40, 41, 60] * 2})
    table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    front = Front.of(Cuts(table), [[1] * 5, [0, 0, 1, 0, 0], [0] * 5])
    other = front[0].release()  # suppresses as many, none
    with pytest.raises(pm.errors.ProblemError, match="made from a solution other than the pick"):
        front.report(tmp_path / "a.html", pick=front.best("k"), release=other)
    assert not list(tmp_path.iterdir())
