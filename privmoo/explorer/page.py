"""The explorer as one HTML file that loads nothing and lets no other script run in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from privmoo._util.data_frames import AnyFrame
from privmoo._util.files import replacing
from privmoo.errors import ProblemError
from privmoo.explorer.about import about_front
from privmoo.explorer.cards import by_role, cards_of, pack_cards
from privmoo.explorer.data import ExplorerData, gather
from privmoo.explorer.exploration import read_exploration
from privmoo.explorer.public_page import public_page
from privmoo.front.front import Front
from privmoo.front.solution import Solution
from privmoo.hierarchy.canonical import canonical
from privmoo.release.release import Release

__all__ = ["FOR_THE_PUBLISHER", "module", "page_of", "style", "write_report"]

FOR_THE_PUBLISHER = (
    "For the publisher only: do not pass this file on. It describes every solution, including those "
    "that protect nobody, and beside a release it tells more about people than the certificate says. A "
    "report that may be passed on is written by front.report(path, pick=…, public=True) or privmoo release "
    "--report."
)
"""The first paragraph of every private report."""

_ROWS = 8
_START = """
const data = JSON.parse(document.getElementById("data").textContent);
const explorer = mount(document.getElementById("explorer"), data, pageHost(data));
if (data.start !== null) explorer.state.setFocus(data.start);
if (data.exploration) explorer.state.explore(data.exploration);
"""
_WITHHELD = (
    "Rows are not shown: the audited k of this release is 1, so that a row could be somebody's record "
    "as it is."
)


@cache
def module() -> str:
    """Return the explorer's ES module, assembled from its parts."""
    parts = sorted(
        (part for part in files("privmoo.explorer").iterdir() if part.name.endswith(".js")),
        key=lambda part: part.name,
    )
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


@cache
def style(name: str = "explorer.css") -> str:
    """Return a style sheet of the explorer."""
    return files("privmoo.explorer").joinpath(name).read_text(encoding="utf-8")


def write_report(
    fronts: Front | Sequence[Front | AnyFrame],
    path: str | Path,
    *,
    names: Sequence[str] | None = None,
    pick: Solution | None = None,
    release: Release | None = None,
    public: bool = False,
    force: bool = False,
    exploration: Mapping[str, Any] | str | Path | None = None,
) -> None:
    """Write a report on one or several fronts as a file that opens without privmoo.

    By default it is the explorer, **for the publisher only**, and only its owner may read the file (mode
    0600). It holds values, labels and counts of all solutions, what was done and with which versions, and
    for the pick its certificate. These labels and counts are of groups that are not released: whoever has
    them beside the release can find the tables that fit both, and so learn more than the certificate says.
    Of the records it holds only rows of the pick, and only if the audited k of its release is at least 2.
    There are no identifying columns, and no fingerprint.

    A public report is about the pick alone and may be passed on with its release. Labels, k, ℓ, t and
    sizes of groups in it are counted in the released rows, so that it tells a reader of the rows nothing
    new. It leaves out what was counted on the original or on other solutions: suppressed records, loss,
    the certificate, other solutions and how they were found. The one exception is a rounded curve of loss
    over k, which is drawn only under conditions that `privmoo.explorer.public_curve` states, with what a
    reader can still learn from it.

    Args:
        fronts: A front, or several of the same objectives; see `privmoo.explore`.
        path: The file.
        names: A name for each front.
        pick: The solution that was chosen; without one there are no rows and no certificate.
        release: The release of the pick, if there is one already; by default one is made.
        public: Whether the report may be passed on.
        force: Whether to replace an existing file.
        exploration: Limits, order of the axes, shortlist and comments to begin with, as
            `Explorer.exploration` or a file that was saved. A public report has none.

    >>> import pandas as pd, privmoo as pm, pathlib, tempfile
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "front.html"
    >>> write_report(front, file, pick=front[1])
    >>> "20–22 | 40–60" in file.read_text(encoding="utf-8")
    True
    >>> write_report(front, file, pick=front[1], public=True, force=True)
    >>> "For the publisher only" in file.read_text(encoding="utf-8")
    False
    """
    data = gather(fronts, names, pick)
    begin = None if exploration is None else read_exploration(exploration)
    if release is not None and pick is None:
        raise ProblemError("release: also pass the solution it was made from as pick")
    if public and pick is None:
        raise ProblemError("public: a public report is about one solution; pass it as pick")
    # The path is checked before the work begins.
    with replacing(path, force=force, private=not public) as temporary:
        if pick is not None:
            release = pick.release() if release is None else release
            _check_release(pick, release)
        if public and pick is not None and release is not None:
            front = next(entry.front for entry in data.fronts if entry.pick is not None)
            text = public_page(front or pick.front, pick, release)
        else:
            text = page_of(data, release=release, exploration=begin)
        temporary.write_text(text, encoding="utf-8")


def _check_release(pick: Solution, release: Release) -> None:
    if release.recoding is None or release.recoding.key() != pick.recoding.key():
        raise ProblemError(
            "release: it was made from a solution other than the pick; pass pick.release(), or leave it out"
        )
    left_out = release.certificate.release.get("records_suppressed")
    if left_out != int(pick.values["records_suppressed"]):
        raise ProblemError(
            f"release: it leaves out {left_out} records, but the pick leaves out "
            f"{int(pick.values['records_suppressed'])}; pass pick.release(), or leave it out"
        )


def page_of(
    data: ExplorerData,
    *,
    release: Release | None = None,
    exploration: Mapping[str, Any] | None = None,
) -> str:
    """Return the text of the file.

    Args:
        data: The fronts.
        release: The release of the pick; None without a pick.
        exploration: Limits, axes, shortlist and comments to begin with.
    """
    content = data.to_json() | {
        "cards": _cards(data),
        "preview": None if release is None else _preview(release),
        "start": data.start,
        "exploration": exploration,
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    script = module() + _START
    sheet = style() + style("page.css")
    total = sum(len(entry) for entry in data.fronts)
    title = f"{total:,} way{'' if total == 1 else 's'} to publish this table"
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(sheet)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<link rel="icon" href="data:,">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{sheet}</style>",
        "</head>",
        "<body>",
        "<main>",
        f'<p class="private" role="note">{html.escape(FOR_THE_PUBLISHER)}</p>',
        f"<h1>{html.escape(title)}</h1>",
        *(f"<p>{_lines(entry.name, entry.front)}</p>" for entry in data.fronts),
        '<div id="explorer"></div>',
        f"<noscript>{_still(data)}</noscript>",
        "<h2>How this was found, and what holds</h2>",
        '<div class="about">',
        *(_section(title, rows) for title, rows in about_front(data, release)),
        "</div>",
        "</main>",
        f'<script type="application/json" id="data">{_inert(text)}</script>',
        f'<script type="module">{script}</script>',
        "</body>",
        "</html>",
    ]
    # Half a character, which a table may hold, cannot be written: its number is.
    return ("\n".join(parts) + "\n").encode("utf-8", "backslashreplace").decode("utf-8")


def _cards(data: ExplorerData) -> dict[str, Any]:
    """Return the cards of all solutions; those of one front share their labels."""
    packs: list[dict[str, Any]] = []
    places: list[list[int] | None] = []
    for entry in data.fronts:
        if entry.front is None or not entry.has_table:
            places += [None] * len(entry)
            continue
        places += [[len(packs), i] for i in range(len(entry))]
        packs.append(pack_cards(cards_of(entry.front)))
    return {"packs": packs, "places": places}


def _preview(release: Release) -> Mapping[str, Any]:
    if release.certificate.privacy["k"] < 2:
        return {"note": _WITHHELD}
    roles = release.certificate.release["columns"]
    rows = release.frame.head(_ROWS)[by_role(roles)]
    texts = [[canonical(value) for value in rows[name].tolist()] for name in rows.columns]
    return {
        "columns": [str(name) for name in rows.columns],
        "rows": [list(row) for row in zip(*texts, strict=True)],
        "total": len(release),
    }


def _lines(name: str, front: Front | None) -> str:
    text = "published points" if front is None else repr(front)
    return f"<b>{html.escape(name)}</b>: {html.escape(text.replace(chr(10), '; '))}"


def _still(data: ExplorerData) -> str:
    """Return a picture and a table for readers whose browser runs no scripts."""
    fronts = (entry.front for entry in data.fronts)
    return "".join(front._repr_html_() for front in fronts if front is not None)


def _section(title: str, rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>'
        if name
        else f'<tr><td colspan="2">{html.escape(text)}</td></tr>'
        for name, text in rows
    )
    return f"<section><h3>{html.escape(title)}</h3><table>{cells}</table></section>"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def _inert(text: str) -> str:
    """Return JSON that no HTML or JavaScript parser mistakes for anything else."""
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
