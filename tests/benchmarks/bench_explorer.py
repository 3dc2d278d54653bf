"""The explorer: size of its file, and how long it takes to write, to open and to brush.

Run by `make bench`; needs Chromium (apt-get install chromium).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from candidates import machine

import privmoo as pm
from privmoo.explorer.cards import card_of, preview_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.scenery.browser import CHROMIUM, chromium, crowd

# A brush that moves down the axis of loss, one step per frame, as a hand does.
BRUSHING = """async () => {
    const { state } = document.querySelector(".pmx").explorer;
    const j = state.quantities.findIndex((q) => q.key === "loss");
    const column = [...state.columns[j]].sort((a, b) => a - b);
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const scripts = [];
    const frames = [];
    await frame();
    for (let i = 0; i < 60; i += 1) {
        const begin = performance.now();
        state.setRange(j, null, column[Math.round((column.length - 1) * (1 - i / 120))]);
        scripts.push(state.flush());
        await frame();
        frames.push(performance.now() - begin);
    }
    state.clear();
    return [scripts, frames];
}"""
WALKING = """async () => {
    const { state } = document.querySelector(".pmx").explorer;
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const times = [];
    for (let i = 0; i < 60; i += 1) {
        state.setFocus((i * 7) % state.size);
        times.push(state.flush());
        await frame();
    }
    return times;
}"""


def opened(browser: Any, file: Path) -> tuple[float, Any]:
    """Seconds until the card of the first solution is there, in a fresh profile."""
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(file.as_uri())
    page.wait_for_selector(".pmx-card .pmx-words", timeout=60_000)
    return time.perf_counter() - begin, page


def main() -> None:
    print(f"\n# Benchmarks of the explorer\n\n{machine()}\n")
    problem = pm.problems.KLSafe(pm.datasets.adult("dewri-kl"))
    print(
        "Adult, eight quasi-identifiers, random cuts, three objectives and four other quantities;"
    )
    print("headless Chromium without a graphics processor, 1600 × 1000 pixels.\n")
    print(
        "| solutions | file, KB | writing, s | opening, s | brush: script, ms (median, worst) "
        "| brush: frame, ms (median, worst) | next card, ms | widget: data, KB | widget: one card, ms |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for n in (200, 1_000, 2_000):
        front = crowd(problem, n)
        with tempfile.TemporaryDirectory() as folder, chromium() as browser:
            file = Path(folder) / "front.html"
            begin = time.perf_counter()
            front.report(file)
            writing = time.perf_counter() - begin
            times = []
            for _ in range(3):
                seconds, page = opened(browser, file)
                times.append(seconds)
            page.evaluate(BRUSHING)
            scripts, frames = page.evaluate(BRUSHING)
            walked = page.evaluate(WALKING)
            size = file.stat().st_size
        print(
            f"| {n:,} | {size / 1000:,.0f} | {writing:.1f} | {min(times):.2f} "
            f"| {median(scripts):.0f}, {max(scripts):.0f} | {median(frames):.0f}, {max(frames):.0f} "
            f"| {median(walked):.1f} | {_state(front):,.0f} | {_card(front):.0f} |"
        )


def _state(front: pm.Front) -> float:
    """What a notebook sends to the browser at first, in KB, without the explorer's own module."""
    return len(json.dumps(front.explore().get_state()["_data"])) / 1000


def _card(front: pm.Front) -> float:
    """Milliseconds for what a notebook sends when a solution is looked at: its card and rows."""
    begin = time.perf_counter()
    for i in range(0, len(front), len(front) // 20):
        card_of(front[i])
        preview_of(front[i])
    return (time.perf_counter() - begin) / 20 * 1000


if __name__ == "__main__":
    if CHROMIUM is None:  # the other benchmarks go on without
        print("\n# Benchmarks of the explorer\n\nnot run: apt-get install chromium")
    else:
        main()
