"""The widget in a real JupyterLab and Notebook 7: browser and Python know of each other."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.scenery.browser import (
    ARTEFACTS,
    IN_COLOURS_OF_THE_THEME,
    Watched,
    chromium,
    needs_browser,
    spot,
)

pytestmark = [pytest.mark.faults, needs_browser]

CELLS = [
    "import numpy as np, pandas as pd, privmoo as pm\n"
    "rng = np.random.default_rng(1)\n"
    "frame = pd.DataFrame({'age': rng.integers(20, 40, 200), 'sex': rng.choice(list('fm'), 200),"
    " 'ill': rng.choice(list('abc'), 200)})\n"
    "qis = {'age': pm.Hierarchy.ordered(), 'sex': pm.Hierarchy.flat()}\n"
    "table = pm.Table(frame, quasi_identifiers=qis, sensitive='ill')\n"
    "cuts = rng.random((400, 20)) < rng.random((400, 1))\n"
    "front = pm.Front.of(pm.problems.Cuts(table), cuts)\n"
    "w = front.explore()\n"
    "w",
    "print('read', w.focus, len(w.selected), w.shortlist, len(front))",
    "w.focus = 2\nw.selected = [1, 2, 3]\nw.shortlist = {2: 'from Python', 3: ''}",
    "print(w.release(), 'k should be', int(front[2].k))",
    "print('after', len(w._fronts), len(front), w._data['weights'], w._undo)",
]
SIZES = """() => {
    const { scatter, parallel } = document.querySelector(".pmx").explorer;
    const boxes = [scatter.box, parallel.plot];
    return boxes.map((box) => [box.clientWidth, box.querySelector("canvas").clientWidth]);
}"""


def settings(folder: Path) -> None:
    """JupyterLab with all cells in the page and without questions to the outside."""
    for name, content in {
        "notebook-extension/tracker": {"windowingMode": "none"},
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    }.items():
        file = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))


@pytest.fixture(params=["jupyterlab", "notebook"])
def notebook_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    root = tmp_path / "root"
    root.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, root / "explore.ipynb")
    settings(tmp_path / "settings")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    own = {
        name: str(tmp_path / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    command = [sys.executable, "-m", request.param, "--no-browser", "--allow-root"]
    command += [
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
    ]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True"]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=root,
            env={**os.environ, **own, "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings")},
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, log.name)
            room = {"jupyterlab": "lab/tree", "notebook": "notebooks"}[request.param]
            yield f"http://127.0.0.1:{port}/{room}/explore.ipynb?token={token}"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes], log: str) -> None:
    for _ in range(240):
        assert server.poll() is None, Path(log).read_text()[-3000:]
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(Path(log).read_text()[-3000:])


def run_cell(page: Any, number: int) -> None:
    """Run a cell, again if the notebook was not ready to hear: a busy machine loses keys."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(12):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        for _ in range(20):
            if re.search(r"[*0-9]", prompt.inner_text()):
                return
            page.wait_for_timeout(250)
    pytest.fail(f"cell {number} does not run")


def printed(page: Any, number: int, start: str) -> str:
    output = page.locator(".jp-Notebook .jp-CodeCell").nth(number).locator(".jp-OutputArea-output")
    page.wait_for_function(
        "([n, start]) => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')][n]"
        "?.querySelector('.jp-OutputArea-output')?.textContent.startsWith(start)",
        arg=[number, start],
        timeout=180_000,
    )
    text: str = output.first.inner_text()
    return text.strip()


def test_both_ways(notebook_url: str, request: pytest.FixtureRequest) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    with chromium() as browser:
        watched = Watched(browser, viewport={"width": 1600, "height": 1200})
        try:
            work_with(watched.page, notebook_url)
        finally:  # also of a failure: it shows where
            where = request.node.callspec.params["notebook_url"]
            watched.page.screenshot(path=ARTEFACTS / f"explorer-{where}.png")
        own = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
        assert not [address for address in watched.requests if not address.startswith(own)]
        watched.close()


def work_with(page: Any, notebook_url: str) -> None:
    page.goto(notebook_url)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=180_000)
    page.wait_for_selector("text=Python 3 (ipykernel)", timeout=180_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=180_000)
    run_cell(page, 0)
    page.wait_for_selector(".pmx", timeout=180_000)
    # When a run ends, the notebook takes the keys to the next cell: nobody is that quick, tests are.
    page.wait_for_selector('.jp-CodeCell .jp-InputPrompt:text("[1]:")', timeout=180_000)
    page.wait_for_timeout(500)

    # From the browser to Python.
    x, y = spot(page, 1)
    page.mouse.click(x, y)
    page.wait_for_selector(".pmx-card .pmx-words", timeout=180_000)
    page.wait_for_selector('.pmx-card h3:text-is("Solution 1")', timeout=180_000)
    page.wait_for_selector(".pmx-data")
    assert page.locator(".pmx-data tbody tr").count() == 8
    cells = page.locator(".jp-Notebook .jp-CodeCell").count()
    page.keyboard.press("a")  # pins here, and is no shortcut of the notebook
    page.wait_for_selector(".pmx-list li")
    page.get_by_label("comment on Solution 1").fill("from the browser")
    page.keyboard.press("Tab")
    limit = page.locator('[data-limit="min_k"]')
    limit.fill("20")
    limit.press("Enter")
    page.wait_for_timeout(500)
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == cells
    chosen = page.evaluate('document.querySelector(".pmx").explorer.state.selected.length')
    run_cell(page, 1)
    said = printed(page, 1, "read")
    focus, n_selected, rest = said.removeprefix("read ").split(" ", 2)
    assert focus == "1" and int(n_selected) == chosen
    assert "{1: 'from the browser'}" in rest
    assert chosen < int(rest.rsplit(" ", 1)[1])

    # From Python to the browser.
    run_cell(page, 2)
    page.wait_for_function(
        "document.querySelector('.pmx-card h3').textContent === 'Solution 2'", timeout=180_000
    )
    page.wait_for_function("document.querySelectorAll('.pmx-list li').length === 2")
    state = page.evaluate(
        "(() => { const { state } = document.querySelector('.pmx').explorer;"
        " return [state.focus, state.selected, [...state.shortlist]]; })()"
    )
    assert state == [2, [1, 2, 3], [[2, "from Python"], [3, ""]]]
    assert "3 set in Python" in page.locator(".pmx-filters").inner_text()
    run_cell(page, 3)
    said = printed(page, 3, "Release")
    assert f"k = {said.rsplit(' ', 1)[1]}," in said

    # The theme is the notebook's.
    dark = "getComputedStyle(document.querySelector('.pmx')).getPropertyValue('--pmx-dark').trim()"
    assert page.evaluate(dark) == "0"
    page.locator(".pmx").scroll_into_view_if_needed()
    if "/lab/" in notebook_url:
        switch_themes(page, dark)
    steer(page)


def switch_themes(page: Any, dark: str) -> None:
    """Plots have the width of their boxes, whether the file browser or a theme comes or goes."""
    for theme, is_dark in (("Dark", "1"), ("Light", "0")):
        page.keyboard.press("Control+b")
        page.wait_for_timeout(400)
        page.evaluate(
            "(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme}",
        )
        page.wait_for_function(f"{dark} === '{is_dark}'", timeout=180_000)
        page.wait_for_function(IN_COLOURS_OF_THE_THEME, timeout=180_000)
        page.wait_for_timeout(500)
        for box, canvas in page.evaluate(SIZES):
            assert box == canvas > 250
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"jupyterlab-{theme.lower()}.png")


def steer(page: Any) -> None:
    """Weights, a search that is stopped, and undo, with Python really there."""
    page.click(".pmx-weights summary")
    page.fill('[data-weight="age"]', "5")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-refining=undo]:visible", timeout=180_000)
    page.wait_for_function("document.querySelector('[data-weight=age]').value === '5'")
    page.fill('[aria-label="seconds to search"]', "3000")
    page.click("[data-weighing=search]")
    page.wait_for_selector("[data-refining=stop]:visible", timeout=180_000)
    said = "document.querySelector('[data-refining=said]').textContent"
    page.wait_for_function(f"{said}.startsWith('generation')", timeout=180_000)
    page.click("[data-refining=stop]")
    page.wait_for_function(
        "document.querySelector('.pmx').explorer.state.fresh.size > 0", timeout=180_000
    )
    page.wait_for_selector("[data-refining=stop]", state="hidden", timeout=180_000)
    run_cell(page, 4)
    _, now, before, *rest = printed(page, 4, "after").split(" ", 3)
    assert int(now) > int(before) and "['age', 5.0]" in rest[0] and rest[0].endswith(" 2")
    page.click("[data-refining=undo]")
    page.wait_for_function("document.querySelector('[data-refining=undo]').hidden === false")
