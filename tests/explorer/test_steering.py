"""Steering in the explorer: boxes, axes, explorations as files, and searching on, in a real browser."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.errors import FileError, ProblemError
from privmoo.explorer.page import module, style
from tests.scenery.browser import (
    ARTEFACTS,
    IN_COLOURS_OF_THE_THEME,
    Watched,
    chromium,
    focus,
    hostile_front,
    needs_browser,
    selected,
    settle,
    spot,
)

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
STATE = 'document.querySelector(".pmx").explorer.state'
AXES = f"{STATE}.shownColumns.map((j) => {STATE}.quantities[j].key)"
WIDTHS = (900, 1280, 1600)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def front() -> pm.Front:
    return hostile_front()


@pytest.fixture(scope="module")
def file(front: pm.Front, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "front.html"
    front.report(path)
    return path


@pytest.fixture(scope="module")
def notebook_file(front: pm.Front, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "notebook.html"
    path.write_text(notebook(front.explore()), "utf-8")
    return path


@pytest.fixture(params=["light", "dark"])
def watched(browser: Any, request: pytest.FixtureRequest) -> Iterator[Watched]:
    page = Watched(browser, color_scheme=request.param, accept_downloads=True)
    page.scheme = request.param  # type: ignore[attr-defined]
    yield page
    assert not page.troubles
    page.close()


@pytest.fixture
def page(watched: Watched, file: Path) -> Any:
    return watched.open(file)


def drag(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def wait_until(page: Any, condition: str) -> None:
    """Wait for a condition; the page's policy forbids the polling of `wait_for_function`."""
    deadline = time.monotonic() + 60
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(20)


@needs_browser
def test_a_box_selects_what_lies_in_it(page: Any, front: pm.Front) -> None:
    spots = {number: spot(page, number) for number in range(len(front))}
    middle = sorted(spots, key=lambda number: spots[number][0])[len(front) // 2]
    x, y = spots[middle]
    corner, other = (x - 40.5, y - 30.5), (x + 40.5, y + 30.5)
    drag(page, corner, other)
    inside = [
        number
        for number, (px, py) in spots.items()
        if corner[0] <= px <= other[0] and corner[1] <= py <= other[1]
    ]
    near = [
        number
        for number, (px, py) in spots.items()
        if min(abs(px - c) for c in (corner[0], other[0])) < 1.5
        or min(abs(py - c) for c in (corner[1], other[1])) < 1.5
    ]
    chosen = selected(page)
    assert middle in chosen and len(chosen) < len(front)
    assert set(chosen) ^ set(inside) <= set(near)  # limits are as fine as a pixel
    page.mouse.dblclick(x + 3, y + 3)
    assert len(selected(page)) == len(front)


@needs_browser
def test_a_click_still_focuses(page: Any, front: pm.Front) -> None:
    x, y = spot(page, len(front) - 1)
    page.mouse.click(x, y)
    number = focus(page)
    assert number is not None and spot(page, number) == pytest.approx((x, y), abs=4)
    assert len(selected(page)) == len(front)


@needs_browser
def test_axes_are_moved_and_hidden(page: Any, watched: Watched) -> None:
    before = page.evaluate(AXES)
    page.click(f'[data-axis="right_{before[0]}"]')
    settle(page)
    after = page.evaluate(AXES)
    assert after == [before[1], before[0], *before[2:]]
    # The limits stand below their axes.
    below = page.eval_on_selector_all(
        ".pmx-limit input[data-limit^=min]", "nodes => nodes.map((n) => n.dataset.limit)"
    )
    assert below == [f"min_{key}" for key in after]
    page.fill(f'[data-limit="min_{after[0]}"]', "1")
    page.keyboard.press("Enter")
    page.click(f'[data-axis="hide_{after[0]}"]')
    settle(page)
    assert page.evaluate(AXES) == after[1:]
    assert page.evaluate(f"{STATE}.filtered") is False  # no limit that nobody sees
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"explorer-axes-{watched.scheme}.png")  # type: ignore[attr-defined]
    page.click(f'[data-show="{after[0]}"]')
    settle(page)
    assert page.evaluate(AXES) == after
    page.click(f'[data-axis="left_{after[0]}"]')  # the first one cannot go further
    settle(page)
    assert page.evaluate(AXES) == after


@needs_browser
def test_an_exploration_is_saved_and_opened(
    page: Any, watched: Watched, file: Path, front: pm.Front, tmp_path: Path
) -> None:
    key = front.objectives[0].key
    page.fill(f'[data-limit="min_{key}"]', "3")
    page.keyboard.press("Enter")
    page.evaluate(f"{STATE}.pin(2, 'for <b>Ann</b>')")
    page.click(f'[data-axis="right_{key}"]')
    settle(page)
    with page.expect_download() as download:
        page.click('button[title^="save limits"]')
    saved = tmp_path / "exploration.json"
    download.value.save_as(saved)
    before = json.loads(saved.read_text("utf-8"))
    assert before["limits"] == {key: [3, None]} and before["shortlist"] == [
        [0, int(front.numbers[2]), "for <b>Ann</b>"]
    ]
    again = watched.open(file)
    assert again.evaluate(f"{STATE}.filtered") is False
    again.set_input_files('input[aria-label="exploration to open"]', str(saved))
    wait_until(again, f"{STATE}.filtered")
    settle(again)
    assert again.evaluate(f"{STATE}.exploration") == before
    assert again.input_value(f'[data-limit="min_{key}"]') == "3"
    assert again.input_value(".pmx-list input[type=text]") == "for <b>Ann</b>"
    (tmp_path / "other.json").write_text("{}", "utf-8")
    again.set_input_files('input[aria-label="exploration to open"]', str(tmp_path / "other.json"))
    again.wait_for_selector("text=this file is not an exploration")
    within = tmp_path / "with.html"
    front.report(within, exploration=saved)
    assert watched.open(within).evaluate(f"{STATE}.exploration") == before


DRAWN = """() => {
    // Every text that a canvas is given, with its corners in pixels of the canvas.
    const { parallel, scatter, state } = document.querySelector(".pmx").explorer;
    const cut = [], parts = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { width } = this.measureText(text);
        const left = x - ({ center: 0.5, right: 1 }[this.textAlign] ?? 0) * width;
        const place = this.getTransform();
        const ratio = window.devicePixelRatio || 1;
        for (const [px, py] of [[left, y - 8], [left + width, y - 8], [left, y], [left + width, y]]) {
            const corner = place.transformPoint(new DOMPoint(px, py));
            const [cx, cy] = [corner.x / ratio, corner.y / ratio];
            const { clientWidth, clientHeight } = this.canvas;
            if (cx < -1 || cy < -1 || cx > clientWidth + 1 || cy > clientHeight + 1) cut.push(text);
        }
        if (text.includes("…")) cut.push(text);
        parts.push([text, this.textAlign, width]);
        return write.call(this, text, x, y);
    };
    const shown = (draw) => { parts.length = 0; draw(); return parts.map(([text]) => text); };
    const titles = [];
    const words = shown(() => { parallel.draw(true); parallel.drawTop(); });
    const gap = parallel.width / parallel.axes.length;
    for (const [text, align, width] of parts) if (align === "center" && width > gap) cut.push(text);
    const flat = words.join("").replace(/[- ]/g, "");
    for (const j of parallel.axes) {
        const q = state.quantities[j];
        const title = (q.percent ? `${q.words} (%)` : q.words).replace(/[- ]/g, "");
        if (!flat.includes(title)) cut.push(title);
    }
    for (const j of state.quantities.keys()) {
        Object.assign(state.axes, { x: j, y: state.quantities.length - 1 - j });
        shown(() => { scatter.draw(); scatter.drawTop(); });
    }
    CanvasRenderingContext2D.prototype.fillText = write;
    return cut;
}"""
WRITTEN = """() => {
    // Elements that hide a part of their text, and selects and fields that are too narrow for it.
    const cut = [];
    const pen = document.createElement("canvas").getContext("2d");
    const width = (node, text) => {
        pen.font = getComputedStyle(node).font;
        return pen.measureText(text).width;
    };
    for (const node of document.querySelectorAll(".pmx *")) {
        const style = getComputedStyle(node);
        if (!node.clientWidth || node.closest(".pmx-live, .pmx-plot, .pmx-bar")) continue;
        const { clientWidth, scrollWidth } = node;
        if (style.overflowX === "hidden" && scrollWidth > clientWidth + 1) cut.push(node.textContent);
        const room = clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        const texts = node.tagName === "SELECT" ? [...node.options].map((option) => option.text) : [];
        for (const text of texts) if (width(node, text) > room - 14) cut.push(text);
        const hint = node.matches("input[type=text]") ? node.placeholder : "";
        if (width(node, hint) > room) cut.push(hint);
        // Nothing sticks out of the panel that it is in, unless that scrolls.
        const panel = node.closest(".pmx-panel, .pmx-head");
        if (panel && !node.closest(".pmx-scroll, .pmx-rows, .pmx-sentence")) {
            const [inner, outer] = [node.getBoundingClientRect(), panel.getBoundingClientRect()];
            const out = inner.right > outer.right + 1 || inner.left < outer.left - 1;
            if (out) cut.push(`${node.className}: ${node.textContent}`);
        }
    }
    const rows = document.querySelector(".pmx-rows");
    if (rows.scrollWidth > rows.clientWidth + 1) cut.push("the table of solutions");
    return [...new Set(cut)];
}"""


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_is_cut(browser: Any, file: Path, notebook_file: Path, width: int) -> None:
    for scheme in ("light", "dark"):
        for path in (file, notebook_file):
            view = {"width": width, "height": 1000}
            watched = Watched(browser, viewport=view, color_scheme=scheme)
            page = watched.page
            page.goto(path.as_uri())
            page.wait_for_selector(".pmx-card .pmx-figures")
            page.evaluate(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
            )
            page.evaluate(f"{STATE}.pin(1, 'for Ann'); {STATE}.compare(1); {STATE}.flush()")
            assert page.evaluate(WRITTEN) == []
            assert page.evaluate(DRAWN) == []
            ARTEFACTS.mkdir(exist_ok=True)
            name = f"explorer-{path.stem}-{width}-{scheme}.png"
            page.screenshot(path=ARTEFACTS / name, full_page=True)
            watched.close()


@needs_browser
def test_a_theme_that_changes_while_hidden_is_drawn_in_full_width(page: Any) -> None:
    page.evaluate(
        """() => {
            const root = document.querySelector("#explorer");
            root.style.display = "none";
            document.body.dataset.jpThemeLight = "false";
        }"""
    )
    page.wait_for_timeout(100)
    page.evaluate('document.querySelector("#explorer").style.display = ""')
    page.wait_for_timeout(300)
    settle(page)
    for name in ("scatter.box", "parallel.plot"):
        widths = page.evaluate(
            f"""() => {{
                const box = document.querySelector(".pmx").explorer.{name};
                return [box.clientWidth, box.querySelector("canvas").clientWidth];
            }}"""
        )
        assert widths[0] == widths[1] > 300
    assert page.evaluate(IN_COLOURS_OF_THE_THEME)


@needs_browser
def test_a_plot_that_is_hidden_for_less_than_a_frame_is_drawn(page: Any) -> None:
    # As in JupyterLab, which has no size for a moment while it loads another theme. No size is reported.
    page.evaluate(
        """() => {
            const { state, scatter, parallel } = document.querySelector(".pmx").explorer;
            for (const box of [scatter.box, parallel.plot]) {
                Object.defineProperty(box, "clientWidth", { value: 0, configurable: true });
            }
            document.body.dataset.jpThemeLight = "false";
            const shown = () => {
                state.listeners.pop();
                for (const box of [scatter.box, parallel.plot]) delete box.clientWidth;
            };
            state.listen((names) => { if (names.has("theme")) shown(); });
        }"""
    )
    wait_until(page, f"({IN_COLOURS_OF_THE_THEME})()")
    dark = "document.querySelector('.pmx').explorer.scatter.theme.dark"
    assert page.evaluate(dark)


HOST = """
const listeners = {};
const model = {
  state: %s,
  get(name) { return this.state[name]; },
  set(name, value) { this.state[name] = value; },
  save_changes() {},
  on(name, f) { (listeners[name] ??= []).push(f); },
  off(name, f) { listeners[name] = (listeners[name] ?? []).filter((g) => g !== f); },
  send(message) { asked.push(message); },
};
const asked = [];
const tell = (name, ...more) => [...(listeners[name] ?? [])].forEach((f) => f(...more));
window.test = { model, asked, tell, update(state) {
  Object.assign(model.state, state);
  for (const name of Object.keys(state)) tell(`change:${name}`);
} };
render({ model, el: document.getElementById("explorer") });
"""


def notebook(widget: Any) -> str:
    """A page that stands for a notebook: Python's side is played by the test."""
    names = ("_data", "focus", "selected", "exploration", "_undo", "_searching")
    state = {name: getattr(widget, name) for name in names}
    state["shortlist"] = [[n, c] for n, c in widget.shortlist.items()]
    script = module().partition("export default")[0]
    return (
        f"<!doctype html><meta charset=utf-8><style>{style()}</style><div id=explorer></div>"
        f"<script type=module>{script}\n{HOST % json.dumps(state)}</script>"
    )


def told(widget: Any) -> dict[str, Any]:
    return {
        "_data": widget._data,
        "_undo": widget._undo,
        "_searching": widget._searching,
        "focus": widget.focus,
        "shortlist": [[n, c] for n, c in widget.shortlist.items()],
    }


@needs_browser
def test_searching_here_and_undo(watched: Watched) -> None:
    front = small_front()
    widget = front.explore()
    widget.focus, widget.shortlist = 0, {1: "good"}
    page = watched.page
    page.set_content(notebook(widget))
    page.wait_for_selector(".pmx [data-refining=search]")
    assert page.is_hidden("[data-refining=undo]")
    page.fill('[data-limit="min_k"]', "1")
    page.keyboard.press("Enter")
    page.fill('[aria-label="seconds to search"]', "2")
    page.click("[data-refining=search]")
    message = asked(page, "refine")
    assert message["id"] == 0 and message["seconds"] == 2
    page.evaluate('test.tell("msg:custom", { progress: 0.5, text: "generation 7, 9 solutions" })')
    assert page.inner_text("[data-refining=said]") == "generation 7, 9 solutions"
    assert page.evaluate('document.querySelector("progress").value') == 0.5
    assert page.is_disabled("[data-refining=search]")
    shoot(page, watched, "search")
    page.click("[data-refining=stop]")
    asked(page, "stop")
    assert page.is_disabled("[data-refining=stop]")
    assert page.inner_text("[data-refining=said]") == "stopping after this generation …"
    widget.refine(budget=5, seed=1)
    page.evaluate("(state) => test.update(state)", told(widget))
    answer(page, message)
    wait_until(page, f"{STATE}.size === {len(widget._fronts)}")
    assert len(widget._fronts) > len(front)
    new = widget._fronts.fronts[0].fresh
    assert page.evaluate(f"[...{STATE}.fresh.keys()]") == [solution.place for solution in new]
    page.evaluate(f"{STATE}.setFocus({new[0].place})")
    page.evaluate(f"{STATE}.flush()")
    assert new[0].says in page.inner_text(".pmx-rivals")
    assert "ringed: new" in page.inner_text(".pmx-legend")
    assert page.is_hidden("[data-refining=stop]")
    shoot(page, watched, "found")
    assert page.evaluate(f"[...{STATE}.shortlist.values()]") == ["good"]
    assert page.evaluate(f"{STATE}.limitsInWords()") == ["k ≥ 1"]  # they stay
    assert page.locator("text=found by the last search").count() <= 1
    page.click("[data-refining=undo]")
    assert [m["kind"] for m in page.evaluate("test.asked")][-1] == "undo"
    widget.undo()
    page.evaluate("(state) => test.update(state)", told(widget))
    wait_until(page, f"{STATE}.size === {len(front)}")
    assert page.is_hidden("[data-refining=undo]")


def asked(page: Any, kind: str) -> dict[str, Any]:
    """The last message of a kind that the browser sent to Python."""
    messages = [m for m in page.evaluate("test.asked") if m["kind"] == kind]
    last: dict[str, Any] = messages[-1]
    return last


def answer(page: Any, message: dict[str, Any], **content: Any) -> None:
    page.evaluate(
        "(m) => test.tell('msg:custom', m)",
        {"request": message["request"], "answer": {}, **content},
    )


def shoot(page: Any, watched: Watched, what: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    scheme = watched.scheme  # type: ignore[attr-defined]
    page.screenshot(path=ARTEFACTS / f"explorer-{what}-{scheme}.png", full_page=True)


@needs_browser
def test_weights_rank_the_front_anew(watched: Watched) -> None:
    widget = weighted_front().explore()
    widget.shortlist = {1: "good"}
    n = len(widget._fronts)
    page = watched.page
    page.set_content(notebook(widget))
    page.click(".pmx-weights summary")
    assert page.input_value('[data-weight="age"]') == "1"
    page.fill('[data-weight="age"]', "much")
    page.keyboard.press("Enter")
    assert "weight of age: a number of at least 0" in page.inner_text(".pmx-weights")
    assert page.get_attribute('[data-weight="age"]', "aria-invalid") == "true"
    page.fill('[data-weight="age"]', "6")
    page.keyboard.press("Tab")
    message = asked(page, "weigh")
    assert message["weights"] == {"age": 6, "sex": 1}
    widget.weigh(message["weights"])
    page.evaluate("(state) => test.update(state)", told(widget))
    wait_until(page, f"{STATE}.size === {len(widget._fronts)}")
    assert len(widget._fronts) < n
    # The view is another one, and nobody has lost the place in it.
    assert page.get_attribute(".pmx-weights", "open") is not None
    assert page.input_value('[data-weight="age"]') == "6"
    assert page.evaluate("document.activeElement.dataset.weight") == "sex"
    assert "By these weights, " in page.inner_text(".pmx-note")
    loss = page.evaluate(
        f"[...{STATE}.columns[{STATE}.quantities.findIndex((q) => q.key === 'loss')]]"
    )
    front = widget._fronts.fronts[0].front
    assert front is not None and loss == pytest.approx(front.column("loss").tolist())
    shoot(page, watched, "weights")
    page.click("[data-weighing=search]")
    message = asked(page, "refine")
    assert message["id"] is None and page.is_disabled('[data-weight="age"]')
    answer(page, message, problem="no time")
    assert page.inner_text("[data-refining=said]") == "no time"
    assert page.is_enabled('[data-weight="age"]')
    page.click("[data-refining=undo]")
    widget.undo()
    page.evaluate("(state) => test.update(state)", told(widget))
    wait_until(page, f"{STATE}.size === {n}")
    assert page.input_value('[data-weight="age"]') == "1"


def weighted_front() -> pm.Front:
    """A front some of whose solutions are worse than others if age counts more."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"age": rng.integers(20, 40, 90), "sex": rng.choice(["f", "m"], 90)})
    qis = {"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()}
    problem = pm.problems.Cuts(pm.Table(people, quasi_identifiers=qis))
    return pm.optimize(problem, budget=30, seed=1, progress=False)


def test_weights_in_python() -> None:
    front = weighted_front()
    widget = front.explore()
    solution = front[len(front) // 2]
    widget.focus = solution
    widget.weigh({"age": 6})
    assert len(widget._fronts) < len(front) and widget._undo == 1
    assert widget.solution.number == solution.number or widget.focus == widget._fronts.start
    weighted = widget._fronts.fronts[0].front
    assert weighted == front.with_weights({"age": 6})
    widget.weigh({"age": 5})  # from the first weights, not from the last ones
    assert widget._fronts.fronts[0].front == front.with_weights({"age": 5}) and widget._undo == 1
    widget.weigh({})
    assert len(widget._fronts) == len(front) and widget._data["note"] == ""
    widget.weigh({"age": 6})
    refined = widget.refine({}, budget=3, seed=1)
    assert refined.table is not None and refined.table.qis[0].weight == 6 and widget._undo == 2
    assert widget.release().certificate.privacy["k"] == widget.solution.k
    widget.undo()
    widget.undo()
    assert widget._fronts.fronts[0].front is front and widget._undo == 0


def test_published_points_cannot_be_weighed() -> None:
    front = weighted_front()
    widget = pm.explore([front, pd.DataFrame({"k": [2], "loss": [0.5]})], names=["ours", "theirs"])
    assert widget._data["weights"] == []
    with pytest.raises(ProblemError, match="all fronts must have their problem"):
        widget.weigh({"age": 2})


def small_front() -> pm.Front:
    """Two ends of a front, between which a search finds more."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"age": rng.integers(20, 60, 90), "sex": rng.choice(["f", "m"], 90)})
    qis = {"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()}
    problem = pm.problems.Cuts(pm.Table(people, quasi_identifiers=qis))
    problem.default_population = 20
    ends = np.array([[1] * problem.n_var, [0] * problem.n_var])
    return pm.Front.of(problem, ends)


def test_python_searches_on_and_takes_it_back() -> None:
    front = small_front()
    widget = front.explore()
    chosen = front[0]
    widget.focus, widget.shortlist = chosen, {chosen.number: "mine"}
    messages: list[Any] = []
    widget.send = messages.append
    refined = widget.refine({"k": 3}, budget=5, seed=1)
    assert [m["progress"] for m in messages][-1] == 1.0
    assert len(refined) >= len(front) and widget._undo == 1
    assert widget.solution.values == chosen.values
    assert [widget._fronts.solution(n).values for n in widget.shortlist] == [chosen.values]
    old = {tuple(row) for row in front.values.tolist()}
    fresh = widget._fronts.fronts[0].fresh
    assert fresh and all(tuple(refined.values[new.place].tolist()) not in old for new in fresh)
    for new in fresh:
        assert new.earlier.tolist() in front.values[:, : front.n_objectives].tolist()
    widget.undo()
    assert widget._fronts.fronts[0].front is front and widget._undo == 0
    assert dict(widget.shortlist) == {chosen.number: "mine"}
    with pytest.raises(ProblemError, match="nothing to take back"):
        widget.undo()


def test_the_browser_asks_python_to_search() -> None:
    widget = small_front().explore()
    answers: list[Any] = []
    widget.send = answers.append
    widget._on_request(widget, {"kind": "refine", "id": 0, "seconds": 0.2, "request": "a"}, [])
    until(lambda: not widget._searching)
    assert answers[-1] == {"request": "a", "answer": {}} and widget._undo == 1
    widget._on_request(widget, {"kind": "undo", "id": None, "request": "b"}, [])
    assert answers[-1] == {"request": "b", "answer": {}} and widget._undo == 0
    widget._on_request(widget, {"kind": "undo", "id": None, "request": "c"}, [])
    assert "nothing to take back" in answers[-1]["problem"]


def test_the_browser_stops_a_search() -> None:
    widget = small_front().explore()
    answers: list[Any] = []
    widget.send = answers.append
    widget._on_request(widget, {"kind": "refine", "id": 0, "seconds": 3000, "request": "a"}, [])
    until(lambda: any("progress" in message for message in answers))
    assert widget._searching
    for kind, request in (("undo", "b"), ("weigh", "c"), ("refine", "d")):
        widget._on_request(widget, {"kind": kind, "id": 0, "request": request}, [])
        until(lambda r=request: any(m.get("request") == r for m in answers))
        assert "a search is under way" in answers_to(answers, request)["problem"]
    assert widget._searching and widget._undo == 0
    widget._on_request(widget, {"kind": "stop", "request": "e"}, [])
    until(lambda: not widget._searching)
    assert answers_to(answers, "a") == {"request": "a", "answer": {}}
    assert widget._undo == 1 and len(widget._fronts) > 2


def until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def answers_to(answers: list[Any], request: str) -> Any:
    return next(message for message in answers if message.get("request") == request)


def test_explorations_are_files(tmp_path: Path) -> None:
    front = small_front()
    widget = front.explore()
    widget.shortlist = {1: "good"}
    path = tmp_path / "exploration.json"
    widget.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    other = front.explore()
    other.load(path)
    assert dict(other.shortlist) == {1: "good"}
    with pytest.raises(FileError, match="exists already"):
        widget.save(path)
    for text in ("[]", "{", '{"version": 2}', '{"version": 1, "shortlist": [[1]]}'):
        path.write_text(text)
        with pytest.raises(FileError, match="is not an exploration"):
            other.load(path)
    with pytest.raises(FileError, match="cannot be read"):
        other.load(tmp_path / "nothing.json")
