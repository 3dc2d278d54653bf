"""The explorer as one HTML file that loads nothing from anywhere and lets nothing else run in it."""

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

import pandas as pd

from privmoo._util.files import replacing
from privmoo.errors import ProblemError, ReleaseError
from privmoo.explorer.about import about_front
from privmoo.explorer.cards import by_role, card_of, packed
from privmoo.explorer.data import ExplorerData, gather
from privmoo.front.choice import compromise
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.front.solution import Solution
from privmoo.hierarchy.canonical import canonical
from privmoo.release.release import Release

__all__ = ["module", "page_of", "style", "write_report"]

_ROWS = 8
_START = """
const data = JSON.parse(document.getElementById("data").textContent);
const explorer = mount(document.getElementById("explorer"), data, pageHost(data));
if (data.start !== null) explorer.state.setFocus(data.start);
"""
_WITHHELD = (
    "Rows are not shown: the audited k of this release is 1, so that a row could be somebody's record "
    "as it is."
)


@cache
def module() -> str:
    """Return the explorer's ES module, put together from its parts."""
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
    fronts: Front | Sequence[Front | pd.DataFrame],
    path: str | Path,
    *,
    names: Sequence[str] | None = None,
    pick: Solution | None = None,
    release: Release | None = None,
    force: bool = False,
) -> None:
    """Write the explorer of one or several fronts as a file that anyone can open without privmoo.

    It holds values, labels and counts of all solutions, what was done and with which versions, and for
    the pick its certificate. Of the records it holds rows of the pick only, and those only if the
    audited k of its release is at least 2: other solutions may be the original itself (k = 1), and rows
    of several solutions could be put together. There are no identifying columns, and no fingerprint.

    Args:
        fronts: A front, or several of the same objectives; see `privmoo.explore`.
        path: The file.
        names: A name for each front.
        pick: The solution that was chosen; without one there are no rows and no certificate.
        release: The release of the pick, if it was made already; else one is made.
        force: Whether a file that exists is replaced.

    >>> import pandas as pd, privmoo as pm, pathlib, tempfile
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "front.html"
    >>> write_report(front, file, pick=front[1])
    >>> "20–22 | 40–60" in file.read_text(encoding="utf-8")
    True
    """
    data = gather(fronts, names, pick)
    if release is not None and pick is None:
        raise ProblemError("release: also pass the solution it was made from as pick")
    with replacing(path, force=force) as temporary:  # looks at the place before the work begins
        if pick is not None:
            release = pick.release() if release is None else release
            _check_release(pick, release)
        temporary.write_text(page_of(data, release=release), encoding="utf-8")


def _check_release(pick: Solution, release: Release) -> None:
    if release.recoding is None or release.recoding.key() != pick.recoding.key():
        raise ReleaseError(
            "release: it is not of the pick; give the release of the pick, or leave it out"
        )
    left_out = release.certificate.release.get("records_suppressed")
    if left_out != int(pick.values["records_suppressed"]):
        raise ReleaseError(
            f"release: it leaves out {left_out} records and the pick "
            f"{int(pick.values['records_suppressed'])}; give the release of the pick"
        )


def page_of(data: ExplorerData, *, release: Release | None = None) -> str:
    """Return the text of the file.

    Args:
        data: The fronts.
        release: The release of the pick; None without a pick.
    """
    content = data.to_json() | {
        "cards": _cards(data),
        "preview": None if release is None else _preview(release),
        "start": _start(data),
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
    """Cards of all solutions; those of one front share their labels."""
    packs: list[dict[str, Any]] = []
    places: list[list[int] | None] = []
    for entry in data.fronts:
        if entry.front is None or not entry.explained:
            places += [None] * len(entry)
            continue
        places += [[len(packs), i] for i in range(len(entry))]
        packs.append(packed(card_of(solution) for solution in entry.front))
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


def _start(data: ExplorerData) -> int:
    """What is in focus at first: the pick, else the first knee, else what is in the middle."""
    marked: dict[str, int] = {}
    before = 0
    for entry in data.fronts:
        if entry.pick is not None:
            marked["pick"] = before + entry.pick
        if entry.front is not None:
            middle = marked_knee(entry.front)
            middle = compromise(entry.front) if middle is None else middle
            marked.setdefault("middle", before + middle)
        before += len(entry)
    return marked.get("pick", marked.get("middle", 0))


def _lines(name: str, front: Front | None) -> str:
    text = "published points" if front is None else repr(front)
    return f"<b>{html.escape(name)}</b>: {html.escape(text.replace(chr(10), '; '))}"


def _still(data: ExplorerData) -> str:
    """A picture and a table, where scripts do not run."""
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
    """JSON that no parser of HTML or JavaScript takes for anything else."""
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
