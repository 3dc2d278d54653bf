"""A real browser for the tests of pages: Debian's Chromium, driven by Playwright; and fronts to show."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo.data.table import Table
from privmoo.front import Front
from privmoo.front.quantities import quantities_of
from privmoo.hierarchy import Hierarchy
from privmoo.problem import AnonymizationProblem
from privmoo.problems import KLSafe
from privmoo.search import optimize
from tests.scenery.paths import TOP

ARTEFACTS = TOP / "artefacts"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 180_000
"""Milliseconds that a busy machine may take for one step."""
SCRIPT = "<script>alert(1)</script>"
ENDING = "</script><script>alert(2)</script>"
HOSTILE_NAME = "<img src=x onerror=alert(3)>"

needs_browser = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="needs a browser: apt-get install chromium, and pip install 'privmoo[dev]'",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser with a fresh profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=SWITCHES, timeout=PATIENCE
        )
        yield browser
        browser.close()


class Watched:
    """A page that is asked after everything that it should not have done."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1600, "height": 1000})
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on(
            "console",
            lambda said: (
                self.troubles.append(said.text) if said.type in ("error", "warning") else None
            ),
        )

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def open(self, file: Path) -> Any:
        self.page.goto(file.as_uri())
        self.page.wait_for_selector(".pmx-card .pmx-words")
        return self.page

    def close(self) -> None:
        self.context.close()


def spot(page: Any, number: int) -> tuple[float, float]:
    """Where a solution is drawn in the scatter, on the screen."""
    x, y = page.evaluate(
        """(id) => {
            const { scatter } = document.querySelector(".pmx").explorer;
            const box = scatter.top.getBoundingClientRect();
            const [x, y] = scatter.spot(id);
            return [box.left + x, box.top + y];
        }""",
        number,
    )
    return x, y


def hostile_table() -> Table:
    """Categories, a column and names that would be something else if they were not escaped."""
    rng = np.random.default_rng(5)
    jobs = [SCRIPT, ENDING, "a & b", "quote \" and ' \u2028 line", "plain"]
    n = 240
    frame = pd.DataFrame(
        {
            "who": [f"Person{i}" for i in range(n)],
            "age": rng.integers(20, 40, n),
            HOSTILE_NAME: rng.choice(jobs, n),
            "ill": rng.choice([SCRIPT, "flu", "asthma", "cold"], n),
        }
    )
    tree = Hierarchy.tree({f"{SCRIPT} & more": jobs[:2], "rest": jobs[2:]})
    return Table(
        frame,
        quasi_identifiers={"age": Hierarchy.ordered(), HOSTILE_NAME: tree},
        sensitive="ill",
        identifiers="who",
    )


def hostile_front() -> Front:
    problem = KLSafe(hostile_table(), max_suppression=0.2)
    problem.default_population = 40
    return optimize(problem, budget=10, seed=3, progress=False)


def crowd(problem: AnonymizationProblem, n: int, seed: int = 1) -> Front:
    """As many solutions as wanted, on a front or not: to see how a page copes with them."""
    sampling = problem.default_operators()["sampling"]
    X = np.asarray(sampling.do(problem, n, random_state=np.random.default_rng(seed)).get("X"))
    quantities = quantities_of(problem)
    named = problem.evaluate_measures(X)
    values = np.column_stack([named[q.key] for q in quantities])
    order = np.argsort(values[:, 0], kind="stable")
    return Front(
        quantities=quantities,
        n_objectives=problem.n_obj,
        values=values[order],
        X=X[order],
        run={"algorithm": "random", "seed": seed},
        description=problem.describe(),
        dominated=np.empty((0, problem.n_obj)),
        problem=problem,
        table=problem.table,
    )


IN_COLOURS_OF_THE_THEME = """() => {
    // Whether the lines of the scatter have the colour that the theme gives them now.
    const { scatter } = document.querySelector(".pmx").explorer;
    const style = getComputedStyle(document.querySelector(".pmx"));
    const colour = style.getPropertyValue("--pmx-line").trim();
    const parts = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
    const { width, height } = scatter.canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(scatter.canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] === 255 && parts.every((part, k) => data[i + k] === part)) return true;
    }
    return false;
}"""


def settle(page: Any) -> None:
    """Wait until the views show the state: they are told once per frame."""
    page.evaluate('document.querySelector(".pmx").explorer.state.flush()')
    page.wait_for_function(
        """() => [...document.querySelectorAll(".pmx [aria-busy]")]
            .every((n) => n.getAttribute("aria-busy") === "false")"""
    )


def selected(page: Any) -> list[int]:
    settle(page)
    numbers: list[int] = page.evaluate('document.querySelector(".pmx").explorer.state.selected')
    return numbers


def focus(page: Any) -> int | None:
    settle(page)
    number: int | None = page.evaluate('document.querySelector(".pmx").explorer.state.focus')
    return number


def axis_spot(page: Any, key: str, value: float) -> tuple[float, float]:
    x, y = page.evaluate(
        """([key, value]) => {
            const { parallel, state } = document.querySelector(".pmx").explorer;
            const j = state.quantities.findIndex((q) => q.key === key);
            const i = parallel.axes.indexOf(j);
            const box = parallel.top.getBoundingClientRect();
            return [box.left + parallel.places[i], box.top + parallel.scales[i](value)];
        }""",
        [key, value],
    )
    return x, y
