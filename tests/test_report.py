"""The report and the demonstration: readable for any number of objectives, and nothing too much."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import privmoo as pm
from privmoo import demo
from privmoo.front.front import Front
from privmoo.measures import (
    FrequencyDiversity,
    GeneralLoss,
    KAnonymity,
    SuppressedShare,
    WeightedK,
)
from privmoo.problem import AnonymizationProblem
from privmoo.problems import Cuts, KLSafe
from privmoo.report import write_report
from privmoo.suppression import BelowThreshold

# Tests release one table many times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.ReleaseWarning")


def solved(problem: AnonymizationProblem) -> Front:
    problem.default_population = 30
    return pm.optimize(problem, budget=8, seed=1, progress=False)


def report(front: Front, path: Path) -> str:
    choice = front.knee()
    write_report(front, choice, choice.release(), path)
    assert not plt.get_fignums()
    text = path.read_text(encoding="utf-8")
    assert text.count("<img") == text.count("data:image/png;base64,") == 2
    return re.sub(r"base64,[^']*", "", text)


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
    text = report(solved(problem), tmp_path / "report.html")
    assert "The chosen solution" in text and "Certificate" in text
    assert ("buys much" in text) == ({m.sense for m in measures} == {"min", "max"})


def test_three_objectives_and_a_table_for_people(tmp_path: Path) -> None:
    front = solved(KLSafe(pm.datasets.german_credit()))
    text = report(front, tmp_path / "report.html")
    head = re.search(r"<p>(.*?)</p>", text)
    assert head is not None and head[1].count("<br>") == 1 and "KLSafe by NSGA2" in head[1]
    part = text.split("buys much k</h2>")[1].split("<h2>")[0]
    assert re.findall("<th>(.*?)</th>", part) == ["loss from", "loss to", "k from", "k to"]
    cells = re.findall("<td>(.*?)</td>", part)
    regions = front.flat_regions()
    assert len(cells) == 4 * len(regions) > 0
    assert cells[:4] == [
        f"{regions['loss_from'][0] * 100:.1f} %",
        f"{regions['loss_to'][0] * 100:.1f} %",
        f"{regions['k_from'][0]:,.0f}",
        f"{regions['k_to'][0]:,.0f}",
    ]


def test_labels_of_suppressed_records_are_not_told() -> None:
    tree = pm.Hierarchy.tree({"common": ["baker", "clerk"], "rare": ["spy", "count"]})
    frame = pd.DataFrame({"job": ["baker"] * 5 + ["clerk"] * 4 + ["spy", "count"]})
    table = pm.Table(frame, quasi_identifiers={"job": tree})
    problem = Cuts(table, suppression=BelowThreshold(3))
    for x, told in (([0, 1, 1], "common"), ([0, 1, 0], "common"), ([1, 1, 0], "baker | clerk")):
        solution = Front.of(problem, [x])[0]
        assert f"  job: {told}\n" in solution.explain()
        assert "rare" not in solution.explain() and "spy" not in solution._repr_html_()


def test_rows_with_a_k_of_one_are_not_shown(tmp_path: Path) -> None:
    table = pm.Table(
        pd.DataFrame({"age": [20, 30, 41]}), quasi_identifiers={"age": pm.Hierarchy.ordered()}
    )
    text = report(Front.of(Cuts(table), [[1, 1]]), tmp_path / "report.html")
    assert "Rows are not shown: the released k is 1" in text and "<td>41</td>" not in text


def test_the_demonstration_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    assert demo.main(["--out", str(tmp_path / "file" / "x")]) == 2
    said = capsys.readouterr().err
    assert said == f"privmoo: {tmp_path / 'file' / 'x'}: cannot be written in (Not a directory)\n"
    with pytest.raises(SystemExit) as left:
        demo.main(["--max-loss", "30"])
    assert left.value.code == 2

    def interrupted(_: object) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_job", interrupted)
    capsys.readouterr()
    assert demo.main(["--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err == "\nprivmoo: stopped\n"


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
    assert demo.main(["--out", str(tmp_path), "--generations", "3", "--max-loss", "1"]) == 0
    assert seeds == [None]
    assert {"report.html", "front.png", "front.npz"} < {p.name for p in tmp_path.iterdir()}
