"""What the explorer is given, what it may be set to, and how large its file becomes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import PrivmooError, ProblemError
from privmoo.explorer import gather, write_report
from privmoo.explorer.cards import card_of, pack_cards, preview_of
from privmoo.explorer.page import module, page_of, style
from privmoo.explorer.widget import Explorer
from privmoo.front.choices import suggested
from privmoo.front.knees import marked_knee
from tests.scenery.browser import crowd
from tests.scenery.clusters import people
from tests.scenery.fronts import FRONT, THREE, toy

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def unpacked(pack: dict[str, Any], i: int) -> dict[str, Any]:
    """What the browser makes of a packed card."""
    words, loss, facts, sizes, after, lost = pack["cards"][i]
    return {
        "words": {
            name: " | ".join(pack["labels"][label] for label in pack["lists"][words[j]])
            for j, name in enumerate(pack["attributes"])
        },
        "loss": dict(zip(pack["attributes"], loss, strict=True)),
        "facts": [list(pair) for pair in zip(pack["facts"], facts, strict=True)],
        "sizes": sizes,
        "next": after,
        "lost": {name: text for name, text in zip(pack["attributes"], lost, strict=True) if text},
    }


def test_cards_survive_packing_and_say_what_solutions_say() -> None:
    cards = [card_of(solution) for solution in THREE]
    pack = json.loads(json.dumps(pack_cards(cards)))
    for i, (card, solution) in enumerate(zip(cards, THREE, strict=True)):
        back = unpacked(pack, i)
        assert (
            back["lost"] == card["lost"] == {n: str(v) for n, v in solution.lost_values().items()}
        )
        assert back["words"] == card["words"] == solution.describe_columns()
        assert back["facts"] == card["facts"] and back["sizes"] == card["sizes"]
        assert back["next"] == card["next"] == str(THREE.next_step(i))
        assert back["loss"] == pytest.approx(solution.loss_per_attribute().to_dict(), rel=1e-3)
        facts = dict(card["facts"])
        assert facts["k (smallest QI-group)"] == solution.k
        assert facts["ℓ (frequency)"] == pytest.approx(solution.l, rel=1e-3)
        assert sum(card["sizes"]) == solution.table.n_records - solution.records_suppressed
        sizes = solution.group_sizes()
        below = sizes["records"][sizes.index < 5].sum()
        assert facts["records in groups below 5 (risk above 20 %)"] == below


def test_cards_of_means_and_of_ranges_have_a_loss_per_attribute() -> None:
    table = people(30, seed=2)
    problem = pm.problems.Clusters(table, n_clusters=5, objectives=[pm.KAnonymity()])
    means = pm.recodings.cluster_recoding(table, np.arange(30) % 3)
    front = pm.Front.of(problem, known=[means])
    card = card_of(front[0])
    assert set(card["words"]) == set(table.qi_names) == set(card["loss"])
    ranges = pm.recodings.range_recoding(table, np.arange(30) % 3)
    card = card_of(replace(front, recodings=(ranges.to_json(),))[0])
    assert set(card["loss"]) == set(table.qi_names)
    assert "range of each class" in card["words"]["age"]
    assert len(preview_of(front[0])["rows"]) == 8


def test_previews_have_no_identifying_columns_and_warn_of_single_records() -> None:
    frame = pd.DataFrame({"name": list("abcdef"), "age": range(6), "town": list("xxyyzz")})
    table = pm.Table(
        frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered()},
        insensitive=["town"],
        identifiers="name",
    )
    front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 1, 0, 1, 0]])
    alone, pairs = (preview_of(solution) for solution in front)
    assert alone["columns"] == pairs["columns"] == ["age", "town"]
    assert "For your eyes only" in alone["note"] and pairs["note"] == ""
    assert pairs["rows"][0] == ["0–1", "x"] and pairs["total"] == 6


def test_data_are_plain_and_complete() -> None:
    data = gather(THREE, pick=THREE[3]).to_json()
    json.dumps(data, allow_nan=False)
    (front,) = data["fronts"]
    assert front["pick"] == 3 and front["knee"] == marked_knee(THREE) and front["cards"]
    assert np.allclose(np.array(front["values"]), THREE.values, rtol=1e-9)
    assert [q["key"] for q in data["quantities"] if q["objective"]] == ["k", "l", "loss"]


def test_infeasible_candidates_are_remembered(tmp_path: Path) -> None:
    problem = pm.problems.Cuts(FRONT.table, constraints=[pm.KAnonymity() >= 8])
    problem.default_population = 20
    front = pm.optimize(problem, budget=4, seed=1, progress=False)
    assert 0 < len(front.infeasible) <= front.run["infeasible"]
    assert front.infeasible[:, 0].max() < 8
    assert gather(front).to_json()["fronts"][0]["infeasible"]
    front.save(tmp_path / "front.npz")
    assert not len(pm.Front.load(tmp_path / "front.npz", problem=problem).infeasible)
    assert len(front[:2].infeasible) == len(front.infeasible)


def test_several_fronts_are_numbered_through() -> None:
    points = pd.DataFrame({"k": [5, 6], "loss": [0.5, 0.6], "other": ["a", "b"]})
    data = gather([FRONT, points, FRONT[:3]])
    assert [shown.name for shown in data.fronts] == ["front 1", "published", "front 2"]
    n = len(FRONT)
    assert data.solution(n + 2) == FRONT[0] and len(data) == n + 5
    with pytest.raises(ProblemError, match="has only its values"):
        data.solution(n)
    with pytest.raises(ProblemError, match="there is no solution"):
        data.solution(n + 5)
    values = data.to_json()["fronts"][1]["values"]
    assert values[0][:2] == [5, 0.5] and set(values[0][2:]) == {None}


@pytest.mark.parametrize(
    ("fronts", "options", "message"),
    [
        ([], {}, "at least one of them not a plain table"),
        ([pd.DataFrame({"k": [1], "loss": [1]})], {}, "at least one of them"),
        ([FRONT] * 7, {}, "takes one to 6 fronts"),
        ([FRONT, 5], {}, "takes fronts or tables of points, got int"),
        ([FRONT, THREE], {}, "must have the same objectives, got k, loss and k, l, loss"),
        ([FRONT, pd.DataFrame({"k": [1], "los": [1]})], {}, "no column 'loss'; did you mean 'los'"),
        ([FRONT, pd.DataFrame({"k": [1], "loss": ["a"]})], {}, "must contain only numbers"),
        ([FRONT, pd.DataFrame({"k": [1], "loss": [None]})], {}, "lacks a finite value"),
        ([FRONT, pd.DataFrame({"k": [], "loss": []})], {}, "one of the fronts has no solutions"),
        (FRONT, {"names": ["a", "b"]}, "expected 1 different names"),
        ([FRONT, FRONT], {"names": ["a", "a"]}, "expected 2 different names"),
        (FRONT, {"pick": toy([1, 2], [0.1, 0.2])[0]}, "pick: the solution is not on the front"),
    ],
)
def test_what_cannot_be_explored(fronts: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(message)):
        gather(fronts, **options)


def test_a_front_without_its_table(tmp_path: Path) -> None:
    front = toy([1, 2, 3, 9], [0.1, 0.2, 0.3, 0.8])
    front.report(tmp_path / "front.html")
    text = (tmp_path / "front.html").read_text(encoding="utf-8")
    assert '"cards":{"packs":[],"places":[null,null,null,null]}' in text
    w = front.explore()
    assert answer(w, {"kind": "card", "id": 1, "request": 1})["problem"].startswith("solution: the")
    with pytest.raises(PrivmooError):
        front.report(tmp_path / "other.html", pick=front[0])


def answer(w: Explorer, message: Any) -> Any:
    sent: list[Any] = []
    w.send = sent.append
    w._handle_custom_msg(message, [])
    return sent[0] if sent else None


def test_the_widget_answers() -> None:
    w = THREE.explore()
    got = answer(w, {"kind": "card", "id": 2, "request": "r1"})
    assert got == {"request": "r1", "answer": card_of(THREE[2])}
    assert answer(w, {"kind": "preview", "id": 2, "request": 2})["answer"] == preview_of(THREE[2])
    for kind, number in (("card", -1), ("card", 10**6), ("card", "1"), ("rows", 1), (None, None)):
        assert answer(w, {"kind": kind, "id": number, "request": 3}).keys() == {
            "request",
            "problem",
        }
    assert answer(w, "nonsense") is None
    state = w.get_state()
    assert "rows" not in json.dumps(state["_data"]) and "words" in state["_data"]["quantities"][0]


def test_the_widget_is_read_and_set() -> None:
    w = pm.explore([FRONT, pd.DataFrame({"k": [5], "loss": [0.5]})])
    n = len(FRONT)
    assert w.focus == suggested(FRONT)
    w.focus = None
    assert w.selected == list(range(n + 1)) and w.shortlist == {}
    with pytest.raises(ProblemError, match="no solution is in focus"):
        w.release()
    seen: list[Any] = []
    w.observe(lambda change: seen.append(change["new"]), "focus")
    w.set_state({"focus": 2, "selected": [0, 2], "shortlist": [[2, "why"], [0, ""]]})  # the browser
    assert seen == [2] and w.selected == [0, 2] and w.shortlist == {2: "why", 0: ""}
    assert w.solution == FRONT[2] and w.release().certificate.privacy["k"] == FRONT[2].k
    w.selected = np.array([3, 1, 1])
    w.shortlist = [1, n]
    assert w.selected == [1, 3] and w.shortlist == {1: "", n: ""}
    assert w.get_state("shortlist") == {"shortlist": [[1, ""], [n, ""]]}
    w.focus, w.selected = FRONT.where(min_k=5)[1], FRONT.where(min_k=5)
    assert FRONT[w.focus] == FRONT.where(min_k=5)[1]  # type: ignore[call-overload]
    assert FRONT[w.selected[0]].k >= 5
    assert len(w.selected) == len(FRONT.where(min_k=5)) < n
    with pytest.raises(ProblemError, match="not on the front"):
        w.focus = toy([1, 2], [0.1, 0.2])[0]
    w.selected = None
    assert len(w.selected) == n + 1
    w.focus = n
    with pytest.raises(ProblemError, match="has only its values"):
        w.release()
    for name, value in {
        "focus": [n + 1, -1, 1.5, True, "1"],
        "selected": [[n + 1], 5, "abc", [None]],
        "shortlist": [{n + 1: "x"}, 5, "abc", ["a"]],
    }.items():
        for wrong in value:
            with pytest.raises(ProblemError, match=f"^{name}: "):
                setattr(w, name, wrong)


def test_a_viewer_without_widgets_gets_a_picture() -> None:
    shown = FRONT.explore()._repr_mimebundle_()
    bundle = shown[0] if isinstance(shown, tuple) else shown
    assert "data:image/png" in bundle["text/html"] and "<table>" in bundle["text/html"]


def test_a_front_survives_nbconvert() -> None:
    nbconvert = pytest.importorskip("nbconvert")
    nbformat = pytest.importorskip("nbformat")
    output = nbformat.v4.new_output(
        "execute_result",
        data={"text/plain": repr(FRONT), "text/html": FRONT._repr_html_()},
        execution_count=1,
    )
    cell = nbformat.v4.new_code_cell("front", outputs=[output], execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    page, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert 'src="data:image/png;base64,' in page and "<table" in page
    assert f"Front of {len(FRONT)} solutions" in page


def test_the_module_is_one_and_needs_nothing() -> None:
    text = module()
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "eval(",
        "http",
        "fetch(",
        "url(",
    ):
        assert forbidden not in text + style() + style("page.css"), forbidden
    assert len(text) < 110_000


def test_the_policy_names_the_very_script_and_style() -> None:
    text = page_of(gather(FRONT))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    assert policy is not None and "unsafe" not in policy[1]
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "style=" not in text.split("<script", 1)[0] and " on" + "click=" not in text


def test_a_thousand_solutions_are_below_two_megabytes(tmp_path: Path) -> None:
    front = crowd(pm.problems.KLSafe(pm.datasets.german_credit()), 1000)
    write_report(front, tmp_path / "front.html")
    assert len(front) == 1000 and (tmp_path / "front.html").stat().st_size < 1_000_000


def test_noised_releases_have_cards_rows_and_a_file(tmp_path: Path) -> None:
    table = pm.testing.example_hybrid_table()
    for strict in (False, True):
        problem = pm.problems.Hybrid(table, patterns=["race", "country"], strict=strict)
        front = pm.optimize(problem, budget=3, seed=1, progress=False)
        card, rows = card_of(front[0]), preview_of(front[0])
        assert set(card["words"]) == set(card["loss"]) == set(table.qi_names)
        assert sum(card["sizes"]) == rows["total"] == 200
        pick = front.best("originality")
        front.report(tmp_path / "front.html", pick=pick, force=True)
        text = (tmp_path / "front.html").read_text(encoding="utf-8")
        assert ("Rows are not shown" in text) != strict
        assert "not ε-differential privacy" in text and table.fingerprint not in text
