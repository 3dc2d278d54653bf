"""A public report beside a release tells nothing new; a private one does, which is why it is private."""

from __future__ import annotations

import html
import itertools
import json
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import privmoo as pm
from privmoo.cli.commands.demo import demonstrate
from privmoo.explorer import public_curve as curves
from privmoo.explorer.public_page import public_page
from privmoo.hierarchy.canonical import canonical
from privmoo.problem import AnonymizationProblem
from privmoo.problems import BudgetSuppression, Cuts, KLSafe
from privmoo.suppression import BelowThreshold

# Tests release one table many times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

# The attack: sixteen people, two of each age. Everybody's age is known; who has what is not.
AGES = np.repeat(np.arange(30, 38), 2)
ILLS = np.array(list("aaababbbababaabb"))
GROUPS = [slice(i, i + 4) for i in range(0, 16, 4)]
EVERY_CUT = np.array(list(itertools.product([0, 1], repeat=7)))
RELEASED = [0, 1, 0, 1, 0, 1, 0]
SEARCH = {"algorithm": "chance"}


def problem_of(ills: NDArray[np.str_]) -> AnonymizationProblem:
    frame = pd.DataFrame({"age": AGES, "ill": ills})
    hierarchy = pm.Hierarchy.ordered([str(age) for age in range(30, 38)])
    table = pm.Table(frame, quasi_identifiers={"age": hierarchy}, sensitive="ill")
    return Cuts(table, objectives=[pm.KAnonymity(), pm.FrequencyDiversity(), pm.GeneralLoss()])


def fitting_tables() -> NDArray[np.str_]:
    """All tables of these people whose release has the same rows: ills change places within groups."""
    arranged = [sorted(set(itertools.permutations(ILLS[group]))) for group in GROUPS]
    return np.array([[*itertools.chain(*parts)] for parts in itertools.product(*arranged)])


def posterior(tables: NDArray[np.str_]) -> float:
    """The largest probability of a person's illness, if all of these tables are equally likely."""
    return float(max((tables == ill).mean(axis=0).max() for ill in "ab"))


def content(text: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert match is not None
    return json.loads(match[1])


@pytest.mark.parametrize("step", [29, pytest.param(1, marks=pytest.mark.slow)])
def test_the_private_report_breaks_the_release_and_the_public_one_does_not(
    tmp_path: Path, step: int
) -> None:
    """With `step` 1 every table that fits is tried against the public report."""
    problem = problem_of(ILLS)
    front = pm.Front.of(problem, EVERY_CUT)
    pick = next(solution for solution in front if solution.x.tolist() == RELEASED)
    release = pick.release()
    tables = fitting_tables()
    assert len(tables) == 576
    by_counting = posterior(tables)
    assert by_counting == 1 / release.certificate.privacy["sensitive"]["ill"]["l"] == 3 / 4

    front.report(tmp_path / "private.html", pick=pick, release=release)
    fits = consistent(tables, content((tmp_path / "private.html").read_text("utf-8")))
    assert (tables[fits] == ILLS).all(axis=1).any()  # the attack has not excluded the truth
    assert posterior(tables[fits]) == 1 > by_counting

    front.report(tmp_path / "public.html", pick=pick, release=release, public=True)
    text = (tmp_path / "public.html").read_text("utf-8")
    fits = np.array([public_text(ills) == text for ills in tables[::step]])
    assert fits.all()  # so that nothing is excluded, and the posterior is by counting
    assert step > 1 or posterior(tables[fits]) == by_counting


def public_text(ills: NDArray[np.str_]) -> str:
    """The public report, had the table been another one."""
    front = pm.Front.of(problem_of(ills), [RELEASED])
    return public_page(front, front[0], front[0].release())


def consistent(tables: NDArray[np.str_], data: Any) -> NDArray[np.bool_]:
    """Which tables have all the facts that a report tells of all solutions."""
    fits = np.ones(len(tables), dtype=bool)
    for pack in data["cards"]["packs"]:
        names = pack["facts"]
        for words, _, values, _, _, _ in pack["cards"]:
            labels = [pack["labels"][i] for i in pack["lists"][words[0]]]
            told = dict(zip(names, values, strict=True))
            groups = [group for label in labels for group in members(label)]
            fits &= matches(tables, groups, told)
    return fits


def members(label: str) -> list[NDArray[np.bool_]]:
    """Who is in the groups that a label of a report stands for."""
    if label.startswith("as it is"):
        return [age == AGES for age in np.unique(AGES)]
    if label.startswith("*"):
        return [np.ones(len(AGES), dtype=bool)]
    first, *last = map(int, label.split("–"))
    return [(first <= AGES) & ((last or [first])[0] >= AGES)]


def matches(
    tables: NDArray[np.str_], groups: list[NDArray[np.bool_]], told: dict[str, float]
) -> NDArray[np.bool_]:
    sick = np.stack([(tables[:, group] == "a").sum(axis=1) for group in groups])
    sizes = np.array([group.sum() for group in groups])[:, None]
    most = np.maximum(sick, sizes - sick)
    share = (tables == "a").mean(axis=1)
    homogeneous = ((most == sizes) * sizes).sum(axis=0)
    closeness = np.abs(sick / sizes - share).max(axis=0)
    matching: NDArray[np.bool_] = (
        np.isclose((sizes / most).min(axis=0), told["ℓ (frequency)"], rtol=1e-3)
        & np.isclose(closeness, told["t (closeness)"], rtol=1e-3)
        & (homogeneous == told["records open to homogeneity"])
    )
    return matching


# What is on the page can be counted in the rows


@st.composite
def releases(draw: st.DrawFn) -> tuple[pm.Front, pm.Solution]:
    """A random table of people with words that occur nowhere else, and some ways to publish it."""
    n = draw(st.integers(6, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    job = rng.choice([f"job{i}q" for i in range(6)], n)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 32, n),
            "job": job,
            "ill": rng.choice([f"ill{i}q" for i in range(4)], n),
            "town": rng.choice([f"town{i}q" for i in range(3)], n),
        }
    )
    table = pm.Table(
        frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered(), "job": pm.Hierarchy.ordered()},
        sensitive="ill",
        insensitive="town",
    )
    problem = Cuts(table, suppression=BelowThreshold(draw(st.integers(1, 4))))
    chance = draw(st.sampled_from([0.1, 0.4, 0.9]))
    vectors = (rng.random((8, problem.n_var)) < chance).astype(int)
    front = pm.Front.of(
        problem, np.concatenate([vectors, np.zeros((1, problem.n_var), int)]), run=SEARCH
    )
    return front, front[draw(st.integers(0, len(front) - 1))]


@given(releases())
def test_all_of_the_page_can_be_counted_in_the_rows(case: tuple[pm.Front, pm.Solution]) -> None:
    front, pick = case
    release = pick.release()
    text = html.unescape(public_page(front, pick, release))
    rows = release.frame.map(canonical)
    told = dict(re.findall(r'<th scope="row">([^<]*)</th><td>([^<]*)</td>', text))
    groups = [list(group["ill"]) for _, group in rows.groupby(["age", "job"])]
    sizes = [len(group) for group in groups]
    counts = [[group.count(value) for value in set(group)] for group in groups]
    assert told["records"] == f"{len(rows):,}" and told["QI-groups"] == str(len(groups))
    assert told["k (smallest QI-group)"] == str(min(sizes))
    assert told["records in groups below 5"] == str(sum(size for size in sizes if size < 5))
    assert told["records in groups below 10"] == str(sum(size for size in sizes if size < 10))
    diversity = min(sum(count) / max(count) for count in counts)
    assert float(told["ℓ (frequency)"]) == pytest.approx(diversity, rel=1e-3)
    assert told["ℓ (distinct values)"] == str(min(map(len, counts)))
    homogeneous = sum(count[0] for count in counts if len(count) == 1)
    assert told["records in groups with one sensitive value"] == str(homogeneous)
    shares = rows["ill"].value_counts(normalize=True)
    far = max(
        sum(abs(group.count(v) / len(group) - share) for v, share in shares.items()) / 2
        for group in groups
    )
    assert float(told["t (closeness to the released rows)"]) == pytest.approx(far, abs=1e-4)
    bars = re.findall(
        r'<th scope="row">([^<]*)</th><td><meter[^>]*></meter></td><td>([^<]*)</td>', text
    )
    counted = [*rows["age"].value_counts().items(), *rows["job"].value_counts().items()]
    labels = [(str(label), f"{n:,}") for label, n in counted]
    assert sorted(bars[: len(labels)]) == sorted(labels)
    assert sum(int(records.replace(",", "")) for _, records in bars[len(labels) :]) == len(rows)


@given(releases())
def test_no_value_is_named_that_is_in_no_released_row(case: tuple[pm.Front, pm.Solution]) -> None:
    front, pick = case
    release = pick.release()
    text = html.unescape(public_page(front, pick, release))
    rows = release.frame.to_csv(index=False)
    for value in {*pick.table.frame["job"], *pick.table.frame["ill"], *pick.table.frame["town"]}:
        assert value not in text or value in rows
    assert str(len(pick.table)) not in dict(
        re.findall(r'<th scope="row">([^<]*)</th><td>([^<]*)</td>', text)
    ).values() or len(pick.table) == len(release)


def test_a_public_report_is_about_one_solution(tmp_path: Path) -> None:
    front = pm.Front.of(problem_of(ILLS), EVERY_CUT)
    with pytest.raises(pm.errors.ProblemError, match="public: a public report is about one"):
        front.report(tmp_path / "a.html", public=True)
    assert not list(tmp_path.iterdir())


def test_scripts_are_neither_there_nor_allowed() -> None:
    frame = pd.DataFrame({"<b>age": ["<script>x</script>"] * 3, "ill": ["a", "b", "a"]})
    hierarchy = pm.Hierarchy.ordered(["<script>x</script>", "y"])
    table = pm.Table(frame, quasi_identifiers={"<b>age": hierarchy}, sensitive="ill")
    front = pm.Front.of(Cuts(table), [[1]])
    text = public_page(front, front[0], front[0].release())
    assert "<script" not in text and "<b>" not in text and "script-src" not in text
    assert "default-src 'none'" in text


# The curve


def front_of(problem: AnonymizationProblem) -> pm.Front:
    rng = np.random.default_rng(1)
    chances = rng.random((40, 1))
    vectors = (rng.random((40, problem.n_var)) < chances).astype(int)
    return pm.Front.of(
        problem, np.concatenate([vectors, np.zeros((1, problem.n_var), int)]), run=SEARCH
    )


@pytest.fixture
def small_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves of small tables, at every k."""
    monkeypatch.setattr(curves, "LEAST_RECORDS", 0)
    monkeypatch.setattr(curves, "_round_numbers", lambda _: [1, 2, 3, 4, 5, 8, 12])


@pytest.mark.usefixtures("small_curves")
def test_sensitive_values_have_no_say_in_a_curve() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 30, 40), "job": rng.choice(list("xyz"), 40)})
    drawn = set()
    for _ in range(20):
        table = pm.Table(
            frame.assign(ill=rng.choice(list("abc"), 40)),
            quasi_identifiers={"age": pm.Hierarchy.ordered(), "job": pm.Hierarchy.ordered()},
            sensitive="ill",
        )
        front = front_of(BudgetSuppression(table, max_suppression=0.2))
        drawn.add(curves.public_curve(front, front[0], 40))
        for other in (
            front_of(KLSafe(table)),
            front_of(Cuts(table, constraints=[pm.DistinctDiversity() >= 1])),
            front_of(Cuts(table, suppression=pm.ViolatingGroups(pm.DistinctDiversity() >= 2))),
        ):
            assert curves.public_curve(other, other[0], 40) is None
    assert len(drawn) == 1 and None not in drawn


@pytest.mark.usefixtures("small_curves")
def test_a_front_that_was_filtered_by_sensitive_values_has_no_curve(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ages = pd.DataFrame({"age": rng.integers(20, 30, 40)})
    drawn: dict[str, set[curves.PublicCurve | None]] = {"by l": set(), "by k": set()}
    for _ in range(5):
        table = pm.Table(
            ages.assign(ill=rng.choice(list("abc"), 40)),
            quasi_identifiers={"age": pm.Hierarchy.ordered()},
            sensitive="ill",
        )
        problem = Cuts(
            table,
            suppression=BelowThreshold(2),
            extras=[pm.FrequencyDiversity(), pm.SuppressedShare()],
        )
        front = front_of(problem)
        blind = front.where(min_k=2, max_loss=0.9, max_suppression=0.2, max_records_suppressed=8)
        drawn["by k"].add(curves.public_curve(blind, blind[-1], 40))
        filtered = blind.where(min_l=1.2)
        filtered.save(tmp_path / "front.npz", force=True)
        for other in (
            filtered,
            filtered.where(min_k=2),
            filtered.merge(blind),
            pm.Front.load(tmp_path / "front.npz", problem=problem),
            front[1:],
            front.rows(np.flatnonzero(front.column("l") >= 1.2)),
            pm.Front.of(problem, filtered.X),
            blind.merge(pm.Front.of(problem, filtered.X)),
        ):
            drawn["by l"].add(curves.public_curve(other, other[-1], 40))
        filtered.report(tmp_path / "page.html", pick=filtered[-1], public=True, force=True)
        assert "Not drawn here" in (tmp_path / "page.html").read_text("utf-8")
    assert drawn["by l"] == {None}
    assert len(drawn["by k"]) == 1 and None not in drawn["by k"]


def test_a_curve_is_rounded_and_begins_at_five() -> None:
    front = front_of(BudgetSuppression(pm.datasets.adult("dewri"), max_suppression=0.1))
    pick = front.where(min_k=30).best("loss")
    curve = curves.public_curve(front, pick, 30_000)
    assert curve is not None and curve.pick is not None
    assert [k for k, _ in curve.points][:4] == [5, 10, 20, 50]
    for k, loss in curve.points:
        best = front.where(min_k=k).best("loss").loss
        assert abs(loss - best) <= 0.025 + 1e-9 and (loss * 20) == pytest.approx(round(loss * 20))
    assert curve.pick[0] <= pick.k and curve.pick[0] in dict(curve.points)
    assert curves.public_curve(front, pick, 999) is None


# Files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_for_the_publisher_only_its_owner_can_read(tmp_path: Path) -> None:
    front = pm.Front.of(problem_of(ILLS), EVERY_CUT)
    pick = front[-1]
    front.report(tmp_path / "private.html", pick=pick)
    front.save(tmp_path / "front.npz")
    front.report(tmp_path / "public.html", pick=pick, public=True)
    assert mode(tmp_path / "private.html") == mode(tmp_path / "front.npz") == 0o600
    assert mode(tmp_path / "public.html") & 0o600 == 0o600
    assert "For the publisher only" in (tmp_path / "private.html").read_text("utf-8")
    assert "For the publisher only" not in (tmp_path / "public.html").read_text("utf-8")


def test_the_demonstration_says_which_files_may_be_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = pm.datasets.german_credit()
    monkeypatch.setattr(pm.datasets, "adult", lambda _: small)
    files = demonstrate(tmp_path, generations=3, max_loss=0.4, seed=7)
    assert {*files.public, *files.private} == set(tmp_path.iterdir())
    assert {path.name for path in files.private} == {"front.png", "report.html", "front.npz"}
    assert all(mode(path) == 0o600 for path in files.private)
    rows = (tmp_path / "adult-anonymous.csv").read_text("utf-8")
    text = html.unescape((tmp_path / "adult-anonymous.html").read_text("utf-8"))
    for name in small.qi_names:
        for value in {canonical(value) for value in small.frame[name] if isinstance(value, str)}:
            assert value not in text or value in rows
