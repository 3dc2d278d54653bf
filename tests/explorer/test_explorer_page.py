"""The explorer's page in a real browser: what people do with it, and what it must not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.explorer import write_report
from privmoo.front.advice import remarks
from tests.scenery.browser import (
    ARTEFACTS,
    HOSTILE_NAME,
    SCRIPT,
    Watched,
    axis_spot,
    chromium,
    focus,
    hostile_front,
    needs_browser,
    selected,
    settle,
    spot,
)
from tests.scenery.fronts import toy

pytestmark = [
    needs_browser,
    pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def front() -> pm.Front:
    return hostile_front()


@pytest.fixture(scope="module")
def pick(front: pm.Front) -> pm.Solution:
    return front.where(min_k=5).best("loss")


@pytest.fixture(scope="module")
def file(front: pm.Front, pick: pm.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "front.html"
    front.report(path, pick=pick, release=pick.release(seed=1))
    return path


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    page = Watched(browser)
    yield page
    page.close()


@pytest.fixture
def page(watched: Watched, file: Path) -> Any:
    return watched.open(file)


def test_nothing_is_requested_and_nothing_foreign_runs(watched: Watched, file: Path) -> None:
    page = watched.open(file)
    page.mouse.move(300, 300)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert watched.requests == [file.as_uri()] and not watched.troubles
    ran = page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.foreign = true";
            document.body.append(script);
            document.body.insertAdjacentHTML("beforeend", "<b onclick='window.foreign = true'>x</b>");
            document.body.lastElementChild.click();
            return window.foreign === true;
        }"""
    )
    assert not ran
    reached = page.evaluate('fetch("data:text/plain,x").then(() => "yes", () => "no")')
    assert reached == "no"


def test_hostile_names_are_text(watched: Watched, file: Path, pick: pm.Solution) -> None:
    page = watched.open(file)
    assert page.locator(".pmx-card h3").inner_text() == f"Solution {pick_number(page)}"
    card = page.locator(".pmx-words").inner_text()
    assert HOSTILE_NAME in card
    page.wait_for_selector(".pmx-data")
    assert SCRIPT in page.locator(".pmx-data").inner_text()
    assert HOSTILE_NAME in page.locator(".about").inner_text()
    for number in range(page.evaluate('document.querySelector(".pmx").explorer.state.size')):
        page.evaluate(
            'n => { const e = document.querySelector(".pmx").explorer; e.state.setFocus(n);'
            " e.state.flush(); }",
            number,
        )
    page.wait_for_timeout(300)
    assert page.locator("main img").count() == 0 and not watched.troubles
    assert page.locator("script").count() == 2
    assert "Person" not in page.content()


def pick_number(page: Any) -> int:
    number: int = page.evaluate('document.querySelector(".pmx").explorer.state.data.fronts[0].pick')
    return number


def test_a_brush_selects(page: Any, front: pm.Front) -> None:
    low, high = front.column("loss").min(), front.column("loss").max()
    x, y = axis_spot(page, "loss", low)
    _, end = axis_spot(page, "loss", (low + high) / 2)
    page.mouse.move(x, y + 8)
    page.mouse.down()
    page.mouse.move(x, (y + end) / 2)
    page.mouse.move(x, end)
    page.mouse.up()
    chosen = selected(page)
    bound = page.evaluate(
        'document.querySelector(".pmx").explorer.state.ranges.find((r) => r !== null).max'
    )
    assert bound == pytest.approx((low + high) / 2, rel=0.02)
    assert chosen == np.flatnonzero(front.column("loss") <= bound).tolist() != []
    assert len(chosen) < len(front)
    said = page.locator(".pmx-filters").inner_text()
    assert said.startswith(f"{len(chosen)} of {len(front)} with loss ≤ ")
    assert page.locator('[data-limit="max_loss"]').input_value().endswith(" %")
    rows = page.locator(".pmx-row").count()
    assert rows == len(chosen) or rows > 10
    # The brush can be moved as a whole, and a double click takes it away.
    page.mouse.move(x, end + 10)
    page.mouse.down()
    page.mouse.move(x, end - 20)
    page.mouse.up()
    assert len(selected(page)) > len(chosen)
    page.mouse.dblclick(x, end)
    assert len(selected(page)) == len(front)


def test_limits_as_numbers(page: Any, front: pm.Front) -> None:
    loss, k = page.locator('[data-limit="max_loss"]'), page.locator('[data-limit="min_k"]')
    for typed in ("0.5", "50 %", "50%"):
        loss.fill(typed)
        loss.press("Enter")
        assert selected(page) == np.flatnonzero(front.column("loss") <= 0.5).tolist()
        assert loss.input_value() == "50 %"
    badges = page.locator(".pmx-badges")
    k.fill("500")
    k.press("Tab")
    assert selected(page) == []
    assert "outside the limits" in badges.inner_text()
    k.fill("5")
    k.press("Tab")
    settle(page)
    assert "outside the limits" not in badges.inner_text()
    both = (front.column("loss") <= 0.5) & (front.column("k") >= 5)
    assert selected(page) == np.flatnonzero(both).tolist()
    assert "k ≥ 5 and loss ≤ 50 %" in page.locator(".pmx-filters").inner_text()
    loss.fill("50")  # as the axis is marked
    loss.press("Enter")
    assert loss.get_attribute("aria-invalid") == "false"
    assert selected(page) == np.flatnonzero(both).tolist()
    loss.fill("150")
    loss.press("Enter")
    assert loss.get_attribute("aria-invalid") == "true"
    assert "from 0 % to 100 %" in page.locator(".pmx-said").inner_text()
    loss.fill("much")
    loss.press("Enter")
    assert "not a number" in page.locator(".pmx-said").inner_text()
    assert selected(page) == np.flatnonzero(both).tolist()  # the limit that was there stays
    for typed, said in (("2,5", "write 2.5"), ("%", "not a number"), ("1e9999", "not a number")):
        k.fill(typed)
        k.press("Enter")
        assert said in page.locator(".pmx-said").inner_text()
    k.fill("1,000")
    k.press("Enter")
    assert selected(page) == []
    page.get_by_role("button", name="Clear (Esc)").click()
    assert len(selected(page)) == len(front)
    assert loss.get_attribute("aria-invalid") == "false" and loss.input_value() == ""


def test_a_click_shows_a_card(page: Any, front: pm.Front) -> None:
    number = len(front) // 2
    x, y = spot(page, number)
    page.mouse.move(x, y)
    page.wait_for_selector(".pmx-scatter .pmx-tip:not([hidden])")
    page.mouse.click(x, y)
    here = focus(page)
    assert here is not None
    solution = front[here]
    assert solution.k == front[number].k  # or one that is drawn at the same place
    words = [cell.inner_text() for cell in page.locator(".pmx-words .pmx-sentence").all()]
    assert words == list(solution.describe_columns().values())
    lost = [cell.inner_text().strip() for cell in page.locator(".pmx-words td.pmx-num").all()]
    assert [float(text.removesuffix(" %")) for text in lost] == pytest.approx(
        (solution.loss_per_attribute() * 100).tolist(), rel=0.01
    )
    bars = [cell.inner_text() for cell in page.locator(".pmx-bars td.pmx-num").all()]
    assert sum(int(text.replace(",", "")) for text in bars) == len(solution.release())
    assert "rows of the pick only" in page.locator(".pmx-preview").inner_text()
    assert page.locator(".pmx-next").inner_text() == f"From here: {front.next_step(here)}"
    said = [line.inner_text() for line in page.locator(".pmx-advice p").all()]
    assert said == [f"{title}: {text}" for title, text in remarks(front, calls=False)]


def test_sorting(page: Any, front: pm.Front) -> None:
    button = page.locator('.pmx-sort[data-column="loss"]')
    column = page.locator("thead th", has=button)
    first = page.locator(".pmx-row").first
    for state, number in (
        ("ascending", front.column("loss").argmin()),
        ("descending", front.column("loss").argmax()),
    ):
        button.click()
        settle(page)
        assert column.get_attribute("aria-sort") == state
        assert float(front.column("loss")[int(first.get_attribute("data-id"))]) == pytest.approx(
            front.column("loss")[number]
        )
    first.click()
    assert focus(page) == int(first.get_attribute("data-id"))
    assert first.get_attribute("aria-current") == "true"


def test_shortlist_and_comparison(page: Any, front: pm.Front) -> None:
    rows = page.locator(".pmx-row")
    ids = [int(rows.nth(i).get_attribute("data-id")) for i in (0, 3)]
    for number in ids:
        page.locator(f'.pmx-row[data-id="{number}"] .pmx-pin').click()
        settle(page)  # the rows are drawn anew
    assert page.locator(".pmx-list li").count() == 2
    comment = page.get_by_label(f"comment on Solution {ids[1]}")
    comment.fill(f"{SCRIPT} good")
    comment.press("Enter")
    page.get_by_role("button", name="As text").click()
    text = page.get_by_label("Shortlist as text").input_value()
    assert text.splitlines()[1].startswith(f"Solution {ids[1]}: k = ") and SCRIPT in text
    for number in ids:
        page.get_by_label(f"compare Solution {number}").check()
    page.wait_for_selector(".pmx-compare")
    table = {
        row.locator("th").inner_text(): [cell.inner_text() for cell in row.locator("td").all()]
        for row in page.locator(".pmx-compare tbody tr").all()
    }
    one, other = (front[number] for number in ids)
    told = [solution.describe_columns() for solution in (one, other)]
    for name in told[0]:
        first, second, change = table[name]
        assert [first, second] == [told[0][name], told[1][name]]
        assert change.startswith("same" if first == second else "≠ changed")
    better = "✓ better" if other.loss < one.loss else "✗ worse" if other.loss > one.loss else "same"
    assert table["loss"][2].startswith(better)
    page.get_by_role("button", name=f"unpin Solution {ids[0]}").first.click()
    settle(page)
    assert page.locator(".pmx-list li").count() == 1


def test_keyboard(page: Any, front: pm.Front) -> None:
    page.locator(".pmx").focus()
    order = np.lexsort([np.arange(len(front)), front.column("k")]).tolist()
    start = order.index(focus(page))
    page.keyboard.press("ArrowRight")
    assert focus(page) == order[start + 1]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert focus(page) == order[max(start - 1, 0)]
    assert f"Solution {focus(page)}" in page.locator(".pmx-live").inner_text()
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    here = focus(page)
    assert page.locator(".pmx-list li").count() == 1
    page.locator('[data-limit="max_loss"]').fill("0.5")
    page.keyboard.press("Enter")
    page.keyboard.type("a")  # in a field, letters are letters
    assert page.locator(".pmx-list li").count() == 1
    page.keyboard.press("Escape")
    page.locator(".pmx").focus()
    assert focus(page) == here
    page.keyboard.press("Escape")
    assert len(selected(page)) == len(front)


def test_everything_has_a_name(page: Any) -> None:
    nameless = page.evaluate(
        """() => [...document.querySelectorAll(".pmx button, .pmx input, .pmx select, .pmx [tabindex='0']")]
            .filter((n) => !(n.ariaLabel || n.textContent.trim() || n.labels?.length))
            .map((n) => n.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [900, 1600])
def test_readable_in_both_widths_and_themes(
    browser: Any, file: Path, width: int, theme: str, front: pm.Front
) -> None:
    watched = Watched(browser, viewport={"width": width, "height": 1000}, color_scheme=theme)
    page = watched.open(file)
    for number in (2, 9):
        page.evaluate(
            'n => { const { state } = document.querySelector(".pmx").explorer;'
            " state.pin(n, 'a comment'); state.compare(n); }",
            number,
        )
    page.wait_for_selector(".pmx-compare")
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"explorer-{width}-{theme}.png", full_page=True)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width and not watched.troubles
    contrasts = page.evaluate(
        """() => {
            const style = getComputedStyle(document.querySelector(".pmx"));
            const light = (name) => {
                const hex = style.getPropertyValue(`--pmx-${name}`).trim().slice(1);
                return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
                    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            };
            const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            return ["ink", "soft", "accent", "mark", "pick"].map((n) => ratio(light(n), light("panel")));
        }"""
    )
    assert min(contrasts) >= 4.5  # WCAG AA for text
    watched.close()


def test_several_fronts(browser: Any, front: pm.Front, tmp_path: Path) -> None:
    half = front.rows(np.arange(0, len(front), 2))
    worse = half.to_frame()[["k", "l", "loss"]].iloc[::3].assign(loss=lambda f: f["loss"] + 0.01)
    points = pd.concat([worse, pd.DataFrame({"k": [999.0], "l": [9.0], "loss": [0.0]})])
    write_report([front, half, points], tmp_path / "all.html", names=["whole", "half", "published"])
    watched = Watched(browser)
    page = watched.open(tmp_path / "all.html")
    toggles = page.locator(".pmx-front")
    assert toggles.count() == 3
    n = len(front)
    assert f"{n} points, {n} dominated by published" in toggles.nth(0).inner_text()
    last = toggles.nth(2).inner_text()
    assert f"{len(worse)} dominated by whole, {len(worse)} dominated by half" in last
    # Without the point that beats all, nothing is better than the whole front.
    toggles.nth(2).locator("input").uncheck()
    settle(page)
    assert f"{n} points, none dominated" in toggles.nth(0).inner_text()
    assert len(selected(page)) == n + len(half)
    toggles.nth(2).locator("input").check()
    page.evaluate('n => document.querySelector(".pmx").explorer.state.setFocus(n)', n + len(half))
    page.wait_for_selector("text=Of this point only its values are known")
    said = page.locator(".pmx-rivals").inner_text()
    assert "Dominated by " in said and "whole " in said
    page.locator(".pmx-rivals .pmx-link").first.click()
    settle(page)
    assert "It dominates " in page.locator(".pmx-rivals").inner_text()
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "explorer-several.png")
    assert not watched.troubles
    watched.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_families_are_coloured_named_and_filtered(browser: Any, theme: str, tmp_path: Path) -> None:
    mixed = pm.trade_off(pm.testing.example_table(), budget=4, seed=3, progress=False)
    assert mixed.families is not None
    mixed.report(tmp_path / "mixed.html")
    watched = Watched(browser, color_scheme=theme)
    page = watched.open(tmp_path / "mixed.html")
    names = [name for name in ("levels", "cuts", "regions") if name in mixed.families]
    keys = page.locator(".pmx-families .pmx-front")
    assert [key.split()[0] for key in keys.all_inner_texts()] == names
    assert f"{mixed.families.count(names[0])} solution" in keys.nth(0).inner_text()
    assert page.locator('[aria-label="colour by"]').input_value() == "family"
    colours = page.evaluate(
        """() => {
            const { state, scatter } = document.querySelector(".pmx").explorer;
            return Array.from({ length: state.size }, (_, i) =>
                [state.family(i), scatter.palette.of(i), state.shape(i)].join());
        }"""
    )
    assert [text.split(",")[0] for text in colours] == list(mixed.families)
    assert len(set(colours)) == len(names) == len({text.split(",")[1] for text in colours})
    keys.nth(0).locator("input").uncheck()
    settle(page)
    assert selected(page) == [i for i, name in enumerate(mixed.families) if name != names[0]]
    said = page.locator(".pmx-filters").inner_text()
    assert f"with family {' or '.join(names[1:])}" in said
    place = mixed.families.index(names[-1])
    page.evaluate('n => document.querySelector(".pmx").explorer.state.setFocus(n)', place)
    settle(page)
    assert f"family: {names[-1]}" in page.locator(".pmx-badges").inner_text()
    page.locator('[data-column="family"]').click()
    assert names[1] in page.locator(".pmx-row").first.inner_text()
    page.locator(".pmx-head > .pmx-button").click()
    settle(page)
    assert len(selected(page)) == len(mixed) and keys.nth(0).locator("input").is_checked()
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"explorer-families-{theme}.png")
    assert not watched.troubles
    watched.close()


def test_a_front_of_one_family_shows_none(page: Any) -> None:
    assert page.locator(".pmx-families .pmx-front").count() == 0
    assert page.locator('[data-column="family"]').count() == 0
    assert page.locator(".pmx-badge", has_text="family").count() == 0


def test_a_brush_is_as_fine_as_the_axis(watched: Watched, tmp_path: Path) -> None:
    narrow = toy([20_001.0 + i for i in range(9)], [0.9999 + i * 1e-5 for i in range(9)])
    narrow.report(tmp_path / "narrow.html")
    page = watched.page
    page.goto((tmp_path / "narrow.html").as_uri())
    page.wait_for_selector(".pmx-parallel")
    settle(page)
    top, bottom = axis_spot(page, "k", 20_006), axis_spot(page, "k", 20_004)
    page.mouse.move(top[0], top[1] - 3)
    page.mouse.down()
    page.mouse.move(bottom[0], bottom[1] + 3, steps=4)
    page.mouse.up()
    assert selected(page) == [3, 4, 5]
